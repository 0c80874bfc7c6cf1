//! `dump cpu`: which process used the CPU.
//!
//! Sampled CPU is the sum of the samples' weights. Run, wait and ready come from context switches (precise), summed over
//! the threads of a process, and are never mixed with sampled CPU.

mod candidates;
mod options;

use std::cmp::Ordering;

use clap::ValueEnum;
use rustc_hash::FxHashMap;
use tracesift_analysis::{CpuSet, Times};
use tracesift_archive::Error;
use tracesift_grammar::Patterns;
use tracesift_trace::rows::{ModuleRow, ProcessModuleRow, ProcessRow, ProcessSummaryRow};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::{ProcessId, view};

pub use self::options::Options;

use crate::answer::{Column, ColumnOf, Fact, Kind, Section, Value, View};
use crate::ask::{Ask, RANGES_AT_ONCE, Reads};
use crate::columns::Columns;
use crate::core_columns::{self as of_cores, OfCores};
use crate::core_figures::{self, CoreFigures};
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::main_modules::MainModules;
use crate::module_columns::{self as of_module, OfModule};
use crate::needs::Needs;
use crate::order::{Between, Top};
use crate::process_columns::{self as of_process, OfProcess};
use crate::processes::{ProcessKey, Processes, is_idle};
use crate::recording::OpenRecording;
use crate::recording_label::RecordingLabel;
use crate::shown::Shown;
use crate::totals::{CPU, Totals};
use tracesift_grammar::TimeRange;

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Sampled CPU.
    #[default]
    Cpu,
    /// Number of samples.
    Samples,
    /// Wait, summed over the threads.
    Wait,
    /// Ready, summed over the threads.
    Ready,
    /// First time at which it was seen running.
    First,
    /// Last time at which it was seen running.
    Last,
    /// Precise run time of a process.
    Run,
    /// Mean priority of a process.
    Priority,
    /// Number of CPUs on which a process ran.
    Cores,
    /// Start of a process.
    Start,
    /// Name.
    Name,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Samples and spans in this range.
    pub time: TimeRange,
    /// What chooses times in it.
    pub inside: Vec<Inside>,
    /// Order of the rows.
    pub sort: Sort,
    /// How many rows per file.
    pub top: Top,
    /// Sampled CPU, ns.
    pub cpu: Between,
    /// Wait, ns.
    pub wait: Between,
    /// Ready, ns.
    pub ready: Between,
    /// What to add up beside the rows: each file and all of them where nothing is said. Where totals were asked for, a file without rows
    /// says 0.
    pub totals: Option<Totals>,
    /// The numbers of the CPUs on which a process ran.
    pub core_numbers: bool,
    /// CPU per kind of core, and clock rates.
    pub cores: bool,
    /// Facts of the image that a process runs; only of images that the patterns accept.
    pub modules: Option<Patterns>,
    /// Which columns somebody looks at.
    pub shown: Shown,
}

/// One process of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The process.
    pub process: ProcessRow,
    /// Its figures.
    pub figures: ProcessSummaryRow,
    /// Whether CPU was sampled at all: else 0 ms would be a figure, and a wrong one.
    pub sampled: bool,
    /// The CPUs on which it ran, if that was asked.
    pub cpus: Option<CpuSet>,
    /// Whether its figures were imported, so that there are no samples that they are of.
    pub imported: bool,
    /// Whether it is the idle loop: first row, in no total.
    pub idle: bool,
    /// On which kind of core it ran and how fast, if that was asked and the recording tells.
    pub cores: CoreFigures,
    /// The image that it runs, if that was asked.
    pub module: Option<ModuleRow>,
}

/// What decides, beside the stored figures of a row, what its columns show.
#[derive(Clone, Copy)]
struct Facts {
    sampled: bool,
    imported: bool,
}

impl Facts {
    /// A number of samples; unknown where figures were imported.
    fn counted(self, samples: i64) -> Option<i64> {
        (self.sampled && !self.imported).then_some(samples)
    }
}

impl Row {
    fn facts(&self) -> Facts {
        Facts { sampled: self.sampled, imported: self.imported }
    }
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        Some(&self.process)
    }
}

impl OfModule for Row {
    fn module(&self) -> Option<&ModuleRow> {
        self.module.as_ref()
    }
}

impl OfCores for Row {
    fn cores(&self) -> CoreFigures {
        self.cores
    }
}

/// What `--show-modules` shows.
const OF_MODULES: [&str; 8] = [
    "module",
    "file_version",
    "product_version",
    "product",
    "company",
    "description",
    "driver_vendor",
    "driver_category",
];

/// A column with figures of a process. Its value sees those stored columns alone that stand before it, and these are what the column needs.
macro_rules! figures {
    (
        $view:ident($key:literal, $title:literal, $kind:expr),
        { $($stored:ident),+ } $(with $facts:ident)? => $value:expr, $help:literal
    ) => {
        ColumnOf::$view(
            $key,
            $title,
            $kind,
            |row: &Row| {
                let ProcessSummaryRow { $($stored,)+ .. } = &row.figures;
                $(let $facts = row.facts();)?
                Value::from($value)
            },
            $help,
        )
        .made_of(Needs { process_summary: ColumnSet::of(&[$(stringify!($stored)),+]), ..Needs::NOTHING })
    };
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name().meaning(
        "File name of the process' image; `DPC/ISR` stands for the time that interrupts took from the idle loop.",
    ),
    of_process::pid(),
    figures!(
        always("cpu_ns", "CPU", Kind::Milliseconds),
        { cpu } with facts => facts.sampled.then_some(*cpu),
        "Sampled CPU: the sum of the samples' weights; empty where the CPU was not sampled."
    ),
    figures!(
        always("samples", "Samples", Kind::Count),
        { samples } with facts => facts.counted(*samples),
        "Samples charged to the process."
    ),
    figures!(
        details("samples_without_stack", "No stack", Kind::Count),
        { samples_without_stack } with facts => facts.counted(*samples_without_stack),
        "Number of these samples that have no stack."
    ),
    figures!(
        always("cores_used", "Cores", Kind::Count),
        { cores_used } => Some(*cores_used).filter(|cores| *cores > 0),
        "CPUs on which it ran: from context switches, else from samples."
    ),
    of_cores::fast(),
    of_cores::efficient(),
    of_cores::frequency(),
    of_cores::of_nominal(),
    of_cores::normalized(),
    ColumnOf::always(
        "core_numbers",
        "CPUs",
        Kind::Integers,
        |r: &Row| r.cpus.as_ref().map_or(Value::None, |cpus| Value::Integers(cpus.iter().map(i64::from).collect())),
        "The numbers of the CPUs on which it ran, with `--core-numbers`.",
    )
    .made_of(Needs::NOTHING),
    figures!(
        always("priority", "Priority", Kind::Number(1)),
        { priority } => *priority,
        "Mean priority over its samples, else over its run time."
    ),
    of_process::start(),
    of_process::end(),
    of_process::parent_pid(),
    of_process::session(),
    of_process::user(),
    of_process::account(),
    figures!(
        details("run_ns", "Run", Kind::Milliseconds),
        { run } => *run,
        "Precise: time on the CPU from context switches, summed over the threads."
    ),
    figures!(
        details("wait_ns", "Wait", Kind::Milliseconds),
        { wait } => *wait,
        "Precise: time blocked, summed over the threads."
    ),
    figures!(
        details("ready_ns", "Ready", Kind::Milliseconds),
        { ready } => *ready,
        "Precise: time ready to run without a CPU, summed over the threads; empty without ready events."
    ),
    figures!(
        details("open_ns", "Open", Kind::Milliseconds),
        { open } => *open,
        "Precise: time off the CPU before a thread's first switch-in, neither wait nor ready."
    ),
    figures!(
        details("unknown_ns", "Unknown", Kind::Milliseconds),
        { unknown } => *unknown,
        "Precise: time of threads without a switch and of spans at broken switch chains."
    ),
    figures!(details("switches", "Switches", Kind::Count), { switches } => *switches, "Switch-ins of its threads."),
    figures!(
        details("first_ns", "First", Kind::Time),
        { first } => *first,
        "First time at which it was seen running or sampled."
    ),
    figures!(
        details("last_ns", "Last", Kind::Time),
        { last } => *last,
        "Last time at which it was seen running or sampled."
    ),
    ColumnOf::machine(
        "idle",
        "Idle",
        Kind::Bool,
        |r: &Row| r.idle.into(),
        "The idle loop: the first row of its file, outside the order and the totals. With `--top` it is left out \
         unless `--process` names it.",
    )
    .made_of(Needs { processes: ColumnSet::of_view::<ProcessKey>(), ..Needs::NOTHING }),
    of_process::label(),
    of_module::name().shown(View::Machine).meaning("File name of the image that it runs, with `--show-modules`."),
    of_module::file_version().shown(View::Machine),
    of_module::binary_file_version().shown(View::Machine),
    of_module::product_version().shown(View::Machine),
    of_module::product().shown(View::Machine),
    of_module::company().shown(View::Machine),
    of_module::description().shown(View::Machine),
    of_module::driver_vendor().shown(View::Machine),
    of_module::driver_category().shown(View::Machine),
    of_module::path().shown(View::Machine).meaning("Path of the image that it runs, with `--show-modules`."),
    of_process::command_line(),
]);

impl Ask for Question {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["cpu_samples", "context_switches"]
    }

    fn reads(&self) -> Reads {
        /// The figures that come from stacks.
        const OF_STACKS: ColumnSet<ProcessSummaryRow> = ColumnSet::of(&["samples_without_stack"]);
        let shown = COLUMNS.needs(|column| self.shown.has(column)).process_summary;
        match self.cores || !self.inside.is_empty() {
            true => Reads::Everything,
            false if shown.touches(OF_STACKS) => Reads::Tables(self.tables()),
            false => Reads::TablesWithoutStacks(self.tables()),
        }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn relies_on_switches(&self) -> bool {
        /// The figures that come from context switches alone.
        const PRECISE: ColumnSet<ProcessSummaryRow> =
            ColumnSet::of(&["run", "wait", "ready", "open", "unknown", "switches"]);
        let decide = matches!(self.sort, Sort::Wait | Sort::Ready | Sort::First | Sort::Last)
            || self.wait != Between::default()
            || self.ready != Between::default();
        decide || COLUMNS.needs(|column| self.shown.has(column)).process_summary.touches(PRECISE)
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(match self.sort {
            Sort::Cpu => "cpu_ns",
            Sort::Samples => "samples",
            Sort::Priority => "priority",
            Sort::Cores => "cores_used",
            Sort::Run => "run_ns",
            Sort::Wait => "wait_ns",
            Sort::Ready => "ready_ns",
            Sort::Start => "start_ns",
            Sort::First => "first_ns",
            Sort::Last => "last_ns",
            Sort::Name => return None,
        })
    }

    fn limits(&self) -> Vec<&'static str> {
        let (cpu, wait) = (self.cpu.given(["--min-cpu", "--max-cpu"]), self.wait.given(["--min-wait", "--max-wait"]));
        let ready = self.ready.given(["--min-ready", "--max-ready"]);
        cpu.chain(wait).chain(ready).chain(Inside::options(&self.inside)).collect()
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = COLUMNS.descriptions();
        if self.modules.is_some() {
            of_module::show(&mut columns, &OF_MODULES);
        }
        if !self.core_numbers {
            columns
                .iter_mut()
                .filter(|column| column.key == "core_numbers")
                .for_each(|column| column.view = View::Nowhere);
        }
        if self.cores {
            of_cores::show(&mut columns);
        }
        self.shown.keep(&mut columns);
        columns
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn sums_suffice(&self) -> bool {
        self.time.is_everything() && self.inside.is_empty()
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        Some(Box::new(Self { shown: shown.clone(), ..self.clone() }))
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        if let Some(absent) = Inside::absent(&self.inside, recording)? {
            return Ok(absent);
        }
        let times = Inside::times(&self.inside, recording)?;
        let (processes, figures) = candidates::read(recording, self, times.as_ref())?;
        let modules = self.main_modules(recording, &processes)?;
        let of_events = OfEvents::read(recording, self, (self.time, times.as_ref()))?;
        let mut section = answer(&recording.file, &processes, &figures, &modules, &of_events, self);
        section.facts.extend(Inside::fact(times.as_ref(), recording, self.time));
        Ok(section)
    }

    fn series(&self, recording: &OpenRecording, ranges: &[TimeRange], _: i64) -> Result<Vec<Section>, Error> {
        if let Some(absent) = Inside::absent(&self.inside, recording)? {
            return Ok(vec![absent; ranges.len()]);
        }
        let times = Inside::times(&self.inside, recording)?;
        let times = times.as_ref();
        let processes: Vec<ProcessRow> = recording.archive().rows()?;
        let figures = recording.figures_of_ranges(&processes, ranges, times)?;
        let modules = self.main_modules(recording, &processes)?;
        let of_range = |(time, figures): (&TimeRange, Vec<ProcessSummaryRow>)| {
            let question = Self { time: *time, ..self.clone() };
            let of_events = OfEvents::read(recording, self, (*time, times))?;
            Ok(answer(&recording.file, &processes, &figures, &modules, &of_events, &question))
        };
        ranges.iter().zip(figures).map(of_range).collect()
    }

    fn ranges_at_once(&self) -> usize {
        RANGES_AT_ONCE
    }
}

impl Question {
    /// The images of the processes, if they are asked for.
    fn main_modules(&self, recording: &OpenRecording, processes: &[ProcessRow]) -> Result<MainModules, Error> {
        let archive = recording.archive();
        Ok(match self.modules {
            Some(_) => MainModules::of(processes, &archive.rows::<ModuleRow>()?, &archive.rows::<ProcessModuleRow>()?),
            None => MainModules::default(),
        })
    }
}

/// Figures of processes that no summary has, as far as they are asked for.
#[derive(Debug, Default)]
pub struct OfEvents {
    /// The CPUs on which they ran.
    pub cpus: FxHashMap<ProcessId, CpuSet>,
    /// CPU per kind of core, and clock rates.
    pub cores: FxHashMap<ProcessId, CoreFigures>,
}

impl OfEvents {
    fn read(
        recording: &OpenRecording,
        question: &Question,
        (time, times): (TimeRange, Option<&Times>),
    ) -> Result<Self, Error> {
        let (mut cpus, mut cores) = (FxHashMap::default(), FxHashMap::default());
        if question.core_numbers {
            cpus = recording.process_cpus(time, times)?;
        }
        if question.cores {
            cores = core_figures::of_processes(recording.archive(), time, times)?;
        }
        Ok(Self { cpus, cores })
    }
}

/// Answers the question for one file. `figures` are those of the question's time range.
#[must_use]
pub fn answer(
    file: &RecordingLabel,
    processes: &[ProcessRow],
    figures: &[ProcessSummaryRow],
    modules: &MainModules,
    of_events: &OfEvents,
    question: &Question,
) -> Section {
    let mut rows = rows(file.has_imported_sums, processes, figures, modules, question);
    let sampled = file.has_samples || file.has_imported_sums;
    for row in &mut rows {
        row.sampled = sampled;
        row.cpus = of_events.cpus.get(&row.process.process).cloned();
        row.cores = of_events.cores.get(&row.process.process).copied().unwrap_or_default();
    }
    let section = match question.totals {
        Some(Totals::None) => COLUMNS.section_showing(file, &rows, Vec::new(), &question.shown),
        None | Some(Totals::Process | Totals::Method) => {
            COLUMNS.section_showing(file, &rows, totals(file, question.time, &rows), &question.shown)
        }
        Some(Totals::Total) => COLUMNS.section(file, &[], totals(file, question.time, &rows)),
    };
    let mut section = Section { always: question.totals.is_some_and(|totals| totals != Totals::None), ..section };
    if question.cores && of_events.cores.is_empty() {
        section.notes.push(core_figures::UNKNOWN_CORES.to_owned());
    }
    section
}

/// The rows for one file: the idle loop, if all are shown, then the others in order. `imported`: whether the figures are those of another tool.
#[must_use]
pub fn rows(
    imported: bool,
    processes: &[ProcessRow],
    figures: &[ProcessSummaryRow],
    modules: &MainModules,
    question: &Question,
) -> Vec<Row> {
    let figures: FxHashMap<ProcessId, &ProcessSummaryRow> = figures.iter().map(|row| (row.process, row)).collect();
    let row = |(_, process): (usize, &ProcessRow)| {
        let figures =
            figures.get(&process.process).copied().filter(|figures| question.accepts(figures, imported))?.clone();
        let idle = is_idle(process);
        let module = modules.get(process.process).cloned();
        let wanted = question.modules.as_ref().filter(|patterns| !patterns.is_empty());
        let shown =
            wanted.is_none_or(|patterns| module.as_ref().is_some_and(|module| of_module::matches(module, patterns)));
        shown.then_some(Row {
            process: process.clone(),
            figures,
            sampled: true,
            imported,
            idle,
            cpus: None,
            cores: CoreFigures::default(),
            module,
        })
    };
    let (mut idle, mut rows): (Vec<Row>, Vec<Row>) =
        Processes::new(processes).accepted(&question.filter).filter_map(row).partition(|row| row.idle);
    rows.sort_by(|a, b| compare(question.sort, a, b));
    question.top.apply(&mut rows);
    // Of the N largest the idle loop is none: it is in full listings, and where somebody asks for it.
    if question.top != Top::default() && !question.filter.process.includes() {
        return rows;
    }
    idle.append(&mut rows);
    idle
}

impl Question {
    /// Whether a process has such figures, which may be imported.
    fn accepts(&self, figures: &ProcessSummaryRow, imported: bool) -> bool {
        (was_seen(figures) || imported)
            && self.cpu.contains(Some(figures.cpu))
            && self.wait.contains(figures.wait)
            && self.ready.contains(figures.ready)
    }
}

view! {
    /// The figures that tell whether a process ran, or could have run.
    #[derive(Clone, Copy, Debug)]
    struct Seen of ProcessSummaryRow { samples, cpu, run, ready }
}

/// Whether a process ran at all, or had no CPU when it could run. The others would only fill the screen. An import has figures of those alone
/// that ran; of short ones the CPU is 0 ms.
fn was_seen(figures: impl Into<Seen>) -> bool {
    let figures = figures.into();
    let is_time = |ns: Option<i64>| ns.is_some_and(|ns| ns > 0);
    figures.samples > 0 || figures.cpu > 0 || is_time(figures.run) || is_time(figures.ready)
}

fn compare(sort: Sort, a: &Row, b: &Row) -> Ordering {
    let by_name =
        || a.process.name.to_lowercase().cmp(&b.process.name.to_lowercase()).then(a.process.pid.cmp(&b.process.pid));
    let order = match sort {
        Sort::Start => a.process.start.cmp(&b.process.start),
        Sort::Name => by_name(),
        _ => Ordering::Equal,
    };
    order
        .then_with(|| compare_figures(sort, &a.figures, &b.figures))
        .then_with(by_name)
        .then(a.process.start.cmp(&b.process.start))
}

/// The part of the order that figures alone decide.
fn compare_figures(sort: Sort, x: &ProcessSummaryRow, y: &ProcessSummaryRow) -> Ordering {
    let order = match sort {
        Sort::Cpu | Sort::Start | Sort::Name => Ordering::Equal,
        Sort::Samples => x.samples.cmp(&y.samples),
        Sort::Priority => x.priority.unwrap_or(-1.0).total_cmp(&y.priority.unwrap_or(-1.0)),
        Sort::Cores => x.cores_used.cmp(&y.cores_used),
        Sort::Run => x.run.cmp(&y.run),
        Sort::Wait => x.wait.cmp(&y.wait),
        Sort::Ready => x.ready.cmp(&y.ready),
        Sort::First => x.first.cmp(&y.first),
        Sort::Last => x.last.cmp(&y.last),
    };
    order.then_with(|| x.cpu.cmp(&y.cpu).then(x.run.cmp(&y.run)))
}

/// Sums over the rows shown, the idle loop left out.
fn totals(file: &RecordingLabel, time: TimeRange, rows: &[Row]) -> Vec<Fact> {
    let busy = || rows.iter().filter(|row| !row.idle);
    let has_imported = file.has_imported_sums && time.is_everything();
    if !file.has_samples && !has_imported {
        // 0 ms would be a figure, and a wrong one.
        return vec![
            Fact::local("CPU samples", Kind::Text, file.absence_of("cpu_samples").to_string()),
            Fact::new("processes", Kind::Count, busy().count()),
        ];
    }
    let sum =
        |figure: fn(&ProcessSummaryRow) -> i64| busy().fold(0_i64, |sum, row| sum.saturating_add(figure(&row.figures)));
    let samples = file.has_samples.then(|| Fact::new("samples", Kind::Count, sum(|figures| figures.samples)));
    let cpu = Fact::new(CPU, Kind::Milliseconds, sum(|figures| figures.cpu));
    [Some(cpu), samples, Some(Fact::new("processes", Kind::Count, busy().count()))].into_iter().flatten().collect()
}
