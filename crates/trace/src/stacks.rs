//! Frames and stacks, interned.
//!
//! Addresses become frames (module and RVA, or process and address), pairs of halves become stacks; each is looked up once and found again
//! through caches. The caches have a byte budget. Where it is exceeded they can be dropped and start anew while ids grow on: deduplication
//! is best effort, ids are opaque.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::code_map::{CodeMap, SpaceEpochs};
use crate::fingerprint::{Fingerprint, fingerprint};
pub use crate::half_finder::KeyReference;
use crate::half_finder::{HalfFinder, MAX_FRAMES};
pub use crate::halves::HalfId;
use crate::health::Health;
use crate::health_kinds::HealthKind;
use crate::ids::{FrameId, ModuleId, ProcessId, StackId};
use crate::known_halves::KnownHalves;
use crate::known_pairs::{KnownPairs, Pair};
use crate::methods::MethodAt;
use crate::modules::{AddressSpace, Modules};
use crate::rows::{FrameRow, ManagedCodeRow, ModuleRow, StackRow, SymbolRow};
use crate::sink::RowSink;
use crate::stack_keys::{Half, StackKeys};

/// Where a frame lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FrameKey {
    Module(ModuleId, u64),
    Address(AddressSpace, u64),
    /// A JIT method's code may be reused for another method: the method's number keeps the two apart.
    Method(ProcessId, u64, u32),
}

/// Frames that are found again without a search.
const RECENT: usize = 1 << RECENT_BITS;
const RECENT_BITS: u32 = 15;

/// An address, and what it meant when it was looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RecentKey {
    address: u64,
    space: AddressSpace,
    images: u32,
    methods: u32,
}

impl RecentKey {
    /// No address that occurs has these epochs.
    const NONE: Self = Self { address: 0, space: AddressSpace::Kernel, images: u32::MAX, methods: u32::MAX };

    /// Programs are mapped at the same addresses in many processes: those of a few at a time meet in one place.
    #[inline]
    fn place(&self) -> usize {
        let space = match self.space {
            AddressSpace::Kernel => 0,
            AddressSpace::Process(process) => u64::from(process.0.cast_unsigned()) + 1,
        };
        let mixed = (self.address ^ space << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (u64::BITS - RECENT_BITS)) as usize
    }
}

/// The interner.
#[derive(Debug)]
pub struct Stacks {
    code: Arc<CodeMap>,
    halves: HalfFinder,
    epochs: SpaceEpochs,
    budget: usize,
    next_frame: usize,
    next_stack: usize,
    /// The frame at a place, and whether it has a name.
    frames: FxHashMap<FrameKey, (FrameId, bool)>,
    pairs: FxHashMap<Pair, StackId>,
    /// Those of `pairs` that were asked for last.
    known_pairs: KnownPairs,
    contents: FxHashMap<Fingerprint, StackId>,
    addresses: Vec<u64>,
    /// The kernel halves of chains.
    kernel_halves: KnownHalves,
    /// The frames of chains, each at the place that its key tells: most frames of a chain were met just before.
    recent: Vec<(RecentKey, FrameId)>,
    row: StackRow,
    /// How often the caches were dropped.
    generation: u32,
}

impl Stacks {
    /// An interner for code and keys that others may use as well; `budget` bounds the caches, in bytes.
    #[must_use]
    pub fn new(keys: Arc<StackKeys>, code: Arc<CodeMap>, budget: usize) -> Self {
        Self {
            halves: HalfFinder::new(keys, Arc::clone(&code), budget / 4),
            code,
            epochs: SpaceEpochs::default(),
            budget: budget / 2,
            next_frame: 0,
            next_stack: 0,
            frames: FxHashMap::default(),
            pairs: FxHashMap::default(),
            known_pairs: KnownPairs::default(),
            contents: FxHashMap::default(),
            addresses: Vec::new(),
            kernel_halves: KnownHalves::default(),
            recent: Vec::new(),
            row: StackRow { stack: StackId(0), frames: Vec::new() },
            generation: 0,
        }
    }

    /// Changes when caches are dropped: halves and stacks that are looked up again have other ids since.
    #[must_use]
    pub const fn generation(&self) -> (u32, u32) {
        (self.halves.generation(), self.generation)
    }

    /// File name of the .NET module that has a number of the runtime at a time.
    #[must_use]
    pub fn managed_module(&self, process: ProcessId, number: u64, ticks: i64) -> Option<&str> {
        self.code.methods.module_of_number(process, number, ticks)
    }

    /// Whether an address is kernel mode.
    #[must_use]
    pub fn is_kernel(&self, address: u64) -> bool {
        self.code.is_kernel(address)
    }

    /// Whether something defines the key of the `position`-th stack record.
    #[must_use]
    pub fn is_defined(&self, half: Half, key: u64, position: u64) -> bool {
        self.halves.is_defined(half, key, position)
    }

    /// The half that a key stands for; `None` (and counted) when nothing defines it.
    pub fn keyed_half(&mut self, reference: &KeyReference, health: &mut Health) -> Option<HalfId> {
        self.halves.keyed(reference, health)
    }

    /// The half with these addresses, leaf first, or a whole stack; which of them are kernel mode the addresses tell.
    pub fn inline_half(&mut self, process: ProcessId, frames: impl Iterator<Item = u64>, ticks: i64) -> Option<HalfId> {
        self.halves.inline(process, frames, ticks)
    }

    /// The stack with these addresses of the kernel at the leaf side and those of the process at the root side, leaf first: for chains that
    /// are recorded whole and looked up whole, so that nobody asks for their halves.
    pub fn whole(
        &mut self,
        process: ProcessId,
        kernel: impl Iterator<Item = u64> + Clone,
        user: impl Iterator<Item = u64>,
        ticks: i64,
        sink: &mut impl RowSink,
    ) -> Option<StackId> {
        self.flush_if_full();
        let mut frames = std::mem::take(&mut self.row.frames);
        frames.clear();
        let epochs = self.epochs(AddressSpace::Kernel, ticks);
        let half = fingerprint(kernel.clone());
        if let Some(known) = self.kernel_halves.get(epochs, half) {
            frames.extend_from_slice(known);
        } else {
            self.add_frames(&mut frames, AddressSpace::Kernel, kernel, ticks, sink);
            self.kernel_halves.insert(epochs, half, &frames);
        }
        self.add_frames(&mut frames, AddressSpace::Process(process), user, ticks, sink);
        self.row.frames = frames;
        (!self.row.frames.is_empty()).then(|| self.stack_of_row(sink))
    }

    /// Appends the frames at these addresses of a space.
    fn add_frames(
        &mut self,
        frames: &mut Vec<FrameId>,
        space: AddressSpace,
        addresses: impl Iterator<Item = u64>,
        ticks: i64,
        sink: &mut impl RowSink,
    ) {
        let mut epochs = None;
        for address in addresses.take(MAX_FRAMES) {
            let (images, methods) = *epochs.get_or_insert_with(|| self.epochs(space, ticks));
            let key = RecentKey { address, space, images, methods };
            let place = key.place();
            let frame = match self.recent.get(place) {
                Some((known, frame)) if *known == key => *frame,
                _ => {
                    let frame = self.frame_in(space, address, ticks, sink);
                    if self.recent.is_empty() {
                        self.recent.resize(RECENT, (RecentKey::NONE, FrameId(0)));
                    }
                    self.recent[place] = (key, frame);
                    frame
                }
            };
            frames.push(frame);
        }
    }

    /// The stack of a kernel half at the leaf side and a user half at the root side.
    pub fn stack(
        &mut self,
        kernel: Option<HalfId>,
        user: Option<HalfId>,
        health: &mut Health,
        sink: &mut impl RowSink,
    ) -> Option<StackId> {
        if kernel.is_none() && user.is_none() {
            return None;
        }
        let pair = (kernel, user);
        if let Some(id) = self.known_pairs.get(pair) {
            return Some(id);
        }
        if let Some(id) = self.pairs.get(&pair) {
            self.known_pairs.insert(pair, *id);
            return Some(*id);
        }
        self.row.frames.clear();
        for half in [kernel, user].into_iter().flatten() {
            if !self.add_frames_of(half, sink) {
                health.count(HealthKind::STACK_HALF_DROPPED, None, || "memory budget for stacks".to_owned());
            }
        }
        if self.row.frames.is_empty() {
            return None;
        }
        let id = self.stack_of_row(sink);
        self.pairs.insert(pair, id);
        self.known_pairs.insert(pair, id);
        Some(id)
    }

    /// Appends the frames of a half to the row at hand; `false` where the half is forgotten.
    fn add_frames_of(&mut self, id: HalfId, sink: &mut impl RowSink) -> bool {
        let Some(half) = self.halves.facts(id) else { return false };
        if let Some(frames) = self.halves.frames(id) {
            self.row.frames.extend_from_slice(frames);
            return true;
        }
        let mut addresses = std::mem::take(&mut self.addresses);
        addresses.clear();
        addresses.extend_from_slice(self.halves.addresses(id));
        let start = self.row.frames.len();
        for address in &addresses {
            let frame = self.frame(half.process, *address, half.ticks, sink);
            self.row.frames.push(frame);
        }
        self.addresses = addresses;
        self.halves.set_frames(id, &self.row.frames[start..]);
        true
    }

    /// The stack with the frames of the row at hand.
    fn stack_of_row(&mut self, sink: &mut impl RowSink) -> StackId {
        let content = fingerprint(self.row.frames.iter().map(|frame| u64::from(frame.0.cast_unsigned())));
        if let Some(id) = self.contents.get(&content) {
            return *id;
        }
        let id = StackId::from_index(self.next_stack);
        self.next_stack += 1;
        self.contents.insert(content, id);
        self.row.stack = id;
        sink.stack(&self.row);
        id
    }

    /// The frame at an address.
    pub fn frame(&mut self, process: ProcessId, address: u64, ticks: i64, sink: &mut impl RowSink) -> FrameId {
        let space = self.code.space_of(process, address);
        self.frame_in(space, address, ticks, sink)
    }

    /// The frame at an address of a space.
    pub fn frame_in(&mut self, space: AddressSpace, address: u64, ticks: i64, sink: &mut impl RowSink) -> FrameId {
        let process = match space {
            AddressSpace::Kernel => None,
            AddressSpace::Process(process) => Some(process),
        };
        let image = self.code.modules.find(space, address, ticks);
        let method = process.and_then(|process| match image {
            Some((module, rva)) => self.code.methods.find_in_image(process, module, rva),
            None => self.code.methods.find(process, address, ticks),
        });
        let key = match (image, process.zip(method)) {
            (Some((module, rva)), _) => FrameKey::Module(module, rva),
            (None, Some((process, found))) => FrameKey::Method(process, address, found.method.number),
            (None, None) => FrameKey::Address(space, address),
        };
        let in_module = image.map(|(module, _)| module);
        if let Some((id, named)) = self.frames.get_mut(&key) {
            let id = *id;
            // A frame in an image is the same in all processes, and this one may know its name.
            if let Some(found) = method.filter(|_| !std::mem::replace(named, true)) {
                self.name(id, in_module, found, sink);
            }
            return id;
        }
        let id = FrameId::from_index(self.next_frame);
        self.next_frame += 1;
        self.frames.insert(key, (id, method.is_some()));
        let mapped = image.map(|(module, rva)| (module, rva.cast_signed()));
        sink.frame(&FrameRow {
            frame: id,
            module: mapped.map(|(module, _)| module),
            rva: mapped.map(|(_, rva)| rva),
            process: process.filter(|_| mapped.is_none()),
            address: mapped.is_none().then_some(address.cast_signed()),
        });
        if let Some(found) = method {
            self.name(id, in_module, found, sink);
        }
        id
    }

    /// Writes what is known of the method at a frame.
    fn name(&self, frame: FrameId, image: Option<ModuleId>, found: MethodAt, sink: &mut impl RowSink) {
        let (methods, method) = (&self.code.methods, found.method);
        let image = image.map(|module| self.code.modules.modules[module.index()].name.as_str());
        sink.symbol(&SymbolRow {
            frame,
            depth: 0,
            module: image.or_else(|| methods.module(method)).map(str::to_owned),
            function: methods.function(method).to_owned(),
            arguments: methods.arguments(method).map(str::to_owned),
            source: method.source.word().to_owned(),
            ..SymbolRow::default()
        });
        let Some(path) = methods.module_path(method).filter(|_| method.is_defined()) else { return };
        let il_offset = |offset| methods.il_offset(method, offset).map(u32::cast_signed);
        let pdb = methods.pdb(method);
        sink.managed_code(&ManagedCodeRow {
            frame,
            path: path.to_owned(),
            pdb_name: pdb.map(|pdb| pdb.name.clone()),
            pdb_guid: pdb.map(|pdb| pdb.guid.clone()),
            pdb_age: pdb.map(|pdb| pdb.age.cast_signed()),
            token: method.token.cast_signed(),
            il_offset: il_offset(found.offset).filter(|_| method.has(found.offset)),
            call_il_offset: found.offset.checked_sub(1).and_then(il_offset),
        });
    }

    /// What was mapped where.
    #[must_use]
    pub fn modules(&self) -> &Modules {
        &self.code.modules
    }

    /// Frees what only the event pass needs and gives table `modules`.
    #[must_use]
    pub fn into_modules(self) -> Vec<ModuleRow> {
        let Self { code, halves, .. } = self;
        drop(halves);
        Arc::try_unwrap(code).map_or_else(|shared| shared.modules.modules.clone(), |code| code.modules.modules)
    }

    /// Numbers that change with what is mapped, and with what is compiled, in a space.
    #[inline]
    pub fn epochs(&mut self, space: AddressSpace, ticks: i64) -> (u32, u32) {
        let epoch = self.epochs.at(space, ticks, &self.code);
        (epoch.images, epoch.methods)
    }

    /// Bytes in the caches, roughly: entries of hash maps with their slack.
    fn used(&self) -> usize {
        self.frames.len() * 48 + self.pairs.len() * 40 + self.contents.len() * 40 + self.kernel_halves.bytes()
    }

    /// Drops tables that are full. Whoever works on slices of a recording says where: slices must not decide which ids stacks get.
    pub fn drop_full_tables(&mut self) {
        self.halves.flush_if_full();
        self.flush_if_full();
    }

    fn flush_if_full(&mut self) {
        if self.used() < self.budget {
            return;
        }
        self.generation = self.generation.wrapping_add(1);
        self.frames = FxHashMap::default();
        self.pairs = FxHashMap::default();
        self.known_pairs.clear();
        self.contents = FxHashMap::default();
        self.kernel_halves = KnownHalves::default();
    }
}
