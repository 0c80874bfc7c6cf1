//! Stack tags: one name per stack, so that time adds up by what was going on and not by function.
//!
//! A list of methods says where a processor was; it does not say that all of this was the virus scanner. People write that
//! knowledge down once, in files of rules that Windows Performance Analyzer reads (`.stacktags`), and read tags from then on. The
//! format, and what of it is our own, is described in `docs/stack-tags.md`.
//!
//! * [`file`](mod@file): one file of rules, read
//! * [`set`]: the rules of several files, with the tags that they name
//! * `rules`: which rules a method fulfils, asked once per method
//! * [`tagger`]: which tag a stack has, asked once per stack
//! * [`source`]: tags in the place of methods, for the aggregator of methods
//! * `summary`: the figures of tags as rows
//!
//! **One tag per stack.** Tags of a process therefore add up to its CPU time and to the plain sum of its waits. Unions do not.

pub mod file;
mod rules;
pub mod set;
pub mod source;
mod summary;
pub mod tagger;

pub use file::{Nesting, TagFileError, TagWarning};
pub use set::{BUILT_IN, TagFile, TagId, TagSet};
pub use source::{TagNumber, TagRow, TagSource};
pub use summary::{TagSummaries, TagTotal, figures_of, tag_totals, to_store};
pub use tagger::Tagger;
