//! Call chains become stacks.

use tracesift_trace::modules::AddressSpace;
use tracesift_trace::{FrameId, RowSink, StackId};

use super::chain_words::{Side, side_of};
use super::rows::Rows;
use super::sample_context::SampleContext;

/// The call stack of a sample; `None` where none was recorded.
pub(super) fn stack_of<Sink: RowSink>(at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) -> Option<StackId> {
    // What stands behind the chain may have a say in the stack, too.
    let Some(chain) = at.chain.filter(|_| !at.sample.has_tail()) else { return new_stack(at, rows) };
    let key = rows.chains.key((chain, at.mode), (at.sample.pid, at.process), at.ticks, &mut rows.stacks);
    if let Some(known) = rows.chains.get(&key) {
        return known;
    }
    let stack = new_stack(at, rows);
    rows.chains.insert(&key, stack);
    stack
}

/// The call stack of the first instruction of a function, whose caller is known. The function has no frame yet, so frame pointers lead
/// from it to the caller of its caller.
pub(super) fn stack_with_caller<Sink: RowSink>(
    at: &SampleContext<'_>,
    caller: u64,
    rows: &mut Rows<'_, Sink>,
) -> Option<StackId> {
    let user = side_of(at.sample.callchain, Side::of(at.mode), Side::User);
    // Some kernels know the caller, and stacks that were copied lead to it.
    if at.sample.has_tail() || user.clone().next().is_none() || user.clone().nth(1) == Some(caller) {
        return stack_of(at, rows);
    }
    let whole = user.clone().take(1).chain([caller]).chain(user.skip(1));
    let stack = rows.stacks.whole(at.process, std::iter::empty(), whole.clone(), at.ticks, rows.sink);
    if let Some(stack) = stack {
        let end = rows.stack_ends.of_walked(whole, at.process, rows.stacks.modules(), at.ticks);
        rows.stack_ends.learn(stack, end);
    }
    stack
}

fn new_stack<Sink: RowSink>(at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) -> Option<StackId> {
    let (chain, first) = (at.sample.callchain, Side::of(at.mode));
    let kernel = side_of(chain, first, Side::Kernel);
    let user = side_of(chain, first, Side::User);
    let recorded = || user.clone().count();
    let unwound = rows.user_stacks.chain(at, recorded, rows.stacks.modules(), &mut rows.health);
    let (stack, is_unwound) = match unwound {
        Some(chain) => (rows.stacks.whole(at.process, kernel, chain.iter().copied(), at.ticks, rows.sink), true),
        None => (rows.stacks.whole(at.process, kernel, user.clone(), at.ticks, rows.sink), false),
    };
    if let Some(stack) = stack {
        let end = if is_unwound {
            rows.user_stacks.end()
        } else {
            rows.stack_ends.of_walked(user, at.process, rows.stacks.modules(), at.ticks)
        };
        rows.stack_ends.learn(stack, end);
    }
    stack
}

/// The sampled instruction as a frame, for a sample without a stack.
pub(super) fn lone_frame<Sink: RowSink>(
    at: &SampleContext<'_>,
    stack: Option<StackId>,
    rows: &mut Rows<'_, Sink>,
) -> Option<FrameId> {
    let address = at.sample.ip.filter(|_| stack.is_none())?;
    let space = match Side::of(at.mode) {
        Side::Kernel => AddressSpace::Kernel,
        Side::User | Side::Other => AddressSpace::Process(at.process),
    };
    Some(rows.stacks.frame_in(space, address, at.ticks, rows.sink))
}
