//! Rows of switches: what a span was.

use super::events::Leave;
use super::states::{OffFacts, ReadyFacts};
use crate::clock::Clock;
use crate::rows::{ContextSwitchRow, switch_flags};

pub(super) fn fill_off(row: &mut ContextSwitchRow, off: OffFacts, ready: Option<ReadyFacts>, clock: Clock) {
    row.off_time = clock.ns(off.since);
    row.off_state = off.state;
    row.wait_reason = off.wait_reason;
    row.off_priority = off.priority;
    row.ideal_cpu = off.ideal_cpu;
    row.remaining_quantum = off.remaining_quantum;
    row.wait_stack = row.wait_stack.or(off.stack);
    if off.user_mode_wait {
        row.flags |= switch_flags::USER_MODE_WAIT;
    }
    if off.leave == Leave::Runnable {
        row.flags |= switch_flags::PREEMPTED;
    } else {
        // An event that came while the thread still ran counts at the switch-out.
        fill_ready(row, ready, clock, off.since);
    }
}

pub(super) fn fill_ready(row: &mut ContextSwitchRow, ready: Option<ReadyFacts>, clock: Clock, not_before: i64) {
    let Some(ReadyFacts { event, readier }) = ready else { return };
    row.ready_time = Some(clock.ns(event.ticks.max(not_before)));
    row.readier = readier;
    row.ready_cpu = i16::try_from(event.cpu).ok();
    row.adjust_reason = event.adjust_reason;
    row.adjust_increment = event.adjust_increment;
    row.ready_stack = event.stack;
    row.flags |= event.flags;
}
