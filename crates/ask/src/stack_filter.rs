//! Which stacks have functions that patterns ask for.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_analysis::{MethodId, MethodSource as _};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::{Granularity, NamedStacks};
use tracesift_trace::StackId;

use crate::method_patterns::{MethodPatterns, Verdict};
use crate::recording::OpenRecording;

/// Patterns of functions, asked of whole stacks. Each stack and each function is looked at once.
pub(crate) struct StackFilter<'a> {
    patterns: &'a MethodPatterns,
    /// `None`: there is no pattern.
    named: Option<Arc<NamedStacks>>,
    methods: FxHashMap<MethodId, Verdict>,
    stacks: FxHashMap<StackId, bool>,
    scratch: Vec<MethodId>,
}

impl<'a> StackFilter<'a> {
    /// Reads the stacks of a recording where there are patterns.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn new(recording: &OpenRecording, patterns: &'a MethodPatterns) -> Result<Self, Error> {
        let named = if patterns.is_empty() { None } else { Some(recording.named_stacks(Granularity::default())?) };
        let (methods, stacks) = (FxHashMap::default(), FxHashMap::default());
        Ok(Self { patterns, named, methods, stacks, scratch: Vec::new() })
    }

    /// Whether there are no patterns, so that everything passes.
    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_none()
    }

    /// Whether a stack passes: one of its functions is asked for, and none is excluded. With patterns an unknown stack does not pass.
    pub(crate) fn lets_pass(&mut self, stack: Option<StackId>) -> bool {
        let Some(named) = &self.named else { return true };
        let Some(stack) = stack else { return false };
        if let Some(known) = self.stacks.get(&stack) {
            return *known;
        }
        self.scratch.clear();
        (&named.stacks).stack(stack, &mut self.scratch);
        let (methods, patterns) = (&mut self.methods, self.patterns);
        let passes = patterns.lets_pass(self.scratch.iter().map(|method| {
            *methods.entry(*method).or_insert_with(|| {
                let name = named.names.name(*method);
                patterns.verdict(name.module.as_deref(), &name.function)
            })
        }));
        self.stacks.insert(stack, passes);
        passes
    }
}
