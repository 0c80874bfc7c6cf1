//! What the workloads share: arguments, phases, clocks and the report.
//!
//! Each program in `src/bin` has one known performance problem and tells at its end, on its own clocks, what it did, when and
//! how long. `docs/workloads.md` says for each of them which question finds the problem in a recording.

mod arguments;
mod extra;
mod measure;
mod phase;
mod program;
mod report;
mod system;

pub use arguments::{Arguments, Kind, Opt};
pub use extra::{Method, Part, Parts, extra_lock_part, extra_part};
pub use measure::{Piece, ThreadTold, measure, on_stack, thread, told};
pub use program::{Usage, run};
pub use report::Report;
pub use system::{
    Priority, drop_from_cache, page_faults, raise_descriptor_limit, set_priority, thread_cpu_ns, time_ns, trim,
};
