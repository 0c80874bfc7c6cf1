//! The runs of a path, for the samples that hit them.

use tracesift_trace::ThreadId;

use super::leaf::{Leaf, State};
use crate::spans::Span;

/// The runs of a path with the group of each, 24 bytes per run. Filled by the walk; then samples ask for their group, newest
/// first.
#[derive(Clone, Debug, Default)]
pub struct PathRuns {
    /// By descending time, without overlaps.
    runs: Vec<Run>,
    /// The newest run that begins before or at the last sample's time.
    place: usize,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    span: Span,
    thread: ThreadId,
    group: u32,
}

impl PathRuns {
    /// Adds a leaf, in the walk's order. A leaf that is no run is left out.
    pub fn leaf(&mut self, leaf: &Leaf, group: u32) {
        if matches!(leaf.state, State::Run { .. }) {
            self.runs.push(Run { span: leaf.span, thread: leaf.thread, group });
        }
    }

    /// All runs with their groups, the last one first.
    pub fn iter(&self) -> impl Iterator<Item = (Span, u32)> + '_ {
        self.runs.iter().map(|run| (run.span, run.group))
    }

    /// The group of the run that a sample of a thread lies in; `None` if it does not lie on the path. Constant time on average
    /// where the samples come newest first.
    pub fn group_of(&mut self, time: i64, thread: ThreadId) -> Option<u32> {
        let is_later = |run: &Run| time < run.span.start;
        // A sample that is newer than the one before it: its run is looked for.
        if self.place.checked_sub(1).and_then(|before| self.runs.get(before)).is_some_and(|run| !is_later(run)) {
            self.place = self.runs.partition_point(is_later);
        }
        while self.runs.get(self.place).is_some_and(is_later) {
            self.place += 1;
        }
        let run = self.runs.get(self.place)?;
        (run.span.contains(time) && run.thread == thread).then_some(run.group)
    }
}

#[cfg(test)]
mod tests {
    use tracesift_trace::ThreadId;

    use super::{Leaf, PathRuns, Span, State};
    use crate::path::Gap;

    #[test]
    fn a_sample_belongs_to_the_run_of_its_thread_in_any_order() {
        let run = State::Run { ends_with: None };
        let mut runs = PathRuns::default();
        for (start, end, thread, state, group) in [
            (30, 40, 1, run, 0),
            (25, 30, 1, State::Unknown(Gap::BrokenChain), 9),
            (20, 25, 2, run, 1),
            (5, 20, 1, run, 2),
        ] {
            runs.leaf(&Leaf { span: Span { start, end }, thread: ThreadId(thread), state }, group);
        }
        let naive = |time: i64, thread: i32| match (time, thread) {
            (30..40, 1) => Some(0),
            (20..25, 2) => Some(1),
            (5..20, 1) => Some(2),
            _ => None,
        };
        let times = (0..45).rev().chain([3, 41, 7, 22, 39, 0, 30, 20]);
        for (time, thread) in times.flat_map(|time| [(time, 1), (time, 2)]) {
            assert_eq!(runs.group_of(time, ThreadId(thread)), naive(time, thread), "{thread} at {time}");
        }
        assert_eq!(PathRuns::default().group_of(0, ThreadId(0)), None);
    }
}
