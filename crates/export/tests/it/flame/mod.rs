//! Flame graphs: read as XML, held against the profile, and driven in a browser where one is at hand.

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod comparison;
mod picture;
mod script;
mod size;
mod truth;
