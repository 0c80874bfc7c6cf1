//! The place that a sample or a span is charged to: a stack, an instruction, or nothing. Most have
//! a stack; some samples have only an instruction.

use tracesift_trace::{FrameId, StackId};

use crate::stacks::MethodSource;

/// The place that a sample or a span is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attribution {
    /// A call stack.
    Stack(StackId),
    /// A sample without stack: the sampled instruction alone.
    Frame(FrameId),
    /// Neither a stack nor an instruction is known.
    Nowhere,
}

impl Attribution {
    /// The place of a sample with this stack, else with this frame.
    #[must_use]
    #[inline]
    pub fn of_sample(stack: Option<StackId>, frame: Option<FrameId>) -> Self {
        stack.map(Self::Stack).or(frame.map(Self::Frame)).unwrap_or(Self::Nowhere)
    }

    /// The place where a thread left the CPU with this stack.
    #[must_use]
    #[inline]
    pub fn of_wait(stack: Option<StackId>) -> Self {
        stack.map_or(Self::Nowhere, Self::Stack)
    }

    /// Appends the methods that a source has there, leaf first.
    pub fn methods<S: MethodSource>(self, source: &mut S, methods: &mut Vec<S::Item>) {
        match self {
            Self::Stack(stack) => source.stack(stack, methods),
            Self::Frame(frame) => source.frame(frame, methods),
            Self::Nowhere => source.no_stack(methods),
        }
    }
}
