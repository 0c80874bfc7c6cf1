//! `dump process`: which processes lived in a recording, for how long, how they ended, who started them.

use std::cmp::Ordering;

use clap::{Args, ValueEnum};
use rustc_hash::FxHashSet;
use tracesift_archive::Error;
use tracesift_trace::rows::{Origin, ProcessRow};

use crate::answer::{Column, ColumnOf, Fact, Kind, Section, Value, View, descriptions};
use crate::ask::{Ask, When, WhenOptions};
use crate::columns::Columns;
use crate::etwanalyzer::{Legacy, To, switch};
use crate::filter::ProcessFilter;
use crate::ntstatus;
use crate::options::{Asking, Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::process_columns::{self as of_process, OfProcess, name_with_marks};
use crate::processes::{ProcessLife, Processes};
use crate::question::merged_processes;
use crate::recording::OpenRecording;
use crate::recording_label::RecordingLabel;
use crate::usage_error::UsageError;
use tracesift_grammar::{TimeRange, seconds};

/// Order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By name, then by start.
    #[default]
    Name,
    /// Those that ran all the time, then those that ended, then those that started, each by time.
    Time,
    /// By end; those that run on stand last.
    Stop,
    /// By session, then by name and start.
    Session,
    /// Children below their parents.
    Tree,
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Lives that have a part in this range.
    pub time: TimeRange,
    /// Order of the rows.
    pub sort: Sort,
    /// How many rows.
    pub top: Top,
    /// Only processes that ended with an error status.
    pub crash: bool,
    /// Lifetime inside the recording, ns.
    pub duration: Between,
    /// Start, ns since time zero.
    pub start: Between,
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
    /// Order of the rows
    #[arg(long, value_name = "KEY", default_value = "name")]
    sort: Sort,
    /// Only processes that ended with an error status, or for which Windows Error Reporting was started
    #[arg(long)]
    crash: bool,
    /// Shortest life inside the recording (s without unit)
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    min_duration: Option<i64>,
    /// Longest life inside the recording
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    max_duration: Option<i64>,
    /// Earliest start (s since the session's start without unit)
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    min_start: Option<i64>,
    /// Latest start
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    max_start: Option<i64>,
    /// Processes followed over the recordings of one boot: a row per process, with its start and its end in any of them
    #[arg(long, conflicts_with_all = ["zero_time", "crash", "min_start", "max_start"])]
    merge: bool,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("process", || COLUMNS.descriptions()),
        Form {
            with: &[&["--merge"]],
            title: "With `--merge`:\n\n",
            ..Form::usual("process", || descriptions(merged_processes::COLUMNS))
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "parent", "cmdline", "new_process", "top", "sort", "crash", "merge", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump process X.sift --sort tree", "children below their parents"),
        ("tracesift dump process X.sift --crash", "those that an error ended"),
        ("tracesift dump process X.sift --new-process started", "those that started meanwhile"),
        ("tracesift dump process recordings/ --merge --sort time", "each once, over all files"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--sort=tree"], &["--crash"]];
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "process",
        switches: &[
            switch(
                &["sortby"],
                To::Word(
                    "--sort",
                    &[
                        ("default", "name"),
                        ("time", "time"),
                        ("starttime", "time"),
                        ("stoptime", "stop"),
                        ("tree", "tree"),
                        ("session", "session"),
                    ],
                ),
            ),
            switch(&["crash"], To::Flag("--crash")),
            switch(&["showuser"], To::Flag("--details")),
            switch(&["minmaxduration"], To::Range("--min-duration", "--max-duration", "s")),
            switch(&["minmaxstart"], To::Range("--min-start", "--max-start", "s")),
            switch(&["showfileonline", "sfo"], To::Dropped(0, "the file stands above its rows")),
            switch(&["showallprocesses"], To::Dropped(0, "belongs to -merge")),
            switch(&["merge"], To::Flag("--merge")),
            switch(
                &["column"],
                To::ChosenColumns(&[
                    ("ProcessId", "pid"),
                    ("StartTime", "start_ns"),
                    ("StopTime", "end_ns"),
                    ("Duration", "duration_ns"),
                    ("ReturnCode", "exit"),
                    ("ParentPid", "parent_pid"),
                    ("Session", "session"),
                    ("User", "account"),
                    ("Process", "process_label"),
                    ("CommandLine", "command_line"),
                    ("FileName", "file"),
                ]),
            ),
        ],
    });

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        if self.merge {
            return Ok(Plan::Archives(self.merged()?));
        }
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            time: TimeRange::default(),
            sort: self.sort,
            top: self.top,
            crash: self.crash,
            duration: Between { min: self.min_duration, max: self.max_duration },
            start: Between { min: self.min_start, max: self.max_start },
        }))
    }
}

impl Options {
    /// The question about all files together. Filters of lives are of the whole ones.
    fn merged(&self) -> Result<Asking, UsageError> {
        if matches!(self.sort, Sort::Tree | Sort::Session) {
            let message = "--sort tree and --sort session are of rows of single files";
            return Err(UsageError::new(message, "with --merge sort by name, time or stop"));
        }
        let filter = ProcessFilter { lifetime: None, ..self.filter.clone() };
        let question = Question { filter, ..Question::default() };
        let shown = merged_processes::Shown {
            sort: self.sort,
            top: self.top,
            lifetime: self.filter.lifetime,
            duration: Between { min: self.min_duration, max: self.max_duration },
        };
        Ok(Asking {
            question: Box::new(merged_processes::Sightings(question)),
            columns: Some(descriptions(merged_processes::COLUMNS)),
            then: Box::new(move |answer, _| *answer = merged_processes::merge(answer, &shown)),
        })
    }
}

/// One process of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The process.
    pub process: ProcessRow,
    /// Name of its parent, when that was alive.
    pub parent: Option<String>,
    /// Its end, where it is known.
    pub end: Option<i64>,
    /// Whether it had ended before the recording, which names it all the same.
    pub died_before: bool,
    /// Start in UTC.
    pub start_utc: Option<String>,
    /// End in UTC.
    pub end_utc: Option<String>,
    /// Its life inside the recording, ns.
    pub duration: i64,
    /// Number of ancestors shown above it, in the order `tree`.
    pub depth: usize,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        Some(&self.process)
    }
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    of_process::start().shown(View::Always),
    ColumnOf::always(
        "end_ns",
        "Stop",
        Kind::Time,
        |r| r.end.into(),
        "End; of a process that was dead when the recording began, before its start. Empty: it runs on, or it was dead and nobody knows since when.",
    ),
    ColumnOf::machine("start_utc", "Start UTC", Kind::Text, |r| r.start_utc.clone().into(), "Start as a date in UTC."),
    ColumnOf::machine("end_utc", "Stop UTC", Kind::Text, |r| r.end_utc.clone().into(), "End as a date in UTC."),
    ColumnOf::always(
        "duration_ns",
        "Duration",
        Kind::Seconds,
        |r| r.duration.into(),
        "Its life inside the recording: from its start, or the recording's, to its end, or the recording's.",
    ),
    ColumnOf::machine(
        "exit_code",
        "Exit code",
        Kind::Id,
        |r| r.process.exit_code.into(),
        "Exit status as a signed integer; empty when no end was seen.",
    ),
    ColumnOf::machine(
        "exit_status",
        "Exit status",
        Kind::Text,
        |r| r.process.exit_code.and_then(ntstatus::name).into(),
        "Name of the exit status, where it is a known NTSTATUS.",
    ),
    ColumnOf::people("exit", "Exit", Kind::Text, exit, "Name of the exit status where it is known, else the number."),
    of_process::parent_pid(),
    ColumnOf::machine(
        "parent",
        "Parent name",
        Kind::Text,
        |r| r.parent.clone().into(),
        "Name of the creator, when it was alive in the recording.",
    ),
    ColumnOf::people(
        "parent_label",
        "Parent",
        Kind::Text,
        parent_label,
        "Name and pid of the creator; the pid alone if the creator exited before the recording.",
    ),
    of_process::session(),
    of_process::container(),
    of_process::cgroup(),
    of_process::user(),
    of_process::account(),
    ColumnOf::details(
        "wow64",
        "32 bit",
        Kind::Bool,
        |r| r.process.wow64.into(),
        "A 32-bit process on a 64-bit system.",
    ),
    ColumnOf::machine(
        "package",
        "Package",
        Kind::Text,
        |r| r.process.package.clone().into(),
        "Full name of the app package.",
    ),
    ColumnOf::machine(
        "application",
        "Application",
        Kind::Text,
        |r| r.process.application.clone().into(),
        "Application user model id.",
    ),
    ColumnOf::machine(
        "depth",
        "Depth",
        Kind::Id,
        |r| r.depth.into(),
        "Number of ancestors among the rows; 0 unless sorted as a tree.",
    ),
    ColumnOf { value: label, ..of_process::label() },
    of_process::command_line(),
]);

impl Ask for Question {
    fn name(&self) -> &'static str {
        "process"
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn limits(&self) -> Vec<&'static str> {
        let crash = self.crash.then_some("--crash");
        let duration = self.duration.given(["--min-duration", "--max-duration"]);
        crash.into_iter().chain(duration).chain(self.start.given(["--min-start", "--max-start"])).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        match self.sort {
            Sort::Time => Some("start_ns"),
            Sort::Stop => Some("end_ns"),
            Sort::Session => Some("session"),
            Sort::Name | Sort::Tree => None,
        }
    }

    fn columns(&self) -> Vec<Column> {
        COLUMNS.descriptions()
    }

    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask> {
        Box::new(Self { time, start: self.start.shifted(origin), ..self.clone() })
    }

    fn sums_suffice(&self) -> bool {
        true
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        Ok(answer(&recording.file, &recording.archive().rows::<ProcessRow>()?, self))
    }
}

/// Answers the question for one file.
#[must_use]
pub fn answer(file: &RecordingLabel, processes: &[ProcessRow], question: &Question) -> Section {
    let rows = rows(file, processes, question);
    COLUMNS.section(file, &rows, counts(&rows))
}

/// The answer for one file as a part of lives in several: without processes of which it knows only that they had died.
#[must_use]
pub(super) fn sightings(file: &RecordingLabel, processes: &[ProcessRow], question: &Question) -> Section {
    let mut rows = rows(file, processes, question);
    rows.retain(|row| !row.died_before || row.end.is_some());
    COLUMNS.section(file, &rows, counts(&rows))
}

/// The rows for one file, in order.
#[must_use]
pub fn rows(file: &RecordingLabel, processes: &[ProcessRow], question: &Question) -> Vec<Row> {
    let processes = Processes::new(processes);
    let shown = select(file, &processes, question);
    let compare = |&a: &usize, &b: &usize| match (processes.rows.get(a), processes.rows.get(b)) {
        (Some(a), Some(b)) => compare(question.sort, a, b),
        _ => Ordering::Equal,
    };
    let order = match question.sort {
        Sort::Tree => processes.tree.depth_first(|index| shown.contains(&index), compare),
        _ => {
            let mut order: Vec<usize> = shown.into_iter().collect();
            order.sort_unstable();
            order.sort_by(compare);
            order.into_iter().map(|index| (index, 0)).collect()
        }
    };
    let mut rows: Vec<Row> = order
        .into_iter()
        .filter_map(|(index, depth)| {
            let parent = processes.parent(index).map(|parent| parent.name.clone());
            Some(row(file, processes.rows.get(index)?, parent, depth))
        })
        .collect();
    question.top.apply(&mut rows);
    rows
}

fn row(file: &RecordingLabel, process: &ProcessRow, parent: Option<String>, depth: usize) -> Row {
    let died_before = died_before(file, process);
    // Time zero stands for an end that nobody knows.
    let end = process.end.filter(|end| !died_before || *end != 0);
    Row {
        parent,
        end,
        died_before,
        start_utc: process.start.and_then(|start| file.zero.iso_utc(start)),
        end_utc: end.and_then(|end| file.zero.iso_utc(end)),
        duration: duration(file, process),
        depth,
        process: process.clone(),
    }
}

/// Whether a process had ended before the recording, which names it all the same.
fn died_before(file: &RecordingLabel, process: &ProcessRow) -> bool {
    ProcessLife::from(process).had_ended_at(file.start)
}

/// Indexes of the processes that pass, and with a filter on parents also of those parents.
fn select(file: &RecordingLabel, processes: &Processes<'_>, question: &Question) -> FxHashSet<usize> {
    let reported = reported_crashes(processes.rows);
    let passes = |process: &ProcessRow| {
        // What bears the time of interrupts is no process.
        process.origin != Origin::Pseudo
            && (question.filter.lifetime.is_none() || !died_before(file, process))
            && question.time.overlaps(process.start, process.end)
            && question.duration.contains(Some(duration(file, process)))
            && question.start.contains(process.start)
            && (!question.crash || process.exit_code.is_some_and(ntstatus::is_crash) || reported.contains(&process.pid))
    };
    let accepted = processes.accepted(&question.filter).filter(|(_, process)| passes(process));
    let mut shown: FxHashSet<usize> = accepted.map(|(index, _)| index).collect();
    let parents = &question.filter.parent;
    if !parents.is_empty() {
        let found: Vec<usize> = shown
            .iter()
            .filter(|&&child| processes.parent(child).is_some_and(|parent| parents.matches(&parent.name, parent.pid)))
            .filter_map(|&child| processes.tree.parent(child))
            .collect();
        shown.extend(found);
    }
    shown
}

/// Pids that Windows Error Reporting was started for: `WerFault.exe -u -p 4711 -s 1234`.
fn reported_crashes(processes: &[ProcessRow]) -> FxHashSet<i64> {
    processes
        .iter()
        .filter(|process| process.name.eq_ignore_ascii_case("WerFault.exe"))
        .filter_map(|process| {
            let mut words = process.command_line.as_deref()?.split_whitespace();
            words.find(|word| *word == "-p")?;
            words.next()?.parse().ok()
        })
        .collect()
}

fn duration(file: &RecordingLabel, process: &ProcessRow) -> i64 {
    process.end.unwrap_or(file.end).saturating_sub(process.start.unwrap_or(file.start)).max(0)
}

fn compare(sort: Sort, a: &ProcessRow, b: &ProcessRow) -> Ordering {
    let by_name =
        || a.name.to_lowercase().cmp(&b.name.to_lowercase()).then(a.start.cmp(&b.start)).then(a.pid.cmp(&b.pid));
    match sort {
        Sort::Name => by_name(),
        Sort::Time | Sort::Tree => time_key(a).cmp(&time_key(b)).then_with(by_name),
        Sort::Stop => (a.end.is_none(), a.end).cmp(&(b.end.is_none(), b.end)).then_with(by_name),
        Sort::Session => a.session.cmp(&b.session).then_with(by_name),
    }
}

fn time_key(process: &ProcessRow) -> (u8, Option<i64>) {
    match (process.start, process.end) {
        (None, None) => (0, None),
        (None, end) => (1, end),
        (start, _) => (2, start),
    }
}

fn exit(row: &Row) -> Value {
    match row.process.exit_code {
        None => Value::None,
        Some(code) => ntstatus::name(code).map_or_else(|| Value::Text(code.to_string()), Value::from),
    }
}

fn parent_label(row: &Row) -> Value {
    // The idle loop names itself.
    let pid = row.process.parent_pid.filter(|pid| *pid != row.process.pid);
    pid.map(|pid| row.parent.as_ref().map_or_else(|| format!("({pid})"), |name| format!("{name}({pid})"))).into()
}

/// `name(pid)` with its marks, indented below its parent.
fn label(row: &Row) -> Value {
    let indent = match row.depth {
        0 => String::new(),
        // A chain of any length still has to fit on a line.
        depth => format!("{}|- ", "  ".repeat(depth.min(32))),
    };
    let name = match row.died_before {
        true => format!("{}({})", row.process.name, row.process.pid),
        false => name_with_marks(&row.process),
    };
    Value::Text(format!("{indent}{name}"))
}

fn counts(rows: &[Row]) -> Vec<Fact> {
    let dead = rows.iter().filter(|row| row.died_before).count();
    let count =
        |test: fn(&ProcessRow) -> bool| rows.iter().filter(|row| !row.died_before && test(&row.process)).count();
    let sessions: FxHashSet<i32> = rows.iter().filter_map(|row| row.process.session).collect();
    let users: FxHashSet<&str> = rows.iter().filter_map(|row| row.process.user.as_deref()).collect();
    let mut counts = vec![
        Fact::new("processes", Kind::Count, rows.len()),
        Fact::new("new", Kind::Count, count(|process| process.start.is_some())),
        Fact::new("exited", Kind::Count, count(|process| process.end.is_some())),
        Fact::new("permanent", Kind::Count, count(|process| process.start.is_none() && process.end.is_none())),
    ];
    if dead > 0 {
        counts.push(Fact::new("dead before", Kind::Count, dead));
    }
    // Every process has a session and a user: none at all means that nothing says which.
    let known = [("sessions", sessions.len()), ("users", users.len())].into_iter().filter(|(_, count)| *count > 0);
    counts.extend(known.map(|(name, count)| Fact::local(name, Kind::Count, count)));
    counts
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tracesift_testing::rows::process;
    use tracesift_trace::info::TraceInfo;
    use tracesift_trace::rows::{Origin, ProcessRow};

    use super::{Question, answer};
    use crate::answer::{Section, Value};
    use crate::filter::{Lifetime, ProcessFilter};
    use crate::recording_label::RecordingLabel;

    /// Two that the recording names although they had died: one with its end, one without. The recording begins at 20.
    fn processes() -> Vec<ProcessRow> {
        let life = |id: i32, name: &str, (start, end): (Option<i64>, Option<i64>), origin| ProcessRow {
            start,
            end,
            origin,
            exit_code: end.and(Some(0)),
            ..process(id, i64::from(id) * 10, name)
        };
        vec![
            life(1, "dead", (None, Some(-500)), Origin::Rundown),
            life(2, "dead-somewhen", (None, Some(0)), Origin::Rundown),
            life(3, "dead-since", (None, Some(15)), Origin::Rundown),
            life(4, "lives", (None, None), Origin::Rundown),
            life(5, "ends", (None, Some(50)), Origin::Event),
            life(6, "ends-unseen", (None, Some(60)), Origin::Rundown),
            life(7, "comes", (Some(30), None), Origin::Event),
        ]
    }

    fn asked(lifetime: Option<Lifetime>) -> (Section, Vec<String>) {
        let info = TraceInfo { start_ns: 20, end_ns: 100, ..TraceInfo::default() };
        let file = RecordingLabel::new(Path::new("a.sift"), "a".to_owned(), &info, &[]);
        let filter = ProcessFilter { lifetime, ..ProcessFilter::default() };
        let section = answer(&file, &processes(), &Question { filter, ..Question::default() });
        let place = super::COLUMNS.descriptions().iter().position(|column| column.key == "process").unwrap();
        let name = |row: &Vec<Value>| match &row[place] {
            Value::Text(name) => name.clone(),
            other => panic!("{other:?}"),
        };
        let names = section.rows.iter().map(name).collect();
        (section, names)
    }

    #[test]
    fn who_died_before_the_recording_did_not_end_in_it() {
        let (all, names) = asked(None);
        assert_eq!(names, ["comes", "dead", "dead-since", "dead-somewhen", "ends", "ends-unseen", "lives"]);
        let counts = all.facts.iter().take(5).map(|fact| (fact.label, fact.value.clone())).collect::<Vec<_>>();
        let expected = [("processes", 7), ("new", 1), ("exited", 2), ("permanent", 1), ("dead before", 3)];
        assert_eq!(counts, expected.map(|(label, count)| (label, Value::Int(count))));
        let values = |key: &str| {
            let place = super::COLUMNS.descriptions().iter().position(|column| column.key == key).unwrap();
            all.rows.iter().map(|row| row[place].clone()).collect::<Vec<_>>()
        };
        let ends = [None, Some(-500), Some(15), None, Some(50), Some(60), None];
        assert_eq!(values("end_ns"), ends.map(Value::from));
        let labels = values("process_label");
        let expected = [
            "comes(70) +",
            "dead(10)",
            "dead-since(30)",
            "dead-somewhen(20)",
            "ends(50) -",
            "ends-unseen(60) -",
            "lives(40)",
        ];
        assert_eq!(labels, expected.map(Value::from));
        let (_, ended) = asked(Some(Lifetime::Ended));
        assert_eq!(ended, ["ends", "ends-unseen"]);
        let (_, whole) = asked(Some(Lifetime::Whole));
        assert_eq!(whole, ["lives"]);
    }
}
