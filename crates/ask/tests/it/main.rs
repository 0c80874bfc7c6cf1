//! The questions, asked of recordings and archives whose every figure is known.

mod archived_events;
mod cores;
mod cpu;
mod disk;
mod dns;
mod enabled;
mod energy;
mod events;
mod file;
mod frequency_and_idle;
mod fuzz_corpus;
mod mark;
mod memory;
mod methods;
mod minifilter;
mod modules;
mod needs;
mod newfile;
mod perfview;
mod reclaims;
mod recorded;
mod syscalls;
mod tcp;
mod waits;
mod zero_time;
