//! Writes synthetic recordings in which every figure is known.
//!
//! A [`Scenario`] is a machine and a list of logical records: who was switched in where and when, who was readied, what was
//! sampled. It is written as a true `.etl`, and [`Scenario::truth`] says what any reader must find in it. Records come from
//! three sources: [`Scenario::random`] simulates a small scheduler under [`Knobs`] that each turn on one difficulty of real
//! recordings, [`story`] tells a known performance investigation, and tests may list records by hand. [`scale`] streams a
//! recording of any size, and [`linux`] one of a Linux machine as perf.data. [`causal`] runs a machine whose threads really
//! wait for each other, and knows where the time of a run went.

pub mod allocations;
pub mod branches;
pub mod causal;
pub mod classes;
pub mod dns;
mod emit;
pub mod energy;
pub mod files;
pub mod filters;
pub mod handles;
pub mod interrupts;
pub mod linux;
mod machine;
mod population;
pub mod power;
pub mod providers;
mod random;
mod record;
pub mod registry;
mod rng;
mod scale;
mod simulate;
pub mod sockets;
pub mod story;
pub mod system_calls;
pub mod tcp;
mod truth;
pub mod ui;

// A machine cannot be made without it.
pub use tracesift_etl::write::PointerSize;

pub use emit::{KeyStyle, Part, Recording, Rundown, StackStyle};
pub use machine::{
    Code, Function, Image, ImageVersion, Machine, ManagedModule, Method, MethodName, MethodOrigin, Pdb, Process, Stack,
    StackId, Thread,
};
pub use random::Knobs;
pub use record::{CounterSample, DiskIo, Event, HardFault, Ready, Record, Sample, Switch, Walk};
pub use rng::SplitMix64;
pub use scale::{ScaleFigures, scale};
pub use story::{DemoRecording, demo};
pub use truth::{
    MethodTruth, OffCause, OffSpan, ProcessKind, ProcessTruth, SampleTruth, SwitchTruth, ThreadTruth, Truth,
};

/// A recording that is known in full: the machine, what happened on it, and how it is written down.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// CPUs, processes, threads, modules and methods.
    pub machine: Machine,
    /// What happened, in any order; each CPU's scheduling records have different times.
    pub records: Vec<Record>,
    /// How it is written.
    pub recording: Recording,
}

impl Scenario {
    /// Writes the recording as the bytes of one or two `.etl` files.
    ///
    /// # Errors
    /// A scenario that no recording can hold: records out of range, stacks too deep for the buffers.
    pub fn parts(&self) -> Result<Vec<Part>, tracesift_etl::write::WriteError> {
        emit::parts(self)
    }

    /// Writes the recording as the bytes of its first, mostly its only, `.etl` file.
    ///
    /// # Errors
    /// As [`Scenario::parts`].
    pub fn bytes(&self) -> Result<Vec<u8>, tracesift_etl::write::WriteError> {
        Ok(self.parts()?.swap_remove(0).bytes)
    }

    /// What a reader must find in the recording.
    #[must_use]
    pub fn truth(&self) -> Truth {
        truth::truth(self)
    }
}
