//! `dump mark`: when marks were written into a recording, and how much time passed between them.

mod pairs;

use clap::{Args, ValueEnum};
use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_grammar::{Patterns, TimeRange, seconds};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{MarkRow, ProcessRow, ThreadRow};
use tracesift_trace::schema::Row as _;

pub use self::pairs::PairPatterns;

use crate::answer::{Column, ColumnOf, Fact, Kind, Section, View};
use crate::ask::{Ask, When, WhenOptions};
use crate::candidates::Candidates;
use crate::columns::Columns;
use crate::etwanalyzer::{Legacy, To, switch};
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::process_columns::{self as of_process, OfProcess};
use crate::processes::Processes;
use crate::recording::OpenRecording;
use crate::usage_error::UsageError;

/// Order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By time.
    #[default]
    Time,
    /// By the time since the mark before; with `--pairs` by the duration.
    #[value(alias = "difference", alias = "duration")]
    Diff,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Marks in this range.
    pub time: TimeRange,
    /// Texts of marks.
    pub marker: Patterns,
    /// Time of a mark since time zero, or since the landmark, ns.
    pub diff: Between,
    /// The marks that begin and end spans; `None`: a row per mark.
    pub pairs: Option<PairPatterns>,
    /// Order of the rows.
    pub sort: Sort,
    /// How many rows.
    pub top: Top,
    /// The instant from which times are counted, ns.
    pub origin: i64,
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    when: WhenOptions,
    #[command(flatten)]
    top: Top,
    /// Only marks with such a text
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    marker: String,
    /// Spans between two marks: `start*;stop*`; both marks have the same text in place of `*`
    #[arg(long, value_name = "START;STOP", allow_hyphen_values = true)]
    pairs: Option<PairPatterns>,
    /// Only marks, and spans that begin, at least so long after the zero point (s without unit): the session's start, or --zero-time
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    min_diff: Option<i64>,
    /// Only marks, and spans that begin, at most so long after the zero point
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    max_diff: Option<i64>,
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "time")]
    sort: Sort,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("mark", || COLUMNS.descriptions()),
        Form {
            with: &[&["--pairs=start*;stop*"]],
            title: "With `--pairs`:\n\n",
            ..Form::usual("mark", || pairs::COLUMNS.descriptions())
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "marker", "pairs", "min_diff", "zero_time", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump mark X.sift", "all marks"),
        ("tracesift dump mark X.sift --zero-time 'mark:*begin*'", "times since a mark"),
        ("tracesift dump mark X.sift --pairs 'start*;stop*' --sort diff", "the spans between marks, the longest last"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--sort=diff", "--marker=*a*"], &["--min-diff=0.1"]];
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "mark",
        switches: &[
            switch(&["markerfilter"], To::Value("--marker")),
            switch(&["minmaxmarkdifftime"], To::Range("--min-diff", "--max-diff", "s")),
        ],
    });

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            time: TimeRange::default(),
            marker: Patterns::parse(&self.marker),
            diff: Between { min: self.min_diff, max: self.max_diff },
            pairs: self.pairs.clone(),
            sort: self.sort,
            top: self.top,
            origin: 0,
        }))
    }
}

/// One mark of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    mark: MarkRow,
    process: Option<ProcessRow>,
    tid: Option<i64>,
    /// Time since the mark before, ns.
    since_previous: Option<i64>,
    /// Time since the zero point, ns.
    since_zero: i64,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::machine("tid", "Tid", Kind::Id, |r| r.tid.into(), "Id of the thread that wrote the mark."),
    ColumnOf::always("time_ns", "Time", Kind::Time, |r| r.mark.time.into(), "Time of the mark."),
    ColumnOf::always(
        "since_previous_ns",
        "Diff",
        Kind::Seconds,
        |r| r.since_previous.into(),
        "Time since the mark before: the one before among the marks that `--marker` and the filters of processes let pass.",
    ),
    ColumnOf::machine(
        "since_zero_ns",
        "Diff to zero",
        Kind::Seconds,
        |r| r.since_zero.into(),
        "Time since the zero point: the session's start, or the landmark of `--zero-time`.",
    ),
    ColumnOf::always("text", "Mark", Kind::Text, |r| (&r.mark.text).into(), "Text of the mark."),
    of_process::label(),
    of_process::command_line().shown(View::Machine),
]);

impl Ask for Question {
    fn name(&self) -> &'static str {
        "mark"
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let mut found = Vec::new();
        let marks = || -> Result<Vec<(String, i64)>, Error> {
            Ok(recording.archive().rows::<MarkRow>()?.into_iter().map(|mark| (mark.text, 1)).collect())
        };
        let what = ["mark", "marks"];
        if !self.marker.is_empty() {
            let passes = |text: &str| self.marker.matches(text);
            found.push(Candidates::of("--marker", what, &self.marker.to_string(), marks()?, passes));
        }
        if let Some(pairs) = &self.pairs {
            let passes = |text: &str| pairs.start.rest(text).or_else(|| pairs.stop.rest(text)).is_some();
            found.push(Candidates::of("--pairs", what, &pairs.to_string(), marks()?, passes));
        }
        Ok(found)
    }

    fn limits(&self) -> Vec<&'static str> {
        self.diff.given(["--min-diff", "--max-diff"]).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(match (self.sort, &self.pairs) {
            (Sort::Time, None) => "time_ns",
            (Sort::Diff, None) => "since_previous_ns",
            (Sort::Time, Some(_)) => "start_ns",
            (Sort::Diff, Some(_)) => "duration_ns",
        })
    }

    fn columns(&self) -> Vec<Column> {
        if self.pairs.is_some() { pairs::COLUMNS.descriptions() } else { COLUMNS.descriptions() }
    }

    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask> {
        Box::new(Self { time, origin, ..self.clone() })
    }

    fn sums_suffice(&self) -> bool {
        // An import has marks one by one.
        true
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let archive = recording.archive();
        if archive.row_count::<MarkRow>() == 0 {
            return Ok(recording.file.absent("marks", recording.file.absence_of(MarkRow::TABLE.name)));
        }
        let rows = self.marks(recording)?;
        Ok(match &self.pairs {
            Some(patterns) => {
                let rows = pairs::rows(self, patterns, &rows);
                pairs::COLUMNS.section(&recording.file, &rows, vec![Fact::new("spans", Kind::Count, rows.len())])
            }
            None => {
                let mut rows: Vec<Row> = rows.into_iter().filter(|row| self.is_asked(row.mark.time)).collect();
                let facts = vec![Fact::new("marks", Kind::Count, rows.len())];
                if self.sort == Sort::Diff {
                    rows.sort_by_key(|row| (row.since_previous, row.mark.time));
                }
                self.top.apply(&mut rows);
                COLUMNS.section(&recording.file, &rows, facts)
            }
        })
    }
}

impl Question {
    /// The marks that patterns and filters of processes let pass, by time. Those outside of the range are among them.
    fn marks(&self, recording: &OpenRecording) -> Result<Vec<Row>, Error> {
        let archive = recording.archive();
        let processes: Vec<ProcessRow> = archive.rows()?;
        let accepted: FxHashMap<ProcessId, &ProcessRow> =
            Processes::new(&processes).accepted(&self.filter).map(|(_, row)| (row.process, row)).collect();
        let threads: FxHashMap<_, i64> =
            archive.rows::<ThreadRow>()?.into_iter().map(|row| (row.thread, row.tid)).collect();
        let mut marks: Vec<MarkRow> = archive.rows()?;
        marks.sort_by_key(|mark| mark.time);
        let mut before = None;
        let mut rows = Vec::new();
        for mark in marks {
            let process = mark.process.and_then(|process| accepted.get(&process)).copied();
            if !self.marker.matches(&mark.text) || (process.is_none() && !self.filter.is_empty()) {
                continue;
            }
            rows.push(Row {
                process: process.cloned(),
                tid: mark.thread.and_then(|thread| threads.get(&thread)).copied(),
                since_previous: before.map(|before| mark.time.saturating_sub(before)),
                since_zero: mark.time.saturating_sub(self.origin),
                mark,
            });
            before = rows.last().map(|row: &Row| row.mark.time);
        }
        Ok(rows)
    }

    /// Whether an instant lies in the range and between the limits.
    fn is_asked(&self, time: i64) -> bool {
        let (start, end) = self.time.bounds();
        time >= start && time < end && self.diff.contains(Some(time.saturating_sub(self.origin)))
    }
}
