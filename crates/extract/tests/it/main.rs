//! Whole extracts: recordings in, archives out.

mod dns;
mod events;
mod input;
mod managed_lines;
mod mutations;
mod processor_power;
mod recordings;
mod scenarios;
mod symbols;
