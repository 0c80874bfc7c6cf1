//! Labels of stacks by number: where somebody waited, ran, or ended a wait.

use rustc_hash::FxHashMap;
use tracesift_trace::StackId;

use crate::stack_names::StackNames;

/// Labels of stacks by number.
#[derive(Default)]
pub(crate) struct Labels {
    of_stack: FxHashMap<StackId, Option<u32>>,
    numbers: FxHashMap<String, u32>,
    texts: Vec<String>,
}

impl Labels {
    /// The number of the label of a stack; `None` without a stack, or where no method of it has a name.
    pub(crate) fn of(&mut self, stack: Option<StackId>, names: &mut StackNames) -> Option<u32> {
        let stack = stack?;
        if let Some(known) = self.of_stack.get(&stack) {
            return *known;
        }
        let label = StackNames::telling_label(&names.of(stack)).map(|text| {
            *self.numbers.entry(text).or_insert_with_key(|text| {
                self.texts.push(text.clone());
                u32::try_from(self.texts.len() - 1).unwrap_or(u32::MAX)
            })
        });
        self.of_stack.insert(stack, label);
        label
    }

    /// The label with a number.
    pub(crate) fn text(&self, label: Option<u32>) -> Option<&String> {
        self.texts.get(usize::try_from(label?).ok()?)
    }
}
