//! People have viewers that they know, and colleagues who have no tracesift. This crate writes a profile in the formats of those
//! viewers, and as a picture that needs no viewer at all.
//!
//! What is written comes from a neutral [`Profile`] in memory: names, frames, stacks, threads, weighted samples and markers.
//! Formats without times take a [`Folded`], in which equal stacks of a thread are one row; pictures a [`Listed`], too, which is faster to make.
//!
//! | format | module | takes | shows |
//! |---|---|---|---|
//! | flame graph (SVG) | [`flame`] | [`Folded`] or [`Listed`], or two of them | a picture with zoom and search in any browser |
//! | folded stacks | [`folded`] | [`Folded`] or [`Listed`] | what flamegraph.pl, inferno and speedscope read |
//! | pprof | [`pprof`] | [`Folded`] | `go tool pprof`, Grafana, many continuous profilers |
//! | speedscope | [`speedscope`] | [`Profile`] | order of stacks in each thread |
//! | Firefox Profiler | [`firefox`] | [`Profile`] | times, threads, markers |
//! | Perfetto | [`perfetto`] | [`Profile`] | times, threads, waits as slices, SQL |
//!
//! Output depends on nothing but the input: the same profile gives the same bytes.

mod escape;
pub mod firefox;
pub mod flame;
pub mod folded;
mod format;
mod functions;
mod json;
pub mod perfetto;
pub mod pprof;
pub mod profile;
mod protobuf;
pub mod speedscope;
mod tree;

pub use format::Format;
pub use profile::{
    About, Catalog, Folded, Frame, FrameId, Listed, Marker, MarkerKind, Measure, Origin, Process, ProcessId, Profile,
    Sample, StackId, StringId, Thread, ThreadId, Weight,
};
pub use tree::{Grouping, Stacked};
