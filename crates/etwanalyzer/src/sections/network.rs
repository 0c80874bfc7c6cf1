//! Connections of TCP, and their retransmissions.

use serde::Deserialize;
use tracesift_trace::connections::{Told, TrafficSums, protocols};
use tracesift_trace::rows::{ConnectionRow, NetworkIoRow, connection_ends as ends, network_io_kinds as kinds};
use tracesift_trace::{ConnectionId, Health, ProcessId, RowSink};

use super::DnsClient;
use crate::bounded::List;
use crate::document::{Moment, Number, ProcessReference};
use crate::identity::Identities;
use crate::limits::{CONNECTIONS, RETRANSMISSIONS};
use crate::values::Integer;

/// `Network`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Network {
    /// DNS queries.
    pub dns_client: Option<DnsClient>,
    /// Connections of TCP.
    pub tcp_data: Option<TcpData>,
}

/// `TcpData`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TcpData {
    /// The connections.
    pub connections: List<Connection, CONNECTIONS>,
    /// Retransmissions, which refer to connections by place.
    pub retransmissions: Option<List<Retransmission, RETRANSMISSIONS>>,
}

/// An element of `Connections`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Connection {
    /// The kernel's address of it.
    pub tcb: Integer,
    /// Own end.
    pub local_ip_and_port: Option<Endpoint>,
    /// The other end.
    pub remote_ip_and_port: Option<Endpoint>,
    /// When it was opened; absent: before.
    pub time_stamp_open: Option<Moment>,
    /// When it was closed.
    pub time_stamp_close: Option<Moment>,
    /// When sending timed out.
    pub retransmit_timeout: Option<Moment>,
    /// Congestion template.
    pub last_tcp_template: Option<String>,
    /// Sum over the events of received data.
    pub bytes_received: Integer,
    /// Number of these events.
    pub datagrams_received: Integer,
    /// Sum over the events in which processes gave data to the stack.
    pub bytes_sent: Integer,
    /// Number of these events, or of the events of sent data: the larger one.
    pub datagrams_sent: Integer,
    /// The process.
    pub process_idx: Option<ProcessReference>,
    /// More figures.
    pub statistics: Option<Statistics>,
}

/// One end of a connection.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Endpoint {
    /// `172.21.156.14`, `[::1]`.
    pub address: Option<String>,
    /// Port.
    pub port: Integer,
}

/// `Statistics` of a connection.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Statistics {
    /// Longest time between two events of sent data.
    pub max_send_delay_s: Number,
    /// The same of received data.
    pub max_receive_delay_s: Number,
    /// Last event of sent data.
    pub last_sent: Option<Moment>,
    /// Last event of received data.
    pub last_received: Option<Moment>,
    /// What the system counted over the whole life.
    pub data_bytes_in: Integer,
    /// The same of sent bytes.
    pub data_bytes_out: Integer,
    /// The same of received segments.
    pub segments_in: Integer,
    /// The same of sent segments.
    pub segments_out: Integer,
    /// Number of events in which processes gave data to the stack.
    pub send_posted_posted: Integer,
    /// When the connection was aborted: the time of TCPIP 1039.
    pub rst_received_time: Option<Moment>,
    /// Rate of sent data in bursts, bytes per second.
    pub average_send_rate: Number,
    /// The same of received data.
    pub average_receive_rate: Number,
}

/// An element of `Retransmissions`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Retransmission {
    /// Place of the connection.
    pub connection_idx: Integer,
    /// When.
    pub retransmit_time: Option<Moment>,
    /// When the data was sent, or received, before.
    pub send_time: Option<Moment>,
    /// Sequence number.
    pub sequence_number: Integer,
    /// Bytes.
    pub num_bytes: Integer,
    /// Whether the other side sent again.
    pub is_client_retransmission: Option<bool>,
}

/// A retransmission with its connection.
#[derive(Clone, Copy, Debug)]
struct Again {
    connection: u32,
    time: i64,
    row: Retransmission,
}

/// Connections and retransmissions that can be rows.
#[derive(Debug, Default)]
pub(super) struct NetworkRows {
    connections: Vec<(Option<ProcessId>, Connection)>,
    /// In the order of time.
    again: Vec<Again>,
    /// Places in `again`, by connection and time.
    by_connection: Vec<u32>,
    told: Told,
    zero: Option<Moment>,
}

impl NetworkRows {
    pub(super) fn read(part: TcpData, zero: Moment, identities: &mut Identities, health: &mut Health) -> Self {
        let connections: Vec<_> = part
            .connections
            .0
            .into_iter()
            .map(|connection| {
                let process = connection.process_idx.as_ref().and_then(|process| identities.find(process, health));
                (process, connection)
            })
            .collect();
        let has_list = part.retransmissions.is_some();
        let mut again = Vec::new();
        for row in part.retransmissions.unwrap_or_default().0 {
            let place = row.connection_idx.count().and_then(|place| u32::try_from(place).ok());
            let connection = place.filter(|place| (*place as usize) < connections.len());
            let time = row.retransmit_time.filter(|time| time.is_known()).map(|time| time.ns_since(zero));
            match connection.zip(time) {
                Some((connection, time)) => again.push(Again { connection, time, row }),
                None => super::unreadable(health, || {
                    format!("a retransmission of connection {:?} of {}", row.connection_idx.0, connections.len())
                }),
            }
        }
        again.sort_by_key(|again| again.time);
        let mut by_connection: Vec<u32> = (0..u32::try_from(again.len()).unwrap_or(u32::MAX)).collect();
        by_connection.sort_by_key(|place| again.get(*place as usize).map(|again| again.connection));
        let told = Told {
            retransmits: has_list,
            delays: has_list,
            // Old versions do not look for them.
            client_retransmits: again.iter().any(|again| again.row.is_client_retransmission == Some(true)),
            ..Told::default()
        };
        Self { connections, again, by_connection, told, zero: Some(zero) }
    }

    pub(super) fn write(&self, sink: &mut impl RowSink) {
        let Some(zero) = self.zero else { return };
        let mut left = self.by_connection.as_slice();
        for (place, (process, connection)) in self.connections.iter().enumerate() {
            let mut sums = TrafficSums::default();
            while let Some((first, rest)) = left.split_first()
                && let Some(again) = self.again.get(*first as usize).filter(|again| again.connection as usize == place)
            {
                sums.add(&self.io(again, zero));
                left = rest;
            }
            let mut row = ConnectionRow {
                connection: ConnectionId::from_index(place),
                process: *process,
                protocol: protocols::TCP,
                ..ConnectionRow::default()
            };
            sums.write(self.told, false, &mut row);
            connection.fill(zero, &mut row);
            sink.connection(&row);
        }
        self.again.iter().for_each(|again| sink.network_io(&self.io(again, zero)));
    }

    /// The row of a retransmission.
    fn io(&self, again: &Again, zero: Moment) -> NetworkIoRow {
        let Retransmission { send_time, sequence_number, num_bytes, is_client_retransmission, .. } = again.row;
        let before = send_time.filter(|time| time.is_known()).map(|time| time.ns_since(zero));
        NetworkIoRow {
            time: again.time,
            cpu: -1,
            process: self.connections.get(again.connection as usize).and_then(|(process, _)| *process),
            connection: ConnectionId::from_index(again.connection as usize),
            kind: match is_client_retransmission {
                Some(true) => kinds::RECEIVED_AGAIN,
                _ => kinds::RETRANSMITTED,
            },
            size: num_bytes.count().unwrap_or(0),
            sequence: sequence_number.count(),
            delay: before.map(|before| again.time.saturating_sub(before)).filter(|delay| *delay >= 0),
            ..NetworkIoRow::default()
        }
    }
}

impl Connection {
    /// Writes its own figures into its row.
    fn fill(&self, zero: Moment, row: &mut ConnectionRow) {
        let at = |moment: Option<Moment>| moment.filter(|time| time.is_known()).map(|time| time.ns_since(zero));
        let facts = self.statistics.unwrap_or_default();
        (row.local, row.local_port) = end_of(self.local_ip_and_port.as_ref());
        (row.remote, row.remote_port) = end_of(self.remote_ip_and_port.as_ref());
        row.tcb = self.tcb.0;
        row.start = at(self.time_stamp_open);
        row.template = self.last_tcp_template.clone().filter(|template| !template.is_empty());
        let (aborted, timed_out) = (at(facts.rst_received_time), at(self.retransmit_timeout));
        row.end = [at(self.time_stamp_close), aborted, timed_out].into_iter().flatten().min();
        row.end_kind = row.end.and_then(|end| match Some(end) {
            end if end == aborted => Some(ends::ABORTED),
            end if end == timed_out => Some(ends::SEND_TIMED_OUT),
            _ => None,
        });
        (row.stat_bytes_in, row.stat_bytes_out) = (facts.data_bytes_in.count(), facts.data_bytes_out.count());
        (row.stat_segments_in, row.stat_segments_out) = (facts.segments_in.count(), facts.segments_out.count());
        (row.received, row.receive_events) = (self.bytes_received.count(), self.datagrams_received.count());
        row.send_events = self.datagrams_sent.count();
        // Without events of posted data the sum of sent bytes is 0 whatever was sent.
        row.sent = self.bytes_sent.count().filter(|sent| *sent > 0 || row.send_events == Some(0));
        row.posted_events = facts.send_posted_posted.count();
        (row.last_sent, row.last_received) = (at(facts.last_sent), at(facts.last_received));
        row.max_send_gap = seconds(facts.max_send_delay_s);
        row.max_receive_gap = seconds(facts.max_receive_delay_s);
        row.send_rate = whole(facts.average_send_rate, 1.0);
        row.receive_rate = whole(facts.average_receive_rate, 1.0);
    }
}

/// Address, without the brackets of IPv6, and port.
fn end_of(end: Option<&Endpoint>) -> (Option<String>, Option<i32>) {
    let Some(end) = end else { return (None, None) };
    let address = end.address.as_deref().map(|address| {
        address.strip_prefix('[').and_then(|address| address.strip_suffix(']')).unwrap_or(address).to_owned()
    });
    let port = end.port.count().and_then(|port| i32::try_from(port).ok());
    (address.filter(|address| !address.is_empty()), port)
}

/// Seconds as ns.
fn seconds(number: Number) -> Option<i64> {
    whole(number, 1e9)
}

/// A number that is not below zero, times a factor.
fn whole(number: Number, factor: f64) -> Option<i64> {
    number.0.filter(|number| number.is_finite() && *number >= 0.0).map(|number| (number * factor).round() as i64)
}
