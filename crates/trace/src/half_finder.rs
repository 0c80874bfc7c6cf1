//! Halves of stacks, found by key or by their addresses.
//!
//! The tables have a byte budget. Where it is exceeded they can be dropped: halves get new ids, and those that wait for their event live on
//! for one generation.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::code_map::{CodeMap, SpaceEpoch, SpaceEpochs};
use crate::fingerprint::{Fingerprint, fingerprint};
use crate::halves::{HalfFacts, HalfId, Halves};
use crate::health::Health;
use crate::health_kinds::HealthKind;
use crate::ids::{FrameId, ProcessId};
use crate::known_references::{KnownReferences, ReferenceKey};
use crate::modules::AddressSpace;
use crate::stack_keys::{DefinitionId, Half, StackKeys};

/// Frames that a half has at most.
pub(crate) const MAX_FRAMES: usize = 1024;

/// A stack record that names a half by its key.
#[derive(Clone, Copy, Debug)]
pub struct KeyReference {
    /// Which half.
    pub half: Half,
    /// Its key.
    pub key: u64,
    /// Place of the record among the stack records.
    pub position: u64,
    /// Raw time of the event that the stack is of.
    pub ticks: i64,
    /// The event's process.
    pub process: ProcessId,
}

/// A half as its finder knows it.
#[derive(Clone, Copy, Debug)]
pub struct FoundHalf<'a> {
    /// The process with which it was met first.
    pub process: ProcessId,
    /// Raw time of the event with which it was met first.
    pub ticks: i64,
    /// Its addresses, leaf first.
    pub addresses: &'a [u64],
}

/// Finds halves, and makes those that are new.
#[derive(Debug)]
pub struct HalfFinder {
    keys: Arc<StackKeys>,
    code: Arc<CodeMap>,
    epochs: SpaceEpochs,
    budget: usize,
    keyed: FxHashMap<(DefinitionId, AddressSpace, u32, u32), HalfId>,
    /// Those of `keyed` that were asked for last.
    references: KnownReferences,
    /// By space and epochs, the kernel's where the leaf is of the kernel and the root is not, and content.
    inline: FxHashMap<(AddressSpace, u32, u32, u32, Fingerprint), HalfId>,
    current: Halves,
    /// Those before the tables were dropped last: they may wait for their event.
    previous: Halves,
    addresses: Vec<u64>,
    /// How often the tables were dropped.
    generation: u32,
}

impl HalfFinder {
    /// No half is known yet; the tables take about `budget` bytes, and as many for those that live on.
    #[must_use]
    pub fn new(keys: Arc<StackKeys>, code: Arc<CodeMap>, budget: usize) -> Self {
        Self {
            keys,
            code,
            epochs: SpaceEpochs::default(),
            budget,
            keyed: FxHashMap::default(),
            references: KnownReferences::default(),
            inline: FxHashMap::default(),
            current: Halves::default(),
            previous: Halves::default(),
            addresses: Vec::new(),
            generation: 0,
        }
    }

    /// How often the tables were dropped: halves have other ids since.
    pub(crate) const fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether something defines the key of the `position`-th stack record.
    #[must_use]
    pub fn is_defined(&self, half: Half, key: u64, position: u64) -> bool {
        self.keys.find(half, key, position).is_some()
    }

    /// The half that a key stands for; `None` when it has no frames, or (counted) when nothing defines it.
    pub fn keyed(&mut self, reference: &KeyReference, health: &mut Health) -> Option<HalfId> {
        let KeyReference { half, key, position, ticks, process } = *reference;
        let space = match half {
            Half::Kernel => AddressSpace::Kernel,
            Half::User => AddressSpace::Process(process),
        };
        let SpaceEpoch { images, methods, number, .. } = self.epochs.at(space, ticks, &self.code);
        let known_as = ReferenceKey { key, space: number };
        if let Some(id) = self.references.get(known_as, position) {
            return Some(id);
        }
        let Some((definition, positions)) = self.keys.find(half, key, position) else {
            health.count(HealthKind::UNDEFINED_STACK_KEY, Some(ticks), || format!("{half:?} stack key {key:#x}"));
            return None;
        };
        let table_key = (definition, space, images, methods);
        if let Some(id) = self.keyed.get(&table_key) {
            self.references.insert(known_as, positions, *id);
            return Some(*id);
        }
        if let Err(error) = self.keys.frames(definition, &mut self.addresses) {
            health.count(HealthKind::STACK_FRAMES_UNREADABLE, Some(ticks), || format!("temporary file: {error}"));
            return None;
        }
        if self.addresses.is_empty() {
            return None;
        }
        let id = self.current.add(process, ticks, &self.addresses);
        self.keyed.insert(table_key, id);
        self.references.insert(known_as, positions, id);
        Some(id)
    }

    /// The half with these addresses, leaf first, or a whole stack; which of them are kernel mode the addresses tell.
    pub fn inline(&mut self, process: ProcessId, frames: impl Iterator<Item = u64>, ticks: i64) -> Option<HalfId> {
        self.addresses.clear();
        self.addresses.extend(frames.take(MAX_FRAMES));
        let space = self.code.space_of(process, *self.addresses.last()?);
        let SpaceEpoch { images, methods, .. } = self.epochs.at(space, ticks, &self.code);
        let content = fingerprint(self.addresses.iter().copied());
        let is_whole =
            space != AddressSpace::Kernel && self.addresses.first().is_some_and(|at| self.code.is_kernel(*at));
        let kernel = if is_whole { self.epochs.at(AddressSpace::Kernel, ticks, &self.code).images } else { 0 };
        let table_key = (space, images, methods, kernel, content);
        if let Some(id) = self.inline.get(&table_key) {
            return Some(*id);
        }
        let id = self.current.add(process, ticks, &self.addresses);
        self.inline.insert(table_key, id);
        Some(id)
    }

    fn halves_of(&self, id: HalfId) -> &Halves {
        if self.current.facts(id).is_some() { &self.current } else { &self.previous }
    }

    /// A half with its addresses, for another finder; `None` where it is forgotten.
    #[must_use]
    pub fn found(&self, id: HalfId) -> Option<FoundHalf<'_>> {
        let HalfFacts { process, ticks, .. } = self.facts(id)?;
        Some(FoundHalf { process, ticks, addresses: self.addresses(id) })
    }

    /// The half; `None` where it is forgotten.
    pub(crate) fn facts(&self, id: HalfId) -> Option<HalfFacts> {
        self.halves_of(id).facts(id)
    }

    /// Its addresses, leaf first.
    pub(crate) fn addresses(&self, id: HalfId) -> &[u64] {
        self.halves_of(id).addresses(id)
    }

    /// Its frames; `None` as long as it has none.
    pub(crate) fn frames(&self, id: HalfId) -> Option<&[FrameId]> {
        self.halves_of(id).frames(id)
    }

    /// Gives it its frames, one per address.
    pub(crate) fn set_frames(&mut self, id: HalfId, frames: &[FrameId]) {
        let is_current = self.current.facts(id).is_some();
        let halves = if is_current { &mut self.current } else { &mut self.previous };
        halves.set_frames(id, frames);
    }

    /// Bytes of the tables, roughly: entries of hash maps with their slack.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.keyed.len() * 56 + self.inline.len() * 72 + self.current.bytes()
    }

    /// Drops the tables where they are full.
    pub(crate) fn flush_if_full(&mut self) {
        if self.bytes() < self.budget {
            return;
        }
        self.generation = self.generation.wrapping_add(1);
        self.keyed = FxHashMap::default();
        self.references.clear();
        self.inline = FxHashMap::default();
        let next = Halves::from(self.current.next());
        self.previous = std::mem::replace(&mut self.current, next);
    }
}
