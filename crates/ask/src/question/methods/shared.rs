//! One source of methods for the aggregators of several time ranges: what it learns of a stack serves all of them.

use std::cell::RefCell;

use tracesift_analysis::MethodSource;
use tracesift_trace::{FrameId, StackId};

/// A source that several aggregators ask in turn.
pub(super) struct Shared<'a, S>(pub(super) &'a RefCell<S>);

impl<S> Clone for Shared<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Shared<'_, S> {}

impl<S: MethodSource> MethodSource for Shared<'_, S> {
    type Item = S::Item;

    fn stack(&mut self, stack: StackId, methods: &mut Vec<S::Item>) {
        self.0.borrow_mut().stack(stack, methods);
    }

    fn frame(&mut self, frame: FrameId, methods: &mut Vec<S::Item>) {
        self.0.borrow_mut().frame(frame, methods);
    }

    fn representative(&mut self, stack: StackId) -> StackId {
        self.0.borrow_mut().representative(stack)
    }

    fn no_stack(&mut self, methods: &mut Vec<S::Item>) {
        self.0.borrow_mut().no_stack(methods);
    }
}
