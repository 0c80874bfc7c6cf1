//! Command lines and recording profiles of the systems' own recorders.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod perf_command;
mod wpr_profile;
