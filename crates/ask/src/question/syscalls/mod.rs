//! `dump syscalls`: which system calls processes made, how long they took, and which failed with what.

mod columns;
mod errors;

use std::cmp::Ordering;

use clap::{Args, ValueEnum};
use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::Error;
use tracesift_grammar::Patterns;
use tracesift_trace::rows::{ProcessRow, SyscallNameRow, SyscallRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId, view};

pub use self::columns::{COLUMNS, Row};

use crate::answer::{Column, Fact, Kind, Section, View};
use crate::ask::{Ask, When, WhenOptions};
use crate::candidates::Candidates;
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::processes::Processes;
use crate::recording::OpenRecording;
use crate::usage_error::UsageError;
use tracesift_grammar::{TimeRange, milliseconds};

view! {
    /// The columns of a call that its figures need.
    #[derive(Clone, Copy, Debug)]
    struct Call of SyscallRow { time, start, process, thread, number, result, error }
}

view! {
    /// The error of a call.
    #[derive(Clone, Copy, Debug)]
    struct ErrorOfCall of SyscallRow { error }
}

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Sum of the calls' durations.
    #[default]
    #[value(alias = "time")]
    Sum,
    /// Number of calls.
    Calls,
    /// Number of calls that failed.
    Failed,
    /// Number of calls that have not returned.
    Open,
    /// Mean duration.
    Average,
    /// The longest single call.
    Longest,
    /// Process, then call.
    Name,
}

/// What has a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Each call of each process.
    #[default]
    #[value(skip)]
    ProcessAndCall,
    /// Each call of each thread.
    #[value(skip)]
    ThreadAndCall,
    /// Each call, whoever made it.
    Call,
    /// Each process, whatever it called.
    Process,
    /// Each thread, whatever it called.
    Thread,
    /// Each error; the calls that did not fail have a row, too, so that all rows add up.
    Error,
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
    /// Only these system calls, by name or number
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    calls: Patterns,
    /// Only calls that failed with such an error: ENOENT or 2; '*': all that failed
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    errors: Patterns,
    /// Only calls that took so long (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_duration: Option<i64>,
    /// Only calls that did not take longer
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_duration: Option<i64>,
    /// A row per thread and call in place of a row per process and call
    #[arg(long)]
    per_thread: bool,
    /// Add up: a row per call, whoever made it, per process, per thread, or per error
    #[arg(long, value_name = "WHAT", conflicts_with = "per_thread")]
    by: Option<By>,
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "sum")]
    sort: Sort,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("syscalls", || COLUMNS.descriptions())];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "calls", "errors", "min_duration", "per_thread", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump syscalls X.sift --top 10", "those that took longest in all"),
        ("tracesift dump syscalls X.sift --errors '*' --sort failed", "those that failed, and how"),
        ("tracesift dump syscalls X.sift --calls '*sync' -p dd", "those of one kind"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--per-thread"], &["--by=error"], &["--errors=*"]];

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let usual = if self.per_thread { By::ThreadAndCall } else { By::ProcessAndCall };
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            time: TimeRange::default(),
            calls: self.calls.clone(),
            errors: self.errors.clone(),
            duration: Between { min: self.min_duration, max: self.max_duration },
            by: self.by.unwrap_or(usual),
            sort: self.sort,
            top: self.top,
        }))
    }
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Calls with a part in this range, or that begin in it; their durations are cut to it.
    pub time: TimeRange,
    /// Names of calls, such as `openat`.
    pub calls: Patterns,
    /// Only calls that failed with one of these errors: name or number.
    pub errors: Patterns,
    /// Only calls that took so long, ns.
    pub duration: Between,
    /// What has a row.
    pub by: By,
    /// Order of the rows.
    pub sort: Sort,
    /// How many rows per file.
    pub top: Top,
}

/// What the calls of a row have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    process: Option<ProcessId>,
    thread: Option<ThreadId>,
    number: Option<i32>,
    /// `None`: anything; within: the error, if they failed.
    error: Option<Option<i64>>,
}

impl By {
    fn key(self, row: &Call) -> Key {
        let of_process = !matches!(self, Self::Call | Self::Error);
        Key {
            process: of_process.then_some(row.process),
            thread: self.is_per_thread().then_some(row.thread),
            number: matches!(self, Self::ProcessAndCall | Self::ThreadAndCall | Self::Call).then_some(row.number),
            error: (self == Self::Error).then_some(row.error),
        }
    }

    fn is_per_thread(self) -> bool {
        matches!(self, Self::ThreadAndCall | Self::Thread)
    }
}

/// Sums of the calls of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sums {
    calls: i64,
    failed: i64,
    open: i64,
    time: i64,
    longest: i64,
    longest_start: i64,
    /// Errors with their counts: a handful.
    errors: Vec<(i64, i64)>,
    /// Who made the calls, where a row is of many.
    processes: FxHashSet<ProcessId>,
}

impl Sums {
    /// Mean duration, ns, rounded down.
    fn average(&self) -> Option<i64> {
        self.time.checked_div(self.calls)
    }

    fn add(&mut self, row: &Call, start: i64, duration: i64) {
        if self.calls == 0 || duration > self.longest {
            (self.longest, self.longest_start) = (duration, start);
        }
        self.calls += 1;
        self.time = self.time.saturating_add(duration);
        self.open += i64::from(row.result.is_none());
        if let Some(error) = row.error {
            self.failed += 1;
            match self.errors.iter_mut().find(|(known, _)| *known == error) {
                Some((_, count)) => *count += 1,
                None => self.errors.push((error, 1)),
            }
        }
    }
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "syscalls"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["syscalls"]
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let mut all = Vec::new();
        if !self.calls.is_empty() {
            let names: Vec<SyscallNameRow> = recording.archive().rows()?;
            let names = names.into_iter().map(|row| (row.name, 0));
            let passes = |name: &str| self.calls.matches(name);
            all.push(Candidates::of(
                "--calls",
                ["system call", "system calls"],
                &self.calls.to_string(),
                names,
                passes,
            ));
        }
        if !self.errors.is_empty() {
            let mut counts: FxHashMap<i64, i64> = FxHashMap::default();
            recording.archive().scan(None, |row: &ErrorOfCall| {
                row.error.into_iter().for_each(|error| *counts.entry(error).or_default() += 1);
            })?;
            let mut asked = errors::Asked::new(&self.errors);
            let passing = counts.keys().filter(|error| asked.contain(Some(**error))).count();
            let names = counts.into_iter().map(|(error, count)| (errors::name(error), count));
            let of = Candidates::of("--errors", ["error", "errors"], &self.errors.to_string(), names, |_| false);
            all.push(Candidates { passing, figure: "most calls", ..of });
        }
        Ok(all)
    }

    fn limits(&self) -> Vec<&'static str> {
        self.duration.given(["--min-duration", "--max-duration"]).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(match self.sort {
            Sort::Sum => "duration_sum_ns",
            Sort::Calls => "calls",
            Sort::Failed => "failed",
            Sort::Open => "open",
            Sort::Average => "duration_avg_ns",
            Sort::Longest => "longest_ns",
            Sort::Name => return None,
        })
    }

    fn columns(&self) -> Vec<Column> {
        let hidden: &[&str] = match self.by {
            By::ProcessAndCall | By::ThreadAndCall => &["processes", "error"],
            By::Call => &["process", "pid", "tid", "thread_name", "who", "command_line", "error"],
            By::Process => &["tid", "thread_name", "number", "call", "processes", "error"],
            By::Thread => &["number", "call", "processes", "error"],
            By::Error => {
                &["process", "pid", "tid", "thread_name", "who", "command_line", "number", "call", "failed", "errors"]
            }
        };
        let mut columns = COLUMNS.descriptions();
        for column in columns.iter_mut().filter(|column| hidden.contains(&column.key)) {
            column.view = View::Nowhere;
        }
        columns
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let archive = recording.archive();
        if archive.row_count::<SyscallRow>() == 0 {
            let facts = vec![Fact::local("system calls", Kind::Text, recording.file.absence_of("syscalls"))];
            return Ok(COLUMNS.section(&recording.file, &[], facts));
        }
        let processes: Vec<ProcessRow> = archive.rows()?;
        let threads: Vec<ThreadRow> = if self.by.is_per_thread() { archive.rows()? } else { Vec::new() };
        let names: FxHashMap<i32, String> =
            archive.rows()?.into_iter().map(|row: SyscallNameRow| (row.number, row.name)).collect();
        let accepted: FxHashMap<ProcessId, &ProcessRow> =
            Processes::new(&processes).at_work(&self.filter).map(|row| (row.process, row)).collect();
        let threads: FxHashMap<ThreadId, &ThreadRow> = threads.iter().map(|row| (row.thread, row)).collect();

        let sums = self.sums(recording, &accepted, &names)?;
        let mut rows: Vec<Row> = sums
            .into_iter()
            .map(|(key, sums)| {
                let process = key.process.and_then(|process| accepted.get(&process)).map(|row| (*row).clone());
                let thread = key.thread.and_then(|thread| threads.get(&thread)).map(|row| (*row).clone());
                let name = key.number.and_then(|number| names.get(&number)).cloned();
                Row::new((process, thread), (key.number, name), key.error, sums)
            })
            .collect();
        rows.sort_by(|a, b| self.compare(a, b));
        let (calls, failed) =
            rows.iter().fold((0, 0), |(calls, failed), row| (calls + row.sums.calls, failed + row.sums.failed));
        self.top.apply(&mut rows);
        let facts = vec![Fact::new("system calls", Kind::Count, calls), Fact::new("failed", Kind::Count, failed)];
        Ok(COLUMNS.section(&recording.file, &rows, facts))
    }
}

impl Question {
    fn sums(
        &self,
        recording: &OpenRecording,
        processes: &FxHashMap<ProcessId, &ProcessRow>,
        names: &FxHashMap<i32, String>,
    ) -> Result<FxHashMap<Key, Sums>, Error> {
        let mut errors = errors::Asked::new(&self.errors);
        let mut asked: FxHashMap<i32, bool> = FxHashMap::default();
        let (begin, end) = self.time.bounds();
        // A call that takes no time may stand at the beginning.
        let time = (!self.time.is_everything()).then_some(begin.saturating_sub(1)..end);
        let mut sums: FxHashMap<Key, Sums> = FxHashMap::default();
        recording.archive().scan(time, |row: &Call| {
            let is_asked = (row.time > begin || row.start >= begin)
                && processes.contains_key(&row.process)
                && *asked.entry(row.number).or_insert_with(|| self.asks_for(row.number, names))
                && errors.contain(row.error);
            if !is_asked || !self.duration.contains(Some(row.time.saturating_sub(row.start))) {
                return;
            }
            let start = row.start.max(begin);
            let sums = sums.entry(self.by.key(row)).or_default();
            sums.add(row, start, row.time.min(end).saturating_sub(start).max(0));
            if matches!(self.by, By::Call | By::Error) {
                sums.processes.insert(row.process);
            }
        })?;
        Ok(sums)
    }

    fn asks_for(&self, number: i32, names: &FxHashMap<i32, String>) -> bool {
        let text = number.to_string();
        let name = names.get(&number).map_or(text.as_str(), String::as_str);
        self.calls.is_empty() || self.calls.matches_any(&[name, &text])
    }

    fn compare(&self, a: &Row, b: &Row) -> Ordering {
        let figure = |row: &Row| match self.sort {
            Sort::Sum => row.sums.time,
            Sort::Calls => row.sums.calls,
            Sort::Failed => row.sums.failed,
            Sort::Open => row.sums.open,
            Sort::Average => row.sums.average().unwrap_or(0),
            Sort::Longest => row.sums.longest,
            Sort::Name => 0,
        };
        figure(a).cmp(&figure(b)).then_with(|| a.key().cmp(&b.key()))
    }
}
