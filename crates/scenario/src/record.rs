//! The logical records of a scenario, before they become bytes.

use crate::machine::{Function, StackId};

/// Something that happened at a time on a CPU. Threads, processes and methods are indices into the machine's lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Raw ticks.
    pub ticks: i64,
    /// CPU that logs it.
    pub cpu: u16,
    /// What happened.
    pub event: Event,
}

/// Kinds of [`Record`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A process starts; its images are loaded in the ticks behind.
    ProcessStart {
        /// Process.
        process: usize,
        /// Thread that created it.
        by: usize,
    },
    /// A process ends.
    ProcessEnd {
        /// Process.
        process: usize,
        /// Its last thread.
        by: usize,
    },
    /// A thread starts.
    ThreadStart {
        /// Thread.
        thread: usize,
        /// Thread that created it.
        by: usize,
    },
    /// A thread ends; it logs that itself and runs a little longer.
    ThreadEnd {
        /// Thread.
        thread: usize,
    },
    /// A context switch.
    Switch(Switch),
    /// A ready event.
    Ready(Ready),
    /// A sample of the timer source.
    Sample(Sample),
    /// A sample of a hardware counter.
    CounterSample(CounterSample),
    /// The interval of the timer source changes.
    Interval {
        /// Interval from now on, 100 ns.
        new: u32,
        /// Interval before, 100 ns.
        old: u32,
    },
    /// A completed disk operation; its initiation is written too.
    Disk(DiskIo),
    /// A hard fault.
    HardFault(HardFault),
    /// A mark.
    Mark {
        /// Thread that writes it.
        thread: usize,
        /// Text.
        text: String,
    },
}

/// The stack of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Kernel half, written right behind the event.
    pub kernel: Option<StackId>,
    /// User half.
    pub user: Option<StackId>,
    /// Ticks at which the user half is written.
    pub user_ticks: i64,
    /// CPU on which the user half is written.
    pub user_cpu: u16,
}

/// A context switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Thread that is switched out.
    pub old: usize,
    /// Thread that is switched in.
    pub new: usize,
    /// State that the old thread enters.
    pub old_state: i8,
    /// Why it waits.
    pub wait_reason: i8,
    /// Whether it waits in user mode.
    pub user_mode_wait: bool,
    /// Priority of the new thread.
    pub new_priority: i8,
    /// Priority of the old thread.
    pub old_priority: i8,
    /// C-state that the CPU comes from.
    pub previous_c_state: u8,
    /// Stack of the new thread: the one with which it left the CPU.
    pub walk: Option<Walk>,
    /// Hardware counters of the CPU.
    pub counters: Vec<u64>,
}

/// A ready event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Thread that becomes runnable.
    pub thread: usize,
    /// Thread that runs on the event's CPU.
    pub by: usize,
    /// 0 none, 1 unwait, 2 boost.
    pub adjust_reason: i8,
    /// Priority increment.
    pub adjust_increment: i8,
    /// 1 from a deferred procedure call, 2 and 4 swapped out, 8 direct hand-off.
    pub flags: u8,
    /// Stack of the readier.
    pub walk: Option<Walk>,
}

/// A sample of the timer source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Thread that runs.
    pub thread: usize,
    /// Sampled function.
    pub function: Function,
    /// Intervals that the record stands for.
    pub count: u16,
    /// Inside a deferred procedure call.
    pub in_dpc: bool,
    /// Inside an interrupt service routine.
    pub in_isr: bool,
    /// Priority of the thread.
    pub priority: u8,
    /// Stack.
    pub walk: Option<Walk>,
}

/// A sample of a hardware counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterSample {
    /// Thread that runs.
    pub thread: usize,
    /// Sampled function.
    pub function: Function,
    /// Source, from 1.
    pub source: u16,
    /// Stack.
    pub walk: Option<Walk>,
}

/// A disk operation; its record stands at the completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskIo {
    /// Thread that asked.
    pub thread: usize,
    /// Write, else read.
    pub write: bool,
    /// Ticks of the initiation.
    pub start: i64,
    /// CPU of the initiation.
    pub start_cpu: u16,
    /// Index into [`crate::Recording::files`].
    pub file: usize,
    /// Byte offset on the disk.
    pub offset: u64,
    /// Bytes.
    pub size: u32,
}

/// A hard fault; its record stands at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardFault {
    /// Faulting thread.
    pub thread: usize,
    /// Ticks of the fault.
    pub start: i64,
    /// Index into [`crate::Recording::files`].
    pub file: usize,
    /// Offset in the file.
    pub offset: u64,
    /// Faulting address.
    pub address: u64,
    /// Bytes.
    pub size: u32,
}
