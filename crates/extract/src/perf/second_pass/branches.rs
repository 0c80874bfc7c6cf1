//! Last branch records of samples (`perf record -b`, `-j`).

use tracesift_perf::{BranchEntry, BranchSampleFormat, Metadata};
use tracesift_trace::rows::branch_kinds as kinds;
use tracesift_trace::{HealthKind, RowSink};

use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::branches::{Branches, Pair, Told};

/// Branches of a sample that are used. Processors have 32.
const MAX_BRANCHES: usize = 512;

/// The branches of one recording.
#[derive(Debug, Default)]
pub(crate) struct SampledBranches {
    /// By event: whether its samples have branches, other than those of a call stack.
    of_events: Vec<bool>,
    sums: Branches,
}

impl SampledBranches {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let has_branches =
            |format: BranchSampleFormat| !format.is_empty() && !format.contains(BranchSampleFormat::CALL_STACK);
        let of_events = metadata.events.all().iter().map(|event| has_branches(event.attr.branch_format)).collect();
        Self { of_events, sums: Branches::default() }
    }

    /// Whether samples of an event have branches.
    pub(super) fn are_recorded_by(&self, event: usize) -> bool {
        self.of_events.get(event) == Some(&true)
    }

    /// The branches of a sample.
    pub(super) fn sample<Sink: RowSink>(&mut self, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        let Some(branches) = at.sample.tail().branches else { return };
        // Of records that were never written the addresses are 0.
        let is_written = |entry: &BranchEntry| entry.from != 0 || entry.to != 0;
        for entry in branches.entries().take(MAX_BRANCHES).filter(is_written) {
            let mut frame = |address| rows.stacks.frame(at.process, address, at.ticks, rows.sink);
            let (from, to) = (frame(entry.from), frame(entry.to));
            let pair = Pair { process: at.process, from, to, kind: kind(entry.kind()) };
            if !self.sums.add(pair, told(&entry)) {
                rows.health.count(HealthKind::BRANCHES_OVER_BUDGET, Some(at.ticks), || {
                    format!("from {:#x} to {:#x}", entry.from, entry.to)
                });
            }
        }
    }

    /// What was added up.
    pub(crate) fn finish(self) -> Branches {
        self.sums
    }
}

/// A processor that tells neither of the two flags does not tell predictions; cycles of 0 stand for none.
fn told(entry: &BranchEntry) -> Told {
    let is_predicted_or_not = entry.mispredicted() || entry.predicted();
    Told {
        mispredicted: is_predicted_or_not.then(|| entry.mispredicted()),
        cycles: Some(entry.cycles()).filter(|cycles| *cycles > 0),
    }
}

/// The kind of a branch from its `PERF_BR_*`.
fn kind(number: u8) -> i8 {
    match number {
        0 => kinds::UNKNOWN,
        1 => kinds::CONDITIONAL,
        2 | 3 => kinds::JUMP,
        4 | 9 => kinds::CALL,
        5 => kinds::INDIRECT_CALL,
        6 | 10 => kinds::RETURN,
        7 => kinds::SYSTEM_CALL,
        8 | 11 => kinds::SYSTEM_RETURN,
        12 => kinds::INTERRUPT,
        _ => kinds::OTHER,
    }
}
