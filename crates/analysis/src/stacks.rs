//! From stacks to methods.

use tracesift_trace::rows::StackRow;
use tracesift_trace::{FrameId, StackId};

use crate::by_id::ById;
use crate::item::Item;
use crate::names::MethodId;
use crate::stack_frames::StackFrames;

/// Tells the methods of a stack. [`StackMethods`] keeps them in memory. Tags of stacks come from such a
/// source, too: [`crate::tags::TagSource`].
pub trait MethodSource {
    /// The items of a stack: [`MethodId`], or numbers that stand for tags.
    type Item: Item;

    /// Appends the methods of a stack, leaf first. A method may occur several times. An unknown
    /// stack has none.
    fn stack(&mut self, stack: StackId, methods: &mut Vec<Self::Item>);

    /// Appends the methods of a frame, innermost first: more than one where functions were inlined.
    fn frame(&mut self, frame: FrameId, methods: &mut Vec<Self::Item>);

    /// The representative of all stacks with the same methods, if it is known at low cost; their
    /// contributions are then added up once. Otherwise the stack itself.
    fn representative(&mut self, stack: StackId) -> StackId {
        stack
    }

    /// Appends the methods that samples and waits without a stack are charged to. There are none by
    /// default.
    fn no_stack(&mut self, _methods: &mut Vec<Self::Item>) {}
}

impl<S: MethodSource> MethodSource for &mut S {
    type Item = S::Item;

    fn stack(&mut self, stack: StackId, methods: &mut Vec<S::Item>) {
        (**self).stack(stack, methods);
    }

    fn frame(&mut self, frame: FrameId, methods: &mut Vec<S::Item>) {
        (**self).frame(frame, methods);
    }

    fn representative(&mut self, stack: StackId) -> StackId {
        (**self).representative(stack)
    }

    fn no_stack(&mut self, methods: &mut Vec<S::Item>) {
        (**self).no_stack(methods);
    }
}

/// The methods of all stacks, in memory: 4 bytes per frame of a stack.
#[derive(Clone, Debug, Default)]
pub struct StackMethods {
    frame_index: ById<Range>,
    frame_methods: Vec<MethodId>,
    stacks: StackFrames,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    start: usize,
    end: usize,
}

impl StackMethods {
    /// No stacks yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a frame with its methods, innermost first. A frame that comes again gets the new methods.
    pub fn add_frame(&mut self, frame: FrameId, methods: &[MethodId]) {
        let start = self.frame_methods.len();
        self.frame_methods.extend_from_slice(methods);
        self.frame_index.insert(frame.0, Range { start, end: self.frame_methods.len() });
    }

    /// Adds a stack. Its frames may come before or after it.
    pub fn add_stack(&mut self, row: &StackRow) {
        self.stacks.add(row.stack, &row.frames);
    }

    /// Takes these stacks in place of those that were added.
    pub fn set_stacks(&mut self, stacks: StackFrames) {
        self.stacks = stacks;
    }

    /// The stacks.
    #[must_use]
    pub fn stacks(&self) -> &StackFrames {
        &self.stacks
    }

    /// The methods of each frame, innermost first.
    pub fn frames(&self) -> impl Iterator<Item = &[MethodId]> {
        self.frame_index.values().filter_map(|range| self.frame_methods.get(range.start..range.end))
    }

    fn methods(&self, frame: FrameId) -> &[MethodId] {
        self.frame_index
            .get(frame.0)
            .and_then(|range| self.frame_methods.get(range.start..range.end))
            .unwrap_or_default()
    }
}

impl MethodSource for &StackMethods {
    type Item = MethodId;

    fn stack(&mut self, stack: StackId, methods: &mut Vec<MethodId>) {
        for &frame in self.stacks.of(stack) {
            methods.extend_from_slice(self.methods(frame));
        }
    }

    fn frame(&mut self, frame: FrameId, methods: &mut Vec<MethodId>) {
        methods.extend_from_slice(self.methods(frame));
    }
}

impl MethodSource for StackMethods {
    type Item = MethodId;

    fn stack(&mut self, stack: StackId, methods: &mut Vec<MethodId>) {
        (&*self).stack(stack, methods);
    }

    fn frame(&mut self, frame: FrameId, methods: &mut Vec<MethodId>) {
        (&*self).frame(frame, methods);
    }
}

#[cfg(test)]
mod tests {
    use super::{MethodSource, StackMethods};
    use crate::names::MethodId;
    use tracesift_trace::rows::StackRow;
    use tracesift_trace::{FrameId, StackId};

    #[test]
    fn inlined_functions_are_methods_of_their_own() {
        let mut stacks = StackMethods::new();
        stacks.add_stack(&StackRow { stack: StackId(3), frames: vec![FrameId(0), FrameId(1), FrameId(9)] });
        stacks.add_frame(FrameId(0), &[MethodId(10), MethodId(11)]);
        stacks.add_frame(FrameId(1), &[MethodId(12)]);
        let mut methods = Vec::new();
        stacks.stack(StackId(3), &mut methods);
        assert_eq!(methods, [MethodId(10), MethodId(11), MethodId(12)]);
        methods.clear();
        stacks.stack(StackId(4), &mut methods);
        assert_eq!(methods, []);
    }
}
