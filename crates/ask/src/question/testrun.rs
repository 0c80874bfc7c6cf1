//! `dump testrun`: which tests the recordings belong to, by the names of the files.

use std::collections::BTreeMap;

use chrono::NaiveDateTime;
use clap::Args;
use tracesift_grammar::Status;

use crate::answer::{Answer, ColumnOf, Fact, Kind, Layout, Section, descriptions, values};
use crate::etwanalyzer::{Legacy, To, switch};
use crate::options::{AskNames, Form, Plan, QuestionOptions};
use crate::recording_label::path_text;
use crate::runs::{Run, SingleTest, TestFile};
use crate::usage_error::UsageError;

/// The options.
#[derive(Args, Debug)]
pub struct Options {
    /// A row per file in place of a row per test
    #[arg(long, help_heading = "Rows")]
    print_files: bool,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form { title: "A row per test:\n\n", ..Form::usual("testrun", || descriptions(TEST_COLUMNS)) },
        Form {
            with: &[&["--print-files"]],
            title: "With `--print-files` a row per file:\n\n",
            ..Form::usual("testrun", || descriptions(FILE_COLUMNS))
        },
    ];
    const SHORT: &'static [&'static str] =
        &["file", "recursive", "run_index", "run_count", "last_days", "print_files", "format", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump testrun recordings/", "which tests ran, how often, how long"),
        ("tracesift dump testrun recordings/ --print-files", "a row per file"),
        ("tracesift dump testrun recordings/ --run-index -1", "of the last run"),
    ];
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "testrun",
        switches: &[
            switch(&["printfiles"], To::Flag("--print-files")),
            switch(&["validtestsonly"], To::Flag("--valid-only")),
            switch(&["verbose"], To::Dropped(0, "`--details` shows more")),
            switch(
                &["copyfilesto", "withetl", "overwrite"],
                To::Refused(
                    "tracesift copies no files",
                    "`tracesift dump testrun DIRECTORY --print-files --csv files.csv` has their paths in the column `file`: copy them with a command of your system",
                ),
            ),
        ],
    });

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        Ok(Plan::Names(Box::new(Question { per_file: self.print_files })))
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// A row per file in place of a row per test.
    pub per_file: bool,
}

impl AskNames for Question {
    fn answer(&self, runs: &[Run]) -> Answer {
        let (columns, sections) = match self.per_file {
            true => (descriptions(FILE_COLUMNS), files(runs)),
            false => (descriptions(TEST_COLUMNS), tests(runs)),
        };
        Answer {
            question: "testrun",
            columns,
            layout: Layout::Rows,
            sorted: None,
            sections,
            sums: Vec::new(),
            facts: summary(runs),
        }
    }
}

/// One test of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TestRow {
    /// Number of the run in order of time, from 0.
    pub run: usize,
    /// Start of the run, local time of the recorder.
    pub run_start: String,
    /// From its first to its last test, s.
    pub run_duration_s: i64,
    /// Name of the test.
    pub test: String,
    /// Whether the files' names have a known shape.
    pub valid: bool,
    /// Executions.
    pub single_tests: usize,
    /// Files.
    pub files: usize,
    /// Executions that failed, by the names of their files.
    pub failed: usize,
    /// Shortest, median and longest measured duration, ns.
    pub durations: Option<[i64; 3]>,
}

/// One file of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FileRow {
    /// Path.
    pub file: String,
    /// Number of the run.
    pub run: usize,
    /// Number of the execution inside its run, in order of time, from 0.
    pub single_test: usize,
    /// The file.
    pub test_file: TestFile,
}

/// The columns of a row per test.
pub const TEST_COLUMNS: &[ColumnOf<TestRow>] = &[
    ColumnOf::machine("run", "Run", Kind::Id, |r| r.run.into(), "Number of the run in order of time, from 0."),
    ColumnOf::machine(
        "run_start",
        "Run start",
        Kind::Text,
        |r| (&r.run_start).into(),
        "Time of its first test, local time of the recorder.",
    ),
    ColumnOf::machine(
        "run_duration_s",
        "Run duration s",
        Kind::Id,
        |r| r.run_duration_s.into(),
        "From its first to its last test, in seconds.",
    ),
    ColumnOf::always(
        "test",
        "Test",
        Kind::Text,
        |r| (&r.test).into(),
        "Name of the test; name of the file if that has no known shape.",
    ),
    ColumnOf::always("valid", "Valid", Kind::Bool, |r| r.valid.into(), "Whether the names have a known shape."),
    ColumnOf::always(
        "single_tests",
        "Tests",
        Kind::Count,
        |r| r.single_tests.into(),
        "Executions of the test in the run.",
    ),
    ColumnOf::always("files", "Files", Kind::Count, |r| r.files.into(), "Files of these executions."),
    ColumnOf::always(
        "failed",
        "Failed",
        Kind::Count,
        |r| r.failed.into(),
        "Executions that failed, by the names of their files.",
    ),
    ColumnOf::always(
        "min_ns",
        "Shortest",
        Kind::Milliseconds,
        |r| r.durations.map(|[min, ..]| min).into(),
        "Shortest duration that the test measured.",
    ),
    ColumnOf::always(
        "median_ns",
        "Median",
        Kind::Milliseconds,
        |r| r.durations.map(|[_, median, _]| median).into(),
        "Median duration; of an even number the mean of the middle two.",
    ),
    ColumnOf::always(
        "max_ns",
        "Longest",
        Kind::Milliseconds,
        |r| r.durations.map(|[.., max]| max).into(),
        "Longest duration that the test measured.",
    ),
];

/// The columns of a row per file.
pub const FILE_COLUMNS: &[ColumnOf<FileRow>] = &[
    ColumnOf::machine("run", "Run", Kind::Id, |r| r.run.into(), "Number of the run in order of time, from 0."),
    ColumnOf::details(
        "single_test",
        "Test number",
        Kind::Id,
        |r| r.single_test.into(),
        "Number of the execution inside its run, from 0; the machines of one execution share it.",
    ),
    ColumnOf::always(
        "performed_at",
        "Performed at",
        Kind::Text,
        |r| date(r.test_file.performed_at).into(),
        "Time of the test, local time of the recorder.",
    ),
    ColumnOf::always("test", "Test", Kind::Text, |r| r.test_file.test().into(), "Name of the test."),
    ColumnOf::always(
        "duration_ns",
        "Duration",
        Kind::Milliseconds,
        |r| r.test_file.duration_ms().and_then(nanoseconds).into(),
        "Duration that the test measured.",
    ),
    ColumnOf::always(
        "machine",
        "Machine",
        Kind::Text,
        |r| r.test_file.test.as_ref().map(|test| &test.machine).into(),
        "Machine on which it ran.",
    ),
    ColumnOf::always(
        "tier",
        "Tier",
        Kind::Text,
        |r| r.test_file.test.as_ref().and_then(|test| test.tier).map(|tier| tier.as_str()).into(),
        "`CLT` client, `SRV` server, `SINGLE` the only machine.",
    ),
    ColumnOf::always(
        "status",
        "Status",
        Kind::Text,
        |r| r.test_file.test.as_ref().and_then(|test| test.status).map(|status| status.as_str()).into(),
        "Result of the test.",
    ),
    ColumnOf::always(
        "valid",
        "Valid",
        Kind::Bool,
        |r| r.test_file.test.is_some().into(),
        "Whether the name has a known shape.",
    ),
    ColumnOf::always("size_bytes", "Size", Kind::Bytes, |r| r.test_file.size.into(), "Size of the file or archive."),
    ColumnOf::always("file", "File", Kind::LongText, |r| (&r.file).into(), "Path of the archive or recording."),
];

/// A section per run with a row per test.
#[must_use]
pub fn tests(runs: &[Run]) -> Vec<Section> {
    runs.iter().map(|run| Section { rows: values(TEST_COLUMNS, &test_rows(run)), ..section(run) }).collect()
}

/// A section per run with a row per file.
#[must_use]
pub fn files(runs: &[Run]) -> Vec<Section> {
    runs.iter().map(|run| Section { rows: values(FILE_COLUMNS, &file_rows(run)), ..section(run) }).collect()
}

/// Counts over all runs.
#[must_use]
pub fn summary(runs: &[Run]) -> Vec<Fact> {
    let tests: usize = runs.iter().map(|run| run.tests.len()).sum();
    let files: usize = runs.iter().map(|run| run.files().count()).sum();
    vec![
        Fact::new("runs", Kind::Count, runs.len()),
        Fact::new("tests", Kind::Count, tests),
        Fact::new("files", Kind::Count, files),
    ]
}

fn section(run: &Run) -> Section {
    let start = run.start().map(date).unwrap_or_default();
    let (hours, rest) = (run_seconds(run) / 3600, run_seconds(run) % 3600);
    Section {
        title: format!("run {}  {start}", run.index),
        facts: vec![
            Fact::local("duration", Kind::Text, format!("{hours}:{:02}:{:02}", rest / 60, rest % 60)),
            Fact::new("tests", Kind::Count, run.tests.len()),
            Fact::new("files", Kind::Count, run.files().count()),
        ],
        ..Section::default()
    }
}

/// The tests of a run, by name.
#[must_use]
pub fn test_rows(run: &Run) -> Vec<TestRow> {
    let mut by_name: BTreeMap<(String, bool), Vec<&SingleTest>> = BTreeMap::new();
    for single in &run.tests {
        by_name.entry((single.test().to_owned(), single.duration_ms().is_some())).or_default().push(single);
    }
    by_name
        .into_iter()
        .map(|((test, valid), singles)| TestRow {
            run: run.index,
            run_start: run.start().map(date).unwrap_or_default(),
            run_duration_s: run_seconds(run),
            test,
            valid,
            single_tests: singles.len(),
            files: singles.iter().map(|single| single.files.len()).sum(),
            failed: singles.iter().filter(|single| has_failed(single)).count(),
            durations: durations(&singles),
        })
        .collect()
}

fn file_rows(run: &Run) -> Vec<FileRow> {
    run.tests
        .iter()
        .enumerate()
        .flat_map(|(single_test, single)| {
            single.files.iter().map(move |file| FileRow {
                file: path_text(&file.path),
                run: run.index,
                single_test,
                test_file: file.clone(),
            })
        })
        .collect()
}

fn has_failed(single: &SingleTest) -> bool {
    single.files.iter().any(|file| file.test.as_ref().is_some_and(|test| test.status == Some(Status::Failed)))
}

fn durations(singles: &[&SingleTest]) -> Option<[i64; 3]> {
    let mut sorted: Vec<i64> = singles.iter().filter_map(|single| single.duration_ms().and_then(nanoseconds)).collect();
    sorted.sort_unstable();
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some([*sorted.first()?, low + (high - low) / 2, *sorted.last()?])
}

fn nanoseconds(ms: u64) -> Option<i64> {
    i64::try_from(ms).ok()?.checked_mul(1_000_000)
}

fn run_seconds(run: &Run) -> i64 {
    match (run.start(), run.end()) {
        (Some(start), Some(end)) => (end - start).num_seconds(),
        _ => 0,
    }
}

fn date(at: NaiveDateTime) -> String {
    at.format("%Y-%m-%d %H:%M:%S").to_string()
}
