//! The account of one run: to whom each nanosecond between its start and its end belongs.
//!
//! A test took 12.7 s. Its main thread ran for a part of that, and waited for the rest: for a worker, for the disk, for a CPU
//! that another program had. The *bounded critical path* takes such a window of time apart. It starts at the end of the window
//! with one thread, the *anchor*, and asks back in time what the anchor did:
//!
//! * It **ran**: the time is its own.
//! * It **waited** and another thread ended the wait: the time of the wait belongs to what that thread did meanwhile, taken
//!   apart in the same way. It may have waited itself for a third thread, and so on.
//! * It waited and a timer or a device ended the wait, or it is not known who did: the time stays its wait.
//! * It was **ready** to run: the time is divided among those who had the CPU on which it was switched in afterwards.
//! * It was **not born** yet: the time belongs to the thread that made it runnable for the first time.
//! * The recording does not tell: the time is **unknown**, with a reason, and never run.
//!
//! What runs, waits and is ready is what [`pieces`](crate::pieces) says, as everywhere.
//!
//! **Why bounded.** Whoever ended a wait is followed down to the start of this wait only. Then the path returns to the thread
//! that waited, to what it did before. A path that follows the other thread for good finds the longest chain of events,
//! but one accidental wait near the end gives all of the anchor's own work to a thread that has nothing to do with it, and the
//! accounts of two runs of the same test have nothing in common. The exception is a request that hops between threads:
//! where a thread waits for work, its past is another's ([`Guide::hands_over`]).
//!
//! **What is exact.** The leaves of the path stand one after the other, by descending time, without gaps and overlaps: their
//! lengths add up to the window, in whole nanoseconds, whatever the rows say. One function gives time away; it moves one
//! border, from the end of the window to its start. Damaged rows can give time to the wrong thread, and no more: who waits for
//! itself in a circle is not followed, and no chain is longer than [`MAX_DEPTH`].
//!
//! **In one pass.** [`Walk`] sees the rows newest first, keeps the last row of each thread and who left each CPU last, and
//! needs no row twice. Before a row at time t passes, everything is given away that later rows cannot change: the time of a
//! thread down to the start of the wait that it is followed for, if that start is not before t.
//!
//! Which code ran, samples say: [`PathRuns`] finds those that hit a run of the path, and [`Shares`] divides the exact run time
//! by them.

mod cpus;
mod guide;
mod leaf;
mod runs;
mod shares;
mod threads;
mod walk;

pub use guide::{Guide, PathSwitch, PathTotals};
pub use leaf::{Cause, Gap, Leaf, Link, Obstacle, Occupant, State, Waker};
pub use runs::PathRuns;
pub use shares::{Share, Shares, divide};
pub use threads::ThreadLife;
pub use walk::Walk;

/// The most threads of a chain, the anchor included. Beyond, a wait stays a wait.
pub const MAX_DEPTH: usize = 64;

/// The most threads that take the place of another at one instant, as creator or by hand-over.
pub const MAX_TURNS: usize = 16;
