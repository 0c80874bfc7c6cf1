//! Call chains seen before: which stack one is needs neither its frames nor its marks then.

use tracesift_perf::{ChainNumber, CpuMode};
use tracesift_prefetch::prefetch;
use tracesift_trace::modules::AddressSpace;
use tracesift_trace::stacks::Stacks;
use tracesift_trace::{ProcessId, StackId};

/// Where a chain has no stack. Ids of stacks begin with 1 here, so that an entry of zeros is none.
const NO_STACK: u32 = u32::MAX;

/// The stacks of whole chains. Nearly every look at it meets memory that the processor's cache has lost, so it is asked for early
/// ([`Self::ask_for`]); for that the place of an entry must follow from what a record says without a look-up: its chain and its pid. Two
/// keys of one place displace each other.
#[derive(Debug)]
pub(crate) struct ChainCache {
    /// As many as a power of two.
    entries: Vec<Entry>,
    /// By process.
    meanings: Vec<Meaning>,
    next_meaning: u32,
}

/// The stack of a chain; all zeros where there is none.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    chain: ChainNumber,
    meaning: u32,
    stack: u32,
}

/// What a chain is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    place: usize,
    chain: ChainNumber,
    /// Twice the number of the meaning, and 1 where the kernel's addresses come before the first mark. Processes share no number.
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
    /// A cache of at most so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let count = (bytes / size_of::<Entry>()).max(2);
        let count = if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 };
        Self { entries: vec![Entry::default(); count], meanings: Vec::new(), next_meaning: 0 }
    }

    /// The place of a chain in a process with this pid.
    #[inline]
    fn place(&self, chain: ChainNumber, pid: Option<i32>) -> usize {
        let both = u64::from(chain) | u64::from(pid.unwrap_or(-1).cast_unsigned()) << 32;
        // Fibonacci hashing: the upper bits of the product depend on all bits.
        let mixed = (both ^ both >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        mixed as usize & (self.entries.len() - 1)
    }

    /// Asks for the memory of a chain that is looked up soon.
    #[inline]
    pub(crate) fn ask_for(&self, chain: ChainNumber, pid: Option<i32>) {
        prefetch(self.entries.get(self.place(chain, pid)..).unwrap_or_default());
    }

    /// What a chain of a process is.
    #[inline]
    pub(super) fn key(
        &mut self,
        (chain, mode): (ChainNumber, CpuMode),
        (pid, process): (Option<i32>, ProcessId),
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
                self.entries.fill(Entry::default());
                return self.key((chain, mode), (pid, process), ticks, stacks);
            }
        }
        let meaning = 2 * meaning.number + u32::from(mode == CpuMode::Kernel);
        Key { place: self.place(chain, pid), chain, meaning }
    }

    /// The stack of a chain that was seen before.
    #[inline]
    pub(super) fn get(&self, key: &Key) -> Option<Option<StackId>> {
        let Entry { chain, meaning, stack } = *self.entries.get(key.place)?;
        if stack == 0 || (chain, meaning) != (key.chain, key.meaning) {
            return None;
        }
        Some((stack != NO_STACK).then(|| StackId((stack - 1).cast_signed())))
    }

    /// Notes the stack of a chain.
    pub(super) fn insert(&mut self, key: &Key, stack: Option<StackId>) {
        if let Some(entry) = self.entries.get_mut(key.place) {
            let stack = stack.map_or(NO_STACK, |stack| stack.0.cast_unsigned() + 1);
            *entry = Entry { chain: key.chain, meaning: key.meaning, stack };
        }
    }
}
