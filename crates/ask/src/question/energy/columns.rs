//! The columns of `dump energy`.

use tracesift_trace::rows::ProcessRow;

use super::By;
use crate::answer::{Column, ColumnOf, Kind, View};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess, name_with_marks};

/// What stands for a process in the row of the time in which nobody ran.
const IDLE: &str = "(idle)";

/// A row of the answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// The process of a row per process; `None`: nobody ran.
    pub(super) process: Option<ProcessRow>,
    pub(super) counter: String,
    pub(super) package: Option<i32>,
    pub(super) cpu: Option<i32>,
    /// Energy, µJ.
    pub(super) energy: Option<i64>,
    /// What was counted in another unit.
    pub(super) counts: Option<i64>,
    /// What the counter counted altogether, of a row per process.
    pub(super) whole: Option<i64>,
    /// Readings with what was counted since the ones before.
    pub(super) readings: i64,
    /// Time between the readings, ns.
    pub(super) span: i64,
    /// Run time, ns.
    pub(super) run: i64,
}

impl Row {
    /// The share of what the counter counted, percent.
    pub(super) fn percent(&self) -> Option<f64> {
        let (part, whole) = self.energy.or(self.counts).zip(self.whole)?;
        (whole > 0).then(|| part as f64 / whole as f64 * 100.0)
    }

    /// Mean power, W.
    pub(super) fn watts(&self) -> Option<f64> {
        // µJ per ns are kW.
        self.energy.filter(|_| self.span > 0).map(|energy| energy as f64 / self.span as f64 * 1000.0)
    }
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

/// µJ as J.
pub(super) fn joules(energy: i64) -> f64 {
    energy as f64 / 1e6
}

/// The columns.
pub(super) const COLUMNS: Columns<Row> = Columns(&[
    ColumnOf::machine(
        "process",
        "Process",
        Kind::Text,
        |row| row.process.as_ref().map_or(IDLE, |process| &process.name).into(),
        "File name of the process' image; `(idle)`: the time in which no thread ran.",
    ),
    of_process::pid(),
    ColumnOf::always(
        "counter",
        "Counter",
        Kind::Text,
        |row| (&row.counter).into(),
        "What the counter is of: `package`, `cores`, `uncore`, `dram`, `psys` (the whole machine) on Linux; `package N`, `processor N` with the number of the counter on Windows.",
    ),
    ColumnOf::always(
        "package",
        "Package",
        Kind::Id,
        |row| row.package.map(i64::from).into(),
        "Number of the package that the counter is of.",
    ),
    ColumnOf::always("cpu", "CPU", Kind::Id, |row| row.cpu.map(i64::from).into(), "CPU that the counter is of."),
    ColumnOf::machine("energy_uj", "Energy", Kind::Count, |row| row.energy.into(), "Energy, µJ."),
    ColumnOf::people("joules", "J", Kind::Number(3), |row| row.energy.map(joules).into(), "Energy, J."),
    ColumnOf::always(
        "watts",
        "W",
        Kind::Number(2),
        |row| row.watts().into(),
        "Mean power: the energy divided by the time between the readings.",
    ),
    ColumnOf::always(
        "counts",
        "Counts",
        Kind::Count,
        |row| row.counts.into(),
        "What a counter of Windows counted, whose unit is not documented.",
    ),
    ColumnOf::always(
        "percent",
        "%",
        Kind::Number(1),
        |row| row.percent().into(),
        "Share of what the counter counted. The shares of a counter add up to 100. An estimate.",
    ),
    ColumnOf::always(
        "run_ns",
        "Run",
        Kind::Milliseconds,
        |row| row.run.into(),
        "Run time on the CPUs that the counter covers, between its readings; of `(idle)` the time in which no thread ran there.",
    ),
    ColumnOf::machine(
        "is_estimate",
        "Estimate",
        Kind::Bool,
        |row| row.whole.is_some().into(),
        "Always true: no processor counts the energy of a process.",
    ),
    ColumnOf::always(
        "readings",
        "Readings",
        Kind::Count,
        |row| row.readings.into(),
        "Readings whose difference to the reading before counts here.",
    ),
    ColumnOf::always("span_ns", "Time", Kind::Seconds, |row| row.span.into(), "Time between these readings."),
    ColumnOf::people(
        "process_label",
        "Process",
        Kind::Text,
        |row| row.process.as_ref().map_or_else(|| IDLE.to_owned(), name_with_marks).into(),
        "Name and pid; `+` it started, `-` it ended inside the recording; `(idle)`: no thread ran.",
    ),
    of_process::command_line().shown(View::Machine),
]);

/// The columns that rows of the other kind have.
pub(super) fn of_others(by: By) -> &'static [&'static str] {
    match by {
        By::Counter => &["process", "pid", "percent", "run_ns", "is_estimate", "process_label", "command_line"],
        By::Process => &["package", "cpu", "watts", "readings", "span_ns"],
    }
}

/// The columns of rows of a kind.
pub(super) fn shown(by: By) -> Vec<Column> {
    let of_others = of_others(by);
    COLUMNS.descriptions().into_iter().filter(|column| !of_others.contains(&column.key)).collect()
}
