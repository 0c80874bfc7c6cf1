//! A map from the addresses of one binary to names, inlined functions, files and lines.
//!
//! Code is cut into stretches; the code of a stretch is at one [`Location`](builder::Location): a function, a file and a line, and, where the
//! function was inlined, the location that it was inlined into. Locations that recur are stored once. So a look-up is one
//! binary search and a walk up the parents, whatever the format that the names came from.

mod builder;
mod format;

pub use builder::{FileId, FunctionId, LocationId, TableBuilder};
pub use format::{Frame, Table, TableError};
