//! The parts of an overview that take time: each is looked for only where a column shows it.

/// A set of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts(u16);

impl Parts {
    /// All of them.
    pub const ALL: Self = Self(u16::MAX);
    /// None of them.
    pub const NONE: Self = Self(0);
    /// Breaks in the chain of switches.
    pub const BREAKS: Self = Self(1);
    /// How many frames there are, and how many without a name.
    pub const FRAMES: Self = Self(2);
    /// The stack tags of the process with the most CPU.
    pub const LARGEST_TAGS: Self = Self(4);
    /// The stack tags of all processes.
    pub const TAGS: Self = Self(8);
    /// The longest waits.
    pub const WAITS: Self = Self(16);
    /// The disks.
    pub const DISKS: Self = Self(32);
    /// System calls.
    pub const CALLS: Self = Self(64);
    /// The commands that go on from the other parts.
    pub const NEXT: Self = Self(128);
    /// Classes of events that have no block of their own.
    pub const CLASSES: Self = Self(256);
    /// The first finding of the rules that need no account.
    pub const FINDING: Self = Self(512);

    /// The parts of either set.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether one of these parts is in the set.
    #[must_use]
    pub const fn has(self, parts: Self) -> bool {
        self.0 & parts.0 != 0
    }
}
