//! What is written is read again, by readers that share nothing with the writers, and compared with the profile itself.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may, too")]

mod by_name;
mod hostile;
mod other_tools;
mod protobuf;
mod readers;
mod round_trip;
mod snapshots;
