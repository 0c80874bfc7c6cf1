//! What a run is compared by: the account of its window, with names that are the same in the next build.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_analysis::roles::process_role;
use tracesift_archive::Error;
use tracesift_statistics::remainders::largest_remainders;
use tracesift_trace::rows::ProcessRow;

use crate::answer::Failure;
use crate::asked::gaps::{has_whole_lives, pids, time_of};
use crate::asked::{Amount, Gaps};
use crate::path::account::Level;
use crate::path::parties::family;
use crate::path::rows::{Detail, Name, Row};
use crate::path::window::{Window, candidates};
use crate::path::{AccountQuery, Missing};
use crate::recorded_program;
use crate::recording::OpenRecording;

use super::metrics::{MetricList, RunMetrics};
use super::modules::{self, Module};
use super::site::lasting;

/// The account of the window of a run, or of the mean of its windows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Account {
    /// Length of the window, ns.
    pub(super) window: i64,
    /// How much is known.
    pub(super) level: Level,
    /// Its rows at the finest level, under names that are the same in the next build.
    pub(super) rows: Vec<Row>,
    /// The modules of the recording.
    pub(super) modules: BTreeMap<String, Module>,
    /// The roles of its processes.
    pub(super) processes: BTreeSet<String>,
    /// Figures beside the time.
    pub(super) metrics: RunMetrics,
}

/// A window with its rows.
type Taken = (Window, Level, Vec<Row>);

impl Account {
    /// The account of the window that is asked for, or why there is none.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(super) fn of(recording: &OpenRecording, accounts: &AccountQuery) -> Result<Result<Self, String>, Failure> {
        let failure = |error: Error| Failure::new(&recording.file.path, &error);
        let mut taken: Vec<Taken> = Vec::new();
        let looked = accounts.each(recording, |account, namer| {
            taken.push((account.window, account.level, namer.rows(account, Detail::For)));
        });
        if let Err(Missing { what, why }) = looked.map_err(failure)? {
            return Ok(Err(if what == "window" { why.to_string() } else { format!("{what}: {why}") }));
        }
        let shown = accounts.windows.shown();
        let Some((window, level, _)) = taken.first() else { return Ok(Err(format!("nothing fits {shown}"))) };
        if taken.len() > 1 && !accounts.repetitions {
            let count = taken.len();
            let windows: Vec<Window> = taken.iter().map(|(window, ..)| *window).collect();
            let processes: Vec<ProcessRow> = recording.archive().rows().map_err(failure)?;
            return Ok(Err(format!(
                "{count} windows fit: choose one of each run, such as '{shown}#1', or take their mean with --repetitions: {}",
                candidates(&windows, &processes)
            )));
        }
        let (process, level) = (window.process, *level);
        let mut processes: Vec<ProcessRow> = recording.archive().rows().map_err(failure)?;
        recorded_program::complete(&recording.info().facts, &mut processes);
        let image = processes.iter().find(|row| Some(row.process) == process).map(|row| row.name.as_str());
        let role = |row: &ProcessRow| process_role(&row.name, row.command_line.as_deref(), None);
        let metrics = taken.iter().map(|(window, ..)| {
            let file = &recording.file;
            let test = family(&processes, window.process);
            let of_test = pids(&processes, |process| test.contains(&process));
            let is_whole = has_whole_lives(&processes, |process| test.contains(&process), file, window.span);
            let gaps = Gaps::new(file, &of_test, time_of(file, window.span), accounts).with_whole_lives(is_whole);
            MetricList::built_in().measure(recording, gaps, !test.is_empty())
        });
        let metrics = mean_of_metrics(metrics.collect::<Result<_, _>>()?);
        let windows = taken.len();
        let rows = taken.into_iter().flat_map(|(.., rows)| rows).collect();
        let rows = mean_of_rows(with_lasting_names(rows, image), windows);
        Ok(Ok(Self {
            window: rows.iter().fold(0, |sum, row| sum.saturating_add(row.time)),
            level,
            rows,
            modules: modules::of(recording, image).map_err(failure)?,
            processes: processes.iter().map(role).collect(),
            metrics,
        }))
    }
}

/// The rows of the mean of several windows. Their times add up to its length.
fn mean_of_rows(mut rows: Vec<Row>, windows: usize) -> Vec<Row> {
    let times: Vec<i128> = rows.iter().map(|row| row.time.into()).collect();
    let times = largest_remainders(&times, i128::try_from(windows).unwrap_or(1)).parts;
    let count = windows.max(1) as u64;
    for (row, time) in rows.iter_mut().zip(times) {
        row.time = i64::try_from(time).unwrap_or(i64::MAX);
        // What is there stays there.
        let mean = |number: u64| if number == 0 { 0 } else { (number / count).max(1) };
        (row.leaves, row.samples) = (row.leaves.map(mean), mean(row.samples));
        row.squares /= count as f64;
    }
    rows
}

/// The means of the metrics of several windows: of those that all of them have.
fn mean_of_metrics(of_windows: Vec<RunMetrics>) -> RunMetrics {
    let count = of_windows.len() as f64;
    let mut found: BTreeMap<String, Result<Amount, String>> = BTreeMap::new();
    for (name, told) in of_windows.into_iter().flatten() {
        let sum = match (found.remove(&name), told) {
            (None, told) => told,
            (Some(Ok(sum)), Ok(amount)) => Ok(sum.with(sum.number() + amount.number())),
            (Some(Err(why)), _) | (_, Err(why)) => Err(why),
        };
        found.insert(name, sum);
    }
    found.into_iter().map(|(name, told)| (name, told.map(|sum| sum.over(count)))).collect()
}

/// The rows under names that are the same in the next build.
fn with_lasting_names(rows: Vec<Row>, image: Option<&str>) -> Vec<Row> {
    let mut found: BTreeMap<Name, Row> = BTreeMap::new();
    for mut row in rows {
        row.name = lasting(row.name, image);
        match found.get_mut(&row.name) {
            Some(known) => known.join(&row),
            None => drop(found.insert(row.name.clone(), row)),
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Name, Row, mean_of_rows};

    proptest! {
        #[test]
        fn the_rows_of_a_mean_add_up_to_it(times in prop::collection::vec(0..1_000_000_i64, 1..20), windows in 1..6_usize) {
            let rows: Vec<Row> = times.iter().map(|time| Row::plain(Name::outside(), *time)).collect();
            let mean: i64 = mean_of_rows(rows, windows).iter().map(|row| row.time).sum();
            let exact = times.iter().sum::<i64>() as f64 / windows as f64;
            prop_assert!((mean as f64 - exact).abs() <= 0.5, "{} {}", mean, exact);
        }
    }
}
