//! `dump idle`: how long CPUs stayed in which idle states, and who woke them.

mod names;
mod stays;

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_analysis::spans::is_switch_in;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{ContextSwitchRow, CpuIdleStateRow, ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId, view};

use crate::answer::{Column, ColumnOf, Fact, Kind, Section, View};
use crate::ask::{Ask, RANGES_AT_ONCE, When};
use crate::columns::Columns;
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::process_columns::{self as of_process, OfProcess};
use crate::processes::{Processes, is_idle};
use crate::recording::OpenRecording;
use crate::time_windows::TimeWindows;
use crate::usage_error::UsageError;
use crate::usual_options::UsualOptions;
use names::{Names, StateFacts};
use stays::{InRange, Residency, Stays};

const TABLE: &str = "cpu_idle_states";

/// What a row is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// A row per CPU and idle state
    #[default]
    State,
    /// A row per process that woke CPUs
    Process,
}

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By CPU and state
    Cpu,
    /// By the time in the state
    Time,
    /// By the share of the time range
    Percent,
    /// By the number of stays
    Stays,
    /// By the mean stay
    Average,
    /// By the longest stay
    Longest,
    /// By the number of wake-ups, with --by process
    WakeUps,
    /// By the number of wake-ups from sleep, with --by process
    FromSleep,
}

impl Sort {
    /// The usual order of rows of a kind.
    fn usual(by: By) -> Self {
        match by {
            By::State => Self::Cpu,
            By::Process => Self::WakeUps,
        }
    }

    /// The column of the order.
    fn key(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Time => "time_ns",
            Self::Percent => "percent",
            Self::Stays => "stays",
            Self::Average => "avg_ns",
            Self::Longest => "max_ns",
            Self::WakeUps => "wake_ups",
            Self::FromSleep => "from_sleep",
        }
    }

    /// Whether rows of a kind have the column.
    fn is_of(self, by: By) -> bool {
        matches!(self, Self::WakeUps | Self::FromSleep) == (by == By::Process)
    }
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    usual: UsualOptions,
    /// What a row is about
    #[arg(long, value_name = "WHAT", default_value = "state")]
    by: By,
    /// Order of the rows; the largest stands last [default: cpu; with --by process wake-ups]
    #[arg(long, value_name = "KEY", hide_default_value = true)]
    sort: Option<Sort>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form { title: "A row per CPU and state:\n\n", ..Form::usual("idle", || COLUMNS.descriptions()) },
        Form {
            with: &[&["--by=process"]],
            title: "With `--by process` a row per process:\n\n",
            ..Form::usual("idle", || WAKE_UP_COLUMNS.descriptions())
        },
    ];
    const SHORT: &'static [&'static str] = &["process", "time", "bucket", "top", "by", "sort", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump idle X.sift", "the share of each idle state, per CPU"),
        ("tracesift dump idle X.sift --by process --top 5", "the processes that woke CPUs most often"),
        ("tracesift dump idle X.sift --sort longest --top 3", "the states with the longest stays"),
        ("tracesift dump idle X.sift --bucket 1s", "in each second of the recording"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--sort=longest"], &["--bucket=1s"], &["--by=process", "--sort=from-sleep"]];

    fn when(&self) -> When {
        self.usual.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        if let Some(sort) = self.sort.filter(|sort| !sort.is_of(self.by)) {
            let hint = match self.by {
                By::State => "add --by process, or sort by cpu, time, percent, stays, average or longest",
                By::Process => "sort by wake-ups or from-sleep, or leave out --by process",
            };
            let message = format!("--sort is of other rows: these have no column `{}`", sort.key());
            return Err(UsageError::new(message, hint));
        }
        Ok(Plan::from(Question {
            filter: self.usual.filter.clone(),
            time: TimeRange::default(),
            top: self.usual.top,
            by: self.by,
            sort: self.sort,
        }))
    }
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Whose wake-ups count.
    pub filter: ProcessFilter,
    /// Stays in this range.
    pub time: TimeRange,
    /// How many rows per file.
    pub top: Top,
    /// What a row is about.
    pub by: By,
    /// Order of the rows; `None`: by CPU, or by wake-ups.
    pub sort: Option<Sort>,
}

/// A state of a CPU.
#[derive(Clone, Debug)]
pub struct Row {
    cpu: i16,
    state: String,
    stays: Stays,
    /// C0 and unknown time have no stays.
    is_stay: bool,
    range: i64,
    facts: StateFacts,
}

/// The columns of rows per state.
pub const COLUMNS: Columns<Row> = Columns(&[
    ColumnOf::always("cpu", "CPU", Kind::Id, |row| i64::from(row.cpu).into(), "The CPU."),
    ColumnOf::always(
        "state",
        "State",
        Kind::Text,
        |row| (&row.state).into(),
        "`idle 0`, `idle 1`, …: an idle state by its number; `idle`: the recording does not tell which; `C0`: outside of idle states; `unknown`: before the first idle state of the CPU in the recording.",
    ),
    ColumnOf::always(
        "name",
        "Name",
        Kind::Text,
        |row| row.facts.name.as_ref().into(),
        "Name of the state, such as `C1E`, where `tracesift record` noted it (Linux).",
    ),
    ColumnOf::details(
        "latency_us",
        "Latency µs",
        Kind::Count,
        |row| row.facts.latency.into(),
        "Time that the CPU needs to leave the state, by its driver, µs (Linux).",
    ),
    ColumnOf::always("time_ns", "Time", Kind::Milliseconds, |row| row.stays.time.into(), "Time in the state."),
    ColumnOf::always(
        "percent",
        "%",
        Kind::Number(2),
        |row| (row.range > 0).then(|| row.stays.time as f64 / row.range as f64 * 100.0).into(),
        "Share of the time range. The shares of a CPU add up to 100.",
    ),
    ColumnOf::always(
        "stays",
        "Stays",
        Kind::Count,
        |row| row.is_stay.then_some(row.stays.count).into(),
        "Number of stays.",
    ),
    ColumnOf::always(
        "avg_ns",
        "Average",
        Kind::Microseconds,
        |row| row.is_stay.then(|| row.stays.average()).into(),
        "Mean stay, cut to the time range.",
    ),
    ColumnOf::always(
        "max_ns",
        "Longest",
        Kind::Microseconds,
        |row| row.is_stay.then_some(row.stays.longest).into(),
        "Longest stay, cut to the time range.",
    ),
]);

/// A process that woke CPUs.
#[derive(Clone, Debug)]
pub struct WakeUps {
    process: ProcessRow,
    count: i64,
    from_sleep: i64,
    knows_states: bool,
}

impl OfProcess for WakeUps {
    fn process(&self) -> Option<&ProcessRow> {
        Some(&self.process)
    }
}

/// The columns of rows per process.
pub const WAKE_UP_COLUMNS: Columns<WakeUps> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::always(
        "wake_ups",
        "Wake-ups",
        Kind::Count,
        |row| row.count.into(),
        "How often a thread of the process was the first one to run on an idle CPU.",
    ),
    ColumnOf::always(
        "from_sleep",
        "From sleep",
        Kind::Count,
        |row| row.knows_states.then_some(row.from_sleep).into(),
        "Those after an idle state above 0; empty where the recording does not tell the state.",
    ),
    of_process::label(),
    of_process::command_line().shown(View::Machine),
]);

view! {
    /// A switch between the idle loop and a thread.
    #[derive(Clone, Copy, Debug)]
    struct Switch of ContextSwitchRow { time, cpu, thread, prev_thread, previous_c_state, flags }
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn tables(&self) -> &'static [&'static str] {
        if self.by == By::Process { &["context_switches"] } else { &[TABLE] }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        (self.by == By::Process).then_some(&self.filter)
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(self.order().key())
    }

    fn columns(&self) -> Vec<Column> {
        if self.by == By::Process { WAKE_UP_COLUMNS.descriptions() } else { COLUMNS.descriptions() }
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        Ok(self.sections(recording, &[self.time])?.pop().unwrap_or_default())
    }

    fn series(&self, recording: &OpenRecording, ranges: &[TimeRange], _: i64) -> Result<Vec<Section>, Error> {
        self.sections(recording, ranges)
    }

    fn ranges_at_once(&self) -> usize {
        RANGES_AT_ONCE
    }
}

impl Question {
    fn order(&self) -> Sort {
        self.sort.unwrap_or(Sort::usual(self.by))
    }

    /// The answers about parts of a recording, which follow each other, from one reading.
    fn sections(&self, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<Vec<Section>, Error> {
        if self.by == By::Process { self.wake_ups(recording, ranges) } else { self.residency(recording, ranges) }
    }

    fn residency(&self, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<Vec<Section>, Error> {
        let file = &recording.file;
        let mut residency = Residency::new(TimeWindows::inside(ranges, Span::new(file.start, file.end)));
        let has_states = recording.archive().row_count::<CpuIdleStateRow>() > 0;
        if has_states {
            recording.archive().scan(None, |row: &CpuIdleStateRow| {
                residency.add(row.cpu, Some(row.state), Span::new(row.start, row.time));
            })?;
        } else if recording.info().has_switches {
            stays_of_switches(recording, &mut residency)?;
        } else {
            let absence = file.absence_with_cure_anywhere(TABLE, "Power");
            return Ok(vec![file.absent("idle states", absence); ranges.len()]);
        }
        residency.add_cpus(recording.info().cpu_count);
        let names = Names::of(recording.info());
        let section = |in_range| {
            let mut rows = rows(in_range, &names);
            self.sort_states(&mut rows);
            self.top.apply(&mut rows);
            let mut section = COLUMNS.section(file, &rows, Vec::new());
            if !has_states {
                section.notes.push(
                    "no idle states were recorded: a stay lasts while the idle loop runs, between two context switches"
                        .to_owned(),
                );
            }
            section
        };
        Ok(residency.ranges().map(section).collect())
    }

    /// Rows without the figure stand first; rows with the same figure keep the order of CPUs and states.
    fn sort_states(&self, rows: &mut [Row]) {
        let of_stays = |row: &Row, figure: i64| row.is_stay.then_some(figure);
        match self.order() {
            Sort::Cpu | Sort::WakeUps | Sort::FromSleep => {}
            Sort::Time | Sort::Percent => rows.sort_by_key(|row| row.stays.time),
            Sort::Stays => rows.sort_by_key(|row| of_stays(row, row.stays.count)),
            Sort::Average => rows.sort_by_key(|row| of_stays(row, row.stays.average())),
            Sort::Longest => rows.sort_by_key(|row| of_stays(row, row.stays.longest)),
        }
    }

    fn wake_ups(&self, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<Vec<Section>, Error> {
        let archive = recording.archive();
        if !recording.info().has_switches {
            let absence = recording.file.absence_with_cure_anywhere("context_switches", "CSwitch");
            return Ok(vec![recording.file.absent("wake-ups", absence); ranges.len()]);
        }
        let windows = TimeWindows::of(ranges);
        let processes: Vec<ProcessRow> = archive.rows()?;
        let idle = IdleLoop::of(&processes, &archive.rows::<ThreadRow>()?);
        let mut woken: Vec<FxHashMap<ProcessId, (i64, i64)>> = vec![FxHashMap::default(); ranges.len()];
        let mut knows_states = false;
        archive.scan(None, |row: &Switch| {
            knows_states |= row.previous_c_state.is_some();
            let is_wake_up = is_switch_in(row.flags)
                && row.prev_thread.is_some_and(|thread| idle.runs(thread))
                && !idle.runs(row.thread);
            let Some(place) = windows.at(row.time).filter(|_| is_wake_up) else { return };
            if let Some(process) = idle.process_of.get(&row.thread) {
                let (count, from_sleep) = woken[place].entry(*process).or_default();
                *count += 1;
                *from_sleep += i64::from(row.previous_c_state.is_some_and(|state| state > 0));
            }
        })?;
        let accepted = Processes::new(&processes).selected(&self.filter).map(|row| row.process).collect::<Vec<_>>();
        let section = |woken: FxHashMap<ProcessId, (i64, i64)>| {
            let mut rows: Vec<WakeUps> = processes
                .iter()
                .filter(|row| accepted.contains(&row.process))
                .filter_map(|row| {
                    let (count, from_sleep) = *woken.get(&row.process)?;
                    Some(WakeUps { process: row.clone(), count, from_sleep, knows_states })
                })
                .collect();
            let figure = |row: &WakeUps| if self.order() == Sort::FromSleep { row.from_sleep } else { row.count };
            let name = |row: &WakeUps| std::cmp::Reverse(row.process.name.clone());
            rows.sort_by_cached_key(|row| (figure(row), row.count, name(row)));
            let all = Fact::new("wake-ups", Kind::Count, rows.iter().map(|row| row.count).sum::<i64>());
            self.top.apply(&mut rows);
            WAKE_UP_COLUMNS.section(&recording.file, &rows, vec![all])
        };
        Ok(woken.into_iter().map(section).collect())
    }
}

/// The threads of the idle loop.
struct IdleLoop {
    process_of: FxHashMap<ThreadId, ProcessId>,
    idle: Vec<ProcessId>,
}

impl IdleLoop {
    fn of(processes: &[ProcessRow], threads: &[ThreadRow]) -> Self {
        Self {
            process_of: threads.iter().map(|row| (row.thread, row.process)).collect(),
            idle: processes.iter().filter(|row| is_idle(*row)).map(|row| row.process).collect(),
        }
    }

    fn runs(&self, thread: ThreadId) -> bool {
        self.process_of.get(&thread).is_some_and(|process| self.idle.contains(process))
    }
}

/// Stays between two switches of a CPU, where the idle loop was switched in at the first one and leaves at the second one. Time before
/// the first stay is unknown, and so is time between two switches of which the second one does not leave the thread that the first one
/// switched in.
fn stays_of_switches(recording: &OpenRecording, residency: &mut Residency) -> Result<(), Error> {
    let archive = recording.archive();
    let idle = IdleLoop::of(&archive.rows::<ProcessRow>()?, &archive.rows::<ThreadRow>()?);
    let mut running: BTreeMap<i16, (i64, ThreadId)> = BTreeMap::new();
    archive.scan(None, |row: &Switch| {
        let Some(cpu) = row.cpu.filter(|_| is_switch_in(row.flags)) else { return };
        let before = running.insert(cpu, (row.time, row.thread));
        let Some((since, thread)) = before else { return };
        let time = Span::new(since, row.time);
        if row.prev_thread != Some(thread) {
            residency.add_unknown(cpu, time);
        } else if idle.runs(thread) {
            residency.add(cpu, row.previous_c_state.map(i16::from), time);
        }
    })?;
    // An idle loop that runs at the end does so until there; no switch tells the state.
    for (cpu, (since, thread)) in running {
        if idle.runs(thread) {
            residency.add(cpu, None, Span::new(since, recording.file.end.max(since)));
        }
    }
    Ok(())
}

fn rows(in_range: InRange<'_>, names: &Names) -> Vec<Row> {
    let mut rows = Vec::new();
    for of_cpu in in_range.cpus() {
        let (cpu, range) = (of_cpu.number, of_cpu.length());
        let (busy, unknown) = of_cpu.rest();
        for (state, time) in [("unknown", unknown), ("C0", busy)] {
            if time > 0 {
                let (state, stays) = (state.to_owned(), Stays { time, ..Stays::default() });
                rows.push(Row { cpu, state, stays, is_stay: false, range, facts: StateFacts::default() });
            }
        }
        for (state, stays) in of_cpu.states() {
            let facts = names.get(cpu, state).cloned().unwrap_or_default();
            let state = state.map_or_else(|| "idle".to_owned(), |state| format!("idle {state}"));
            rows.push(Row { cpu, state, stays, is_stay: true, range, facts });
        }
    }
    rows
}
