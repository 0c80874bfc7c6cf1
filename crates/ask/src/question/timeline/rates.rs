//! Mean clock rates of CPUs and processes while threads ran, as `dump frequency` has them.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use tracesift_analysis::Span;
use tracesift_analysis::timeline::Grid;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{CpuRow, ProcessRow};

use super::LaneKind;
use super::lanes::{Asked, MOST_FIGURES};
use crate::clock_rates::Rates;
use crate::processes::is_idle;
use crate::question::running::{self, Work};

/// Rate × time, and the time at a known rate.
#[derive(Clone, Copy, Debug, Default)]
struct Weighted {
    /// kHz ns.
    product: i128,
    /// ns.
    time: i64,
}

impl Weighted {
    fn add(&mut self, khz: i64, time: i64) {
        self.product = self.product.saturating_add(i128::from(khz) * i128::from(time));
        self.time = self.time.saturating_add(time);
    }

    /// The mean rate to the kHz; 0 if no time is known.
    fn mean(self) -> i64 {
        let time = i128::from(self.time);
        if time <= 0 { 0 } else { i64::try_from((self.product + time / 2) / time).unwrap_or(i64::MAX) }
    }
}

/// A lane with the mean rates of its buckets and of the whole range, kHz.
pub(super) struct MeanRates {
    pub(super) lane: i32,
    pub(super) buckets: Vec<i64>,
    pub(super) all: i64,
}

/// The lanes in the order of their numbers. `None`: they are too many for so many buckets.
pub(super) fn lanes(asked: &Asked<'_>, processes: &[ProcessRow], grid: &Grid) -> Result<Option<Vec<MeanRates>>, Error> {
    let archive = asked.recording.archive();
    let cpus: Vec<CpuRow> = archive.rows()?;
    let rates = Rates::read(archive, &cpus)?;
    let idle: FxHashSet<ProcessId> = processes.iter().filter(|row| is_idle(*row)).map(|row| row.process).collect();
    let (range, mut sums, mut is_full) = (grid.range(), BTreeMap::<i32, Vec<Weighted>>::new(), false);
    let time = TimeRange { start: Some(range.start), end: Some(range.end) };
    running::each(asked.recording, time, &mut |process, cpu, work| {
        let Some(cpu) = cpu.filter(|_| asked.accepted.contains(&process) && !idle.contains(&process)) else { return };
        let lane = if asked.question.lane == LaneKind::Cpu { i32::from(cpu) } else { process.0 };
        is_full |= (sums.len() + 1).saturating_mul(grid.buckets()) > MOST_FIGURES / 3;
        if is_full {
            return;
        }
        let sums = sums.entry(lane).or_insert_with(|| vec![Weighted::default(); grid.buckets()]);
        match work {
            Work::Run(span) => {
                for (change, part) in rates.during(cpu, span.intersect(range)) {
                    add(sums, grid, part, change.khz);
                }
            }
            Work::Sample { time, weight } => {
                if let (Some(place), Some(khz)) = (grid.place(time), rates.khz(cpu, time)) {
                    sums[place].add(khz, weight);
                }
            }
        }
    })?;
    let of_lane = |(lane, sums): (i32, Vec<Weighted>)| {
        let mut all = Weighted::default();
        for sum in &sums {
            all.product = all.product.saturating_add(sum.product);
            all.time = all.time.saturating_add(sum.time);
        }
        (all.time > 0).then(|| MeanRates {
            lane,
            buckets: sums.into_iter().map(Weighted::mean).collect(),
            all: all.mean(),
        })
    };
    Ok((!is_full).then(|| sums.into_iter().filter_map(of_lane).collect()))
}

/// Adds a span at one rate to its buckets.
fn add(sums: &mut [Weighted], grid: &Grid, span: Span, khz: i64) {
    let Some(first) = grid.place(span.start).filter(|_| !span.is_empty()) else { return };
    for (place, sum) in sums.iter_mut().enumerate().skip(first) {
        let part = grid.bucket(place).intersect(span);
        if part.is_empty() {
            return;
        }
        sum.add(khz, part.length());
    }
}
