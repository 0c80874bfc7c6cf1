//! The traffic of connections by the code that sent and received, for `--measure network`.

use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{NetworkIoRow, network_io_kinds};
use tracesift_trace::{ProcessId, view};

use crate::answer::Kind;
use crate::recording_label::RowSource;
use crate::table_question::{Dimension, Measure, StackFigure, TableQuestion};

view! {
    /// What befell a connection.
    #[derive(Clone, Copy, Debug)]
    pub struct Operation of NetworkIoRow { time, process, thread, stack, kind, size }
}

/// Data that was sent and received. It is no command: `dump tcp` and `dump udp` answer by connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic;

impl TableQuestion for Traffic {
    type Row = Operation;

    const NAME: &'static str = "tcp";
    const WHAT: [&'static str; 2] = ["network operation", "network operations"];
    const SOURCE: RowSource = super::Tcp::SOURCE;
    const MOST: &'static str = "most operations";
    const DIMENSIONS: &'static [Dimension<Operation>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::method(|row: &Operation| (row.stack, None)).meaning("The function that sent or received."),
    ];
    const MEASURES: &'static [Measure<Operation>] =
        &[Measure::sum("bytes", "Data", Kind::Bytes, |row: &Operation| row.size).meaning("Bytes sent and received.")];
    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "bytes",
        measure: Exported { key: "network", label: "Network bytes", unit: Unit::Bytes, counted: "network operations" },
        help: "Bytes that were sent and received over TCP and UDP",
    }];
    const BY: &'static [&'static str] = &["process"];
    const SORT: &'static str = "name";
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[];

    fn process(row: &Operation) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Operation) -> (i64, i64) {
        (row.time, row.time)
    }

    fn is_asked(row: &Operation) -> bool {
        matches!(row.kind, network_io_kinds::SENT | network_io_kinds::RECEIVED)
    }
}
