//! The lanes of hardware counters: what each counter counted for processes, for threads and on CPUs.

use tracesift_analysis::timeline::{Grid, Lanes};
use tracesift_archive::Error;
use tracesift_extract::counters::best_counts;
use tracesift_grammar::Patterns;

use super::LaneKind;
use super::lanes::{Asked, MOST_FIGURES};
use crate::candidates::Candidates;
use crate::recording::OpenRecording;

/// A counter of a lane.
pub(super) struct Counted {
    pub(super) lane: i32,
    /// Its name.
    pub(super) counter: String,
    /// Events by bucket.
    pub(super) buckets: Vec<i64>,
}

/// The counters of all lanes in no order. `None`: they are too many for so many buckets.
pub(super) fn lanes(asked: &Asked<'_>, grid: Grid) -> Result<Option<Vec<Counted>>, Error> {
    let (mut lanes, mut is_full) = (Lanes::new(grid), false);
    let names = best_counts(asked.recording.archive(), |count| {
        let Some(process) = count.process.filter(|process| asked.accepted.contains(process)) else { return };
        let lane = match asked.question.lane {
            LaneKind::Cpu => count.cpu.map(i32::from),
            LaneKind::Thread => count.thread.map(|thread| thread.0),
            _ => Some(process.0),
        };
        is_full |= lanes.len().saturating_mul(grid.buckets()) > MOST_FIGURES;
        if let Some(lane) = lane.filter(|_| !is_full) {
            lanes.add_at((lane, count.counter), count.time, count.value);
        }
    })?;
    let of_lane = |((lane, counter), buckets): ((i32, usize), Vec<i64>)| {
        let counter = names.get(counter).filter(|name| asked.question.counter.matches(name))?.clone();
        Some(Counted { lane, counter, buckets })
    };
    Ok((!is_full).then(|| lanes.finish().filter_map(of_lane).collect()))
}

/// The counters that a filter could have let pass.
pub(super) fn candidates(recording: &OpenRecording, patterns: &Patterns) -> Result<Vec<Candidates>, Error> {
    if patterns.is_empty() {
        return Ok(Vec::new());
    }
    let names = best_counts(recording.archive(), |_| {})?.into_iter().map(|name| (name, 0));
    let what = ["counter", "counters"];
    Ok(vec![Candidates::of("--counter", what, &patterns.to_string(), names, |name| patterns.matches(name))])
}
