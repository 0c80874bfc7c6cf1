//! Samples, context switches and marks.

use crate::ids::{FrameId, ProcessId, StackId, ThreadId};
use crate::row;

/// Bits of [`CpuSampleRow::flags`].
pub mod sample_flags {
    /// The sample fell into a deferred procedure call.
    pub const DPC: i8 = 1;
    /// The sample fell into an interrupt service routine.
    pub const ISR: i8 = 2;
}

/// Bits of [`ContextSwitchRow::flags`].
pub mod switch_flags {
    /// The off-CPU span touches a broken switch chain: its time is unknown, neither wait nor ready.
    pub const BROKEN: i16 = 1;
    /// The thread was not seen to leave: off the CPU at the left edge. Counted as open up to `ready_time`, which is only set
    /// where the thread was born inside the recording.
    pub const OPEN_LEFT: i16 = 2;
    /// No switch-in: the row closes a span that is still open at the end of the thread or of the recording.
    pub const OPEN_RIGHT: i16 = 4;
    /// No switch-in: the row ends a span of unknown time at the moment at which a broken chain shows the thread running.
    pub const GAP: i16 = 8;
    /// The thread left while runnable: the whole span is ready time.
    pub const PREEMPTED: i16 = 16;
    /// The ready event ran in a deferred procedure call, on Linux in an interrupt or a softirq; the readier is the thread that was
    /// interrupted by it.
    pub const READIED_FROM_DPC: i16 = 32;
    /// The kernel stack was swapped out when the thread was readied.
    pub const KERNEL_STACK_SWAPPED_OUT: i16 = 64;
    /// The process was swapped out when the thread was readied.
    pub const PROCESS_SWAPPED_OUT: i16 = 128;
    /// The readier handed its CPU over to the thread directly.
    pub const DIRECT_HAND_OFF: i16 = 256;
    /// The thread had been switched out in user mode (wait mode 1).
    pub const USER_MODE_WAIT: i16 = 512;
    /// No switch-in: the thread left the CPU for the last time in state Terminated. The span is empty.
    pub const TERMINATED: i16 = 1024;
    /// The bits of rows that no switch-in ends: the thread does not run after them.
    pub const NO_SWITCH_IN: i16 = OPEN_RIGHT | GAP | TERMINATED;
}

row! {
    /// One sample of the timer, or of the event that stands for it on Linux: a CPU or task clock,
    /// else cycles that were recorded with a frequency.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct CpuSampleRow in "cpu_samples", always: false, since: 0, At(time) {
        /// Time of the sample.
        time: i64, Delta, "ns", "PerfInfo/Sample; perf sample time";
        /// CPU; −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "buffer that holds the event; perf sample cpu";
        /// The process that is charged: the process of the thread, or `DPC/ISR` for interrupts of
        /// the idle thread.
        process: ProcessId, Dictionary, "", "`threads`, flags of PerfInfo/Sample";
        /// The thread that ran.
        thread: ThreadId, Dictionary, "", "PerfInfo/Sample ThreadId; perf sample tid";
        /// CPU time that the sample stands for. On Windows the sampling interval in force × the
        /// count of the event; on Linux the period of a clock event, else a second divided by the
        /// frequency.
        weight: i64, Dictionary, "ns", "PerfInfo/Sample Count, PerfInfo/SetInterval, CollectionStart; perf sample period, attr period or frequency";
        /// Call stack.
        stack: Option<StackId>, Dictionary, "", "StackWalk/Stack of this event; perf sample callchain";
        /// The sampled instruction, only where there is no stack.
        frame: Option<FrameId>, Dictionary, "", "PerfInfo/Sample InstructionPointer; perf sample ip";
        /// Priority of the thread; null on Linux.
        priority: Option<i8>, Dictionary, "", "PerfInfo/Sample flags bits 3 to 7";
        /// Sum of 1 (in a deferred procedure call, DPC) and 2 (in an interrupt service routine,
        /// ISR); 0 on Linux.
        flags: i8, Dictionary, "", "PerfInfo/Sample flags bits 0 and 1";
    }
}

row! {
    /// One overflow of a hardware counter. It counts events of the processor and is never CPU time.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct CounterSampleRow in "counter_samples", always: false, since: 0, At(time) {
        /// Time of the sample.
        time: i64, Delta, "ns", "PerfInfo/PMCSample; perf sample time";
        /// CPU; −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "buffer that holds the event; perf sample cpu";
        /// Process of the thread.
        process: ProcessId, Dictionary, "", "`threads`";
        /// The thread that ran.
        thread: ThreadId, Dictionary, "", "PerfInfo/PMCSample ThreadId; perf sample tid";
        /// Number of the profile source; its name is in `trace.json` under `sample_sources`.
        source: i32, Dictionary, "", "PerfInfo/PMCSample ProfileSource; perf attr";
        /// Call stack.
        stack: Option<StackId>, Dictionary, "", "StackWalk/Stack of this event; perf sample callchain";
        /// The sampled instruction, only where there is no stack.
        frame: Option<FrameId>, Dictionary, "", "PerfInfo/PMCSample InstructionPointer; perf sample ip";
        /// Events that the sample stands for: the interval of the source; null where the recording
        /// does not tell.
        period: Option<i64>, Dictionary, "events", "PerfInfo/CollectionStart, SetInterval; perf sample period, attr period", since: 7;
        /// What the counter counts: 1 instructions, 2 cycles, 3 branches, 4 branches that were
        /// predicted wrongly, 5 misses of the last cache, 6 accesses to it; null: another thing.
        role: Option<i8>, Dictionary, "", "name of the source", since: 7;
    }
}

row! {
    /// One switch-in with the off-CPU span [off_time, time) that it ends, and one closing row for a
    /// thread that is off the CPU when it ends or the recording ends. Every thread with a switch
    /// has at least one row. Between two rows of a thread it runs: from `time` to the `off_time` of
    /// its next row.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ContextSwitchRow in "context_switches", always: false, since: 0, Span(off_time, time) {
        /// Time of the switch-in; of the closing in a closing row (flag 4); of the end of the gap
        /// in a gap row (flag 8).
        time: i64, Delta, "ns", "Thread/CSwitch, sched_switch, PERF_RECORD_SWITCH to the thread";
        /// CPU that the thread is switched in on; null in closing rows.
        cpu: Option<i16>, ByteStreamSplit, "", "buffer that holds the Thread/CSwitch";
        /// The thread that is switched in.
        thread: ThreadId, ByteStreamSplit, "", "Thread/CSwitch NewThreadId";
        /// The thread that leaves the CPU at this switch; null in closing and gap rows.
        prev_thread: Option<ThreadId>, ByteStreamSplit, "", "Thread/CSwitch OldThreadId";
        /// Time at which this thread left the CPU; with flag 2 the start of the thread, or of the
        /// recording.
        off_time: i64, ByteStreamSplit, "ns", "Thread/CSwitch away from the thread";
        /// State that it entered then: 0 Initialized, 1 Ready, 2 Running, 3 Standby, 4 Terminated,
        /// 5 Waiting, 6 Transition, 7 DeferredReady; of a Linux recording the letter of the state
        /// as its ASCII number: 82 R, 83 S, 68 D and so on.
        off_state: Option<i8>, Dictionary, "", "Thread/CSwitch OldThreadState, sched_switch prev_state, of the switch at `off_time`";
        /// Wait reason, when it entered the state Waiting: 0 Executive, 6 UserRequest, 13
        /// WrUserRequest, 15 WrQueue and so on, as Windows numbers them.
        wait_reason: Option<i8>, Dictionary, "", "Thread/CSwitch OldThreadWaitReason, of the switch at `off_time`";
        /// First ready event in the span, which ends the wait and begins the ready time.
        ready_time: Option<i64>, Delta, "ns", "Dispatcher/ReadyThread, sched_waking, sched_wakeup";
        /// The thread that readied it.
        readier: Option<ThreadId>, ByteStreamSplit, "", "thread on the CPU of the Dispatcher/ReadyThread, thread of the sched_waking";
        /// CPU on which the ready event was logged.
        ready_cpu: Option<i16>, Dictionary, "", "buffer that holds the Dispatcher/ReadyThread";
        /// Why the priority was adjusted: 0 none, 1 unwait, 2 boost.
        adjust_reason: Option<i8>, Dictionary, "", "Dispatcher/ReadyThread AdjustReason";
        /// Priority increment of the ready event.
        adjust_increment: Option<i8>, Dictionary, "", "Dispatcher/ReadyThread AdjustIncrement";
        /// Stack with which the thread left the CPU.
        wait_stack: Option<StackId>, ByteStreamSplit, "", "StackWalk/Stack of the Thread/CSwitch at `time`, call chain of the sched_switch at `off_time`";
        /// Stack of the readier.
        ready_stack: Option<StackId>, ByteStreamSplit, "", "StackWalk/Stack of the Dispatcher/ReadyThread";
        /// Priority of the thread at the switch-in; of a Linux recording the kernel's number less
        /// 100, the PR of `top`: small numbers go first.
        priority: Option<i8>, Dictionary, "", "Thread/CSwitch NewThreadPriority, sched_switch next_prio";
        /// Priority that the thread had when it left the CPU.
        off_priority: Option<i8>, Dictionary, "", "Thread/CSwitch OldThreadPriority, sched_switch prev_prio, of the switch at `off_time`";
        /// C-state that the CPU came from at this switch-in, when it was idle.
        previous_c_state: Option<i8>, Dictionary, "", "Thread/CSwitch PreviousCState";
        /// Ideal processor of the thread when it left the CPU.
        ideal_cpu: Option<i16>, ByteStreamSplit, "", "Thread/CSwitch OldThreadIdealProcessor, of the switch at `off_time`";
        /// Remaining quantum of the thread when it left the CPU.
        remaining_quantum: Option<i64>, ByteStreamSplit, "recorder's", "Thread/CSwitch OldThreadRemainingQuantum, of the switch at `off_time`";
        /// Wait time as the scheduler keeps it; coarse.
        wait_ticks: Option<i64>, ByteStreamSplit, "clock interrupts", "Thread/CSwitch NewThreadWaitTime";
        /// Sum of 1 broken (time unknown), 2 open left (not seen to leave), 4 open right (closing
        /// row), 8 gap (closing row of unknown time), 16 preempted (all of the span is ready), 32
        /// readied from a DPC, interrupt or softirq, 64 kernel stack swapped out, 128 process
        /// swapped out, 256 direct hand-off, 512 waited in user mode, 1024 terminated (closing row:
        /// the thread ended as it left the CPU, the span is empty).
        flags: i16, Dictionary, "", "switch chain; Dispatcher/ReadyThread Flag; Thread/CSwitch OldThreadWaitMode";
        /// Hardware counters read at this switch on this CPU; their names are in `trace.json` under
        /// `counters`, in order.
        counters: Option<Vec<i64>>, Plain, "events", "counters attached to the Thread/CSwitch";
    }
}

row! {
    /// One mark in the recording.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct MarkRow in "marks", always: false, since: 0, At(time) {
        /// Time of the mark.
        time: i64, Delta, "ns", "PerfInfo/Mark; user_events, marks of the Linux recorder";
        /// CPU; −1 where a Linux recording does not say.
        cpu: i16, Plain, "", "buffer that holds the event";
        /// Process that wrote it.
        process: Option<ProcessId>, Plain, "", "header of the event";
        /// Thread that wrote it.
        thread: Option<ThreadId>, Plain, "", "header of the event";
        /// The text.
        text: String, Plain, "", "payload of the event";
    }
}
