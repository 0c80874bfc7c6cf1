//! Connections of TCP and traffic of sockets.
//!
//! The kernel's address of a socket names a connection. Much is logged by whoever the packet interrupted, so a process is known from
//! what only it can do itself: ask for a connection, send, receive, close.

use rustc_hash::FxHashMap;
use tracesift_trace::connections::{Connections, Ending, Ends, Event, Key, Opening, Told, Transfer, protocols};
use tracesift_trace::rows::{connection_ends, network_io_kinds as kinds};
use tracesift_trace::{ConnectionId, HealthKind, RowSink, ThreadId};

use super::call_chain::stack_of;
use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::perf::tracepoint::{NetworkFields, SegmentFields, StateFields, Tracepoint, TransferFields, families};

/// States of a connection.
mod states {
    pub(super) const ESTABLISHED: i64 = 1;
    pub(super) const SYN_SENT: i64 = 2;
    pub(super) const SYN_RECV: i64 = 3;
    pub(super) const FIN_WAIT1: i64 = 4;
    pub(super) const TIME_WAIT: i64 = 6;
    pub(super) const CLOSE: i64 = 7;
    pub(super) const LAST_ACK: i64 = 9;
    pub(super) const LISTEN: i64 = 10;
    pub(super) const NEW_SYN_RECV: i64 = 12;
}

/// Data is looked at and stays (`MSG_PEEK`), or is no data but an error with the packet that it is about (`MSG_ERRQUEUE`).
const NO_DATA: i64 = 0x2 | 0x2000;

/// Connections that are looked up by their ends, at most.
const MAX_BY_ENDS: usize = 1 << 17;

/// Threads whose use of connections is remembered, at most.
const MAX_THREADS: usize = 1 << 20;

/// The end of a connection. A reset comes before it or right behind it.
const CLOSED: Ending = Ending { kind: Some(connection_ends::CLOSED), status: None, is_preliminary: true };

/// Follows connections.
pub(crate) struct Network {
    connections: Connections,
    /// Data of segments counts as received, since no event tells what processes receive.
    counts_segments: bool,
    /// Connections by their ends, where segments do not tell the kernel's address.
    by_ends: Option<FxHashMap<Ends, u64>>,
    /// What threads used last, and when in ticks; only where system calls are recorded, too.
    used: Option<FxHashMap<ThreadId, (i64, ConnectionId)>>,
}

impl Network {
    /// What these tracepoints tell.
    pub(crate) fn new(tracepoints: &[Option<Tracepoint>]) -> Self {
        let has = |is: fn(&NetworkFields) -> bool| {
            tracepoints
                .iter()
                .flatten()
                .any(|tracepoint| matches!(tracepoint, Tracepoint::Network(fields) if is(fields)))
        };
        let posted = has(|fields| matches!(fields, NetworkFields::Sent(_)));
        let taken = has(|fields| matches!(fields, NetworkFields::Received(_)));
        let segments = has(|fields| matches!(fields, NetworkFields::Segment(_)));
        let retransmits = has(|fields| matches!(fields, NetworkFields::Retransmitted { .. }));
        let nameless = has(|fields| matches!(fields, NetworkFields::Segment(SegmentFields { socket: None, .. })));
        let tcp = Told { posted, received: taken || segments, retransmits, ..Told::default() };
        let mut connections = Connections::default();
        // A call sends a datagram; TCP cuts and joins what it is given.
        connections.tells(tcp, Told { sent: posted, received: taken, ..Told::default() });
        let has_calls = tracepoints.iter().flatten().any(|tracepoint| matches!(tracepoint, Tracepoint::Syscall(_)));
        let used = has_calls.then(FxHashMap::default);
        Self { connections, used, counts_segments: !taken, by_ends: nameless.then(FxHashMap::default) }
    }

    /// An event of the network.
    pub(crate) fn event<Sink: RowSink>(
        &mut self,
        fields: &NetworkFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let done = at.sample.raw.and_then(|raw| match fields {
            NetworkFields::State(fields) => self.state(fields, raw, at, rows),
            NetworkFields::Sent(fields) => self.data(fields, kinds::SEND_POSTED, raw, at, rows),
            NetworkFields::Received(fields) => self.data(fields, kinds::RECEIVED, raw, at, rows),
            NetworkFields::Segment(fields) => self.segment(fields, raw, at, rows),
            NetworkFields::Retransmitted { socket, error, ends } => {
                let event = self.event_of(socket.get(raw)?, at, rows);
                let event = Event { ends: ends.as_ref().and_then(|ends| ends.get(raw)), ..event };
                if error.as_ref().is_none_or(|error| error.get(raw) == Some(0)) {
                    self.transferred(&event, &transfer(kinds::RETRANSMITTED, 0, at), rows);
                }
                Some(())
            }
            NetworkFields::ResetSent { socket, state } => {
                self.reset_sent(socket.get(raw)?, state.get(raw)?, at, rows);
                Some(())
            }
            NetworkFields::ResetReceived { socket, ends } => {
                let event = self.event_of(socket.get(raw)?, at, rows);
                let event = Event { ends: ends.as_ref().and_then(|ends| ends.get(raw)), ..event };
                self.reset_received(&event, at, rows);
                Some(())
            }
            NetworkFields::Destroyed { socket } => {
                let event = self.event_of(socket.get(raw)?, at, rows);
                if self.connections.stage(&event.key).is_some_and(|stage| !stage.has_ended) {
                    self.connections.ended(&event, CLOSED);
                }
                Some(())
            }
            NetworkFields::Dropped { socket, reason } => {
                let reason = reason.get(raw)?;
                let socket = match socket {
                    Some(socket) => socket.get(raw)?,
                    None => 0,
                };
                self.dropped(socket, reason, at, rows);
                Some(())
            }
        });
        if done.is_none() {
            rows.health.count(HealthKind::INCOMPLETE_NETWORK_EVENTS, Some(at.ticks), || {
                "an event of a socket without its fields".to_owned()
            });
        }
        for row in self.connections.finished() {
            rows.sink.connection(&row);
        }
    }

    /// The connection that a thread has used since a time in ticks.
    pub(crate) fn connection_of(&self, thread: ThreadId, since: i64) -> Option<ConnectionId> {
        let (ticks, connection) = self.used.as_ref()?.get(&thread)?;
        (*ticks >= since).then_some(*connection)
    }

    fn uses(&mut self, at: &SampleContext<'_>, key: &Key) {
        let Some(used) = &mut self.used else { return };
        let Some(stage) = self.connections.stage(key) else { return };
        if used.len() >= MAX_THREADS {
            used.clear();
        }
        used.insert(at.thread, (at.ticks, stage.connection));
    }

    fn state<Sink: RowSink>(
        &mut self,
        fields: &StateFields,
        raw: &[u8],
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) -> Option<()> {
        let (old, new) = (fields.old.get(raw)?, fields.new.get(raw)?);
        let is_tcp = fields.protocol.get(raw)? == i64::from(protocols::TCP);
        // A socket that listens is no connection; the one that comes of it begins as its copy.
        if !is_tcp || new == states::LISTEN || old == states::LISTEN && new != states::SYN_RECV {
            return Some(());
        }
        let ends = fields.ends.get(raw);
        let socket = fields.socket.get(raw)?;
        // What a process does itself. All else happens when a packet comes in, or a timer ends.
        let is_own = matches!(new, states::SYN_SENT | states::FIN_WAIT1 | states::LAST_ACK);
        let event = self.event_of(socket, at, rows);
        let event = Event { ends, process: is_own.then_some(at.process), ..event };
        match new {
            states::SYN_SENT => {
                let (thread, stack) = (Some(at.thread), stack_of(at, rows));
                self.connections.opened(&Event { thread, stack, ..event }, Opening::Requested);
                self.uses(at, &event.key);
            }
            states::SYN_RECV if old == states::LISTEN => {
                let event = Event { thread: None, stack: None, ..event };
                self.connections.opened(&event, Opening::Accepted { is_established: false });
            }
            states::ESTABLISHED => self.connections.opened(&event, Opening::Established),
            states::CLOSE => self.connections.ended(&event, CLOSED),
            _ => self.connections.mentioned(&event),
        }
        if let (Some(by_ends), Some(ends)) = (&mut self.by_ends, ends) {
            if new == states::CLOSE {
                by_ends.remove(&ends);
            } else if by_ends.len() < MAX_BY_ENDS {
                by_ends.insert(ends, socket.cast_unsigned());
            }
        }
        Some(())
    }

    /// A process has given data to its socket, or has taken data from it.
    fn data<Sink: RowSink>(
        &mut self,
        fields: &TransferFields,
        kind: i8,
        raw: &[u8],
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) -> Option<()> {
        let protocol = i16::try_from(fields.protocol.get(raw)?).unwrap_or(0);
        let is_internet = matches!(fields.family.get(raw)?, families::INET | families::INET6);
        let (size, flags) = (fields.result.get(raw)?, fields.flags.get(raw)?);
        let socket = fields.socket.get(raw)?.cast_unsigned();
        let key = match protocol {
            protocols::TCP => Key::Block(socket),
            protocols::UDP => Key::Socket(at.process, socket),
            _ => return Some(()),
        };
        // A datagram may be empty. TCP tells the end of the data in this way.
        let is_data = is_internet && (size > 0 || size == 0 && protocol == protocols::UDP);
        if !is_data || kind == kinds::RECEIVED && flags & NO_DATA != 0 {
            return Some(());
        }
        let kind = if protocol == protocols::UDP && kind == kinds::SEND_POSTED { kinds::SENT } else { kind };
        let owner = self.connections.stage(&key).and_then(|stage| stage.process);
        let is_own = owner.is_none_or(|owner| owner == at.process);
        let event = Event {
            time: rows.clock.ns(at.ticks),
            key,
            protocol,
            ends: None,
            process: Some(at.process),
            thread: is_own.then_some(at.thread),
            stack: stack_of(at, rows),
        };
        self.transferred(&event, &transfer(kind, size, at), rows);
        self.uses(at, &key);
        Some(())
    }

    fn segment<Sink: RowSink>(
        &mut self,
        fields: &SegmentFields,
        raw: &[u8],
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) -> Option<()> {
        let size = fields.size.get(raw)?;
        let (srtt, window) = (fields.srtt.get(raw)?, fields.window.get(raw)?);
        let socket = match (&fields.socket, &self.by_ends) {
            (Some(socket), _) => Some(socket.get(raw)?),
            (None, Some(by_ends)) => by_ends.get(&fields.ends(raw)?).map(|socket| socket.cast_signed()),
            (None, None) => None,
        };
        // Without an address it may be any connection that was there before.
        let Some(socket) = socket else { return Some(()) };
        let mut event = self.event_of(socket, at, rows);
        if !self.connections.stage(&event.key).is_some_and(|stage| stage.has_ends) {
            event.ends = fields.ends(raw);
        }
        let kind = if self.counts_segments && size > 0 { kinds::RECEIVED } else { kinds::SEGMENT_RECEIVED };
        let srtt = Some(srtt).filter(|srtt| *srtt > 0).map(|srtt| srtt.saturating_mul(1000));
        let transfer = Transfer { srtt, window: Some(window), ..transfer(kind, size, at) };
        self.transferred(&event, &transfer, rows);
        Some(())
    }

    /// The kernel gives up a packet that came in for a connection.
    fn dropped<Sink: RowSink>(&mut self, socket: i64, reason: i64, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        /// Nothing was lost: somebody has used the packet.
        const CONSUMED: i64 = 1;
        if socket == 0 || reason <= CONSUMED {
            return;
        }
        let event = self.event_of(socket, at, rows);
        // Most packets that are given up are of no connection: those for listeners, for datagrams, for nobody.
        if self.connections.stage(&event.key).is_some_and(|stage| !stage.has_ended) {
            self.transferred(&event, &transfer(kinds::DROPPED, 0, at), rows);
        }
    }

    fn reset_sent<Sink: RowSink>(
        &mut self,
        socket: i64,
        state: i64,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let event = self.event_of(socket, at, rows);
        // An answer to a packet that no connection wants is no event of a connection.
        let is_of_connection = !matches!(state, states::LISTEN | states::TIME_WAIT | states::NEW_SYN_RECV);
        if !is_of_connection || self.connections.stage(&event.key).is_none() {
            return;
        }
        self.transferred(&event, &transfer(kinds::RESET_SENT, 0, at), rows);
        // A wrong answer to a request is refused in this way; the request stays.
        if !matches!(state, states::SYN_SENT | states::SYN_RECV) {
            let kind = Some(connection_ends::ABORTED);
            self.connections.ended(&event, Ending { kind, status: None, is_preliminary: false });
        }
    }

    fn reset_received<Sink: RowSink>(&mut self, event: &Event, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        let is_requested = self.connections.stage(&event.key).is_some_and(|stage| stage.is_requested);
        self.transferred(event, &transfer(kinds::RESET_RECEIVED, 0, at), rows);
        let kind = if is_requested { connection_ends::REFUSED } else { connection_ends::RESET };
        self.connections.ended(event, Ending { kind: Some(kind), status: None, is_preliminary: false });
    }

    /// An event of a connection that anybody may have logged. Thread and stack count where it is the connection's own process.
    fn event_of<Sink: RowSink>(&self, socket: i64, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) -> Event {
        let key = Key::Block(socket.cast_unsigned());
        let is_own = self.connections.is_of(&key, Some(at.process));
        Event {
            time: rows.clock.ns(at.ticks),
            key,
            protocol: protocols::TCP,
            ends: None,
            process: None,
            thread: is_own.then_some(at.thread),
            stack: if is_own { stack_of(at, rows) } else { None },
        }
    }

    fn transferred<Sink: RowSink>(&mut self, event: &Event, transfer: &Transfer, rows: &mut Rows<'_, Sink>) {
        let (row, again) = self.connections.transferred(event, transfer);
        rows.sink.network_io(&row);
        again.iter().for_each(|again| rows.sink.network_io(again));
    }

    /// All connections that are left.
    pub(crate) fn finish<Sink: RowSink>(mut self, rows: &mut Rows<'_, Sink>) {
        for row in self.connections.finish() {
            rows.sink.connection(&row);
        }
        let dropped = i64::try_from(self.connections.dropped()).unwrap_or(i64::MAX);
        rows.health.add(HealthKind::CONNECTIONS_OVER_BUDGET, dropped, None, || {
            "more connections were open than are followed".to_owned()
        });
    }
}

fn transfer(kind: i8, size: i64, at: &SampleContext<'_>) -> Transfer {
    Transfer { kind, size, cpu: at.cpu_or_none(), ..Transfer::default() }
}
