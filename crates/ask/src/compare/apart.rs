//! What the runs of a set tell of each other: those that stand apart, two modes, runs that are like the ones before them.

use std::collections::BTreeMap;

use tracesift_statistics::robust::median;

use super::comparable::Reason;
use super::figures::ComparedFigure;
use super::run::Run;
use crate::path::rows::{Detail, Name, text as text_of};

/// Undisturbed times that vary by more hide changes.
const WIDE: f64 = 0.1;

/// How many parts of a run that stands apart are named.
const PARTS: usize = 3;

/// More runs that stand apart are counted only.
const NAMED: usize = 3;

/// Notes about the runs of two sets; those before `split` are the first.
pub(super) fn notes(
    runs: &[Run],
    split: usize,
    labels: &[String; 2],
    duration: &ComparedFigure,
    undisturbed: &ComparedFigure,
) -> Vec<Reason> {
    let mut notes = Vec::new();
    for place in duration.outliers.iter().take(NAMED) {
        let Some(run) = runs.get(*place) else { continue };
        let (set, label) = if *place < split { (&runs[..split], &labels[0]) } else { (&runs[split..], &labels[1]) };
        let parts = parts_apart(run, set);
        let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        notes.push(Reason::note("outlier", format!("{} stands apart from the other runs in {label}{parts}", run.name)));
    }
    if let Some(more @ 1..) = duration.outliers.len().checked_sub(NAMED) {
        notes.push(Reason::note("outlier", format!("{more} more runs stand apart")));
    }
    for (limit, label) in undisturbed.modes.iter().zip(labels) {
        if let Some(limit) = limit {
            let text = format!("the runs in {label} have two modes, below and above {:.1} ms undisturbed", limit / 1e6);
            notes.push(Reason::note("modes", text));
        }
    }
    for (dependence, label) in undisturbed.dependence.iter().zip(labels) {
        if let Some(found) = dependence {
            let text = format!("a run in {label} is like the one before it (correlation {found:.2})");
            notes.push(Reason::note("dependence", text));
        }
    }
    if let Some(spread) = undisturbed.spread.filter(|spread| *spread > WIDE) {
        notes.push(Reason::note("spread", format!("the undisturbed time varies by {:.0} %", 100.0 * spread)));
    }
    notes
}

/// The parts in which a run exceeds the median of its set most.
pub(crate) fn parts_apart(run: &Run, set: &[Run]) -> Vec<String> {
    let times = |run: &Run| {
        let mut times: BTreeMap<Name, i64> = BTreeMap::new();
        for row in &run.rows {
            let time = times.entry(row.name.clone().coarse(Detail::Tag)).or_default();
            *time = time.saturating_add(row.time);
        }
        times
    };
    let of_set: Vec<BTreeMap<Name, i64>> = set.iter().map(times).collect();
    let excess = |(name, time): (Name, i64)| {
        let usual: Vec<f64> = of_set.iter().map(|run| run.get(&name).copied().unwrap_or(0) as f64).collect();
        (time as f64 - median(&usual).unwrap_or(0.0), name)
    };
    let mut found: Vec<(f64, Name)> = times(run).into_iter().map(excess).filter(|(excess, _)| *excess > 0.0).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let text = |(excess, name): &(f64, Name)| format!("{} {:+.1} ms", text_of(name), excess / 1e6);
    found.iter().take(PARTS).map(text).collect()
}
