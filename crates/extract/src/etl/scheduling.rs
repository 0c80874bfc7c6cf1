//! Switches, wake-ups and samples of Windows in the terms of the model.

use tracesift_etl::payload::{
    ContextSwitch, ReadyThread, SampledProfile, THREAD_STATE_DEFERRED_READY, THREAD_STATE_READY, THREAD_STATE_STANDBY,
    THREAD_STATE_TERMINATED, THREAD_STATE_WAITING, ready_flags, sample_flags as recorded_flags,
};
use tracesift_trace::ids::{ProcessId, StackId, ThreadId};
use tracesift_trace::rows::{CpuSampleRow, sample_flags, switch_flags};
use tracesift_trace::stack_binder::UserHalves;
use tracesift_trace::switches::{Leave, Ready, Switch};

/// A context switch.
pub(super) fn switch(
    (ticks, cpu): (i64, u16),
    event: &ContextSwitch,
    (new, old): (ThreadId, ThreadId),
    stack: Option<StackId>,
    counters: Option<Vec<i64>>,
) -> Switch {
    let leave = match event.old_thread_state {
        THREAD_STATE_READY | THREAD_STATE_STANDBY | THREAD_STATE_DEFERRED_READY => Leave::Runnable,
        THREAD_STATE_TERMINATED => Leave::Ended,
        _ => Leave::Blocked,
    };
    let waits = event.old_thread_state == THREAD_STATE_WAITING;
    Switch {
        ticks,
        cpu: Some(cpu),
        new: Some(new),
        old: Some(old),
        leave,
        old_state: Some(event.old_thread_state.cast_signed()),
        wait_reason: waits.then_some(event.old_thread_wait_reason.cast_signed()),
        user_mode_wait: waits && event.waits_in_user_mode(),
        new_priority: Some(event.new_thread_priority),
        old_priority: Some(event.old_thread_priority),
        old_ideal_cpu: Some(i16::from(event.old_thread_ideal_processor)),
        old_remaining_quantum: event.old_thread_remaining_quantum.map(i64::from),
        previous_c_state: event.previous_c_state.map(u8::cast_signed).filter(|_| event.old_thread_id == 0),
        new_wait_ticks: event.new_thread_wait_time.map(i64::from),
        new_stack: stack,
        old_stack: None,
        counters,
    }
}

/// A ready event.
pub(super) fn ready((ticks, cpu): (i64, u16), event: &ReadyThread, thread: ThreadId, stack: Option<StackId>) -> Ready {
    let flags = [
        (ready_flags::FROM_DPC, switch_flags::READIED_FROM_DPC),
        (ready_flags::KERNEL_STACK_SWAPPED_OUT, switch_flags::KERNEL_STACK_SWAPPED_OUT),
        (ready_flags::PROCESS_SWAPPED_OUT, switch_flags::PROCESS_SWAPPED_OUT),
        (ready_flags::DIRECT_HAND_OFF, switch_flags::DIRECT_HAND_OFF),
    ];
    Ready {
        ticks,
        cpu,
        thread,
        readier: None,
        adjust_reason: Some(event.adjust_reason),
        adjust_increment: Some(event.adjust_increment),
        flags: flags.iter().filter(|(bit, _)| event.flags & bit != 0).fold(0, |all, (_, flag)| all | flag),
        stack,
    }
}

/// The user halves that the stack of a ready event takes: a deferred procedure call readies on its own account, and what the interrupted
/// thread does later is not its stack.
pub(super) fn user_halves(event: &ReadyThread) -> UserHalves {
    if event.flags & ready_flags::FROM_DPC != 0 { UserHalves::Own } else { UserHalves::Shared }
}

/// The flags of a sample's row.
pub(super) fn flags_of_sample(event: &SampledProfile) -> i8 {
    let flags = [(recorded_flags::DPC, sample_flags::DPC), (recorded_flags::ISR, sample_flags::ISR)];
    let set = flags.iter().filter(|(bit, _)| event.flags.unwrap_or(0) & bit != 0);
    set.fold(0, |all, (_, flag)| all | flag)
}

/// A sample at a time, ns, of which `weight` is one of those that it stands for.
pub(super) fn sample(
    (time, cpu): (i64, u16),
    event: &SampledProfile,
    (process, thread): (ProcessId, ThreadId),
    stack: Option<StackId>,
    weight: i64,
) -> CpuSampleRow {
    CpuSampleRow {
        time,
        cpu: i16::try_from(cpu).unwrap_or(i16::MAX),
        process,
        thread,
        weight: weight.saturating_mul(i64::from(event.count)),
        stack,
        frame: None,
        priority: event.priority().map(u8::cast_signed),
        flags: flags_of_sample(event),
    }
}
