//! Recordings and archives that a test makes.
//!
//! * `recording`: a scenario or the bytes of a recording become files, and the files an archive (feature `extract`).
//! * [`archive`]: an archive of rows that the test chooses, or of random rows.
//! * [`rows`]: rows of which a test states only what it needs.
//! * [`chains`]: switches of threads that sleep long, run long, come and go.
//! * [`busy_machine`]: rows with the entropy of a real machine, for figures of size.
//!
//! Shared recordings, and the reasons why a test is skipped, are in the crate `tracesift-fixtures`.

pub mod archive;
pub mod busy_machine;
pub mod chains;
pub mod frames;
#[cfg(feature = "extract")]
pub mod recording;
pub mod rows;
