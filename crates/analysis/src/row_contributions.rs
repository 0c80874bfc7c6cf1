//! Makes contributions from rows: the stack that a row is charged to, and the amount.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow};
use tracesift_trace::{ProcessId, ThreadId, view};

use crate::RecordingFacts;
use crate::accounting::ThreadLifetime;
use crate::attribution::Attribution;
use crate::by_id::ById;
use crate::contribution::{Amount, Contribution};
use crate::owner::Owner;
use crate::process_number::ProcessNumber;
use crate::spans::{Pieces, Span, is_switch_in, pieces};

view! {
    /// The columns of a sample that the totals of methods need.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct AttributedSample of CpuSampleRow { time, process, thread, weight, stack, frame }
}

view! {
    /// The same but for the process, where the owner of the sample stands beside the row.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ChargedSample of CpuSampleRow { time, thread, weight, stack, frame }
}

view! {
    /// The columns of a switch row that the totals of methods need.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct AttributedSwitch of ContextSwitchRow { time, thread, off_time, ready_time, wait_stack, flags }
}

/// The first half of a [`crate::MethodAggregator`]: from rows to contributions. It knows threads,
/// and no stack.
#[derive(Debug)]
pub(crate) struct RowContributions<O = ProcessId> {
    range: Span,
    has_ready: bool,
    threads: ById<Thread>,
    process_index: FxHashMap<O, ProcessNumber>,
    processes: Vec<O>,
    now: i64,
    contradictions: u64,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    process: ProcessNumber,
    /// Start of the earliest span taken so far: spans of a thread do not overlap.
    left: i64,
}

impl RowContributions {
    /// Those of processes.
    pub(crate) fn new(
        recording: &RecordingFacts,
        range: Span,
        threads: impl IntoIterator<Item = impl Into<ThreadLifetime>>,
    ) -> Self {
        let lives = threads.into_iter().map(Into::<ThreadLifetime>::into);
        Self::of_owners(recording, range, lives.map(|life| (life.thread, life.process)))
    }
}

impl<O: Owner> RowContributions<O> {
    /// `threads` tells whose each thread is that switches.
    pub(crate) fn of_owners(
        recording: &RecordingFacts,
        range: Span,
        threads: impl IntoIterator<Item = (ThreadId, O)>,
    ) -> Self {
        let mut contributions = Self {
            range,
            has_ready: recording.has_ready,
            threads: ById::default(),
            process_index: FxHashMap::default(),
            processes: Vec::new(),
            now: i64::MAX,
            contradictions: 0,
        };
        for (thread, owner) in threads {
            let process = contributions.process(owner);
            contributions.threads.insert(thread.0, Thread { process, left: i64::MAX });
        }
        contributions
    }

    /// The contribution of a sample; samples come in any order.
    pub(crate) fn sample(&mut self, owner: O, row: &ChargedSample) -> Option<Contribution> {
        if !self.range.contains(row.time) {
            return None;
        }
        let attribution = Attribution::of_sample(row.stack, row.frame);
        let process = self.process(owner);
        let amount = Amount::Sample { weight: row.weight };
        Some(Contribution { process, thread: row.thread, attribution, time: row.time, amount })
    }

    /// The contribution of a switch row; rows come newest first.
    pub(crate) fn switch(&mut self, row: &AttributedSwitch) -> Option<Contribution> {
        let process = self.accept(row)?;
        self.part((process, row), self.range, row.time)
    }

    /// Takes a switch row; rows come newest first. `None`: it contradicts others.
    pub(crate) fn accept(&mut self, row: &AttributedSwitch) -> Option<ProcessNumber> {
        let thread = self.threads.get_mut(row.thread.0).filter(|thread| row.time <= thread.left);
        let Some(thread) = thread.filter(|_| row.time <= self.now) else {
            self.contradictions += 1;
            return None;
        };
        thread.left = row.off_time.min(row.time);
        self.now = row.time;
        Some(thread.process)
    }

    /// The contribution of the part of an accepted row that lies in `range` and ends at `end`.
    pub(crate) fn part(
        &self,
        (process, row): (ProcessNumber, &AttributedSwitch),
        range: Span,
        end: i64,
    ) -> Option<Contribution> {
        let attribution = Attribution::of_wait(row.wait_stack);
        let Pieces { wait, ready, .. } = pieces(row, self.has_ready).clip(range);
        let switched_in = is_switch_in(row.flags) && range.contains(row.time);
        let amount = Amount::Switch { wait, ready, switched_in };
        let contribution = Contribution { process, thread: row.thread, attribution, time: end, amount };
        (wait.is_some() || ready.is_some() || switched_in).then_some(contribution)
    }

    /// The process of each thread.
    pub(crate) fn threads(&self) -> ById<ProcessNumber> {
        self.threads.map(|thread| thread.process)
    }

    /// The number of switch rows without a contribution, because they contradict other rows or the
    /// thread table.
    pub(crate) fn contradictions(&self) -> u64 {
        self.contradictions
    }

    /// The processes by their numbers, as far as there are any.
    pub(crate) fn processes(&self) -> &[O] {
        &self.processes
    }

    /// The processes by their numbers.
    pub(crate) fn into_processes(self) -> Vec<O> {
        self.processes
    }

    /// The number of an owner.
    pub(crate) fn process(&mut self, owner: O) -> ProcessNumber {
        *self.process_index.entry(owner).or_insert_with(|| {
            self.processes.push(owner);
            ProcessNumber(u32::try_from(self.processes.len() - 1).unwrap_or(u32::MAX))
        })
    }
}
