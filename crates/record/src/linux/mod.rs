//! Recording with perf.

pub mod capabilities;
pub mod command;
#[cfg(target_os = "linux")]
pub(crate) mod perf;
