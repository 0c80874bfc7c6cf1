//! The figures of the runs of a case as series, and where each changes.

use std::collections::BTreeMap;

use rayon::prelude::*;
use tracesift_statistics::robust::median;
use tracesift_statistics::segments::{ChangePoint, Limits, any_change, change_points};
use tracesift_statistics::{Problem, holm};

use crate::compare::case::is_hardly_known;
use crate::compare::family::name_at;
use crate::compare::run::Run;
use crate::path::rows::{Detail, Name, text};

/// The rate of false alarms of a series, and of all rows of a case together.
pub const ALPHA: f64 = 0.01;

/// A row has a series if it takes this part of the duration in some part of the runs.
const LEAST_PART: f64 = 0.01;

/// The parts of the runs that are looked at for this: a row may be new.
const PARTS: usize = 8;

/// A change of a row below this part of the duration is none that anybody looks for.
const LEAST_CHANGE: f64 = 0.001;

/// Permutations of the ranks of a row, per row: with them the p of a clear change passes the correction for their number.
const PERMUTATIONS_PER_ROW: usize = 200;

/// And at least and at most so many.
const PERMUTATIONS: (usize, usize) = (999, 19_999);

/// What a series is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The duration without disturbances.
    Undisturbed,
    /// The duration.
    Duration,
    /// The CPU time of the test.
    Cpu,
    /// A row of the accounts.
    Row,
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Undisturbed => "undisturbed",
            Self::Duration => "duration",
            Self::Cpu => "cpu",
            Self::Row => "row",
        }
    }
}

/// A figure of all runs of a case, ns each.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it is of.
    pub kind: Kind,
    /// What it is, for people.
    pub text: String,
    /// By run, in their order.
    pub values: Vec<i64>,
    /// Of a row: the p of no change anywhere, corrected for the number of rows (Holm); 1 above [`ALPHA`]. Other series are not
    /// corrected, and have none.
    pub p_corrected: Option<f64>,
    /// Where it changes, ascending. The changes of rows are in ns, those of other series are ratios.
    pub points: Vec<ChangePoint>,
}

impl Series {
    /// The median of all runs, ns.
    #[must_use]
    pub fn median(&self) -> f64 {
        let values: Vec<f64> = self.values.iter().map(|value| *value as f64).collect();
        median(&values).unwrap_or(0.0)
    }
}

/// The series of the runs of a case. `least` is the smallest change that matters, as a ratio.
pub(super) fn of(runs: &[Run], least: f64, seed: u64) -> Result<Vec<Series>, Problem> {
    let duration: Vec<i64> = runs.iter().map(Run::duration).collect();
    let mut series = vec![plain(Kind::Duration, "duration", duration)];
    // What is left of a window that is hardly known is no time of the test.
    if !is_hardly_known(runs) {
        series.push(plain(Kind::Undisturbed, "undisturbed", runs.iter().map(Run::undisturbed).collect()));
    }
    series.extend(cpu(runs).map(|values| plain(Kind::Cpu, "CPU time", values)));
    series.par_iter_mut().try_for_each(|series| {
        let values: Vec<f64> = series.values.iter().map(|value| (*value).max(1) as f64).collect();
        series.points = change_points(&values, true, &Limits { alpha: ALPHA, least, seed })?;
        Ok(())
    })?;
    series.extend(rows(runs, least, seed)?);
    Ok(series)
}

fn plain(kind: Kind, text: &str, values: Vec<i64>) -> Series {
    Series { kind, text: text.to_owned(), values, p_corrected: None, points: Vec::new() }
}

/// The CPU time of the test, if all runs have it.
pub(super) fn cpu(runs: &[Run]) -> Option<Vec<i64>> {
    let of_run = |run: &Run| run.metric("cpu").ok().map(|amount| amount.number() as i64);
    runs.iter().map(of_run).collect::<Option<Vec<i64>>>().filter(|values| values.iter().any(|value| *value > 0))
}

/// The series of the rows at the level of tags, and of the kinds of disturbances.
fn rows(runs: &[Run], least: f64, seed: u64) -> Result<Vec<Series>, Problem> {
    let mean_duration = mean(&runs.iter().map(Run::duration).collect::<Vec<_>>());
    let found: Vec<Series> = by_name(runs)
        .into_iter()
        .filter(|(_, values)| is_large(values, mean_duration))
        .map(|(name, values)| plain(Kind::Row, &text(&name), values))
        .collect();
    let permutations = (PERMUTATIONS_PER_ROW * found.len()).clamp(PERMUTATIONS.0, PERMUTATIONS.1);
    let tested: Vec<(Vec<f64>, f64)> = found
        .par_iter()
        .map(|series| {
            let values: Vec<f64> = series.values.iter().map(|value| *value as f64).collect();
            let p = any_change(&values, ALPHA, permutations, seed)?;
            Ok((values, p))
        })
        .collect::<Result<_, Problem>>()?;
    let corrected = holm(&tested.iter().map(|(_, p)| *p).collect::<Vec<_>>());
    found
        .into_par_iter()
        .zip(tested)
        .zip(corrected)
        .map(|((mut series, (values, _)), p)| {
            series.p_corrected = Some(p);
            if p <= ALPHA + 1e-12 {
                let least = (least * mean(&series.values)).max(LEAST_CHANGE * mean_duration);
                series.points = change_points(&values, false, &Limits { alpha: ALPHA, least, seed })?;
            }
            Ok(series)
        })
        .collect()
}

/// The time of each row in each run.
fn by_name(runs: &[Run]) -> BTreeMap<Name, Vec<i64>> {
    let mut found: BTreeMap<Name, Vec<i64>> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate() {
        for row in &run.rows {
            // Of a kind of disturbance it does not matter whom it met.
            let detail = if row.name.disturbance.is_some() { Detail::State } else { Detail::Tag };
            let values = found.entry(name_at(&row.name, detail)).or_insert_with(|| vec![0; runs.len()]);
            values[place] = values[place].saturating_add(row.time);
        }
    }
    found
}

/// Whether a row takes enough of the duration in some part of the runs.
fn is_large(values: &[i64], duration: f64) -> bool {
    let length = values.len().div_ceil(PARTS).max(1);
    values.chunks(length).any(|part| mean(part) >= LEAST_PART * duration && duration > 0.0)
}

fn mean(values: &[i64]) -> f64 {
    values.iter().map(|value| *value as f64).sum::<f64>() / values.len().max(1) as f64
}
