//! Call chains seen before: which stack one is needs neither its frames nor its marks then.

use rustc_hash::FxHashMap;
use tracesift_perf::{ChainNumber, CpuMode};
use tracesift_trace::modules::AddressSpace;
use tracesift_trace::stacks::Stacks;
use tracesift_trace::{ProcessId, StackId};

/// Bytes of an entry, with the free places of a hash map.
const ENTRY: usize = 2 * size_of::<(Key, Option<StackId>)>();

/// The stacks of whole chains.
#[derive(Debug)]
pub(crate) struct ChainCache {
    stacks: FxHashMap<Key, Option<StackId>>,
    capacity: usize,
}

/// What the words of a chain mean in a process, as long as nothing is mapped otherwise there or in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    chain: ChainNumber,
    process: ProcessId,
    kernel_images: u32,
    images: u32,
    methods: u32,
    /// Whose addresses come before the first mark.
    is_kernel_first: bool,
}

impl ChainCache {
    /// A cache of about so many bytes. When it is full it starts anew.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { stacks: FxHashMap::default(), capacity: bytes / ENTRY }
    }

    #[inline]
    pub(super) fn key(chain: ChainNumber, mode: CpuMode, process: ProcessId, ticks: i64, stacks: &mut Stacks) -> Key {
        let (kernel_images, _) = stacks.epochs(AddressSpace::Kernel, ticks);
        let (images, methods) = stacks.epochs(AddressSpace::Process(process), ticks);
        Key { chain, process, kernel_images, images, methods, is_kernel_first: mode == CpuMode::Kernel }
    }

    /// The stack of a chain that was seen before.
    #[inline]
    pub(super) fn get(&self, key: &Key) -> Option<Option<StackId>> {
        self.stacks.get(key).copied()
    }

    /// Notes the stack of a chain.
    pub(super) fn insert(&mut self, key: Key, stack: Option<StackId>) {
        if self.stacks.len() >= self.capacity {
            self.stacks = FxHashMap::default();
        }
        self.stacks.insert(key, stack);
    }
}
