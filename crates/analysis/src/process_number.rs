//! Processes as dense numbers.

/// A process as a dense number within one aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProcessNumber(pub(crate) u32);
