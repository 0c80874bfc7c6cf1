//! Test runs: recordings grouped by the tests that they recorded.
//!
//! A *single test* is one execution of a test: files of the same test and duration, at most one per machine, less than ten
//! minutes apart. A *run* is a series of tests without a gap of more than an hour.

use std::path::PathBuf;

use chrono::{NaiveDate, NaiveDateTime, TimeDelta};
use tracesift_extract::input::test_name;
use tracesift_grammar::{LocalTime, TestName};

use crate::order::Between;

/// Files of one execution on several machines lie closer together than this.
const SINGLE_TEST_GAP: TimeDelta = TimeDelta::minutes(10);
/// A longer pause than this begins a new run.
const RUN_GAP: TimeDelta = TimeDelta::hours(1);

/// A recording or archive as a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    /// Its path.
    pub path: PathBuf,
    /// Its name without extensions.
    pub name: String,
    /// What the name says; `None`: no valid test.
    pub test: Option<TestName>,
    /// Time of the test, local time of the recorder.
    pub performed_at: NaiveDateTime,
    /// Bytes of the file.
    pub size: Option<u64>,
}

impl TestFile {
    /// A file with its name's meaning. `otherwise` is its time where the name has none.
    #[must_use]
    pub fn new(path: PathBuf, name: String, otherwise: NaiveDateTime, size: Option<u64>) -> Self {
        let test = test_name(&name);
        let performed_at = test.as_ref().and_then(TestName::time).and_then(calendar).unwrap_or(otherwise);
        Self { path, name, test, performed_at, size }
    }

    /// Name of the test.
    #[must_use]
    pub fn test(&self) -> &str {
        self.test.as_ref().map_or(&self.name, |test| &test.test)
    }

    /// Duration that the test measured, ms.
    #[must_use]
    pub fn duration_ms(&self) -> Option<u64> {
        self.test.as_ref().map(|test| test.duration_ms)
    }

    fn machine(&self) -> &str {
        self.test.as_ref().map_or("", |test| &test.machine)
    }

    fn belongs_to(&self, single: &SingleTest) -> bool {
        single.files.last().is_some_and(|last| {
            let modified = |file: &Self| file.test.as_ref().and_then(|test| test.specific_modify_date);
            let same_date = modified(self).is_some() && modified(self) == modified(last);
            self.test.is_some()
                && last.test.is_some()
                && self.test() == last.test()
                && self.duration_ms() == last.duration_ms()
                && (same_date || self.performed_at - last.performed_at < SINGLE_TEST_GAP)
                && single.files.iter().all(|file| !file.machine().eq_ignore_ascii_case(self.machine()))
        })
    }
}

/// One execution of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SingleTest {
    /// Its files, one per machine, by time.
    pub files: Vec<TestFile>,
}

impl SingleTest {
    /// Name of the test.
    #[must_use]
    pub fn test(&self) -> &str {
        self.files.first().map_or("", TestFile::test)
    }

    /// Duration that the test measured, ms.
    #[must_use]
    pub fn duration_ms(&self) -> Option<u64> {
        self.files.first().and_then(TestFile::duration_ms)
    }
}

/// A run of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Number of the run in order of time, from 0.
    pub index: usize,
    /// The executions, by time.
    pub tests: Vec<SingleTest>,
}

impl Run {
    /// All files, by time of their test.
    pub fn files(&self) -> impl Iterator<Item = &TestFile> {
        self.tests.iter().flat_map(|single| &single.files)
    }

    /// When its first test ran.
    #[must_use]
    pub fn start(&self) -> Option<NaiveDateTime> {
        self.files().map(|file| file.performed_at).min()
    }

    /// When its last test ran.
    #[must_use]
    pub fn end(&self) -> Option<NaiveDateTime> {
        self.files().map(|file| file.performed_at).max()
    }
}

/// Which runs and tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// First run, counted from 0 in order of time; negative: from the end.
    pub run_index: Option<i64>,
    /// Number of runs: from `run_index` on, else the latest. One run when only `run_index` is given.
    pub run_count: Option<usize>,
    /// Executions left out at the start of each test of each run.
    pub skip_tests: usize,
    /// Executions kept of each test of each run.
    pub tests_per_run: Option<usize>,
    /// Duration that the test measured, ns.
    pub test_time: Between,
    /// Tests that ran after this time.
    pub after: Option<NaiveDateTime>,
    /// Only names of a known shape.
    pub valid_only: bool,
    /// Everything is one run, whatever the pauses.
    pub one_run: bool,
}

/// Groups files into runs and keeps those that are selected. Independent of the order of `files`.
#[must_use]
pub fn group(mut files: Vec<TestFile>, selection: &Selection) -> Vec<Run> {
    files.sort_by(|a, b| a.performed_at.cmp(&b.performed_at).then_with(|| a.path.cmp(&b.path)));
    let mut runs: Vec<Run> = Vec::new();
    let mut last: Option<NaiveDateTime> = None;
    for file in files {
        let continues = last.is_some_and(|last| selection.one_run || file.performed_at - last <= RUN_GAP);
        last = Some(file.performed_at);
        if !continues {
            runs.push(Run { index: runs.len(), tests: Vec::new() });
        }
        if let Some(run) = runs.last_mut() {
            add(run, file);
        }
    }
    let kept = window(runs.len(), selection);
    runs.retain(|run| kept.contains(&run.index));
    for run in &mut runs {
        keep_tests(run, selection);
    }
    runs.retain(|run| !run.tests.is_empty());
    runs
}

fn calendar(time: LocalTime) -> Option<NaiveDateTime> {
    NaiveDate::from_ymd_opt(i32::from(time.year), time.month.into(), time.day.into())?.and_hms_opt(
        time.hour.into(),
        time.minute.into(),
        time.second.into(),
    )
}

fn add(run: &mut Run, file: TestFile) {
    // Only executions of the last minutes can still take a file; older ones need not be looked at unless the file was
    // written anew, which is rare.
    match run.tests.iter_mut().rev().find(|single| file.belongs_to(single)) {
        Some(single) => single.files.push(file),
        None => run.tests.push(SingleTest { files: vec![file] }),
    }
}

fn window(count: usize, selection: &Selection) -> std::ops::Range<usize> {
    let count_back = |from_end: u64| count.saturating_sub(usize::try_from(from_end).unwrap_or(usize::MAX));
    match (selection.run_index, selection.run_count) {
        (None, None) => 0..count,
        (None, Some(latest)) => count.saturating_sub(latest)..count,
        (Some(index), taken) => {
            let first =
                if index < 0 { count_back(index.unsigned_abs()) } else { usize::try_from(index).unwrap_or(count) };
            first..first.saturating_add(taken.unwrap_or(1)).min(count)
        }
    }
}

fn keep_tests(run: &mut Run, selection: &Selection) {
    let mut seen: rustc_hash::FxHashMap<String, usize> = rustc_hash::FxHashMap::default();
    run.tests.retain(|single| {
        let ns = single.duration_ms().and_then(|ms| i64::try_from(ms).ok()).map(|ms| ms.saturating_mul(1_000_000));
        let valid = single.duration_ms().is_some() || !selection.valid_only;
        let recent = selection.after.is_none_or(|after| single.files.iter().any(|file| file.performed_at >= after));
        if !(valid && recent && selection.test_time.contains(ns)) {
            return false;
        }
        let nth = seen.entry(single.test().to_owned()).or_default();
        *nth += 1;
        *nth > selection.skip_tests && selection.tests_per_run.is_none_or(|kept| *nth - selection.skip_tests <= kept)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> TestFile {
        let never = NaiveDateTime::parse_from_str("2000-01-01 00:00:00", "%Y-%m-%d %H:%M:%S").unwrap();
        TestFile::new(format!("{name}.etl").into(), name.to_owned(), never, None)
    }

    fn new(test: &str, ms: u32, machine: &str, side: &str, time: &str) -> TestFile {
        file(&format!("{test}_{ms}ms_{machine}_{side}_TestStatus-Passed_20200717-{time}"))
    }

    #[test]
    fn machines_of_one_execution_belong_together() {
        let runs = group(
            vec![
                new("A", 10, "PC1", "CLT", "100000"),
                new("A", 10, "PC2", "SRV", "100100"),
                new("A", 10, "PC1", "CLT", "100200"),
                new("A", 11, "PC2", "SRV", "100201"),
                new("B", 10, "PC1", "SINGLE", "120000"),
            ],
            &Selection::default(),
        );
        let shape: Vec<Vec<usize>> =
            runs.iter().map(|run| run.tests.iter().map(|single| single.files.len()).collect()).collect();
        assert_eq!(shape, [vec![2, 1, 1], vec![1]]);
        assert_eq!(runs[1].index, 1);
    }

    #[test]
    fn selections() {
        let files: Vec<TestFile> = (10..20)
            .flat_map(|hour| {
                (0..3).map(move |n| new("A", 10 * n + 10, "PC", "SINGLE", &format!("{:02}0{n}00", hour / 2 * 2)))
            })
            .chain([file("trace")])
            .collect();
        let count = |selection: Selection| {
            let runs = group(files.clone(), &selection);
            (runs.len(), runs.iter().map(|run| run.tests.len()).sum::<usize>())
        };
        let all = Selection::default;
        assert_eq!(count(all()).0, 6);
        assert_eq!(count(Selection { run_index: Some(-1), ..all() }).0, 1);
        assert_eq!(count(Selection { run_index: Some(99), ..all() }).0, 0);
        assert_eq!(count(Selection { run_count: Some(2), ..all() }).0, 2);
        assert_eq!(count(Selection { valid_only: true, ..all() }).0, 5);
        assert_eq!(count(Selection { valid_only: true, tests_per_run: Some(1), skip_tests: 1, ..all() }), (5, 5));
        assert_eq!(count(Selection { one_run: true, ..all() }).0, 1);
        let long = Between { min: Some(20_000_000), max: None };
        assert!(count(Selection { test_time: long, ..all() }).1 > 0);
    }
}
