//! The columns of `dump cpu` per method.

use tracesift_analysis::Place;
use tracesift_trace::rows::{MethodSummaryRow, ModuleRow, ProcessRow, ThreadRow};
use tracesift_trace::schema::ColumnSet;

use super::order::{Kind as RowKind, Method, ready_average, seen};
use super::spans::{Figures, Spans};
use crate::answer::{ColumnOf, Kind, Value, View};
use crate::columns::Columns;
use crate::core_columns::{self as of_cores, OfCores};
use crate::core_figures::CoreFigures;
use crate::module_columns::{self as of_module, OfModule};
use crate::needs::Needs;
use crate::process_columns::{self as of_process, OfProcess};

/// One method of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The process.
    pub process: ProcessRow,
    /// The method and its figures.
    pub method: Method,
    /// Its name as a table shows it.
    pub label: String,
    /// Whether the CPU is the precise run time.
    pub precise: bool,
    /// Whether the figures were imported: samples were not counted, nor charged to the leaf.
    pub imported: bool,
    /// The thread, if rows are that fine.
    pub thread: Option<ThreadRow>,
    /// The module, if that was asked.
    pub module: Option<ModuleRow>,
    /// Its single spans, if that was asked.
    pub spans: Option<Spans>,
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
        self.spans.as_ref().map_or_else(CoreFigures::default, |spans| spans.cores)
    }
}

/// What decides, beside the stored figures of a row, what its columns show.
#[derive(Clone, Copy)]
struct Facts {
    kind: RowKind,
    precise: bool,
    imported: bool,
}

impl Facts {
    fn cpu(self, precise: bool, figure: i64) -> Value {
        if self.precise == precise { figure.into() } else { Value::None }
    }

    /// A figure of samples that imports do not have.
    fn sampled(self, figure: i64) -> Value {
        if self.imported { Value::None } else { self.cpu(false, figure) }
    }

    /// Tags were imported without the number of their threads.
    fn has_imported_tag(self) -> bool {
        self.imported && self.kind == RowKind::Tag
    }
}

impl Row {
    fn facts(&self) -> Facts {
        Facts { kind: self.method.kind, precise: self.precise, imported: self.imported }
    }

    fn percentile(&self, of: impl Fn(&Spans) -> &Figures, place: usize) -> Value {
        let figure = self.spans.as_ref().and_then(|spans| of(spans).percentiles.get(place).copied().flatten());
        figure.map(|ns| ns.round() as i64).into()
    }

    fn spans(&self, of: impl Fn(&Spans) -> &Figures) -> Value {
        // Without switches nobody knows of any span.
        let known = self.spans.as_ref().filter(|_| self.method.figures.wait.is_some());
        known.map(|spans| of(spans).count).into()
    }
}

/// A column with figures of a method or tag. Its value sees those stored columns alone that stand before it, and these are what the column
/// needs.
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
                let MethodSummaryRow { $($stored,)+ .. } = &row.method.figures;
                $(let $facts = row.facts();)?
                Value::from($value)
            },
            $help,
        )
        .made_of(Needs::of_methods(ColumnSet::of(&[$(stringify!($stored)),+])))
    };
}

macro_rules! percentiles {
    ($of:ident, $key:literal, $title:literal, $kind:ident, $what:literal) => {
        [
            percentiles!(@ $of, concat!($key, "_p50_ns"), concat!($title, " p50"), $kind, 0, concat!("Median of ", $what)),
            percentiles!(@ $of, concat!($key, "_p90_ns"), concat!($title, " p90"), $kind, 1, concat!("90th percentile of ", $what)),
            percentiles!(@ $of, concat!($key, "_p95_ns"), concat!($title, " p95"), $kind, 2, concat!("95th percentile of ", $what)),
            percentiles!(@ $of, concat!($key, "_p99_ns"), concat!($title, " p99"), $kind, 3, concat!("99th percentile of ", $what)),
            percentiles!(@ $of, concat!($key, "_max_ns"), concat!($title, " max"), $kind, 4, concat!("The longest of ", $what)),
        ]
    };
    (@ $of:ident, $key:expr, $title:expr, $kind:ident, $p:literal, $help:expr) => {
        ColumnOf::always($key, $title, Kind::$kind, |r: &Row| r.percentile(|spans| &spans.$of, $p), $help)
            .made_of(Needs::NOTHING)
    };
}

const WAITS: [ColumnOf<Row>; 5] = percentiles!(wait, "wait", "Wait", Milliseconds, "the single waits.");
const READY: [ColumnOf<Row>; 5] = percentiles!(
    ready,
    "ready_other",
    "Ready",
    Microseconds,
    "the single ready spans that did not end a CPU's deep sleep."
);
const DEEP: [ColumnOf<Row>; 5] = percentiles!(
    ready_deep_sleep,
    "ready_deep_sleep",
    "Wake-up",
    Microseconds,
    "the single ready spans that a CPU's deep sleep was part of."
);

/// What `--percentiles` shows.
pub(super) const OF_SPANS: [&str; 19] = [
    WAITS[0].column.key,
    WAITS[1].column.key,
    WAITS[2].column.key,
    WAITS[3].column.key,
    WAITS[4].column.key,
    "ready_other_count",
    READY[0].column.key,
    READY[1].column.key,
    READY[2].column.key,
    READY[3].column.key,
    READY[4].column.key,
    "ready_deep_sleep_count",
    DEEP[0].column.key,
    DEEP[1].column.key,
    DEEP[2].column.key,
    DEEP[3].column.key,
    DEEP[4].column.key,
    "priority",
    "cores_used",
];

/// What `--show-modules` shows.
pub(super) const OF_MODULES: [&str; 7] =
    ["file_version", "product_version", "product", "company", "description", "driver_vendor", "driver_category"];

/// What names the process on every row.
pub(super) const OF_PROCESSES: [&str; 2] = ["process_label", "command_line"];

/// What `--first-last` shows.
pub(super) const OF_TIMES: [&str; 3] = ["duration_ns", "first_ns", "last_ns"];

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    of_process::start(),
    of_process::end(),
    of_process::parent_pid(),
    of_process::session().shown(View::Machine),
    of_process::user(),
    of_process::account().shown(View::Machine),
    ColumnOf::always(
        "tid",
        "Tid",
        Kind::Id,
        |r: &Row| r.thread.as_ref().map(|thread| thread.tid).into(),
        "Thread id, with `--per-thread`.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::always(
        "thread_name",
        "Thread",
        Kind::Text,
        |r: &Row| r.thread.as_ref().and_then(|thread| thread.name.clone()).into(),
        "Name of the thread, with `--per-thread`.",
    )
    .made_of(Needs::NOTHING),
    figures!(
        always("cpu_ns", "CPU", Kind::Milliseconds),
        { cpu } with facts => facts.cpu(false, *cpu),
        "Inclusive sampled CPU: the weights of the samples that have the method in their stack."
    ),
    figures!(
        always("exclusive_cpu_ns", "Self", Kind::Milliseconds),
        { exclusive_cpu } with facts => facts.sampled(*exclusive_cpu),
        "Exclusive sampled CPU: the weights of the samples that have the method at the leaf of their stack."
    ),
    figures!(
        always("run_ns", "Run", Kind::Milliseconds),
        { cpu } with facts => facts.cpu(true, *cpu),
        "Precise CPU from context switches, where the recording has no samples: each run is charged to the stack with \
         which the thread leaves the CPU next."
    ),
    figures!(
        always("exclusive_run_ns", "Self", Kind::Milliseconds),
        { exclusive_cpu } with facts => facts.cpu(true, *exclusive_cpu),
        "Precise CPU of the runs that ended in the method itself."
    ),
    figures!(
        details("samples", "Samples", Kind::Count),
        { samples } with facts => facts.sampled(*samples),
        "Samples that have the method in their stack."
    ),
    figures!(
        always("wait_ns", "Wait", Kind::Milliseconds),
        { wait } => *wait,
        "Waits of threads that left the CPU in the method; overlapping waits of several threads count once."
    ),
    figures!(
        details("wait_sum_ns", "Wait sum", Kind::Milliseconds),
        { wait_sum } => *wait_sum,
        "The same as a plain sum over the threads."
    ),
    ColumnOf::people(
        "wait_only_as_sum",
        "Wait sum",
        Kind::Milliseconds,
        |r: &Row| r.method.figures.wait_sum.filter(|_| r.method.figures.wait.is_none()).into(),
        "The plain sum where nothing else is known: of imported stack tags.",
    )
    .made_of(Needs {
        method_summary: ColumnSet::of(&["wait"]),
        tag_summary: ColumnSet::of(&["wait", "wait_sum"]),
        ..Needs::NOTHING
    }),
    figures!(details("wait_count", "Waits", Kind::Count), { wait_count } => *wait_count, "Number of single waits."),
    figures!(
        details("wait_longest_ns", "Longest", Kind::Milliseconds),
        { wait_longest } => *wait_longest,
        "The longest single wait."
    ),
    WAITS[0],
    WAITS[1],
    WAITS[2],
    WAITS[3],
    WAITS[4],
    figures!(
        always("ready_ns", "Ready", Kind::Milliseconds),
        { ready } => *ready,
        "Time ready to run without a CPU after these waits; overlapping spans of several threads count once."
    ),
    figures!(
        details("ready_sum_ns", "Ready sum", Kind::Milliseconds),
        { ready_sum } => *ready_sum,
        "The same as a plain sum over the threads."
    ),
    figures!(
        details("ready_count", "Readies", Kind::Count),
        { ready_count } => *ready_count,
        "Number of single ready spans."
    ),
    figures!(
        details("ready_average_ns", "Ready avg", Kind::Microseconds),
        { ready_sum, ready_count } => ready_average(*ready_sum, *ready_count),
        "Mean of the single ready spans."
    ),
    figures!(
        details("ready_longest_ns", "Ready longest", Kind::Microseconds),
        { ready_longest } => *ready_longest,
        "The longest single ready span."
    ),
    ColumnOf::always(
        "ready_other_count",
        "Readies",
        Kind::Count,
        |r: &Row| r.spans(|spans| &spans.ready),
        "Number of ready spans that did not end a CPU's deep sleep.",
    )
    .made_of(Needs::of_methods(ColumnSet::of(&["wait"]))),
    READY[0],
    READY[1],
    READY[2],
    READY[3],
    READY[4],
    ColumnOf::always(
        "ready_deep_sleep_count",
        "Wake-ups",
        Kind::Count,
        |r: &Row| r.spans(|spans| &spans.ready_deep_sleep),
        "Number of ready spans that a CPU's deep sleep was part of: it was idle and came from a C-state above 0.",
    )
    .made_of(Needs::of_methods(ColumnSet::of(&["wait"]))),
    DEEP[0],
    DEEP[1],
    DEEP[2],
    DEEP[3],
    DEEP[4],
    figures!(
        details("switches", "Switches", Kind::Count),
        { switches } => *switches,
        "Switch-ins after the thread had left the CPU in the method."
    ),
    figures!(
        details("threads", "Threads", Kind::Count),
        { threads } with facts => Some(*threads).filter(|_| !facts.has_imported_tag()),
        "Threads that were seen in the method."
    ),
    ColumnOf::always(
        "priority",
        "Priority",
        Kind::Number(1),
        |r: &Row| r.spans.as_ref().and_then(|spans| spans.priority).into(),
        "Mean priority over its samples.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::always(
        "cores_used",
        "Cores",
        Kind::Count,
        |r: &Row| r.spans.as_ref().map(|spans| spans.cpus.count()).into(),
        "CPUs on which it was sampled, or ran where there are no samples.",
    )
    .made_of(Needs::NOTHING),
    of_cores::fast(),
    of_cores::efficient(),
    of_cores::frequency(),
    of_cores::of_nominal(),
    of_cores::normalized(),
    figures!(
        details("duration_ns", "Last-First", Kind::Seconds),
        { first, last } => seen(*first, *last).map(|[first, last]| last.saturating_sub(first)),
        "From the first to the last time at which the method was seen."
    ),
    figures!(
        details("first_ns", "First", Kind::Time),
        { first, last } => seen(*first, *last).map(|[first, _]| first),
        "First time at which it was seen in a sample or a span."
    ),
    figures!(
        details("last_ns", "Last", Kind::Time),
        { first, last } => seen(*first, *last).map(|[_, last]| last),
        "Last time at which it was seen in a sample or a span."
    ),
    figures!(
        machine("module", "Module", Kind::Text),
        { module } => module.as_ref(),
        "File name of the module; empty where it is not known."
    ),
    figures!(
        machine("method", "Function", Kind::Text),
        { function } with facts => (facts.kind == RowKind::Method).then_some(function),
        "Function; `module+0xRVA` without a symbol."
    ),
    figures!(
        machine("stack_tag", "Tag", Kind::Text),
        { function } with facts => (facts.kind == RowKind::Tag).then_some(function),
        "Stack tag, with `--stacktags`."
    ),
    ColumnOf::people(
        "method_label",
        "Method",
        Kind::Text,
        |r: &Row| (&r.label).into(),
        "Module and function, or stack tag.",
    )
    .made_of(Needs::of_methods(ColumnSet::of(&["module", "function"]))),
    ColumnOf::always(
        "rva",
        "RVA",
        Kind::Text,
        |r: &Row| match r.method.place {
            Some(Place::Address(address)) => Value::Text(format!("{address:#x}")),
            _ => Value::None,
        },
        "The instruction, with `--by address`: its RVA in the module, its address where there is none.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::machine(
        "source_file",
        "Source file",
        Kind::Text,
        |r: &Row| match &r.method.place {
            Some(Place::Line { file, .. }) => Value::Text(file.clone()),
            _ => Value::None,
        },
        "Source file, with `--by line`.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::machine(
        "source_line",
        "Line",
        Kind::Id,
        |r: &Row| match r.method.place {
            Some(Place::Line { line, .. }) => line.into(),
            _ => Value::None,
        },
        "Source line, with `--by line`.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::people(
        "source",
        "Source",
        Kind::LongText,
        |r: &Row| match &r.method.place {
            Some(Place::Line { file, line }) => Value::Text(format!("{file}:{line}")),
            _ => Value::None,
        },
        "File and line, with `--by line`.",
    )
    .made_of(Needs::NOTHING),
    of_module::file_version(),
    of_module::product_version(),
    of_module::product(),
    of_module::company(),
    of_module::description(),
    of_module::driver_vendor(),
    of_module::driver_category(),
    of_process::label(),
    of_process::command_line(),
]);
