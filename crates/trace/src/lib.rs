//! The neutral model of a system recording.
//!
//! Everything behind this crate speaks of processes, threads, modules, stacks, samples and switches, whatever recorded
//! them. The crate knows no file format: readers feed it facts on the raw clock of the recording, trackers join them,
//! and rows on the archive's clock (nanoseconds since time zero) come out through a [`RowSink`].

pub mod address_map;
pub mod allocations;
pub mod assemblies;
pub mod clock;
pub mod code_map;
pub mod compilations;
pub mod connections;
pub mod counter_roles;
pub mod cpu_list;
pub mod cpu_states;
pub mod descriptors;
pub mod disk_queues;
pub mod disk_requests;
pub mod dns;
pub mod energy;
pub mod exceptions;
pub mod file_names;
pub mod file_operations;
pub mod filter_calls;
mod fingerprint;
pub mod focus;
pub mod gc;
pub mod half_finder;
mod halves;
pub mod handles;
pub mod health;
pub mod health_kinds;
pub mod ids;
pub mod il_maps;
pub mod info;
pub mod interrupts;
mod known_halves;
mod known_pairs;
mod known_references;
pub mod lifespans;
mod lifetimes;
pub mod lock_waits;
mod mapped_spaces;
mod mapping_facts;
pub mod mappings;
pub mod memory_snapshots;
pub mod message_pumps;
pub mod methods;
pub mod modules;
pub mod open_lives;
mod overlapping;
pub mod owners;
mod pairs;
pub mod population;
pub mod reclaims;
pub mod registry_keys;
pub mod rows;
pub mod sampling;
#[macro_use]
pub mod schema;
pub mod sink;
mod slice_heads;
pub mod socket_calls;
pub mod spill;
pub mod stack_binder;
pub mod stack_keys;
pub mod stacks;
pub mod switches;
pub mod system_calls;
mod texts;
mod varint;
pub mod work_items;

pub use clock::Clock;
pub use health::Health;
pub use health_kinds::{HealthKind, Severity};
pub use ids::{ConnectionId, FileId, FrameId, ModuleId, ProcessId, StackId, ThreadId};
pub use population::{Lifetimes, Platform, Population};
pub use sink::RowSink;
