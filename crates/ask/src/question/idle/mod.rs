//! `dump idle`: how long CPUs stayed in which idle states, and who woke them.

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
use crate::ask::{Ask, When, WhenOptions};
use crate::columns::Columns;
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::process_columns::{self as of_process, OfProcess};
use crate::processes::{Processes, is_idle};
use crate::recording::OpenRecording;
use crate::usage_error::UsageError;
use stays::{Residency, Stays};

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
    /// What a row is about
    #[arg(long, value_name = "WHAT", default_value = "state")]
    by: By,
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
    const SHORT: &'static [&'static str] = &["process", "time", "top", "by", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump idle X.sift", "the share of each idle state, per CPU"),
        ("tracesift dump idle X.sift --by process --top 5", "the processes that woke CPUs most often"),
        ("tracesift dump idle X.sift --time 2s..3s", "in a part of the recording"),
    ];

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let time = TimeRange::default();
        Ok(Plan::from(Question { filter: self.filter.clone(), time, top: self.top, by: self.by }))
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
        |row| row.is_stay.then(|| row.stays.time / row.stays.count.max(1)).into(),
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
        Some(if self.by == By::Process { "wake_ups" } else { "cpu" })
    }

    fn columns(&self) -> Vec<Column> {
        if self.by == By::Process { WAKE_UP_COLUMNS.descriptions() } else { COLUMNS.descriptions() }
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        if self.by == By::Process { self.wake_ups(recording) } else { self.residency(recording) }
    }
}

impl Question {
    fn residency(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let file = &recording.file;
        let (start, end) = self.time.bounds();
        let range = Span::new(start.max(file.start), end.min(file.end));
        let mut residency = Residency::new(range);
        let has_states = recording.archive().row_count::<CpuIdleStateRow>() > 0;
        if has_states {
            recording.archive().scan(None, |row: &CpuIdleStateRow| {
                residency.add(row.cpu, Some(row.state), Span::new(row.start, row.time));
            })?;
        } else if recording.info().has_switches {
            stays_of_switches(recording, &mut residency)?;
        } else {
            let absence = file.absence_with_cure_anywhere(TABLE, "Power");
            return Ok(file.absent("idle states", absence));
        }
        residency.add_cpus(recording.info().cpu_count);
        let mut rows = rows(&residency);
        self.top.apply(&mut rows);
        let mut section = COLUMNS.section(file, &rows, Vec::new());
        if !has_states {
            section.notes.push(
                "no idle states were recorded: a stay lasts while the idle loop runs, between two context switches"
                    .to_owned(),
            );
        }
        Ok(section)
    }

    fn wake_ups(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let archive = recording.archive();
        if !recording.info().has_switches {
            let absence = recording.file.absence_with_cure_anywhere("context_switches", "CSwitch");
            return Ok(recording.file.absent("wake-ups", absence));
        }
        let (start, end) = self.time.bounds();
        let processes: Vec<ProcessRow> = archive.rows()?;
        let idle = IdleLoop::of(&processes, &archive.rows::<ThreadRow>()?);
        let mut woken: FxHashMap<ProcessId, (i64, i64)> = FxHashMap::default();
        let mut knows_states = false;
        archive.scan(None, |row: &Switch| {
            knows_states |= row.previous_c_state.is_some();
            let is_wake_up = is_switch_in(row.flags)
                && (start..end).contains(&row.time)
                && row.prev_thread.is_some_and(|thread| idle.runs(thread))
                && !idle.runs(row.thread);
            if let Some(process) = idle.process_of.get(&row.thread).filter(|_| is_wake_up) {
                let (count, from_sleep) = woken.entry(*process).or_default();
                *count += 1;
                *from_sleep += i64::from(row.previous_c_state.is_some_and(|state| state > 0));
            }
        })?;
        let accepted = Processes::new(&processes).selected(&self.filter).map(|row| row.process).collect::<Vec<_>>();
        let mut rows: Vec<WakeUps> = processes
            .iter()
            .filter(|row| accepted.contains(&row.process))
            .filter_map(|row| {
                let (count, from_sleep) = *woken.get(&row.process)?;
                Some(WakeUps { process: row.clone(), count, from_sleep, knows_states })
            })
            .collect();
        rows.sort_by(|a, b| a.count.cmp(&b.count).then_with(|| b.process.name.cmp(&a.process.name)));
        let all = Fact::new("wake-ups", Kind::Count, rows.iter().map(|row| row.count).sum::<i64>());
        self.top.apply(&mut rows);
        Ok(WAKE_UP_COLUMNS.section(&recording.file, &rows, vec![all]))
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

fn rows(residency: &Residency) -> Vec<Row> {
    let mut rows = Vec::new();
    for (cpu, of_cpu) in &residency.cpus {
        let mut add = |state: String, stays: Stays, is_stay: bool| {
            if stays.time > 0 || is_stay {
                rows.push(Row { cpu: *cpu, state, stays, is_stay, range: residency.length() });
            }
        };
        let (busy, unknown) = residency.rest(of_cpu);
        add("unknown".to_owned(), Stays { time: unknown, ..Stays::default() }, false);
        add("C0".to_owned(), Stays { time: busy, ..Stays::default() }, false);
        for (state, stays) in &of_cpu.states {
            add(state.map_or_else(|| "idle".to_owned(), |state| format!("idle {state}")), *stays, true);
        }
    }
    rows
}
