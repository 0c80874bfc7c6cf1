//! Stacks with which the end of a process closes its handles.

use rustc_hash::FxHashSet;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::SymbolRow;
use tracesift_trace::{FrameId, StackId, view};

view! {
    /// The function of a frame.
    #[derive(Clone, Debug)]
    struct FunctionOfFrame of SymbolRow { frame, function }
}

/// The functions that close the handles of a process that ends.
const FUNCTIONS: [&str; 2] = ["NtTerminateProcess", "ExSweepHandleTable"];

/// The stacks with such a function; none where no frame has a name.
#[derive(Debug, Default)]
pub(super) struct ExitStacks(FxHashSet<StackId>);

impl ExitStacks {
    /// Those of an archive.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(super) fn of(archive: &Archive) -> Result<Self, Error> {
        let mut frames: FxHashSet<FrameId> = FxHashSet::default();
        archive.scan(None, |row: &FunctionOfFrame| {
            if FUNCTIONS.contains(&row.function.as_str()) {
                frames.insert(row.frame);
            }
        })?;
        let mut stacks = FxHashSet::default();
        if !frames.is_empty() {
            archive.scan_stacks(|stack, of_stack| {
                if of_stack.iter().any(|frame| frames.contains(frame)) {
                    stacks.insert(stack);
                }
            })?;
        }
        Ok(Self(stacks))
    }

    /// Whether a close with this stack is one of a process that ends.
    pub(super) fn has(&self, stack: Option<StackId>) -> bool {
        stack.is_some_and(|stack| self.0.contains(&stack))
    }
}
