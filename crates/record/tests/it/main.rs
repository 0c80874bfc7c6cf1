//! Command lines and recording profiles of the systems' own recorders.

mod perf_command;
mod wpr_profile;
