//! One run of a test: its duration, taken apart, and what the recording tells of the machine.

use std::collections::BTreeMap;

use tracesift_analysis::disturbances::Kind;
use tracesift_archive::Error;

use crate::answer::Failure;
use crate::path::account::Level;
use crate::path::rows::{Detail, Row};
use crate::path::{AccountQuery, Missing, WindowKind};
use crate::recording::{OpenRecording, Source};

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Path of the archive.
    pub file: String,
    /// Name of the recording.
    pub name: String,
    /// Id of the recording.
    pub id: String,
    /// The test case, by the name of the file.
    pub case: String,
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
    /// The account at its finest level.
    pub(crate) rows: Vec<Row>,
}

impl Run {
    /// Length of the window, ns.
    #[must_use]
    pub fn duration(&self) -> i64 {
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

    /// The window without disturbances, ns.
    #[must_use]
    pub fn undisturbed(&self) -> i64 {
        self.disturbances().values().fold(self.window, |left, time| left.saturating_sub(*time))
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
    /// The archive cannot be read, has no such window, or has several.
    pub fn measure(source: &Source, accounts: &AccountQuery) -> Result<Self, Failure> {
        let failure = |error: Error| Failure::new(&source.shown, &error);
        let recording = OpenRecording::open(source).map_err(failure)?;
        let because =
            |why: String| Failure { path: source.shown.clone(), reason: format!("{}: {why}", recording.file.name) };
        let mut found: Vec<(i64, Level, Vec<Row>)> = Vec::new();
        let looked = accounts.each(&recording, |account, namer| {
            found.push((account.window.span.length(), account.level, namer.rows(account, Detail::Site)));
        });
        if let Err(Missing { what, why }) = looked.map_err(failure)? {
            return Err(because(if what == "window" { why.to_string() } else { format!("{what}: {why}") }));
        }
        let count = found.len();
        let Some((window, level, rows)) = found.pop().filter(|_| count == 1) else {
            let shown = accounts.windows.shown();
            return Err(because(match count {
                0 => format!("nothing fits {shown}"),
                _ => format!("{count} windows fit: choose one of each run, such as '{shown}#1'"),
            }));
        };
        let (file, info) = (&recording.file, recording.info());
        Ok(Run {
            file: file.path_text(),
            name: file.name.clone(),
            id: info.id.clone(),
            // Files whose names tell of no test are taken for runs of one.
            case: if file.test_ms.is_some() { file.test.clone() } else { case_of(accounts, &rows) },
            time: file.zero.filetime,
            date: file.date.clone(),
            reported: file.test_ms.and_then(|ms| i64::try_from(ms).ok()?.checked_mul(1_000_000)),
            facts: super::comparable::facts_of(&recording),
            warnings: file.warnings.iter().map(|limit| limit.text.clone()).collect(),
            kind: info.kind.clone(),
            level,
            window,
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
