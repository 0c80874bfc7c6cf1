//! Time in which CPUs were parked or capped.

use std::collections::BTreeMap;

use tracesift_analysis::Span;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{CpuStateRow, cpu_state_kinds};

use crate::clock_rates::Rates;
use crate::time_windows::TimeWindows;

/// Times of CPUs in ranges that follow each other.
#[derive(Debug)]
pub(super) struct States {
    /// Whether the recording has spans of such states at all.
    is_known: bool,
    windows: TimeWindows,
    /// By range and CPU.
    spans: Vec<BTreeMap<i16, Spans>>,
}

/// Spans of a CPU in a range.
#[derive(Clone, Debug, Default)]
struct Spans {
    parked: Vec<Span>,
    capped: Vec<Span>,
}

/// Times of a CPU in a range, ns; `None` where the recording does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OfCpu {
    pub(super) parked: Option<i64>,
    pub(super) capped: Option<i64>,
}

impl States {
    pub(super) fn read(archive: &Archive, windows: &TimeWindows) -> Result<Self, Error> {
        let mut spans: Vec<BTreeMap<i16, Spans>> = vec![BTreeMap::new(); windows.spans().len()];
        archive.scan(None, |row: &CpuStateRow| {
            let is_cap = [cpu_state_kinds::CAPPED_BY_FIRMWARE, cpu_state_kinds::CAPPED_BY_HEAT].contains(&row.kind);
            let span = Span::new(row.start, row.time);
            for place in windows.touching(span.start, span.end) {
                let part = span.intersect(windows.spans()[place]);
                if !part.is_empty() {
                    let of_cpu = spans[place].entry(row.cpu).or_default();
                    if is_cap { &mut of_cpu.capped } else { &mut of_cpu.parked }.push(part);
                }
            }
        })?;
        Ok(Self { is_known: archive.row_count::<CpuStateRow>() > 0, windows: windows.clone(), spans })
    }

    /// Parked and capped time of a CPU in the range of a place. Spans that overlap count once.
    pub(super) fn of(&self, place: usize, cpu: i16, rates: &Rates) -> OfCpu {
        let Spans { parked, mut capped } = self.spans[place].get(&cpu).cloned().unwrap_or_default();
        let limited = rates.limited(cpu, self.windows.spans()[place]);
        let knows_caps = self.is_known || limited.is_some();
        capped.extend(limited.into_iter().flatten());
        OfCpu { parked: self.is_known.then(|| union(parked)), capped: knows_caps.then(|| union(capped)) }
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
