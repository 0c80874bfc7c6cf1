//! Last branch records of Windows.

use tracesift_etl::Record;
use tracesift_etl::payload::LastBranches;
use tracesift_trace::rows::branch_kinds;
use tracesift_trace::{HealthKind, RowSink};

use super::SecondPass;
use crate::branches::{Pair, Told};

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// The branches before a sample, or before another event. Windows tells neither their kinds nor predictions.
    pub(super) fn last_branches(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<LastBranches<'_>>(record, version) else { return };
        // The records of a call stack are calls that have not returned, however long ago they were.
        if event.filters & LastBranches::CALL_STACK != 0 {
            return;
        }
        let ticks = record.time();
        let process = self.population.process_at(event.process_id, ticks);
        // Of records that were never written the addresses are 0.
        for branch in event.branches().filter(|branch| branch.from != 0 || branch.to != 0) {
            let mut frame = |address| self.stacks.frame(process, address, ticks, self.sink);
            let (from, to) = (frame(branch.from), frame(branch.to));
            let pair = Pair { process, from, to, kind: branch_kinds::UNKNOWN };
            if !self.branches.add(pair, Told::default()) {
                self.health.count(HealthKind::BRANCHES_OVER_BUDGET, Some(ticks), || {
                    format!("from {:#x} to {:#x}", branch.from, branch.to)
                });
            }
        }
    }
}
