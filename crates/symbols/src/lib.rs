//! Names for code addresses: function, inlined functions, source file and line.
//!
//! Whatever a name comes from, it goes through a [`Table`]: a compact map from addresses to names that is built once per file
//! ([`TableBuilder`]), written to a cache and mapped from there. What a binary is known by stands in [`identity`].
//!
//! Where the files come from stands in [`search`] (what to look for, in which order: values only), [`fetch`] (folders and servers) and
//! [`cache`] (tables on disk).
//!
//! Nothing here knows recordings, and nothing here believes a file: every length in one is checked before it is used.

pub mod breakpad;
pub mod cache;
mod demangle;
pub mod elf;
mod error;
pub mod fetch;
mod fields;
pub mod identity;
pub mod jit_code;
pub mod jitdump;
pub mod kallsyms;
pub mod machine;
pub mod names;
mod of_file;
pub mod pdb;
pub mod pe;
pub mod perf_map;
pub mod portable;
mod readers;
pub mod rooted;
pub mod search;
mod table;
mod text;
mod undecorate;

pub use demangle::demangle;
pub use error::Error;
pub use identity::{BuildId, Guid, ImageId, PdbId};
pub use of_file::FileNames;
pub use portable::PortablePdb;
pub use readers::FormatReaders;
pub use table::{FileId, Frame, FunctionId, LocationId, Table, TableBuilder, TableError};
