//! The kinds of disturbances.

use std::fmt;

/// A kind of disturbance, in the order in which the rules are tried: the first one that fits counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Time of which nothing is known, and waits of threads outside of the test that nobody is known to
    /// have ended.
    Unknown,
    /// The recorder: its processes, and what the operating system does for it in any thread.
    Recorder,
    /// A virus scanner: its processes, and its drivers in any thread.
    Antivirus,
    /// Checkpoints, logs and write-behind of file systems in threads outside of the test.
    Checkpoint,
    /// Hard page faults, prefetching, trimming and compression of memory.
    Paging,
    /// Programs that install updates or index files.
    Updates,
    /// The thread was ready, and a process outside of the test had the CPU.
    CpuTaken,
    /// The thread was ready, and the CPU was idle.
    CpuAsleep,
    /// Interrupts and deferred procedure calls that had the CPU in the thread's time.
    Interrupts,
}

impl Kind {
    /// All kinds, in the order of the rules.
    pub const ALL: [Self; 9] = [
        Self::Unknown,
        Self::Recorder,
        Self::Antivirus,
        Self::Checkpoint,
        Self::Paging,
        Self::Updates,
        Self::CpuTaken,
        Self::CpuAsleep,
        Self::Interrupts,
    ];

    /// The word for it, which people choose it by.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Recorder => "recorder",
            Self::Antivirus => "antivirus",
            Self::Checkpoint => "checkpoint",
            Self::Paging => "paging",
            Self::Updates => "updates",
            Self::CpuTaken => "cpu-taken",
            Self::CpuAsleep => "cpu-asleep",
            Self::Interrupts => "interrupts",
        }
    }

    /// The kind with a word, in any case.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word().eq_ignore_ascii_case(word))
    }

    /// Whether its rule looks for names and tags of the list.
    pub(super) fn is_listed(self) -> bool {
        match self {
            Self::Recorder | Self::Antivirus | Self::Checkpoint | Self::Paging | Self::Updates => true,
            Self::Unknown | Self::CpuTaken | Self::CpuAsleep | Self::Interrupts => false,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
