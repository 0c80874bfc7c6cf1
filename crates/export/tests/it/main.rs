//! Profiles in the formats of other tools, read again by readers that share no code with the writers.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod flame;
mod formats;
mod memory;
mod synthetic;
