//! Drives the system's own recorder: perf on Linux, wpr on Windows.
//!
//! * [`profiles`]: what can be recorded, under the same names on both systems
//! * [`Options`]: what is to be recorded, and how
//! * [`linux`], [`windows`]: command lines and recording profiles, made without looking at anything but their arguments
//! * [`Recorder`]: runs a command and records it, or records until it is told to stop
//! * [`session`]: recordings around something that runs already
//! * [`runner`]: runs the tests of a plan, each with a recording of its own
//! * [`MachineFacts`]: what no event tells, saved beside the recording

#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod descriptors;
pub mod disk_space;
mod error;
pub mod facts;
pub mod interrupt;
pub mod linux;
mod load;
pub mod marks;
#[cfg(target_os = "linux")]
mod memory_readings;
mod notes;
mod options;
pub mod process;
#[cfg(target_os = "linux")]
mod process_memory;
pub mod profiles;
#[cfg(target_os = "linux")]
mod readings;
mod run;
pub mod runner;
pub mod session;
mod stacks;
mod staging;
#[cfg(not(any(target_os = "linux", windows)))]
mod unknown;
mod watch;
pub mod windows;

pub use error::{Error, Shortfall};
pub use facts::MachineFacts;
pub use options::{Each, Options, ProfileFile, Rate, Rotation, Scope};
pub use run::{EndedBy, Recorded, Recorder};
pub use stacks::{CallGraph, StackClass, Stacks};
pub use staging::{Leftover, leftovers};
pub use watch::{Bound, Condition};

#[cfg(target_os = "linux")]
use linux::perf as system;
#[cfg(not(any(target_os = "linux", windows)))]
use unknown as system;
#[cfg(windows)]
use windows::wpr as system;

/// The extension of recordings of this system, `data` or `etl`.
pub const EXTENSION: &str = system::EXTENSION;

/// Hardware counters of this machine, as `--counters` takes them.
///
/// # Errors
///
/// [`Error::NoRecorder`].
pub fn counters() -> Result<Vec<String>, Error> {
    system::counters()
}
