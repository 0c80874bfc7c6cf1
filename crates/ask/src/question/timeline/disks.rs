//! The lanes of disks, and of processes by what they do with disks.

use rustc_hash::FxHashMap;
use tracesift_analysis::{IntervalUnion, Span};
use tracesift_archive::Error;
use tracesift_trace::rows::{DiskIoRow, DiskOperation};
use tracesift_trace::view;

use super::lanes::{Asked, Collected};
use super::{LaneKind, Measure};

view! {
    /// A disk operation, and whom it is of.
    #[derive(Clone, Copy, Debug)]
    struct Operation of DiskIoRow { time, start, process, disk, operation, size }
}

impl Operation {
    fn span(&self) -> Span {
        Span::new(self.start.min(self.time), self.time)
    }

    /// What it counts when it completes.
    fn amount(&self, measure: Measure) -> i64 {
        match (measure, self.operation) {
            (Measure::Operations, _) | (Measure::Reads, DiskOperation::Read) => 1,
            (Measure::Writes, DiskOperation::Write) => 1,
            (Measure::Bytes, _) | (Measure::ReadBytes, DiskOperation::Read) => self.size,
            (Measure::WriteBytes, DiskOperation::Write) => self.size,
            _ => 0,
        }
    }
}

/// Adds the disk operations of a time to the lanes.
pub(super) fn add_operations(asked: &Asked<'_>, range: Span, lanes: &mut Collected) -> Result<(), Error> {
    // An operation that completes at the first instant ends a span that lies before it.
    let time = range.start.saturating_sub(1)..range.end.saturating_add(1);
    let all = asked.question.filter.is_empty();
    let mut busy: FxHashMap<i32, IntervalUnion> = FxHashMap::default();
    asked.recording.archive().scan(Some(time), |row: &Operation| {
        let process = row.process.filter(|process| asked.accepted.contains(process));
        let lane = match asked.question.lane {
            LaneKind::Disk => Some(row.disk).filter(|_| all || process.is_some()),
            _ => process.map(|process| process.0),
        };
        let Some(lane) = lane else { return };
        match asked.measure {
            Measure::Busy => busy.entry(lane).or_default().add(row.span().intersect(range)),
            Measure::Queue => lanes.add_span(lane, row.span().intersect(range)),
            measure if range.contains(row.time) => lanes.add_at(lane, row.time, row.amount(measure)),
            _ => {}
        }
    })?;
    for (lane, mut union) in busy {
        for span in union.spans() {
            lanes.add_span(lane, *span);
        }
    }
    Ok(())
}
