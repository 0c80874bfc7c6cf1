//! The test runner: runs what a plan says, each run with a recording of its own that is named so that it explains itself.
//!
//! * [`Plan`]: the file that says what to run
//! * [`Case`]: one test with one value for each parameter of its matrix
//! * [`run`]: runs them, resumes what was interrupted
//! * [`State`]: the runs that were made, and the sessions that ran all cases anew
//! * [`Extraction`]: extracts recordings while the next tests wait their turn, and stands still while one runs
//! * [`Summary`]: what came out, case by case

mod account;
mod cache;
mod case;
mod execution;
mod extraction;
mod measured;
mod plan;
mod sessions;
mod settings;
mod state;
mod summary;
mod turns;

pub use account::{Account, Cold, NoAccount};
pub use case::Case;
pub use execution::{Event, Problem, Settings, run};
pub use extraction::Extraction;
pub use measured::Finished;
pub use plan::{Plan, PlanError};
pub use sessions::Begun;
pub use settings::{Cache, DurationFrom};
pub use state::{Kind, Run, State};
pub use summary::{Spread, Summary, overhead, summaries};
