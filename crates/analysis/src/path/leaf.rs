//! The words of the path: what a leaf says, and how it came to lie on the path.

use tracesift_trace::{StackId, ThreadId};

use crate::interrupts::Interrupt;
use crate::spans::Span;

/// A piece of the window that belongs to exactly one thread in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its time; never empty.
    pub span: Span,
    /// The thread that the time belongs to.
    pub thread: ThreadId,
    /// What this thread did.
    pub state: State,
}

/// What a thread did during a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It was on a CPU.
    Run {
        /// Stack with which it left the CPU after this run, where the window has that.
        ends_with: Option<StackId>,
    },
    /// It could run, and another had the CPU on which it was switched in afterwards.
    Ready {
        /// That CPU; `None` where no switch-in followed.
        cpu: Option<i16>,
        /// Who had it.
        occupant: Occupant,
        /// Stack with which the thread had left the CPU.
        stack: Option<StackId>,
    },
    /// It waited, and nobody can be followed who let it wait.
    Wait {
        /// What ended the wait.
        cause: Cause,
        /// Stack with which the thread had left the CPU.
        stack: Option<StackId>,
    },
    /// Nobody knows.
    Unknown(Gap),
}

/// Who had a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Occupant {
    /// A thread.
    Thread(ThreadId),
    /// Nobody: the CPU was idle.
    Idle,
    /// It is not known: the CPU has no later switch in the window, or that one does not say who left.
    Unknown,
}

/// Who ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Waker {
    /// A thread.
    Thread(ThreadId),
    /// An interrupt: the thread that it interrupted has nothing to do with it.
    Interrupt(Interrupt),
    /// Nobody, or it was not recorded.
    Nobody,
}

/// What ended a wait that stays on the path as a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A timer or a device.
    Interrupt(Interrupt),
    /// Nobody, or it was not recorded.
    Nobody,
    /// A thread that the path cannot follow.
    Unfollowed {
        /// The thread.
        waker: ThreadId,
        /// What is in the way.
        obstacle: Obstacle,
    },
}

/// Why the thread that ended a wait is not followed. None of this happens where the recording is whole, but for the depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obstacle {
    /// It is said to have ended its own wait.
    Itself,
    /// It waits itself for the thread whose wait it ended, directly or over others.
    Circle,
    /// Too many threads wait for each other already ([`MAX_DEPTH`](super::MAX_DEPTH)).
    Depth,
    /// Too many hand-overs at one instant ([`MAX_TURNS`](super::MAX_TURNS)).
    HandOvers,
}

/// Why nothing is known of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gap {
    /// Switches are missing.
    BrokenChain,
    /// The thread is older than the recording, and it was not seen yet.
    NotSeenYet,
    /// The thread was not born yet, and it is not known who made it.
    BeforeStart,
    /// The thread had ended.
    AfterEnd,
    /// The recording has no switch of the thread.
    NoSwitches,
    /// The window reaches beyond the recording.
    OutsideRecording,
}

/// A thread on the way from the anchor to a leaf. The first link is the anchor, each further one ended a wait of the one
/// before it, and the leaf belongs to the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The thread.
    pub thread: ThreadId,
    /// The instant down to which the path follows it: the start of the wait that it ended, of the anchor the start of the
    /// window.
    pub start: i64,
    /// Stack of the wait of the thread before it that it ended; `None` for the anchor, too.
    pub wait_stack: Option<StackId>,
    /// Where it stands for a thread that was not born yet: this one. It is the thread's creator, or the creator's creator,
    /// and so on.
    pub unborn: Option<ThreadId>,
}
