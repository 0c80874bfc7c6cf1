//! One run of a test: its duration, taken apart, and what the recording tells of the machine.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use tracesift_analysis::disturbances::Kind;
use tracesift_analysis::roles::process_role;
use tracesift_archive::Error;
use tracesift_trace::rows::ProcessRow;

use crate::answer::Failure;
use crate::asked::gaps::{pids, time_of};
use crate::asked::{Amount, Gaps};
use crate::path::account::Level;
use crate::path::parties::family;
use crate::path::rows::{Detail, Name, Row};
use crate::path::window::Window;
use crate::path::{AccountQuery, Missing, WindowKind};
use crate::recording::{OpenRecording, Source};

use super::kept::{Account, KeptAccounts};
use super::metrics::{MetricList, RunMetrics};
use super::modules::{self, Module};
use super::plan::{self, PlannedRun};
use super::site::lasting;

/// What is compared as the duration of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Measure {
    /// The length of its window.
    #[default]
    Window,
    /// The duration that the test measured itself; what the window does not cover is a row.
    Reported,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Path of the archive.
    pub file: String,
    /// Name of the recording.
    pub name: String,
    /// Id of the recording.
    pub id: String,
    /// The test case: of a plan's run its name there, else by the name of the file.
    pub case: String,
    /// The test of a plan that it was a run of, without the values of its parameters.
    pub test: Option<String>,
    /// The values of the parameters of the plan that it was a run of.
    pub values: BTreeMap<String, String>,
    /// Start of the recording, 100 ns since 1601.
    pub time: i64,
    /// The same as the answer shows it.
    pub date: Option<String>,
    /// Duration that the test measured, ns.
    pub reported: Option<i64>,
    /// What the recording tells of the machine and of the recorder, by key; what differs between any two recordings is left out.
    pub facts: BTreeMap<String, String>,
    /// What limits the figures of this run.
    pub warnings: Vec<String>,
    pub(crate) kind: String,
    pub(crate) level: Level,
    pub(crate) window: i64,
    /// What is compared: the window, or what the test measured.
    pub(crate) measured: i64,
    /// The account at its finest level.
    pub(crate) rows: Vec<Row>,
    /// Files of the modules, by the names that they have in the next build.
    pub(crate) modules: BTreeMap<String, Module>,
    /// The roles of all processes.
    pub(crate) processes: BTreeSet<String>,
    /// Figures beside the time.
    pub(crate) metrics: RunMetrics,
}

impl Run {
    /// What is compared, ns: the length of the window, or the duration that the test measured.
    #[must_use]
    pub fn duration(&self) -> i64 {
        self.measured
    }

    /// Length of the window, ns.
    #[must_use]
    pub fn window(&self) -> i64 {
        self.window
    }

    /// Time of the window that others took from the test, by kind, ns.
    #[must_use]
    pub fn disturbances(&self) -> BTreeMap<Kind, i64> {
        let mut kinds = BTreeMap::new();
        for row in &self.rows {
            if let Some(kind) = row.name.disturbance {
                let time = kinds.entry(kind).or_insert(0_i64);
                *time = time.saturating_add(row.time);
            }
        }
        kinds
    }

    /// One of its metrics, or why it has none.
    pub(super) fn metric(&self, name: &str) -> Result<Amount, String> {
        self.metrics.get(name).cloned().unwrap_or_else(|| Err("not recorded".to_owned()))
    }

    /// The duration without disturbances, ns.
    #[must_use]
    pub fn undisturbed(&self) -> i64 {
        self.disturbances().values().fold(self.measured, |left, time| left.saturating_sub(*time))
    }

    /// What brings runs in the order of time.
    pub(crate) fn order(&self) -> (i64, &str, &str) {
        (self.time, &self.id, &self.file)
    }
}

impl Run {
    /// Takes the window of a run apart.
    ///
    /// # Errors
    /// The archive cannot be read, has no such window, or has several; or the test's own duration is asked for, and is not known.
    pub fn measure(
        source: &Source,
        accounts: &AccountQuery,
        measure: Measure,
        kept: Option<&KeptAccounts>,
    ) -> Result<Self, Failure> {
        let failure = |error: Error| Failure::new(&source.shown, &error);
        let recording = OpenRecording::open(source).map_err(failure)?;
        let because =
            |why: String| Failure { path: source.shown.clone(), reason: format!("{}: {why}", recording.file.name) };
        let account = match kept.and_then(|kept| kept.get(recording.archive(), accounts)) {
            Some(account) => account,
            None => {
                let account = only_account(&recording, accounts)?.map_err(because)?;
                kept.into_iter().for_each(|kept| kept.put(recording.archive(), accounts, &account));
                account
            }
        };
        let Account { window, level, mut rows, modules, processes, metrics } = account;
        let planned = plan::run_of(&source.archive).unwrap_or_default();
        let (file, info) = (&recording.file, recording.info());
        let by_name = file.test_ms.and_then(|ms| i64::try_from(ms).ok()?.checked_mul(1_000_000));
        let reported = planned.duration.or(by_name);
        let measured = match measure {
            Measure::Window => window,
            Measure::Reported => reported.ok_or_else(|| because("the test tells no duration".to_owned()))?,
        };
        if measured != window {
            rows.push(Row::plain(Name::outside(), measured.saturating_sub(window)));
        }
        let PlannedRun { test, case, values, .. } = planned;
        // Files whose names tell of no test are taken for runs of one.
        let by_file = || if file.test_ms.is_some() { file.test.clone() } else { case_of(accounts, &rows) };
        Ok(Run {
            file: file.path_text(),
            name: file.name.clone(),
            id: info.id.clone(),
            case: case.unwrap_or_else(by_file),
            test,
            values,
            time: file.zero.filetime,
            date: file.date.clone(),
            reported,
            facts: super::comparable::facts_of(&recording),
            warnings: file.warnings.iter().map(|limit| limit.text.clone()).collect(),
            kind: info.kind.clone(),
            level,
            window,
            measured,
            modules,
            processes,
            metrics,
            rows,
        })
    }
}

/// The account of the window that is asked for, or why there is none.
fn only_account(recording: &OpenRecording, accounts: &AccountQuery) -> Result<Result<Account, String>, Failure> {
    let failure = |error: Error| Failure::new(&recording.file.path, &error);
    let mut found: Vec<(Window, Level, Vec<Row>)> = Vec::new();
    let looked = accounts.each(recording, |account, namer| {
        found.push((account.window, account.level, namer.rows(account, Detail::Site)));
    });
    let looked = looked.map_err(failure)?;
    if let Err(Missing { what, why }) = looked {
        return Ok(Err(if what == "window" { why.to_string() } else { format!("{what}: {why}") }));
    }
    let count = found.len();
    let Some((window, level, rows)) = found.pop().filter(|_| count == 1) else {
        let shown = accounts.windows.shown();
        return Ok(Err(match count {
            0 => format!("nothing fits {shown}"),
            _ => format!("{count} windows fit: choose one of each run, such as '{shown}#1'"),
        }));
    };
    let processes: Vec<ProcessRow> = recording.archive().rows().map_err(failure)?;
    let image = processes.iter().find(|row| Some(row.process) == window.process).map(|row| row.name.as_str());
    let test = family(&processes, window.process);
    let of_test = pids(&processes, |process| test.contains(&process));
    let gaps = Gaps::new(&recording.file, &of_test, time_of(&recording.file, window.span), accounts);
    let role = |row: &ProcessRow| process_role(&row.name, row.command_line.as_deref(), None);
    Ok(Ok(Account {
        window: window.span.length(),
        level,
        rows: with_lasting_names(rows, image),
        modules: modules::of(recording, image).map_err(failure)?,
        metrics: MetricList::built_in().measure(recording, gaps, !test.is_empty())?,
        processes: processes.iter().map(role).collect(),
    }))
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

/// What runs are of whose names tell of no test: the window that was asked for, or the program that was recorded.
fn case_of(accounts: &AccountQuery, rows: &[Row]) -> String {
    let is_auto = accounts.windows.spec.kind == WindowKind::Auto && accounts.windows.filter.is_empty();
    let of_anchor = |row: &&Row| row.name.for_tag.is_none() && row.name.disturbance.is_none();
    let program = rows.iter().filter(of_anchor).find_map(|row| row.name.process.clone());
    program.filter(|_| is_auto).unwrap_or_else(|| accounts.windows.shown())
}
