//! People have viewers that they know, and colleagues who have no tracesift. This crate writes a profile in the formats of those
//! viewers, and as a picture that needs no viewer at all.
//!
//! What is written comes from a neutral [`Profile`] in memory: names, frames, stacks, threads, weighted samples and markers.
//! Formats without times take a [`Folded`], in which equal stacks of a thread are one row; pictures a [`Listed`], too, which is faster to make.
//!
//! [`formats`] lists the formats; [`flame`] draws a [`Folded`] or [`Listed`], or what changed between two of them.
//!
//! Output depends on nothing but the input: the same profile gives the same bytes.

pub mod escape;
pub mod flame;
pub mod formats;
mod functions;
mod json;
pub mod profile;
mod protobuf;
mod tree;

pub use formats::{Format, Writer, firefox, folded, perfetto, pprof, speedscope};
pub use profile::{
    About, Catalog, Folded, Frame, FrameId, Listed, Marker, MarkerKind, Measure, Origin, Process, ProcessId, Profile,
    Sample, StackId, StringId, Thread, ThreadId, Unit, Weight,
};
pub use tree::{Grouping, Stacked};
