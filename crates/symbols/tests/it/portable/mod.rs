//! Portable PDBs: what was written comes back, the shared ones are what their table says, and damage is an error.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod corpus;
mod hostile;
mod shared;
mod tables;
mod writer;
mod written;
