//! Who figures are added up for.

use std::fmt::Debug;
use std::hash::Hash;

use tracesift_trace::ProcessId;

/// A process, or what a question tells apart in its place, such as each thread of a process. Owners of the same type only are added up
/// together.
pub trait Owner: Copy + Debug + Ord + Hash {}

impl Owner for ProcessId {}
