//! What the threads of an extract work on, for whoever measures it.

use std::fmt;

/// A part of the work on an `.etl` that is done slice by slice, each time on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Pass 1: what is known late.
    Inventory,
    /// Pass 1: what of stacks is known late.
    StackInventory,
    /// Pass 2: a worker's part.
    Slice,
    /// Pass 2: the slices in their order.
    Join,
    /// Pass 2: the rows of slices put together.
    Rows,
}

/// Is told of the stages of an extract, on their threads.
pub trait StageWatch: fmt::Debug + Send + Sync {
    /// A stage begins with a slice, of which this is the number.
    fn begins(&self, stage: Stage, slice: usize);
    /// It is done with that slice.
    fn ends(&self, stage: Stage, slice: usize);
}

/// Does the work of a stage for a slice.
pub(crate) fn watched<T>(watch: Option<&dyn StageWatch>, stage: Stage, slice: usize, work: impl FnOnce() -> T) -> T {
    if let Some(watch) = watch {
        watch.begins(stage, slice);
    }
    let done = work();
    if let Some(watch) = watch {
        watch.ends(stage, slice);
    }
    done
}
