//! Time in which CPUs were parked or capped.

use std::collections::BTreeMap;

use tracesift_analysis::Span;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{CpuStateRow, cpu_state_kinds};

/// Times of CPUs in a range.
#[derive(Debug, Default)]
pub(super) struct States {
    /// Whether the recording tells of such states at all.
    is_known: bool,
    /// Parked and capped, ns.
    times: BTreeMap<i16, [i64; 2]>,
}

impl States {
    /// The spans of a CPU that overlap count once.
    pub(super) fn read(archive: &Archive, range: Span) -> Result<Self, Error> {
        let mut spans: BTreeMap<(i16, usize), Vec<Span>> = BTreeMap::new();
        archive.scan(None, |row: &CpuStateRow| {
            let is_cap = [cpu_state_kinds::CAPPED_BY_FIRMWARE, cpu_state_kinds::CAPPED_BY_HEAT].contains(&row.kind);
            let span = Span::new(row.start, row.time).intersect(range);
            if !span.is_empty() {
                spans.entry((row.cpu, usize::from(is_cap))).or_default().push(span);
            }
        })?;
        let is_known = archive.row_count::<CpuStateRow>() > 0;
        let mut times: BTreeMap<i16, [i64; 2]> = BTreeMap::new();
        for ((cpu, place), spans) in spans {
            times.entry(cpu).or_default()[place] = union(spans);
        }
        Ok(Self { is_known, times })
    }

    /// Parked and capped time of a CPU; `None` where the recording tells of no CPU.
    pub(super) fn of(&self, cpu: i16) -> Option<[i64; 2]> {
        self.is_known.then(|| self.times.get(&cpu).copied().unwrap_or_default())
    }
}

fn union(mut spans: Vec<Span>) -> i64 {
    spans.sort_unstable_by_key(|span| span.start);
    let (mut sum, mut covered) = (0, i64::MIN);
    for span in spans {
        sum += (span.end - span.start.max(covered)).max(0);
        covered = covered.max(span.end);
    }
    sum
}
