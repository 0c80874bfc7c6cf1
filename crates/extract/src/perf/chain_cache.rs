//! Call chains seen before. Most samples repeat one, word by word; which stack it is needs neither its frames nor its marks then.

use rustc_hash::FxHashMap;
use tracesift_perf::Words;
use tracesift_trace::fingerprint::{Fingerprint, fingerprint};
use tracesift_trace::modules::AddressSpace;
use tracesift_trace::stacks::Stacks;
use tracesift_trace::{ProcessId, StackId};

/// Bytes of an entry, with the free places of a hash map.
const ENTRY: usize = 2 * size_of::<(Fingerprint, Option<StackId>)>();

/// The stacks of whole chains.
#[derive(Debug)]
pub(crate) struct ChainCache {
    stacks: FxHashMap<Fingerprint, Option<StackId>>,
    capacity: usize,
}

impl ChainCache {
    /// A cache of about so many bytes. When it is full it starts anew.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { stacks: FxHashMap::default(), capacity: bytes / ENTRY }
    }

    /// What the words of a chain mean in a process at a time, as long as nothing is mapped otherwise there or in the kernel.
    /// `side` is whose addresses come before the first mark.
    pub(super) fn key(chain: Words<'_>, side: u8, process: ProcessId, ticks: i64, stacks: &mut Stacks) -> Fingerprint {
        let (kernel, _) = stacks.epochs(AddressSpace::Kernel, ticks);
        let (images, methods) = stacks.epochs(AddressSpace::Process(process), ticks);
        let process = u64::from(process.0.cast_unsigned());
        let seed =
            (process << 32 | u64::from(images), u64::from(kernel) << 34 | u64::from(methods) << 2 | u64::from(side));
        // Numbers of one recording have one byte order; which one does not matter here.
        fingerprint(seed, chain.as_recorded().iter().map(|word| u64::from_le_bytes(*word)))
    }

    /// The stack of a chain that was seen before.
    #[inline]
    pub(super) fn get(&self, key: Fingerprint) -> Option<Option<StackId>> {
        self.stacks.get(&key).copied()
    }

    /// Notes the stack of a chain.
    pub(super) fn insert(&mut self, key: Fingerprint, stack: Option<StackId>) {
        if self.stacks.len() >= self.capacity {
            self.stacks = FxHashMap::default();
        }
        self.stacks.insert(key, stack);
    }
}
