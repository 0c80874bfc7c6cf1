//! Call chains: words, leaf first, with marks that say whose addresses follow.

use tracesift_perf::{CpuMode, Words};
use tracesift_trace::modules::AddressSpace;
use tracesift_trace::{FrameId, ProcessId, RowSink, StackId};

use super::rows::{Interrupted, Rows};

/// Words of a call chain from here on (as negative numbers) are no addresses but say whose addresses follow.
const CONTEXT_MAX: u64 = (-4095_i64).cast_unsigned();
/// User addresses follow.
pub(super) const CONTEXT_USER: u64 = (-512_i64).cast_unsigned();
/// Kernel addresses follow.
const CONTEXT_KERNEL: u64 = (-128_i64).cast_unsigned();

/// Whose addresses a stretch of a call chain has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Kernel,
    User,
    /// A virtual machine's.
    Other,
}

impl Side {
    fn of(mode: CpuMode) -> Self {
        match mode {
            CpuMode::Kernel => Self::Kernel,
            CpuMode::User => Self::User,
            _ => Self::Other,
        }
    }
}

/// The addresses of one side of a call chain, leaf first.
fn side_of(chain: Option<Words<'_>>, first: Side, wanted: Side) -> impl Iterator<Item = u64> + Clone {
    let mut side = first;
    chain.into_iter().flat_map(|chain| chain.iter()).filter(move |&word| {
        if word < CONTEXT_MAX {
            return side == wanted;
        }
        side = match word {
            CONTEXT_USER => Side::User,
            CONTEXT_KERNEL => Side::Kernel,
            _ => Side::Other,
        };
        false
    })
}

impl<Sink: RowSink> Rows<'_, Sink> {
    /// The call stack of a sample; `None` where none was recorded.
    pub(super) fn stack_of(&mut self, at: &Interrupted<'_>) -> Option<StackId> {
        // What stands behind the chain may have a say in the stack, too.
        let Some(chain) = at.chain.filter(|_| !at.sample.has_tail()) else { return self.new_stack(at) };
        let key = self.chains.key(chain, at.mode, at.process, at.ticks, &mut self.stacks);
        if let Some(known) = self.chains.get(&key) {
            return known;
        }
        let stack = self.new_stack(at);
        self.chains.insert(key, stack);
        stack
    }

    fn new_stack(&mut self, at: &Interrupted<'_>) -> Option<StackId> {
        let (chain, first) = (at.sample.callchain, Side::of(at.mode));
        let kernel = side_of(chain, first, Side::Kernel);
        let user = side_of(chain, first, Side::User);
        let recorded = || user.clone().count();
        let made = self.user_stacks.chain(at, recorded, self.stacks.modules(), &mut self.health);
        let (stack, is_made) = match made {
            Some(made) => (self.stacks.whole(at.process, kernel, made.iter().copied(), at.ticks, self.sink), true),
            None => (self.stacks.whole(at.process, kernel, user.clone(), at.ticks, self.sink), false),
        };
        if let Some(stack) = stack {
            let end = if is_made {
                self.user_stacks.end()
            } else {
                self.stack_ends.of_walked(user, at.process, self.stacks.modules(), at.ticks)
            };
            self.stack_ends.learn(stack, end);
        }
        stack
    }

    /// The sampled instruction as a frame, for a sample without a stack.
    pub(super) fn lone_frame(&mut self, mode: CpuMode, address: u64, process: ProcessId, ticks: i64) -> FrameId {
        let space = match Side::of(mode) {
            Side::Kernel => AddressSpace::Kernel,
            Side::User | Side::Other => AddressSpace::Process(process),
        };
        self.stacks.frame_in(space, address, ticks, self.sink)
    }
}
