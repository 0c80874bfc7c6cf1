//! The columns of `dump stacks`.

use std::sync::Arc;

use tracesift_analysis::Place;
use tracesift_analysis::call_tree::{Line, Step, What};
use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::trees::Named;
use crate::answer::{ColumnOf, Kind, Value, View};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};

/// One line of a tree.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) process: Arc<ProcessRow>,
    pub(super) thread: Option<ThreadRow>,
    /// What the tree is of.
    pub(super) measure: &'static str,
    pub(super) number: usize,
    pub(super) parent: Option<usize>,
    pub(super) line: Line,
    /// Percent of the process.
    pub(super) share: f64,
    pub(super) named: Named,
    /// As a table shows it.
    pub(super) label: String,
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
    of_process::start().shown(View::Machine),
    ColumnOf::machine(
        "tid",
        "Tid",
        Kind::Id,
        |r| r.thread.as_ref().map(|thread| thread.tid).into(),
        "Thread id, with `--per-thread`; empty where threads are summed up.",
    ),
    ColumnOf::machine(
        "thread_name",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().and_then(|thread| thread.name.clone()).into(),
        "Name of the thread, with `--per-thread`.",
    ),
    ColumnOf::machine("row", "Row", Kind::Id, |r| r.number.into(), "Number of the row within its file, from 0."),
    ColumnOf::machine(
        "parent",
        "Parent",
        Kind::Id,
        |r| r.parent.into(),
        "`row` of the line above it in the tree; empty for a root.",
    ),
    ColumnOf::machine("depth", "Depth", Kind::Id, |r| r.line.depth.into(), "Lines above it in the tree."),
    ColumnOf::machine(
        "measure",
        "Measure",
        Kind::Text,
        |r| r.measure.into(),
        "What the figures are: `CPU`, sampled; `run`, CPU from context switches where there are no samples; else the word of `--measure`.",
    ),
    ColumnOf::always(
        "total_ns",
        "Total",
        Kind::Milliseconds,
        |r| r.line.total.amount.into(),
        "Time of the line with all lines below it.",
    ),
    ColumnOf::always(
        "self_ns",
        "Self",
        Kind::Milliseconds,
        |r| r.line.own.amount.into(),
        "Time of the line itself: of stacks that end here; with `--callers` of stacks whose outermost frame it is.",
    ),
    ColumnOf::always(
        "total_bytes",
        "Total",
        Kind::Bytes,
        |r| r.line.total.amount.into(),
        "The same of a measure of bytes, such as `--measure disk-bytes`.",
    ),
    ColumnOf::always(
        "self_bytes",
        "Self",
        Kind::Bytes,
        |r| r.line.own.amount.into(),
        "The same of a measure of bytes.",
    ),
    ColumnOf::always(
        "total",
        "Total",
        Kind::Count,
        |r| r.line.total.amount.into(),
        "The same of a measure that counts, such as `--measure page-faults`.",
    ),
    ColumnOf::always("self", "Self", Kind::Count, |r| r.line.own.amount.into(), "The same of a measure that counts."),
    ColumnOf::always(
        "share",
        "Share %",
        Kind::Number(1),
        |r| r.share.into(),
        "Share of the line with all lines below it, in percent of its process.",
    ),
    ColumnOf::details(
        "count",
        "Count",
        Kind::Count,
        |r| r.line.total.count.into(),
        "Samples, spans, or rows of the measure.",
    ),
    ColumnOf::machine(
        "kind",
        "Kind",
        Kind::Text,
        |r| {
            match r.line.what {
                What::Step(Step::Method(_)) => "method",
                What::Step(Step::Module(_)) => "module",
                What::Step(Step::NoStack) => "no stack",
                What::More(_) => "more",
            }
            .into()
        },
        "What the line is: a `method`, the folded frames of a `module`, `no stack`, or `more`: lines that are summed up.",
    ),
    ColumnOf::machine(
        "more",
        "More",
        Kind::Count,
        |r| if let What::More(lines) = r.line.what { lines.into() } else { Value::None },
        "How many lines of this level are summed up in it; at the root with `--per-thread`, how many threads.",
    ),
    ColumnOf::machine(
        "module",
        "Module",
        Kind::Text,
        |r| r.named.module.as_ref().into(),
        "File name of the module; empty where it is not known.",
    ),
    ColumnOf::machine(
        "method",
        "Function",
        Kind::Text,
        |r| r.named.function.as_ref().into(),
        "Function; `module+0xRVA` without a symbol.",
    ),
    ColumnOf::machine(
        "source_file",
        "Source file",
        Kind::Text,
        |r| match &r.named.place {
            Some(Place::Line { file, .. }) => Value::Text(file.clone()),
            _ => Value::None,
        },
        "Source file, with `--by line`.",
    ),
    ColumnOf::machine(
        "source_line",
        "Line",
        Kind::Id,
        |r| match r.named.place {
            Some(Place::Line { line, .. }) => line.into(),
            _ => Value::None,
        },
        "Source line, with `--by line`.",
    ),
    ColumnOf::machine(
        "rva",
        "RVA",
        Kind::Text,
        |r| match r.named.place {
            Some(Place::Address(address)) => Value::Text(format!("{address:#x}")),
            _ => Value::None,
        },
        "The instruction, with `--by address`: its RVA in the module, its address where there is none.",
    ),
    ColumnOf::people(
        "tree",
        "Stack",
        Kind::Tree,
        |r| (&r.label).into(),
        "Module and function behind the branches of the tree.",
    ),
]);
