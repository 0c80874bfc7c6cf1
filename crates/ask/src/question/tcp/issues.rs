//! `dump tcp --issues`: data that processes gave to the stack, and that the stack did not send.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::ConnectionId;
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
use crate::process_columns::{self as of_process, OfProcess};
use crate::recording::OpenRecording;
use crate::table_question::TableQuestion as _;

/// Data is late that is not sent in this time, ns.
const LATE: i64 = 10_000_000;
/// Data is late that is not sent among so many of the next events of its connection.
const EVENTS: u64 = 100;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Of which connections, in which time, how many, those that come last in the order.
    pub connections: super::Question,
    /// Their order.
    pub order: Order,
}

/// Data that was not sent in time.
#[derive(Clone, Debug)]
struct Row {
    io: NetworkIoRow,
    delay: Option<i64>,
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
    ColumnOf::always(
        "time_ns",
        "Time",
        Kind::Time,
        |r| r.io.time.into(),
        "Time at which the process passed the data to the network stack.",
    ),
    ColumnOf::always(
        "delay_ns",
        "Delay",
        Kind::Milliseconds,
        |r| r.delay.into(),
        "Time until the connection sent data; empty where it sent none until the end of the recording.",
    ),
    ColumnOf::always("size", "Size", Kind::Bytes, |r| r.io.size.into(), "Bytes that the process passed."),
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

/// Data of one connection that waits, with the number of the event that gave it.
#[derive(Debug, Default)]
struct Waiting {
    events: u64,
    data: VecDeque<(u64, NetworkIoRow)>,
}

/// Finds data that is late. Fed in the order of time.
#[derive(Debug, Default)]
struct Stalls {
    of: FxHashMap<ConnectionId, Waiting>,
    found: Vec<(NetworkIoRow, Option<i64>)>,
}

impl Stalls {
    fn add(&mut self, io: &NetworkIoRow) {
        match io.kind {
            kinds::SEND_POSTED if io.size > 0 => {
                let waiting = self.of.entry(io.connection).or_default();
                waiting.events += 1;
                waiting.data.push_back((waiting.events, *io));
            }
            kinds::SENT => {
                let Some(waiting) = self.of.get_mut(&io.connection) else { return };
                waiting.events += 1;
                for (number, data) in waiting.data.drain(..) {
                    let delay = io.time.saturating_sub(data.time);
                    if delay > LATE || waiting.events - number > EVENTS {
                        self.found.push((data, Some(delay)));
                    }
                }
            }
            _ => {
                if let Some(waiting) = self.of.get_mut(&io.connection) {
                    waiting.events += 1;
                }
            }
        }
    }

    /// All of them; what was given right before the end of the recording may have been sent behind it.
    fn finish(mut self, end: i64) -> Vec<(NetworkIoRow, Option<i64>)> {
        let left = self.of.into_values().flat_map(|waiting| waiting.data).map(|(_, data)| (data, None));
        self.found.extend(left.filter(|(data, _)| end.saturating_sub(data.time) > LATE));
        self.found
    }
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
        self.connections.limits()
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

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        const STALLS: &str = "data that was not sent in 10 ms";
        let archive = recording.archive();
        let connections: Vec<ConnectionRow> = archive.rows()?;
        // Without events of sent data nothing tells that it was not sent.
        let tells = |row: &ConnectionRow| row.posted_events.is_some() && row.send_events.is_some();
        if !connections.iter().any(tells) {
            let is_linux = archive.info().kind == "perf";
            let absence = match connections.is_empty() {
                true => recording.file.absence_with_cure(NetworkIoRow::TABLE.name, Tcp::SOURCE, is_linux),
                false => "the recording does not tell both what processes gave and what was sent".into(),
            };
            return Ok(recording.file.absent(STALLS, absence));
        }
        let packets = Packets::of(recording, &connections, &self.connections)?;
        if let Some(absent) = Inside::absent(&self.connections.inside, recording)? {
            return Ok(absent);
        }
        let times = Inside::times(&self.connections.inside, recording)?;
        let mut stalls = Stalls::default();
        archive.scan(None, |io: &NetworkIoRow| stalls.add(io))?;
        let (start, end) = self.connections.time.bounds();
        let mut rows = Vec::new();
        for (io, delay) in stalls.finish(archive.info().end_ns) {
            if io.time < start || io.time >= end {
                continue;
            }
            if let Some((process, connection)) = packets.whose(&io)
                && times.as_ref().is_none_or(|times| times.contain(process.as_ref().map(|row| row.process), io.time))
            {
                rows.push(Row { io, delay, process, connection });
            }
        }
        // Data that was never sent waited longest.
        let delay = |row: &Row| row.delay.unwrap_or(i64::MAX);
        match self.order {
            Order::Delay => rows.sort_by_key(|row| (delay(row), row.io.time, row.io.connection)),
            Order::Time => rows.sort_by_key(|row| (row.io.time, delay(row), row.io.connection)),
        }
        let facts = vec![Fact::new(STALLS, Kind::Count, rows.len())];
        self.connections.top.apply(&mut rows);
        Ok(COLUMNS.section(&recording.file, &rows, facts))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_trace::ConnectionId;
    use tracesift_trace::rows::{NetworkIoRow, network_io_kinds as kinds};

    use super::{EVENTS, LATE, Stalls};

    proptest! {
        #[test]
        fn stalls_are_those_of_a_plain_search(steps in prop::collection::vec((0..30_i64, 0..2_i32, 0..3_i8), 0..300)) {
            let mut time = 0;
            let rows: Vec<NetworkIoRow> = steps.iter().map(|(after, connection, kind)| {
                // Many events in little time, now and then a pause.
                time += if *after == 29 { LATE } else { *after * 1000 };
                NetworkIoRow { time, connection: ConnectionId(*connection), kind: *kind, size: 1, ..NetworkIoRow::default() }
            }).collect();
            let mut stalls = Stalls::default();
            rows.iter().for_each(|row| stalls.add(row));
            let end = time + LATE;
            let mut found: Vec<_> = stalls.finish(end).iter().map(|(io, delay)| (io.time, io.connection, *delay)).collect();
            found.sort_unstable();
            let mut expected = Vec::new();
            for (place, row) in rows.iter().enumerate().filter(|(_, row)| row.kind == kinds::SEND_POSTED) {
                let of_connection = || rows[place + 1..].iter().filter(|other| other.connection == row.connection);
                let is_sent = |other: &&NetworkIoRow| other.kind == kinds::SENT;
                let soon = of_connection().take(EVENTS as usize).find(is_sent).filter(|sent| sent.time - row.time <= LATE);
                let delay = of_connection().find(is_sent).map(|sent| sent.time - row.time);
                if soon.is_none() && (delay.is_some() || end - row.time > LATE) {
                    expected.push((row.time, row.connection, delay));
                }
            }
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
