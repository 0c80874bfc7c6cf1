//! What the rules look at.

/// What the thread of a part of a path did: the [`State`](crate::path::State) of a leaf, as far as rules care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// It ran its own code.
    Run,
    /// An interrupt or a deferred procedure call had the CPU while it ran: a sample with such a flag says so.
    Interrupt,
    /// It could run.
    Ready,
    /// It waited, and a timer or a device ended the wait.
    Wait,
    /// It waited, and nobody is known to have ended the wait, or the path could not follow the thread that
    /// did.
    OpenWait,
    /// Nobody knows.
    Unknown,
}

/// Who had the CPU while a thread was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Occupant {
    /// A process of the test.
    Test,
    /// A process outside of the test.
    Other,
    /// Nobody: the CPU was idle.
    Idle,
    /// It is not known. This is no disturbance, since nothing shows one.
    Unknown,
}

/// A part of a path, as the rules see it.
#[derive(Clone, Copy, Debug)]
pub struct PartFacts<'a> {
    /// What its thread did.
    pub activity: Activity,
    /// Whether the thread is [of the test](crate::roles::of_test).
    pub is_of_test: bool,
    /// File name of the image of its process, with or without `.exe`.
    pub image: &'a str,
    /// Name of the thread.
    pub thread: Option<&'a str>,
    /// Stack tag of the code that ran or waited. Nothing looks at that of a thread that was ready.
    pub tag: Option<&'a str>,
    /// Who had the CPU; only read where the thread was ready.
    pub occupant: Occupant,
}
