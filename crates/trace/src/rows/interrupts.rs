//! Interrupts, deferred procedure calls, softirqs, timers and work items.

use crate::ids::{FrameId, ModuleId, ProcessId, StackId, ThreadId};
use crate::row;

/// Values of [`InterruptRow::kind`]. More may come.
pub mod interrupt_kinds {
    /// An interrupt service routine; on Linux the handler of an interrupt.
    pub const ISR: i8 = 0;
    /// Windows: a deferred procedure call.
    pub const DPC: i8 = 1;
    /// Windows: a deferred procedure call that runs in a thread.
    pub const THREADED_DPC: i8 = 2;
    /// Windows: a deferred procedure call of an expired timer.
    pub const TIMER_DPC: i8 = 3;
    /// Linux: a softirq.
    pub const SOFTIRQ: i8 = 4;
    /// Linux: an item of a work queue, which runs in a thread.
    pub const WORK_ITEM: i8 = 5;
    /// Linux: the function of an expired timer.
    pub const TIMER: i8 = 6;
    /// Linux: a handler of a non-maskable interrupt.
    pub const NMI: i8 = 7;
    /// Linux: a tasklet.
    pub const TASKLET: i8 = 8;
    /// Linux: an interrupt of the CPU's own controller: its timer, or a request of another CPU.
    pub const LOCAL: i8 = 9;
}

row! {
    /// One run of an interrupt service routine, a deferred procedure call, a softirq, a timer, a
    /// tasklet or a work item. What had begun before the recording, or lasts at its end, has no row;
    /// `health` counts it.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct InterruptRow in "interrupts", always: false, since: 7, Span(start, time) {
        /// Time at which it was done.
        time: i64, Delta, "ns", "PerfInfo/ISR, PassiveISR, DPC, ThreadedDPC, TimerDPC; irq:*_exit, irq_vectors:*_exit, workqueue:workqueue_execute_end, timer:*_expire_exit, nmi:nmi_handler";
        /// Time at which it began.
        start: i64, Delta, "ns", "InitialTime; the `entry` or `start` of the same; nmi_handler delta_ns";
        /// CPU; of a work item the one on which it ended. −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "buffer that holds the event; perf sample cpu";
        /// Process of the thread.
        process: Option<ProcessId>, Dictionary, "", "`threads`";
        /// The thread that was interrupted; of work items the thread that ran them. Null where it is
        /// not known.
        thread: Option<ThreadId>, Dictionary, "", "the thread that ran on the CPU; perf sample tid";
        /// 0 interrupt service routine, 1 deferred procedure call (DPC), 2 threaded DPC, 3 timer DPC,
        /// 4 softirq, 5 work item, 6 timer, 7 non-maskable interrupt, 8 tasklet, 9 interrupt of the
        /// CPU's own controller. More may come.
        kind: i8, Dictionary, "", "event";
        /// The routine. Of a routine that the driver framework of Windows (WDF) called, that one.
        frame: Option<FrameId>, Dictionary, "", "Routine; function, func, handler";
        /// Module of the routine; null where no loaded module has it.
        module: Option<ModuleId>, Dictionary, "", "Routine, `modules`";
        /// Interrupt vector; on Linux the number of the interrupt or the softirq.
        vector: Option<i32>, Dictionary, "", "Vector; irq, vec, vector";
        /// Linux: name of the interrupt, the softirq, the work queue, or the sort of the timer.
        name: Option<String>, Dictionary, "", "irq_handler_entry name; vec; workqueue_queue_work workqueue; event";
        /// Whether the routine said that its device had raised the interrupt.
        claimed: Option<bool>, Plain, "", "ReturnValue; irq_handler_exit ret, nmi_handler handled";
        /// Time from the request to the begin; null where the request is not recorded.
        queued: Option<i64>, Plain, "ns", "PerfInfo/DpcEnqueue; irq:softirq_raise, workqueue:workqueue_queue_work";
        /// Time without the rows of the CPU that lie inside of this one, other than those that run in
        /// a thread. Null of what runs in a thread (threaded DPCs, work items): it can be off the CPU
        /// meanwhile.
        exclusive: Option<i64>, Plain, "ns", "made by the extract";
        /// Call stack: what was interrupted.
        stack: Option<StackId>, Plain, "", "StackWalk/Stack of this event; call chain of the entry";
    }
}
