//! `dump tcp --retransmits`: data that was sent again, one by one.

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{ConnectionRow, NetworkIoRow, ProcessRow, network_io_kinds as kinds};
use tracesift_trace::schema::Row as _;

use super::Tcp;
use super::packets::{Order, Packets};
use crate::answer::{Column, ColumnOf, Fact, Kind, Section, View};
use crate::ask::Ask;
use crate::candidates::Candidates;
use crate::columns::Columns;
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::order::Between;
use crate::process_columns::{self as of_process, OfProcess};
use crate::recording::OpenRecording;
use crate::table_question::TableQuestion as _;

/// Limits of the delay of a retransmission. They are those of a connection's longest one, too.
pub(super) const DELAY: [&str; 2] = ["--min-retransmit-delay", "--max-retransmit-delay"];
/// Limits of the size of a retransmission.
pub(super) const SIZE: [&str; 2] = ["--min-retransmit-size", "--max-retransmit-size"];

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Of which connections, in which time, how many, those that come last in the order.
    pub connections: super::Question,
    /// Delays, ns. Retransmissions whose delay is not known pass only where nothing is asked of it.
    pub delay: Between,
    /// Sizes, bytes.
    pub size: Between,
    /// Their order.
    pub order: Order,
}

/// A retransmission.
#[derive(Clone, Debug)]
struct Row {
    io: NetworkIoRow,
    process: Option<ProcessRow>,
    connection: String,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::machine(
        "connection_id",
        "Connection id",
        Kind::Id,
        |r| r.io.connection.0.into(),
        "Row of the connection in the table `connections`.",
    ),
    ColumnOf::always("time_ns", "Time", Kind::Time, |r| r.io.time.into(), "Time of the retransmission."),
    ColumnOf::always(
        "delay_ns",
        "Delay",
        Kind::Milliseconds,
        |r| r.io.delay.into(),
        "Time since the same data was sent before, or received before; empty where the recording does not tell.",
    ),
    ColumnOf::always("size", "Size", Kind::Bytes, |r| r.io.size.into(), "Bytes; 0 where the recording does not tell."),
    ColumnOf::details("sequence", "Sequence", Kind::Id, |r| r.io.sequence.into(), "Sequence number of the first byte."),
    ColumnOf::always(
        "received_again",
        "Received again",
        Kind::Bool,
        |r| (r.io.kind == kinds::RECEIVED_AGAIN).into(),
        "True: the remote endpoint sent the data again. False: this machine did.",
    ),
    ColumnOf::always(
        "connection",
        "Connection",
        Kind::Text,
        |r| (&r.connection).into(),
        "Both endpoints, the local one first.",
    ),
    of_process::label(),
    of_process::command_line().shown(View::Machine),
]);

/// The columns.
#[must_use]
pub fn columns() -> Vec<Column> {
    COLUMNS.descriptions()
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn tables(&self) -> &'static [&'static str] {
        const { &[NetworkIoRow::TABLE.name] }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.connections.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        self.connections.candidates(recording)
    }

    fn limits(&self) -> Vec<&'static str> {
        let of_connections = self.connections.limits().into_iter();
        of_connections.chain(self.delay.given(DELAY)).chain(self.size.given(SIZE)).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(self.order.column())
    }

    fn columns(&self) -> Vec<Column> {
        columns()
    }

    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask> {
        Box::new(Self { connections: self.connections.of_range(time, origin), ..self.clone() })
    }

    /// An import has single retransmissions, but no figures of the connections in a part of the recording.
    fn sums_suffice(&self) -> bool {
        self.connections.time.is_everything() || !self.connections.asks_of_rows()
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let archive = recording.archive();
        if archive.row_count::<NetworkIoRow>() == 0 {
            let is_linux = archive.info().kind == "perf";
            let absence = recording.file.absence_with_cure(NetworkIoRow::TABLE.name, Tcp::SOURCE, is_linux);
            return Ok(recording.file.absent("retransmits", absence));
        }
        let packets = Packets::of(recording, &archive.rows::<ConnectionRow>()?, &self.connections)?;
        if let Some(absent) = Inside::absent(&self.connections.inside, recording)? {
            return Ok(absent);
        }
        let times = Inside::times(&self.connections.inside, recording)?;
        let time = self.connections.time;
        let (start, end) = time.bounds();
        let mut rows = Vec::new();
        archive.scan((!time.is_everything()).then_some(start..end), |io: &NetworkIoRow| {
            if !matches!(io.kind, kinds::RETRANSMITTED | kinds::RECEIVED_AGAIN) || io.time < start || io.time >= end {
                return;
            }
            if !self.delay.contains(io.delay) || !self.size.contains(Some(io.size)) {
                return;
            }
            if let Some((process, connection)) = packets.whose(io)
                && times.as_ref().is_none_or(|times| times.contain(process.as_ref().map(|row| row.process), io.time))
            {
                rows.push(Row { io: *io, process, connection });
            }
        })?;
        match self.order {
            Order::Delay => rows.sort_by_key(|row| (row.io.delay, row.io.time)),
            Order::Time => rows.sort_by_key(|row| (row.io.time, row.io.delay)),
        }
        let facts = vec![Fact::new("retransmits", Kind::Count, rows.len())];
        self.connections.top.apply(&mut rows);
        Ok(COLUMNS.section(&recording.file, &rows, facts))
    }
}
