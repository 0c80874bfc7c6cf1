//! Stacks of events: in the event itself, or behind it.

use tracesift_etl::{Record, class};
use tracesift_trace::RowSink;
use tracesift_trace::ids::StackId;
use tracesift_trace::stack_binder::UserHalves;
use tracesift_trace::stack_keys::Half;
use tracesift_trace::stacks::{HalfId, KeyReference};

use super::SecondPass;
use crate::etl::inventory::USER_STACK;
use crate::event_kinds::is_injected;

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// The stack of an event that is kept, `behind` being that from the .NET runtime. What was recorded for the rows of typed
    /// tables stays theirs.
    pub(super) fn event_stack(&mut self, record: &Record<'_>, behind: Option<HalfId>) -> Option<StackId> {
        if let Some(taken) = self.taken {
            return taken;
        }
        let is_user_half =
            || record.provider() == Some(class::KERNEL_EVENT_TRACING) && record.event_id() == Some(USER_STACK);
        // What a merge tool wrote has copied time stamps; what brings the stack of another event has none itself.
        if record.is_stack_walk() || record.class_guid().is_some_and(is_injected) || is_user_half() {
            return None;
        }
        let (ticks, cpu) = (record.time(), record.cpu());
        let (kernel, user) = match self.stack_in(record) {
            (None, None) if behind.is_some() => (None, behind),
            (None, None) => {
                let running = || self.running(cpu).map(|thread| self.population.tid_of(thread));
                let tid = record.tid().or_else(running);
                let user = if record.kind().is_kernel() { UserHalves::Shared } else { UserHalves::Own };
                self.binder.peek(ticks, tid, cpu, user)
            }
            halves => halves,
        };
        self.stacks.stack(kernel, user, &mut self.health, self.sink)
    }

    /// Kernel and user half of the stack in the event's own items.
    fn stack_in(&mut self, record: &Record<'_>) -> (Option<HalfId>, Option<HalfId>) {
        let (mut kernel, mut user) = (None, None);
        for item in record.extended_items() {
            let ticks = record.time();
            let (match_id, half) = if let Some(stack) = item.stack() {
                let process = self.population.process_at(record.pid().unwrap_or(0), ticks);
                (stack.match_id, self.stacks.inline_half(process, stack.frames(), ticks))
            } else if let Some((match_id, key)) = item.stack_key() {
                let process = self.population.process_at(record.pid().unwrap_or(0), ticks);
                let position = self.stack_records_passed;
                // The item does not say which half its key stands for.
                let half =
                    [Half::User, Half::Kernel].into_iter().find(|half| self.stacks.is_defined(*half, key, position));
                let half = half.unwrap_or(Half::Kernel);
                let reference = KeyReference { half, key, position, ticks, process };
                let keyed = self.stacks.keyed_half(&reference, &mut self.health_of_items);
                (match_id, keyed)
            } else {
                continue;
            };
            if match_id == 0 {
                user = half;
            } else {
                kernel = half;
                user = user.or(self.matching);
            }
        }
        (kernel, user)
    }
}
