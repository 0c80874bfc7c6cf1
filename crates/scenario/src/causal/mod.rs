//! A machine with causes: who waits is woken by the thread or the device that it really waits for, and the
//! truth about where the time went is written down while it happens.
//!
//! A [`World`] has CPUs and threads with scripts ([`Step`]). [`run`] plays it under [`Noise`] and gives a
//! [`History`], which is written as an ETW recording ([`etl`]) and as perf.data ([`perf`]). [`path`] takes a
//! window of it apart by the plain recursive definition of a bounded critical path. [`workload`] is a test
//! with one injected change, and [`pairs`] are two sets of runs of it.

pub mod etl;
pub mod history;
mod kernel;
mod machine;
mod noise;
pub mod pairs;
pub mod path;
pub mod perf;
mod random;
mod samples;
mod scheduler;
mod steps;
mod task;
pub mod workload;
pub mod world;

use machine::Machine;

pub use history::History;
pub use noise::Noise;
pub use random::random;
pub use world::{Script, Step, World};

/// Runs a world; the same seed gives the same history.
#[must_use]
pub fn run(mut world: World, noise: &Noise, seed: u64) -> History {
    noise::furnish(&mut world, noise, seed);
    let mut history = Machine::new(world, noise, seed).run();
    noise::lose(&mut history, noise, seed);
    history
}
