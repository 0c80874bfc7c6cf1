//! Calls of sockets, from events of Winsock's driver.

use std::collections::VecDeque;
use std::net::SocketAddr;

use rustc_hash::FxHashMap;
use tracesift_etl::schema::socket_address;
use tracesift_etl::{Record, event_fields};
use tracesift_trace::rows::{SocketCallRow, socket_operations as operations};
use tracesift_trace::socket_calls::{CallEnd, SocketCalls};
use tracesift_trace::{ConnectionId, HealthKind, ProcessId, RowSink};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};

event_fields! {
    /// A call begins or ends.
    struct Call<'a> {
        is_end: u64 = "EnterExit",
        endpoint: u64 = "Endpoint",
        length: i64 = "BufferLength",
        status: u64 = "Status",
        address: &'a [u8] = "Address",
        accepted: u64 = "AcceptEndpoint",
    }
}

/// Calls on their way.
#[derive(Default)]
pub(super) struct Sockets {
    calls: SocketCalls,
    /// Connections that were requested or accepted last, in the order of time.
    opened: VecDeque<Opened>,
    /// The connections of sockets.
    connections: FxHashMap<i64, ConnectionId>,
    fields: Fields<Call<'static>>,
}

/// Requests and acceptances that are looked through for the connection of a call, at most.
const OPENED: usize = 4096;
/// Sockets whose connection is kept, at most. Beyond that calls have none until their sockets connect.
const SOCKETS: usize = 1 << 18;
/// Status of a call that goes on after its return.
const PENDING: i64 = 0x103;

/// A connection that was requested or accepted.
pub(super) struct Opened {
    pub(super) time: i64,
    pub(super) process: Option<ProcessId>,
    pub(super) remote: SocketAddr,
    pub(super) accepted: bool,
    pub(super) connection: ConnectionId,
}

impl Sockets {
    /// A connection is requested or accepted.
    pub(super) fn opened(&mut self, opened: Opened) {
        if self.opened.len() >= OPENED {
            self.opened.pop_front();
        }
        self.opened.push_back(opened);
    }

    /// The connection that a call used which has ended. `accepted`: the socket that an acceptance made.
    fn connection_of(&mut self, row: &SocketCallRow, accepted: Option<i64>) -> Option<ConnectionId> {
        let endpoint = row.endpoint?;
        let is_fine = matches!(row.status, Some(0 | PENDING));
        match row.operation {
            operations::CREATE => {
                self.connections.remove(&endpoint);
                None
            }
            operations::CLOSE => self.connections.remove(&endpoint),
            operations::CONNECT => {
                let connection = self.requested(row)?;
                self.keep(Some(endpoint).filter(|_| is_fine), connection);
                Some(connection)
            }
            operations::ACCEPT => {
                let connection = self.accepted(row).filter(|_| is_fine)?;
                self.keep(accepted.filter(|endpoint| *endpoint != 0), connection);
                Some(connection)
            }
            _ => self.connections.get(&endpoint).copied(),
        }
    }

    fn keep(&mut self, endpoint: Option<i64>, connection: ConnectionId) {
        let Some(endpoint) = endpoint else { return };
        if self.connections.len() < SOCKETS || self.connections.contains_key(&endpoint) {
            self.connections.insert(endpoint, connection);
        }
    }

    /// The only connection to the address that the process requested during the call.
    fn requested(&self, call: &SocketCallRow) -> Option<ConnectionId> {
        let remote: SocketAddr = call.address.as_ref()?.parse().ok()?;
        let in_call = self.opened.iter().rev().take_while(|opened| opened.time >= call.start);
        let mut found = in_call.filter(|opened| {
            !opened.accepted
                && opened.time <= call.time
                && opened.remote == remote
                && call.process.is_some()
                && opened.process == call.process
        });
        let first = found.next()?;
        found.next().is_none().then_some(first.connection)
    }

    /// The last connection that was accepted from the address. At one time there is one of it.
    fn accepted(&self, call: &SocketCallRow) -> Option<ConnectionId> {
        let remote: SocketAddr = call.address.as_ref()?.parse().ok()?;
        let is_it = |opened: &&Opened| {
            opened.accepted
                && opened.time <= call.time
                && opened.remote == remote
                && opened.process.is_none_or(|process| call.process == Some(process))
        };
        self.opened.iter().rev().find(is_it).map(|opened| opened.connection)
    }
}

/// The event of an abort.
const ABORT: u16 = 1032;

/// The operation of an event; `None` for one that is no call.
pub(super) fn operation(id: u16) -> Option<i8> {
    Some(match id {
        1000 => operations::CREATE,
        // The last handle is closed; 1001 follows when nothing uses the socket any more.
        1002 => operations::CLOSE,
        1003 | 1005 | 1007 | 1011 | 1013 => operations::SEND,
        1004 | 1006 | 1009 | 1012 | 1015 => operations::RECEIVE,
        1017 | 1018 | 1020 | 1021 => operations::CONNECT,
        1023 | 1024 | 1026 | 1027 | 1036 => operations::ACCEPT,
        1029 | 1030 => operations::BIND,
        ABORT | 3006 => operations::SHUT_DOWN,
        1035 => operations::OPTION,
        1037 => operations::LISTEN,
        _ => return None,
    })
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// A call of a socket begins or ends.
    pub(super) fn socket_call(&mut self, record: &Record<'_>, operation: i8) {
        let Some(event) = self.sockets.fields.read(record, &self.schemas, &mut self.health) else { return };
        // An abort tells its reason in place of a status.
        let status = if record.event_id() == Some(ABORT) { Some(0) } else { event.status };
        let (Some(is_end), Some(endpoint), Some(status)) = (event.is_end, event.endpoint, status) else {
            return self.health.count(HealthKind::FIELDS_NOT_AS_EXPECTED, Some(record.time()), || {
                format!("Microsoft-Windows-Winsock-AFD {}: it ends early", record.event_id().unwrap_or(0))
            });
        };
        let (endpoint, status) = (endpoint.cast_signed(), status.cast_signed());
        let moves = matches!(operation, operations::SEND | operations::RECEIVE);
        let length = event.length.filter(|_| moves);
        let address = event.address.and_then(socket_address).map(|(address, port)| match address {
            std::net::IpAddr::V4(address) => format!("{address}:{port}"),
            std::net::IpAddr::V6(address) => format!("[{address}]:{port}"),
        });
        if is_end == 0 {
            let stack = self.provider_stack(record);
            let caller = self.caller(record);
            let call = SocketCallRow {
                start: caller.time,
                cpu: cpu_number(record),
                process: caller.process,
                thread: caller.thread,
                stack,
                operation,
                endpoint: (operation != operations::CREATE).then_some(endpoint),
                size: length,
                address,
                ..SocketCallRow::default()
            };
            if let Some(row) = self.sockets.calls.begun(call) {
                self.sink.socket_call(&row);
            }
            return;
        }
        let accepted = event.accepted.map(u64::cast_signed);
        let caller = self.caller(record);
        let end = CallEnd {
            time: caller.time,
            thread: caller.thread,
            operation,
            endpoint,
            status: Some(status),
            // The length of a call that failed or goes on is that of its buffer.
            transferred: length.filter(|_| status == 0),
            address,
        };
        match self.sockets.calls.ended(end) {
            Some(row) => {
                let connection = self.sockets.connection_of(&row, accepted);
                self.sink.socket_call(&SocketCallRow { connection, ..row });
            }
            None => self.health.count(HealthKind::SOCKET_CALLS_WITHOUT_BEGIN, Some(record.time()), || {
                format!("event {}", record.event_id().unwrap_or(0))
            }),
        }
    }

    /// Calls that do not end in the recording.
    pub(super) fn finish_sockets(&mut self, end: i64) {
        for row in self.sockets.calls.finish(end) {
            self.sink.socket_call(&row);
        }
        let dropped = i64::try_from(self.sockets.calls.dropped()).unwrap_or(i64::MAX);
        self.health.add(HealthKind::SOCKET_CALLS_WITHOUT_END, dropped, None, || {
            "more calls were open than are followed".to_owned()
        });
    }
}
