//! Whole extracts: recordings in, archives out.

mod allocations;
mod counters;
mod cpu_states;
mod disk;
mod dns;
mod energy;
mod events;
mod file_io;
mod file_kinds;
mod filter_calls;
mod handles;
mod input;
mod managed_lines;
mod memory;
mod memory_sessions;
mod mutations;
mod network;
mod page_faults;
mod power;
mod processor_power;
mod recordings;
mod scenarios;
mod sockets;
mod symbols;
