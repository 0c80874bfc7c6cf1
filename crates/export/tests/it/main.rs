//! Profiles in the formats of other tools, read again by readers that share no code with the writers.

mod flame;
mod formats;
mod memory;
mod synthetic;
