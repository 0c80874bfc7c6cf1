//! One module per question.

pub mod cpu;
pub mod missing;
pub mod process;
pub mod stats;
pub mod testrun;
pub mod version;
