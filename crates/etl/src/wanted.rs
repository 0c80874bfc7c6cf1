//! The choice of the records that a merge hands out.

use crate::record::Record;

/// Which records a merge hands out. It is asked on another thread.
pub trait Wanted: Clone + Send + 'static {
    /// Whether every record is wanted; saves the question.
    const ALL: bool = false;

    /// Whether this record is wanted.
    fn wants(&self, record: &Record<'_>) -> bool;
}

/// All records are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everything;

impl Wanted for Everything {
    const ALL: bool = true;

    fn wants(&self, _: &Record<'_>) -> bool {
        true
    }
}

impl<F: Fn(&Record<'_>) -> bool + Clone + Send + 'static> Wanted for F {
    fn wants(&self, record: &Record<'_>) -> bool {
        self(record)
    }
}
