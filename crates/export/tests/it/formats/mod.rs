//! What is written is read again, by readers that share nothing with the writers, and compared with the profile itself.

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod by_name;
mod hostile;
mod other_tools;
mod protobuf;
mod readers;
mod round_trip;
mod snapshots;
