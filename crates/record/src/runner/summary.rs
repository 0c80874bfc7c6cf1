//! The results, case by case.

use std::collections::BTreeMap;

use super::account::Account;
use super::case::Case;
use super::plan::Plan;
use super::state::{Kind, Run, State};

/// Median and ends of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median; of an even number the mean of the two in the middle.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

/// A case.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Its name.
    pub case: String,
    /// Recorded runs.
    pub runs: usize,
    /// Those that failed. They are in none of the figures.
    pub failed: usize,
    /// What the test took, ns.
    pub duration: Option<Spread>,
    /// What recording costs: by how much recorded runs take longer than those without a recorder beside them, as a share of these; the
    /// median. `None`: there are no others.
    pub overhead: Option<f64>,
    /// CPU time of a run, ns; median over the runs.
    pub cpu: Option<f64>,
    /// Time in which its threads waited, added up over them, ns; median over the runs.
    pub wait: Option<f64>,
    /// Time in which its threads were ready without a CPU, added up alike, ns; median over the runs.
    pub ready: Option<f64>,
    /// Time of which the recordings do not tell what its threads did, added up alike, ns; median over the runs.
    pub unknown: Option<f64>,
    /// Stack tags with the share of the CPU time that they have in all runs, the largest first.
    pub tags: Vec<(String, f64)>,
    /// What was read from disks in a run with empty caches, bytes; median over the runs.
    pub cold_bytes: Option<f64>,
    /// Files of the test that stayed in memory although caches were emptied, with who had them mapped.
    pub still_mapped: BTreeMap<String, String>,
    /// What makes the figures less than exact.
    pub warnings: Vec<String>,
}

impl Spread {
    /// That of these figures; `None`: there are none.
    #[must_use]
    pub fn of(mut figures: Vec<f64>) -> Option<Self> {
        figures.sort_by(f64::total_cmp);
        let (least, most) = (*figures.first()?, *figures.last()?);
        let middle = figures.len() / 2;
        let upper = *figures.get(middle)?;
        let lower = if figures.len() % 2 == 1 { upper } else { *figures.get(middle - 1)? };
        Some(Self { median: (lower + upper) / 2.0, least, most })
    }
}

/// What recording costs over the cases that were run without a recorder, too: of single cases chance may be the most of it.
#[must_use]
pub fn overhead(summaries: &[Summary]) -> Option<Spread> {
    Spread::of(summaries.iter().filter_map(|summary| summary.overhead).collect())
}

/// The summaries of a plan's cases. `account` has the account of a run.
pub fn summaries(plan: &Plan, state: &State, mut account: impl FnMut(&Run) -> Option<Account>) -> Vec<Summary> {
    plan.cases.iter().map(|case| summary(case, state, &mut account)).collect()
}

fn summary(case: &Case, state: &State, account: &mut dyn FnMut(&Run) -> Option<Account>) -> Summary {
    let runs: Vec<&Run> = state.runs_of(case, Kind::Recorded).collect();
    let passed: Vec<&Run> = runs.iter().copied().filter(|run| run.finished.failure.is_none()).collect();
    let duration = Spread::of(passed.iter().map(|run| run.finished.duration_ns as f64).collect());
    let accounts: Vec<Account> = passed.iter().filter_map(|run| account(run)).collect();
    let median = |figure: &dyn Fn(&Account) -> Option<i64>| {
        let figures = accounts.iter().filter_map(figure).map(|figure| figure as f64).collect();
        Spread::of(figures).map(|spread| spread.median)
    };
    let cold_bytes = median(&|account| account.cold.as_ref().map(|cold| cold.own_bytes));
    let mut tags: BTreeMap<&str, i64> = BTreeMap::new();
    for (tag, cpu) in accounts.iter().flat_map(|account| &account.tags) {
        *tags.entry(tag).or_default() += cpu;
    }
    let all: i64 = tags.values().sum();
    let mut tags: Vec<(String, f64)> = tags
        .into_iter()
        .filter(|(_, cpu)| *cpu > 0)
        .map(|(tag, cpu)| (tag.to_owned(), cpu as f64 / all as f64))
        .collect();
    tags.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
    for warning in accounts.iter().flat_map(|account| &account.warnings) {
        *warnings.entry(warning).or_default() += 1;
    }
    let warnings =
        warnings.into_iter().map(|(text, runs)| format!("{}, {runs} of {} runs: {text}", case.name, accounts.len()));
    let warnings = warnings.collect();
    let mapped = accounts.iter().filter_map(|account| account.cold.as_ref()).flat_map(|cold| cold.still_mapped.clone());
    Summary {
        case: case.name.clone(),
        runs: runs.len(),
        failed: runs.len() - passed.len(),
        duration,
        overhead: overhead_of(&runs, state.runs_of(case, Kind::Bare)),
        cpu: median(&|account| Some(account.cpu_ns)),
        wait: median(&|account| account.wait_ns),
        ready: median(&|account| account.ready_ns),
        unknown: median(&|account| account.unknown_ns),
        tags,
        cold_bytes,
        still_mapped: mapped.collect(),
        warnings,
    }
}

/// The median over pairs that ran one after the other: over a whole plan machines become faster and slower by more than recording costs.
fn overhead_of<'a>(recorded: &[&Run], bare: impl Iterator<Item = &'a Run>) -> Option<f64> {
    let ratio = |(with, without): (&&Run, &Run)| {
        let (with, without) = (&with.finished, &without.finished);
        let is_fine = with.failure.is_none() && without.failure.is_none() && without.duration_ns > 0;
        is_fine.then(|| with.duration_ns as f64 / without.duration_ns as f64)
    };
    let ratios = recorded.iter().zip(bare).filter_map(ratio).collect();
    Spread::of(ratios).map(|spread| spread.median - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(Spread::of(Vec::new()), None);
        assert_eq!(Spread::of(vec![3.0, 1.0, 2.0]), Some(Spread { median: 2.0, least: 1.0, most: 3.0 }));
        assert_eq!(Spread::of(vec![4.0, 1.0]), Some(Spread { median: 2.5, least: 1.0, most: 4.0 }));
    }
}
