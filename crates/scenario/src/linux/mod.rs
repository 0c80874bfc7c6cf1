//! Linux recordings of any size: a small scheduler under load, written as perf writes it, streamed.
//!
//! Lasting processes with many threads, and others that start, run a program and end; CPU samples, `sched_switch` and
//! `sched_waking` with call chains of both sides. Chains of switches are whole: who is switched out was switched in on that CPU,
//! who is switched in was woken, preempted or born before. Each CPU has a buffer, and a round empties all of them. Memory is
//! bounded by the machine and does not grow with the recording.

pub(crate) mod events;
mod features;
pub(crate) mod fields;
pub(crate) mod layout;
mod machine;
mod others;
pub(crate) mod rundown;
mod scheduler;
mod tasks;
mod threads;
pub(crate) mod writer;

pub use machine::{Figures, Knobs, write};
