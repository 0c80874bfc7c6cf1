//! Which stacks rows are charged to, and what with.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow};
use tracesift_trace::{ProcessId, view};

use crate::Recording;
use crate::accounting::ThreadLife;
use crate::by_id::ById;
use crate::charged_to::ChargedTo;
use crate::charges::{Charge, What};
use crate::method_slots::ProcessNumber;
use crate::sample_sums::SampleSum;
use crate::spans::{Pieces, Span, is_switch_in, pieces};

view! {
    /// The columns of a sample that the totals of methods need.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ChargedSample of CpuSampleRow { time, process, thread, weight, stack, frame }
}

view! {
    /// The columns of a switch row that the totals of methods need.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ChargedSwitch of ContextSwitchRow { time, thread, off_time, ready_time, wait_stack, flags }
}

/// The half of a [`crate::MethodAggregator`] before the charges: it knows rows and threads, and no stack.
#[derive(Debug)]
pub(crate) struct Charger {
    range: Span,
    has_ready: bool,
    threads: ById<Thread>,
    process_index: FxHashMap<ProcessId, ProcessNumber>,
    processes: Vec<ProcessId>,
    now: i64,
    contradictions: u64,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    process: ProcessNumber,
    /// Start of the earliest span taken so far: spans of a thread do not overlap.
    left: i64,
}

impl Charger {
    pub(crate) fn new(
        recording: &Recording,
        range: Span,
        threads: impl IntoIterator<Item = impl Into<ThreadLife>>,
    ) -> Self {
        let mut charger = Self {
            range,
            has_ready: recording.has_ready,
            threads: ById::default(),
            process_index: FxHashMap::default(),
            processes: Vec::new(),
            now: i64::MAX,
            contradictions: 0,
        };
        for row in threads {
            let row: ThreadLife = row.into();
            let process = charger.process(row.process);
            charger.threads.insert(row.thread.0, Thread { process, left: i64::MAX });
        }
        charger
    }

    /// The charge of a sample; samples come in any order.
    pub(crate) fn sample(&mut self, row: &ChargedSample) -> Option<Charge> {
        if !self.range.contains(row.time) {
            return None;
        }
        let place = ChargedTo::of_sample(row.stack, row.frame);
        let process = self.process(row.process);
        let what = What::Samples { count: 1, weight: row.weight, last: row.time };
        Some(Charge { process, thread: row.thread, place, time: row.time, what })
    }

    /// The charge of samples that were added up, all of them inside the range.
    pub(crate) fn samples(&mut self, sum: &SampleSum) -> Charge {
        let process = self.process(sum.process);
        let what = What::Samples { count: sum.samples, weight: sum.cpu, last: sum.last };
        Charge { process, thread: sum.thread, place: sum.place, time: sum.first, what }
    }

    /// The charge of a switch row; rows come newest first.
    pub(crate) fn switch(&mut self, row: &ChargedSwitch) -> Option<Charge> {
        let thread = self.threads.get_mut(row.thread.0).filter(|thread| row.time <= thread.left);
        let Some(thread) = thread.filter(|_| row.time <= self.now) else {
            self.contradictions += 1;
            return None;
        };
        thread.left = row.off_time.min(row.time);
        let process = thread.process;
        self.now = row.time;
        let place = ChargedTo::of_wait(row.wait_stack);
        let Pieces { wait, ready, .. } = pieces(row, self.has_ready).clip(self.range);
        let switched_in = is_switch_in(row.flags) && self.range.contains(row.time);
        let what = What::Switch { wait, ready, switched_in };
        let charge = Charge { process, thread: row.thread, place, time: row.time, what };
        (wait.is_some() || ready.is_some() || switched_in).then_some(charge)
    }

    /// The process of each thread.
    pub(crate) fn threads(&self) -> ById<ProcessNumber> {
        self.threads.map(|thread| thread.process)
    }

    /// Switch rows that gave no charge because they contradict others or the thread table.
    pub(crate) fn contradictions(&self) -> u64 {
        self.contradictions
    }

    /// The processes by their numbers, as far as there are any.
    pub(crate) fn processes(&self) -> &[ProcessId] {
        &self.processes
    }

    /// The processes by their numbers.
    pub(crate) fn into_processes(self) -> Vec<ProcessId> {
        self.processes
    }

    fn process(&mut self, process: ProcessId) -> ProcessNumber {
        *self.process_index.entry(process).or_insert_with(|| {
            self.processes.push(process);
            ProcessNumber(u32::try_from(self.processes.len() - 1).unwrap_or(u32::MAX))
        })
    }
}
