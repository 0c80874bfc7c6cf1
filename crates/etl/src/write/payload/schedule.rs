//! Scheduling and sampling.

use super::Bytes;
use crate::write::Hook;

/// States in [`ContextSwitch::old_state`].
pub mod thread_state {
    /// Runnable: the thread was preempted.
    pub const READY: i8 = 1;
    /// Chosen to run next on a CPU.
    pub const STANDBY: i8 = 3;
    /// Ended.
    pub const TERMINATED: i8 = 4;
    /// Blocked.
    pub const WAITING: i8 = 5;
    /// Runnable, not yet assigned to a CPU.
    pub const DEFERRED_READY: i8 = 7;
}

/// Context switch, versions 2 to 4 (24 bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextSwitch {
    /// Thread that is switched in; 0 is the CPU's idle thread.
    pub new_tid: u32,
    /// Thread that is switched out.
    pub old_tid: u32,
    /// Priority of the new thread.
    pub new_priority: i8,
    /// Priority of the old thread.
    pub old_priority: i8,
    /// C-state that the CPU comes from when it was idle.
    pub previous_c_state: u8,
    /// Why the old thread waits; valid in state Waiting.
    pub wait_reason: i8,
    /// 0 kernel mode, 1 user mode.
    pub wait_mode: i8,
    /// State that the old thread enters: see [`thread_state`].
    pub old_state: i8,
    /// Ideal CPU of the old thread.
    pub ideal_cpu: u8,
    /// Clock interrupts that the new thread has waited.
    pub new_wait_ticks: u32,
    /// Remaining quantum of the old thread.
    pub remaining_quantum: u32,
}

impl ContextSwitch {
    /// Version 2, the layout of Windows 7; versions 3 and 4 have the same bytes.
    pub const HOOK: Hook = Hook::new(5, 36, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u32(self.new_tid);
        out.u32(self.old_tid);
        out.bytes(&[
            self.new_priority.cast_unsigned(),
            self.old_priority.cast_unsigned(),
            self.previous_c_state,
            0,
            self.wait_reason.cast_unsigned(),
            self.wait_mode.cast_unsigned(),
            self.old_state.cast_unsigned(),
            self.ideal_cpu,
        ]);
        out.u32(self.new_wait_ticks);
        out.u32(self.remaining_quantum);
    }
}

/// Ready event: a thread becomes runnable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadyThread {
    /// Thread that becomes runnable. The readier is the thread that runs on the event's CPU.
    pub tid: u32,
    /// 0 none, 1 unwait, 2 boost.
    pub adjust_reason: i8,
    /// Priority increment.
    pub adjust_increment: i8,
    /// 1 from a deferred procedure call, 2 kernel stack swapped out, 4 process swapped out, 8 direct hand-off.
    pub flags: u8,
}

impl ReadyThread {
    /// Ready event.
    pub const HOOK: Hook = Hook::new(5, 50, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u32(self.tid);
        out.bytes(&[self.adjust_reason.cast_unsigned(), self.adjust_increment.cast_unsigned(), self.flags, 0]);
    }
}

/// Sample of the timer source, version 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Sampled instruction.
    pub instruction: u64,
    /// Thread that ran.
    pub tid: u32,
    /// Intervals that this record stands for.
    pub count: u16,
    /// Whether it fell into a deferred procedure call.
    pub in_dpc: bool,
    /// Whether it fell into an interrupt service routine.
    pub in_isr: bool,
    /// Priority of the thread, 0 to 31.
    pub priority: u8,
}

impl Sample {
    /// Sample.
    pub const HOOK: Hook = Hook::new(15, 46, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.pointer(self.instruction);
        out.u32(self.tid);
        out.u16(self.count);
        out.bytes(&[u8::from(self.in_dpc) | u8::from(self.in_isr) << 1 | self.priority << 3, 0]);
    }
}

/// Sample of a hardware counter that overflowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterSample {
    /// Sampled instruction.
    pub instruction: u64,
    /// Thread that ran.
    pub tid: u32,
    /// Number of the profile source, from 1.
    pub source: u16,
}

impl CounterSample {
    /// Counter sample.
    pub const HOOK: Hook = Hook::new(15, 47, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.pointer(self.instruction);
        out.u32(self.tid);
        out.u16(self.source);
        out.u16(0);
    }
}

/// Names of the hardware counters that records carry in their headers, in that order.
#[derive(Clone, Copy, Debug)]
pub struct CounterNames<'a> {
    /// Names.
    pub names: &'a [&'a str],
}

impl CounterNames<'_> {
    /// Counter configuration.
    pub const HOOK: Hook = Hook::new(15, 48, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u32(self.names.len() as u32);
        for name in self.names {
            out.utf16(name);
        }
    }
}

/// Interval of a sampling source, version 3.
#[derive(Clone, Copy, Debug)]
pub struct SampleInterval<'a> {
    /// Number of the source; 0 is the timer.
    pub source: u32,
    /// Interval from now on; 100 ns for the timer, events for counters.
    pub new_interval: u32,
    /// Interval before.
    pub old_interval: u32,
    /// Name of the source.
    pub name: &'a str,
}

impl SampleInterval<'_> {
    /// The interval changes.
    pub const SET: Hook = Hook::new(15, 72, 3);
    /// In force when the session starts.
    pub const START: Hook = Hook::new(15, 73, 3);
    /// In force when the session ends.
    pub const END: Hook = Hook::new(15, 74, 3);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u32(self.source);
        out.u32(self.new_interval);
        out.u32(self.old_interval);
        out.utf16(self.name);
    }
}
