//! What ran and what waited: samples, context switches and marks.

use tracesift_trace::rows::{ContextSwitchRow, CounterSampleRow, CpuSampleRow, MarkRow};
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

use crate::column::Timing;
use crate::table::table;

table! {
    CpuSampleRow in "cpu_samples", always: false, Timing::At("time"),
    "One sample of the timer source.";
    time: i64, Delta, "ns", "Time of the sample.", "PerfInfo/Sample";
    cpu: i16, Dictionary, "", "CPU.", "buffer that holds the event";
    process: ProcessId, Dictionary, "", "The process that is charged: that of the thread, or `DPC/ISR` for interrupts of the idle thread.", "`threads`, flags of PerfInfo/Sample";
    thread: ThreadId, Dictionary, "", "The thread that ran.", "PerfInfo/Sample ThreadId";
    weight: i64, Dictionary, "ns", "CPU time that the sample stands for: interval in force × count of the event.", "PerfInfo/Sample Count, PerfInfo/SetInterval, CollectionStart";
    stack: Option<StackId>, Dictionary, "", "Call stack.", "StackWalk/Stack of this event";
    frame: Option<FrameId>, Dictionary, "", "The sampled instruction, only where there is no stack.", "PerfInfo/Sample InstructionPointer";
    priority: Option<i8>, Dictionary, "", "Priority of the thread.", "PerfInfo/Sample flags bits 3 to 7";
    flags: i8, Dictionary, "", "Sum of 1 in a DPC, 2 in an ISR.", "PerfInfo/Sample flags bits 0 and 1";
}

table! {
    CounterSampleRow in "counter_samples", always: false, Timing::At("time"),
    "One overflow of a hardware counter. Counts events of the processor; it is never CPU time.";
    time: i64, Delta, "ns", "Time of the sample.", "PerfInfo/PMCSample";
    cpu: i16, Dictionary, "", "CPU.", "buffer that holds the event";
    process: ProcessId, Dictionary, "", "Process of the thread.", "`threads`";
    thread: ThreadId, Dictionary, "", "The thread that ran.", "PerfInfo/PMCSample ThreadId";
    source: i32, Dictionary, "", "Number of the profile source; its name is in `trace.json` under `sample_sources`.", "PerfInfo/PMCSample ProfileSource";
    stack: Option<StackId>, Dictionary, "", "Call stack.", "StackWalk/Stack of this event";
    frame: Option<FrameId>, Dictionary, "", "The sampled instruction, only where there is no stack.", "PerfInfo/PMCSample InstructionPointer";
}

table! {
    ContextSwitchRow in "context_switches", always: false, Timing::Span { start: "off_time", end: "time" },
    "One switch-in with the off-CPU span [off_time, time) that it ends, and one closing row for a thread that is off the CPU at the end of its life or of the recording. Between two rows of a thread it runs: from `time` to the `off_time` of its next row.";
    time: i64, Delta, "ns", "Time of the switch-in; of the closing in a closing row (flag 4); of the end of the gap in a gap row (flag 8).", "Thread/CSwitch, sched_switch, PERF_RECORD_SWITCH to the thread";
    cpu: Option<i16>, ByteStreamSplit, "", "CPU that the thread is switched in on; null in closing rows.", "buffer that holds the Thread/CSwitch";
    thread: ThreadId, ByteStreamSplit, "", "The thread that is switched in.", "Thread/CSwitch NewThreadId";
    prev_thread: Option<ThreadId>, ByteStreamSplit, "", "The thread that leaves the CPU at this switch; null in closing and gap rows.", "Thread/CSwitch OldThreadId";
    off_time: i64, ByteStreamSplit, "ns", "When this thread left the CPU; the start of its life in the recording with flag 2.", "Thread/CSwitch away from the thread";
    off_state: Option<i8>, Dictionary, "", "State that it entered then: 0 Initialized, 1 Ready, 2 Running, 3 Standby, 4 Terminated, 5 Waiting, 6 Transition, 7 DeferredReady; of a Linux recording the letter of the state as its ASCII number: 82 R, 83 S, 68 D and so on.", "Thread/CSwitch OldThreadState, sched_switch prev_state, of the switch at `off_time`";
    wait_reason: Option<i8>, Dictionary, "", "Wait reason, when it entered the state Waiting: 0 Executive, 6 UserRequest, 13 WrUserRequest, 15 WrQueue and so on, as Windows numbers them.", "Thread/CSwitch OldThreadWaitReason, of the switch at `off_time`";
    ready_time: Option<i64>, Delta, "ns", "First ready event in the span: the wait ends and ready begins.", "Dispatcher/ReadyThread, sched_waking, sched_wakeup";
    readier: Option<ThreadId>, ByteStreamSplit, "", "The thread that readied it.", "thread on the CPU of the Dispatcher/ReadyThread, thread of the sched_waking";
    ready_cpu: Option<i16>, Dictionary, "", "CPU on which the ready event was logged.", "buffer that holds the Dispatcher/ReadyThread";
    adjust_reason: Option<i8>, Dictionary, "", "Why the priority was adjusted: 0 none, 1 unwait, 2 boost.", "Dispatcher/ReadyThread AdjustReason";
    adjust_increment: Option<i8>, Dictionary, "", "Priority increment.", "Dispatcher/ReadyThread AdjustIncrement";
    wait_stack: Option<StackId>, ByteStreamSplit, "", "Stack with which the thread left the CPU.", "StackWalk/Stack of the Thread/CSwitch at `time`, call chain of the sched_switch at `off_time`";
    ready_stack: Option<StackId>, ByteStreamSplit, "", "Stack of the readier.", "StackWalk/Stack of the Dispatcher/ReadyThread";
    priority: Option<i8>, Dictionary, "", "Priority of the thread at the switch-in; of a Linux recording the kernel's number less 100, the PR of `top`: small numbers go first.", "Thread/CSwitch NewThreadPriority, sched_switch next_prio";
    off_priority: Option<i8>, Dictionary, "", "Priority that the thread had when it left the CPU.", "Thread/CSwitch OldThreadPriority, sched_switch prev_prio, of the switch at `off_time`";
    previous_c_state: Option<i8>, Dictionary, "", "C-state that the CPU came from at this switch-in, when it was idle.", "Thread/CSwitch PreviousCState";
    ideal_cpu: Option<i16>, ByteStreamSplit, "", "Ideal processor of the thread when it left the CPU.", "Thread/CSwitch OldThreadIdealProcessor, of the switch at `off_time`";
    remaining_quantum: Option<i64>, ByteStreamSplit, "recorder's", "Remaining quantum of the thread when it left the CPU.", "Thread/CSwitch OldThreadRemainingQuantum, of the switch at `off_time`";
    wait_ticks: Option<i64>, ByteStreamSplit, "clock interrupts", "Wait time that the scheduler kept; coarse.", "Thread/CSwitch NewThreadWaitTime";
    flags: i16, Dictionary, "", "Sum of 1 broken (time unknown), 2 open left (not seen to leave), 4 open right (closing row), 8 gap (closing row of unknown time), 16 preempted (all of the span is ready), 32 readied from a DPC, interrupt or softirq, 64 kernel stack swapped out, 128 process swapped out, 256 direct hand-off, 512 waited in user mode, 1024 terminated (closing row: the thread ended as it left the CPU, the span is empty).", "switch chain; Dispatcher/ReadyThread Flag; Thread/CSwitch OldThreadWaitMode";
    counters: Option<Vec<i64>>, Plain, "events", "Hardware counters read at this switch on this CPU; their names are in `trace.json` under `counters`, in order.", "counters attached to the Thread/CSwitch";
}

table! {
    MarkRow in "marks", always: false, Timing::At("time"),
    "One mark that somebody wrote into the recording.";
    time: i64, Delta, "ns", "Time of the mark.", "PerfInfo/Mark, EventTrace marks";
    cpu: i16, Plain, "", "CPU.", "buffer that holds the event";
    process: Option<ProcessId>, Plain, "", "Process that wrote it.", "header of the event";
    thread: Option<ThreadId>, Plain, "", "Thread that wrote it.", "header of the event";
    text: String, Plain, "", "The text.", "payload of the event";
}
