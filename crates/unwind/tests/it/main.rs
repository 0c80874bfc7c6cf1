//! Call chains over unwind information that the tests make.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod chains;
mod common;
mod corpus;
mod hostile;
