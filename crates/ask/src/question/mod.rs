//! One module per question.

pub mod cpu;
pub mod instants;
pub mod merged_cpu;
pub mod merged_methods;
pub mod methods;
pub mod missing;
pub mod overview;
pub mod process;
pub mod stacks;
pub mod stats;
pub mod syscalls;
pub mod testrun;
pub mod threads;
pub mod version;
pub mod waits;
