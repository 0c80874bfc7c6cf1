//! Regions: spans between events that begin them and events that end them.
//!
//! People describe in a file of *regions of interest*, which Windows Performance Analyzer reads, what the events of a
//! provider begin and end. `docs/questions/regions.md` describes the format.
//!
//! * [`definition`]: what begins and ends regions, and how a begin finds its end
//! * [`file`](mod@file): such definitions, read from a file
//! * [`matching`]: events in, regions out
//! * [`nesting`]: which region lies in which

pub mod definition;
pub mod file;
pub mod matching;
pub mod nesting;

pub use definition::{
    Definition, Definitions, EventKind, EventPattern, EventSelector, Keys, ProviderSelector, Role, canonical,
};
pub use file::{BUILT_IN, RegionFileError};
pub use matching::{Event, Fields, Loose, LooseKind, Matcher, NameId, Region, Regions};
pub use nesting::Nesting;

#[cfg(test)]
mod tests;
