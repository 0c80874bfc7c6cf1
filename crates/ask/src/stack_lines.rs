//! The functions of stacks, for answers with a stack per row.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_analysis::MethodSource as _;
use tracesift_archive::Error;
use tracesift_extract::stack_methods::{Granularity, NamedStacks};
use tracesift_trace::StackId;

use crate::recording::OpenRecording;

/// The functions of stacks. Each stack is looked up once.
pub(crate) struct StackLines {
    /// `None`: nobody looks at stacks.
    named: Option<Arc<NamedStacks>>,
    known: FxHashMap<StackId, Option<Vec<String>>>,
}

impl StackLines {
    /// Reads the stacks of a recording where somebody looks at them.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn new(recording: &OpenRecording, is_shown: bool) -> Result<Self, Error> {
        let named = if is_shown { Some(recording.named_stacks(Granularity::default())?) } else { None };
        Ok(Self { named, known: FxHashMap::default() })
    }

    /// The functions of a stack, the innermost first. `None`: it has none.
    pub(crate) fn of(&mut self, stack: Option<StackId>) -> Option<Vec<String>> {
        let (named, stack) = (self.named.as_ref()?, stack?);
        let lines = || {
            let mut methods = Vec::new();
            (&named.stacks).stack(stack, &mut methods);
            let lines: Vec<String> = methods.iter().map(|method| named.names.name(*method).to_string()).collect();
            (!lines.is_empty()).then_some(lines)
        };
        self.known.entry(stack).or_insert_with(lines).clone()
    }
}
