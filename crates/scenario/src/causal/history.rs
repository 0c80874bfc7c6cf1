//! What happened on a machine: the log that recordings are written from, and the truth that is written down
//! beside it.
//!
//! Times are ns since the start of the recording. Each entry of the log has a time of its own.

use super::world::{DiskOp, StackNo, WaitKind, World};

/// How a thread leaves a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It waits.
    Waits(WaitKind),
    /// Another one takes the CPU.
    Preempted,
    /// For ever.
    Ends,
    /// It is the idle thread.
    Idle,
}

/// A device whose interrupt ends waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Device {
    /// The clock.
    Timer,
    /// A disk.
    Disk,
}

/// Something that recorders see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Time, ns.
    pub time: i64,
    /// CPU.
    pub cpu: usize,
    /// What.
    pub what: What,
}

/// Kinds of entries. Threads are indices into [`World::threads`]; `None` is the CPU's idle thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A switch.
    Switch {
        /// Who leaves, and the stack that it leaves with.
        old: Option<(usize, StackNo)>,
        /// How.
        leave: Leave,
        /// Who comes.
        new: Option<usize>,
    },
    /// A wake-up.
    Wake {
        /// Who is readied.
        thread: usize,
        /// Who runs on the CPU, and with which stack.
        by: Option<(usize, StackNo)>,
        /// The device whose interrupt it is; else the thread that runs does it.
        device: Option<Device>,
        /// The first wake-up of a thread that was made inside of the recording.
        new: bool,
    },
    /// A thread starts; with the first one of a process, the process starts.
    Start {
        /// Thread.
        thread: usize,
        /// Its creator.
        by: usize,
        /// It is the first of its process.
        process: bool,
    },
    /// A thread ends; it runs a moment longer.
    End {
        /// Thread.
        thread: usize,
        /// It is the last of its process.
        process: bool,
    },
    /// A device operation is done.
    Disk {
        /// Thread that waited for it.
        thread: usize,
        /// Operation.
        op: DiskOp,
        /// Time at which it began.
        start: i64,
        /// CPU on which it began.
        start_cpu: usize,
    },
    /// A mark.
    Mark {
        /// Thread.
        thread: usize,
        /// Text.
        text: String,
    },
}

/// Who ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Waker {
    /// A thread.
    Thread(usize),
    /// A device.
    Device(Device),
    /// Nobody until the end of the recording.
    Nobody,
}

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// It was on this CPU.
    Run(usize),
    /// It could run and had no CPU until it got this one; `None`: it got none until the end.
    Ready(Option<usize>),
    /// It waited.
    Wait(WaitKind, StackNo, Waker),
    /// It was made, by this thread, and was not runnable yet.
    Made(usize),
    /// It is older than the recording and had no CPU yet.
    Unseen,
}

/// A piece of a thread's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First instant.
    pub start: i64,
    /// First instant behind it.
    pub end: i64,
    /// What it did.
    pub did: Did,
}

/// A piece of time on a CPU with one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// First instant.
    pub start: i64,
    /// First instant behind it.
    pub end: i64,
    /// Stack.
    pub stack: StackNo,
}

/// The life of a thread. Its stretches follow each other without gaps, by ascending time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Time of its start where that lies inside of the recording.
    pub born: Option<i64>,
    /// Time of its last switch-out.
    pub ended: Option<i64>,
    /// What it did.
    pub stretches: Vec<Stretch>,
    /// Which code ran; the slices cover its runs.
    pub code: Vec<Slice>,
}

/// What happened.
#[derive(Clone, Debug)]
pub struct History {
    /// The machine, with what noise and injections added to it.
    pub world: World,
    /// End of the recording.
    pub end: i64,
    /// What recorders see, by ascending time.
    pub log: Vec<Entry>,
    /// Of each thread.
    pub timelines: Vec<Timeline>,
    /// Who had each CPU from when on; `None`: nobody.
    pub cpus: Vec<Vec<(i64, Option<usize>)>>,
    /// Switches that the recording lacks, as places in the log.
    pub lost: Vec<usize>,
}

impl History {
    /// The life of the thread whose end is the end of the test: from its birth, else the recording's start,
    /// to its end.
    #[must_use]
    pub fn window(&self) -> (i64, i64) {
        let main = self.world.main.and_then(|main| self.timelines.get(main));
        main.map_or((0, self.end), |main| (main.born.unwrap_or(0), main.ended.unwrap_or(self.end)))
    }
}
