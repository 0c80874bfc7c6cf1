//! Processes as dense numbers.

/// A process as a dense number within one aggregation; where a question has other [owners](crate::Owner), the number of one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProcessNumber(pub(crate) u32);
