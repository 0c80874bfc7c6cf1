//! Places in the code, by number: the stack tag of a stack, and the method that tells most about it.

use std::sync::Arc;

use tracesift_analysis::tags::{TagId, TagSet, TagSource, Tagger};
use tracesift_analysis::{Interrupt, StackMethods};
use tracesift_extract::stack_methods::NamedStacks;
use tracesift_trace::StackId;

use crate::stack_labels::Labels;
use crate::stack_names::StackNames;

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    /// Its stack tag.
    pub(crate) tag: TagId,
    /// Its method, as answers about waits name it.
    pub(crate) site: Option<u32>,
}

impl Place {
    /// Without a stack.
    pub(crate) const NOWHERE: Self = Self { tag: TagId::NO_STACK, site: None };
}

/// The places of the stacks of a recording.
pub(crate) struct Places<'a> {
    tags: TagSource<'a, &'a StackMethods>,
    labels: Labels,
    names: StackNames,
}

impl<'a> Places<'a> {
    pub(crate) fn new(named: &'a Arc<NamedStacks>, set: &'a TagSet) -> Self {
        Self {
            tags: TagSource::new(&named.stacks, Tagger::new(set, &named.names)),
            labels: Labels::default(),
            names: StackNames::new(Arc::clone(named)),
        }
    }

    pub(crate) fn of(&mut self, stack: Option<StackId>) -> Place {
        let Some(stack) = stack else { return Place::NOWHERE };
        Place { tag: self.tags.tag(stack), site: self.labels.of(Some(stack), &mut self.names) }
    }

    pub(crate) fn tag(&mut self, stack: Option<StackId>) -> &str {
        let tag = stack.map_or(TagId::NO_STACK, |stack| self.tags.tag(stack));
        self.tag_text(tag)
    }

    /// What interrupt a wake-up with this stack came from.
    pub(crate) fn interrupt(&mut self, stack: Option<StackId>) -> Interrupt {
        Interrupt::of(&stack.map(|stack| self.names.of(stack)).unwrap_or_default())
    }

    /// What ends a wait with this stack where the recording does not tell.
    pub(crate) fn sleep_ends(&mut self, stack: Option<StackId>) -> Option<Interrupt> {
        Interrupt::of_sleep(&stack.map(|stack| self.names.of(stack)).unwrap_or_default())
    }

    pub(crate) fn tag_text(&self, tag: TagId) -> &str {
        self.tags.tagger().name(tag)
    }

    pub(crate) fn site_text(&self, place: Place) -> Option<&str> {
        self.labels.text(place.site).map(String::as_str)
    }
}
