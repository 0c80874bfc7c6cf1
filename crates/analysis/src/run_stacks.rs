//! Precise CPU: runs from context switches with the stacks that are charged with them.
//!
//! A switch records where a thread leaves the CPU, not where it was while it ran. So a run is charged to the stack with which
//! the thread leaves next: whoever calls the blocking function pays. That is all that a recording without samples can say.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::ContextSwitchRow;
use tracesift_trace::{StackId, ThreadId, view};

use crate::RecordingFacts;
use crate::accounting::{Accounting, Run, ThreadLifetime};
use crate::spans::Span;

view! {
    /// The columns of a switch row that runs and their stacks need.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct RunSwitch of ContextSwitchRow {
        time, cpu, thread, prev_thread, off_time, ready_time, wait_stack, flags,
    }
}

/// Finds the stack of each run while switch rows stream by, newest first.
#[derive(Clone, Debug)]
pub struct RunStacks {
    accounting: Accounting,
    threads: FxHashMap<ThreadId, Rows>,
}

/// What is known of the rows of one thread so far.
#[derive(Clone, Copy, Debug)]
struct Rows {
    /// Stack of the oldest one.
    leaves_with: Option<StackId>,
    /// Time of the newest one: what runs after it never leaves.
    newest: i64,
}

impl RunStacks {
    /// Runs inside of `range` ([`Span::ALL`] for everything) of the given threads.
    #[must_use]
    pub fn new(
        recording: &RecordingFacts,
        range: Span,
        threads: impl IntoIterator<Item = impl Into<ThreadLifetime>>,
    ) -> Self {
        Self { accounting: Accounting::new(recording, range, threads), threads: FxHashMap::default() }
    }

    /// Takes the next older row. `visit` gets each run that is now complete, with its stack if that was recorded.
    pub fn switch(&mut self, row: impl Into<RunSwitch>, visit: &mut impl FnMut(Run, Option<StackId>)) {
        let row = &row.into();
        let rows = self.threads.get(&row.thread).copied();
        self.accounting.switch_without_priorities(row, &mut |run| visit(run, rows.and_then(|rows| rows.leaves_with)));
        let newest = rows.map_or(row.time, |rows| rows.newest);
        self.threads.insert(row.thread, Rows { leaves_with: row.wait_stack, newest });
    }

    /// The runs before the oldest and after the newest rows.
    pub fn finish(self, visit: &mut impl FnMut(Run, Option<StackId>)) {
        let threads = self.threads;
        self.accounting.finish(&mut |run| {
            let rows = threads.get(&run.thread).filter(|rows| run.span.start < rows.newest);
            visit(run, rows.and_then(|rows| rows.leaves_with));
        });
    }
}

#[cfg(test)]
mod tests {
    use tracesift_trace::rows::{ContextSwitchRow, ThreadRow};
    use tracesift_trace::{ProcessId, StackId, ThreadId};

    use super::RunStacks;
    use crate::{RecordingFacts, Span};

    fn a_thread() -> ThreadRow {
        ThreadRow { thread: ThreadId(1), process: ProcessId(0), tid: 7, ..ThreadRow::default() }
    }

    #[test]
    fn a_run_is_charged_to_the_stack_with_which_the_thread_leaves() {
        let recording = RecordingFacts { span: Span::new(0, 100), has_switches: true, has_ready: true };
        let thread = a_thread();
        let row = |off_time, time, stack| ContextSwitchRow {
            time,
            cpu: Some(0),
            thread: ThreadId(1),
            off_time,
            wait_stack: stack,
            ..ContextSwitchRow::default()
        };
        let mut runs = Vec::new();
        let mut visit = |run: crate::Run, stack| runs.push((run.span.start, run.span.end, stack));
        let mut stacks = RunStacks::new(&recording, Span::ALL, &[thread]);
        for row in [row(60, 80, None), row(40, 50, Some(StackId(2))), row(10, 20, Some(StackId(1)))] {
            stacks.switch(&row, &mut visit);
        }
        stacks.finish(&mut visit);
        runs.sort_unstable();
        let expected = [(0, 10, Some(StackId(1))), (20, 40, Some(StackId(2))), (50, 60, None), (80, 100, None)];
        assert_eq!(runs, expected);
    }
}
