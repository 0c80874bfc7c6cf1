//! The questions, asked of recordings and archives whose every figure is known.

mod archived_events;
mod cores;
mod cpu;
mod events;
mod fuzz_corpus;
mod methods;
mod modules;
mod newfile;
mod perfview;
mod recorded;
mod syscalls;
#[path = "../../src/testing.rs"]
mod testing;
mod waits;
mod zero_time;
