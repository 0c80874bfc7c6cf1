//! Flame graphs: read as XML, held against the profile, and driven in a browser where one is at hand.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may, too")]

mod comparison;
mod picture;
mod script;
mod size;
mod truth;
