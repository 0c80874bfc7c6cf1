//! What the figures of stacks are added up for.

use std::fmt::Debug;

use crate::names::MethodId;

/// A method, or a row of figures of tags. Items of one analysis are dense numbers: the memory of an aggregation grows with the
/// largest one.
pub trait Item: Copy + Debug + Ord + Send + Sync {
    /// The number of the item.
    fn number(self) -> u32;
}

impl Item for MethodId {
    #[inline]
    fn number(self) -> u32 {
        self.0
    }
}
