//! Call chains seen before: which stack one is needs neither its frames nor its marks then.

use rustc_hash::FxHashMap;
use tracesift_perf::{ChainNumber, CpuMode};
use tracesift_trace::modules::AddressSpace;
use tracesift_trace::stacks::Stacks;
use tracesift_trace::{ProcessId, StackId};

/// Bytes of an entry, with the free places of a hash map.
const ENTRY: usize = 2 * size_of::<(Key, i32)>();
/// Where a chain has no stack.
const NO_STACK: i32 = -1;

/// The stacks of whole chains. Nearly every look at it meets memory that the processor's cache has lost: the less an entry takes, the
/// fewer do.
#[derive(Debug)]
pub(crate) struct ChainCache {
    stacks: FxHashMap<Key, i32>,
    capacity: usize,
    /// By process.
    meanings: Vec<Meaning>,
    next_meaning: u32,
}

/// What the words of a chain mean in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    chain: ChainNumber,
    process: ProcessId,
    /// Twice the number of the meaning, and 1 where the kernel's addresses come before the first mark.
    meaning: u32,
}

/// What addresses mean in a process, as long as nothing is mapped otherwise there or in the kernel.
#[derive(Clone, Copy, Debug)]
struct Meaning {
    number: u32,
    kernel_images: u32,
    images: u32,
    methods: u32,
}

impl Meaning {
    /// No address that occurs has these epochs.
    const NONE: Self = Self { number: 0, kernel_images: u32::MAX, images: u32::MAX, methods: u32::MAX };
}

impl ChainCache {
    /// A cache of about so many bytes. When it is full it starts anew.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { stacks: FxHashMap::default(), capacity: bytes / ENTRY, meanings: Vec::new(), next_meaning: 0 }
    }

    #[inline]
    pub(super) fn key(
        &mut self,
        chain: ChainNumber,
        mode: CpuMode,
        process: ProcessId,
        ticks: i64,
        stacks: &mut Stacks,
    ) -> Key {
        let (kernel_images, _) = stacks.epochs(AddressSpace::Kernel, ticks);
        let (images, methods) = stacks.epochs(AddressSpace::Process(process), ticks);
        if self.meanings.len() <= process.index() {
            self.meanings.resize(process.index() + 1, Meaning::NONE);
        }
        let meaning = &mut self.meanings[process.index()];
        if (meaning.kernel_images, meaning.images, meaning.methods) != (kernel_images, images, methods) {
            *meaning = Meaning { number: self.next_meaning, kernel_images, images, methods };
            self.next_meaning = self.next_meaning.wrapping_add(1);
            // Before numbers come again nothing is left that has them.
            if self.next_meaning >= u32::MAX / 2 {
                self.next_meaning = 0;
                self.meanings.clear();
                self.stacks = FxHashMap::default();
                return self.key(chain, mode, process, ticks, stacks);
            }
        }
        Key { chain, process, meaning: 2 * meaning.number + u32::from(mode == CpuMode::Kernel) }
    }

    /// The stack of a chain that was seen before.
    #[inline]
    pub(super) fn get(&self, key: &Key) -> Option<Option<StackId>> {
        let stack = *self.stacks.get(key)?;
        Some((stack != NO_STACK).then_some(StackId(stack)))
    }

    /// Notes the stack of a chain.
    pub(super) fn insert(&mut self, key: Key, stack: Option<StackId>) {
        if self.stacks.len() >= self.capacity {
            self.stacks = FxHashMap::default();
        }
        self.stacks.insert(key, stack.map_or(NO_STACK, |stack| stack.0));
    }
}
