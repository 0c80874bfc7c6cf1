//! One run of a test: its duration, taken apart, and what the recording tells of the machine.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use tracesift_analysis::disturbances::Kind;
use tracesift_archive::Error;

use crate::answer::Failure;
use crate::asked::Amount;
use crate::path::account::Level;
use crate::path::rows::{Name, Row};
use crate::path::{AccountQuery, WindowKind};
use crate::recording::{OpenRecording, Source};

use super::account::Account;
use super::kept::KeptAccounts;
use super::metrics::RunMetrics;
use super::modules::Module;
use super::plan::{PlannedRun, Plans};

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
    /// The session of its plan ([`crate::compare::grouping::By`]); 0 before the first one. `None`: it was no run of a plan.
    pub session: Option<u32>,
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

    /// Time of the window of which the recording does not tell what the test did, ns. Without switches, time between samples is such:
    /// others may have had the CPU.
    #[must_use]
    pub fn unknown(&self) -> i64 {
        let unknown = self.rows.iter().filter(|row| row.name.is_unknown());
        unknown.fold(0_i64, |sum, row| sum.saturating_add(row.time)).max(0)
    }

    /// The rest of its duration, by state, ns: `run`, `ready`, `wait`, `unknown`, and `outside` for what the window does not cover.
    #[must_use]
    pub fn states(&self) -> BTreeMap<&'static str, i64> {
        let mut states = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.name.disturbance.is_none()) {
            let time = states.entry(row.name.state).or_insert(0_i64);
            *time = time.saturating_add(row.time);
        }
        states
    }

    /// One of its metrics, or why it has none.
    pub(crate) fn metric(&self, name: &str) -> Result<Amount, String> {
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
        Self::measure_planned(source, accounts, measure, kept, &Plans::beside([source.archive.as_path()]))
    }

    /// The same, with the plans beside the archives.
    pub(super) fn measure_planned(
        source: &Source,
        accounts: &AccountQuery,
        measure: Measure,
        kept: Option<&KeptAccounts>,
        plans: &Plans,
    ) -> Result<Self, Failure> {
        let failure = |error: Error| Failure::new(&source.shown, &error);
        let recording = OpenRecording::open(source).map_err(failure)?;
        let because =
            |why: String| Failure { path: source.shown.clone(), reason: format!("{}: {why}", recording.file.name) };
        let account = match kept.and_then(|kept| kept.get(recording.archive(), accounts)) {
            Some(account) => account,
            None => {
                let account = Account::of(&recording, accounts)?.map_err(because)?;
                kept.into_iter().for_each(|kept| kept.put(recording.archive(), accounts, &account));
                account
            }
        };
        let Account { window, level, mut rows, modules, processes, metrics } = account;
        let planned = plans.run_of(&source.archive);
        let session = planned.map(|run| run.session);
        let planned = planned.cloned().unwrap_or_default();
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
            session,
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

/// What runs are of whose names tell of no test: the window that was asked for, or the program that was recorded.
fn case_of(accounts: &AccountQuery, rows: &[Row]) -> String {
    let is_auto = accounts.windows.spec.kind == WindowKind::Auto && accounts.windows.filter.is_empty();
    let of_anchor = |row: &&Row| row.name.for_tag.is_none() && row.name.disturbance.is_none();
    let program = rows.iter().filter(of_anchor).find_map(|row| row.name.process.clone());
    program.filter(|_| is_auto).unwrap_or_else(|| accounts.windows.shown())
}

#[cfg(test)]
impl Run {
    /// A run of which nothing is known but its name.
    pub(crate) fn plain(id: &str) -> Self {
        Self {
            file: format!("{id}.sift"),
            name: id.to_owned(),
            id: id.to_owned(),
            case: "test".to_owned(),
            test: None,
            session: None,
            values: BTreeMap::new(),
            time: 0,
            date: None,
            reported: None,
            facts: BTreeMap::new(),
            warnings: Vec::new(),
            kind: "etl".to_owned(),
            level: Level::Full,
            window: 1_000,
            measured: 1_000,
            rows: Vec::new(),
            modules: BTreeMap::new(),
            processes: BTreeSet::new(),
            metrics: BTreeMap::new(),
        }
    }
}
