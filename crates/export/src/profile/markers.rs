//! Markers: events with a length or a name instead of a weight, which are waits and marks.

use super::{StackId, StringId, ThreadId};

/// What a marker tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkerKind {
    /// The thread was blocked.
    Wait,
    /// The thread could have run and had no processor.
    Ready,
    /// A mark that the recording's user set.
    Mark,
}

impl MarkerKind {
    /// The word that viewers show as the kind.
    pub fn label(self) -> &'static str {
        match self {
            Self::Wait => "Wait",
            Self::Ready => "Ready",
            Self::Mark => "Mark",
        }
    }
}

/// A span or an instant on a thread or of the whole recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// What it tells of.
    pub kind: MarkerKind,
    /// The thread; none for what concerns the whole recording.
    pub thread: Option<ThreadId>,
    /// When it began, in nanoseconds since time zero.
    pub start: i64,
    /// When it ended, in nanoseconds since time zero; none for an instant.
    pub end: Option<i64>,
    /// Its name: the mark's text, the reason of the wait. May be empty.
    pub name: StringId,
    /// The stack with which the thread left the processor, if known.
    pub stack: Option<StackId>,
}

/// Markers in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Markers {
    rows: Vec<Marker>,
}

impl Markers {
    /// Adds a marker.
    pub fn push(&mut self, marker: Marker) {
        self.rows.push(marker);
    }

    /// All markers in the order in which they came.
    pub fn rows(&self) -> &[Marker] {
        &self.rows
    }
}
