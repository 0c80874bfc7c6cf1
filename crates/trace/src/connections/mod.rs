//! Connections, from the request or the acceptance to the end, with the figures of their traffic.
//!
//! Some recordings name a connection by the kernel's address of it, others by process and both ends. Either is used again by later
//! connections: a request or an acceptance begins the next life.

mod again;
mod sums;

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::ids::{ConnectionId, ProcessId, StackId, ThreadId};
use crate::open_lives::OpenLives;
use crate::rows::{ConnectionRow, NetworkIoRow, network_io_kinds as kinds};

use again::Seen;
pub use sums::{Told, TrafficSums};

/// Connections that are followed at most. Beyond that the oldest ones make room.
const MAX_FOLLOWED: usize = 1 << 17;
/// Connections that have ended and may still have late events.
const MAX_ENDED: usize = 1 << 12;
/// Delays of retransmissions that are kept for their median, of all connections.
const MAX_DELAYS: usize = 1 << 20;
/// Events may come so much before the request or the acceptance of their connection, ns.
const EARLY: i64 = 1_000_000;

/// Protocols by their numbers.
pub mod protocols {
    /// TCP.
    pub const TCP: i16 = 6;
    /// UDP.
    pub const UDP: i16 = 17;
}

/// An address with a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct End {
    /// The address.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
}

/// Both ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ends {
    /// The own one.
    pub local: End,
    /// That of the other side.
    pub remote: End,
}

/// What names a connection as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// The kernel's address of it.
    Block(u64),
    /// Protocol, process and ends.
    Ends(i16, Option<ProcessId>, Ends),
    /// A process, and the kernel's address of a socket that any number of others may be at the other end of.
    Socket(ProcessId, u64),
}

/// An event of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Nanoseconds since time zero.
    pub time: i64,
    /// What names the connection.
    pub key: Key,
    /// Its protocol.
    pub protocol: i16,
    /// Its ends, where the event or the key tells them.
    pub ends: Option<Ends>,
    /// Its process, where the event tells it.
    pub process: Option<ProcessId>,
    /// The thread that logged the event, of the same process.
    pub thread: Option<ThreadId>,
    /// Stack of the event.
    pub stack: Option<StackId>,
}

/// How a connection comes to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// This side asks for it.
    Requested,
    /// This side has asked for it: more about the same request.
    Proceeding,
    /// The other side asked for it. It may be established already.
    Accepted {
        /// Whether it is established.
        is_established: bool,
    },
    /// It is established.
    Established,
    /// It is there.
    Listed,
}

/// What is known of a connection so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its row.
    pub connection: ConnectionId,
    /// Its process.
    pub process: Option<ProcessId>,
    /// Whether both ends are known.
    pub has_ends: bool,
    /// Whether this side has asked for it and has no answer.
    pub is_requested: bool,
    /// Whether it has ended.
    pub has_ended: bool,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// One of [`connection_ends`](crate::rows::connection_ends).
    pub kind: Option<i8>,
    /// Status.
    pub status: Option<i64>,
    /// Whether it is only the begin of an end: a later event may tell another one.
    pub is_preliminary: bool,
}

/// What the system counted over the life of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Bytes in and out.
    pub bytes: [Option<i64>; 2],
    /// Segments in and out.
    pub segments: [Option<i64>; 2],
    /// Bytes that were sent again.
    pub retransmitted: Option<i64>,
    /// Shortest, usual and longest round-trip time, ns.
    pub rtt: [Option<i64>; 3],
}

/// Data that was transferred, or what befell it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    /// One of [`network_io_kinds`](crate::rows::network_io_kinds).
    pub kind: i8,
    /// Bytes.
    pub size: i64,
    /// Sequence number of the first byte.
    pub sequence: Option<u32>,
    /// First sequence number that the other side has not acknowledged: nothing before it is sent again.
    pub unacknowledged: Option<u32>,
    /// Smoothed round-trip time, ns.
    pub srtt: Option<i64>,
    /// Window of the other side, bytes.
    pub window: Option<i64>,
    /// CPU that logged it.
    pub cpu: i16,
}

/// Follows connections. Fed in the order of time.
#[derive(Debug)]
pub struct Connections {
    followed: OpenLives<Key, Life>,
    /// Keys of connections that have ended, with the connection that they named then, the first end first.
    ended: VecDeque<(Key, ConnectionId)>,
    next: i32,
    finished: Vec<ConnectionRow>,
    told: [Told; 2],
    /// Data whose repetition would be known, of all connections.
    remembered: usize,
    /// Delays of retransmissions that are kept, of all connections that are followed.
    delays: usize,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            followed: OpenLives::new(MAX_FOLLOWED),
            ended: VecDeque::new(),
            next: 0,
            finished: Vec::new(),
            told: Default::default(),
            remembered: 0,
            delays: 0,
        }
    }
}

/// A connection that is followed.
#[derive(Debug)]
struct Life {
    row: ConnectionRow,
    ends: Option<Ends>,
    /// Time of its first event.
    first: i64,
    is_end_preliminary: bool,
    sums: TrafficSums,
    /// Data that was sent and received; `None` before the first one with a sequence number.
    seen: Option<Box<[Seen; 2]>>,
}

impl Life {
    fn tell(&mut self, event: &Event) {
        // Linux has no own port yet where it logs the request.
        if self.ends.is_none_or(|ends| ends.local.port == 0) {
            self.ends = event.ends.or(self.ends);
        }
        self.row.process = self.row.process.or(event.process);
    }

    fn into_row(self, told: Told) -> ConnectionRow {
        let mut row = self.row;
        self.sums.write(told, false, &mut row);
        if let Some(Ends { local, remote }) = self.ends {
            let port = |end: End| Some(end.port.into()).filter(|port| *port != 0);
            (row.local, row.local_port) = (Some(local.address.to_string()), port(local));
            (row.remote, row.remote_port) = (Some(remote.address.to_string()), port(remote));
        }
        row
    }
}

impl Connections {
    /// Says what the recording tells of TCP and of UDP.
    pub fn tells(&mut self, tcp: Told, udp: Told) {
        self.told = [tcp, udp];
    }

    /// A connection comes to be known.
    pub fn opened(&mut self, event: &Event, opening: Opening) {
        let is_new = |life: &Life| {
            let goes_on = life.row.end.is_none();
            match opening {
                // Events of it may have come before.
                Opening::Requested | Opening::Accepted { .. } => {
                    !(goes_on && life.row.start.is_none() && life.first >= event.time.saturating_sub(EARLY))
                }
                Opening::Proceeding | Opening::Established | Opening::Listed => !goes_on,
            }
        };
        if self.followed.get(&event.key).is_some_and(is_new) {
            self.replace(event);
        }
        let life = self.life(event);
        let row = &mut life.row;
        // The request itself may be missing.
        let begins = opening == Opening::Proceeding && life.first == event.time && row.start.is_none();
        if begins || matches!(opening, Opening::Requested | Opening::Accepted { .. }) {
            row.start = Some(event.time);
            row.accepted = Some(matches!(opening, Opening::Accepted { .. }));
            (row.thread, row.stack) = (event.thread, event.stack);
        }
        if matches!(opening, Opening::Established | Opening::Accepted { is_established: true }) {
            row.connected = row.connected.or(Some(event.time));
        }
        // These events name the process of the connection; others are logged by whoever runs.
        if event.process.is_some() {
            row.process = event.process;
        }
        life.ends = event.ends.or(life.ends);
    }

    /// An event tells of a connection, not more than its ends and its process.
    pub fn mentioned(&mut self, event: &Event) {
        self.life(event).tell(event);
    }

    /// A connection ends.
    pub fn ended(&mut self, event: &Event, ending: Ending) {
        let life = self.life(event);
        life.tell(event);
        let is_first = life.row.end.is_none();
        if !is_first && (ending.is_preliminary || !life.is_end_preliminary) {
            return;
        }
        life.is_end_preliminary = ending.is_preliminary;
        let row = &mut life.row;
        row.end = Some(event.time);
        (row.end_kind, row.end_status) = (ending.kind, ending.status);
        let id = row.connection;
        if is_first {
            self.ended.push_back((event.key, id));
            if self.ended.len() > MAX_ENDED
                && let Some((key, id)) = self.ended.pop_front()
            {
                self.finish_connection(key, id);
            }
        }
    }

    /// The congestion template of a connection, with the shortest time-out of a retransmission in ms where the event tells it.
    pub fn templated(&mut self, event: &Event, name: &str, min_rto: Option<u64>) {
        let template = &mut self.life(event).row.template;
        match min_rto {
            Some(ms) => *template = Some(format!("{name}, RTO {ms} ms")),
            // The event that repeats the name does not repeat the time.
            None if template
                .as_ref()
                .and_then(|old| old.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with(',')) => {}
            None => *template = Some(name.to_owned()),
        }
    }

    /// The connection that a key names now.
    #[must_use]
    pub fn named(&self, key: &Key) -> Option<ConnectionId> {
        self.followed.get(key).map(|life| life.row.connection)
    }

    /// What the system counted of a connection. The last count stays.
    pub fn counted(&mut self, event: &Event, counted: &Counted) {
        let life = self.life(event);
        life.tell(event);
        let row = &mut life.row;
        [row.stat_bytes_in, row.stat_bytes_out] = counted.bytes;
        [row.stat_segments_in, row.stat_segments_out] = counted.segments;
        row.stat_retransmitted = counted.retransmitted;
        [row.rtt_min, row.rtt_avg, row.rtt_max] = counted.rtt;
    }

    /// Whether a connection that is followed belongs to a process.
    #[must_use]
    pub fn is_of(&self, key: &Key, process: Option<ProcessId>) -> bool {
        self.followed.get(key).is_some_and(|life| life.row.process == process)
    }

    /// The stage of a connection; `None` where nothing is known of it.
    #[must_use]
    pub fn stage(&self, key: &Key) -> Option<Stage> {
        let Life { row, ends, .. } = self.followed.get(key)?;
        Some(Stage {
            connection: row.connection,
            process: row.process,
            has_ends: ends.is_some_and(|ends| ends.local.port != 0),
            is_requested: row.accepted == Some(false) && row.connected.is_none(),
            has_ended: row.end.is_some(),
        })
    }

    /// Data that was transferred. Gives the row of it, and, where the same data was transferred before and no event of its own tells
    /// so, the row of the repetition.
    pub fn transferred(&mut self, event: &Event, transfer: &Transfer) -> (NetworkIoRow, Option<NetworkIoRow>) {
        let budget = again::budget(self.remembered);
        let keeps = self.delays < MAX_DELAYS;
        let life = self.life(event);
        life.tell(event);
        let mut row = NetworkIoRow {
            time: event.time,
            cpu: transfer.cpu,
            process: life.row.process,
            thread: event.thread,
            stack: event.stack,
            connection: life.row.connection,
            kind: transfer.kind,
            size: transfer.size,
            sequence: transfer.sequence.map(i64::from),
            delay: None,
            srtt: transfer.srtt,
            window: transfer.window,
        };
        let (mut again, mut remembered) = (None, 0);
        if let Some(sequence) = transfer.sequence {
            let [sent, received] = &mut **life.seen.get_or_insert_default();
            let seen = if transfer.kind == kinds::RECEIVED { received } else { sent };
            match transfer.kind {
                kinds::SENT | kinds::RECEIVED => {
                    let before = seen.data(event.time, sequence, transfer, budget);
                    let kind = if transfer.kind == kinds::SENT { kinds::RETRANSMITTED } else { kinds::RECEIVED_AGAIN };
                    again = before.map(|before| NetworkIoRow {
                        kind,
                        delay: Some(event.time.saturating_sub(before)),
                        srtt: None,
                        ..row
                    });
                    remembered = seen.take_change();
                }
                kinds::RETRANSMITTED => {
                    if let Some((before, size)) = seen.announced(sequence) {
                        row.delay = Some(event.time.saturating_sub(before));
                        row.size = if row.size == 0 { size } else { row.size };
                    }
                }
                _ => {}
            }
        }
        let kept = life.sums.kept_delays();
        life.sums.add_within(&row, keeps);
        again.iter().for_each(|again| life.sums.add_within(again, keeps));
        let change = life.sums.kept_delays() as isize - kept as isize;
        self.delays = self.delays.saturating_add_signed(change);
        self.remembered = self.remembered.saturating_add_signed(remembered);
        (row, again)
    }

    /// The rows of connections that are followed no more.
    pub fn finished(&mut self) -> std::vec::Drain<'_, ConnectionRow> {
        self.finished.drain(..)
    }

    /// The end of the recording: all rows that are left.
    pub fn finish(&mut self) -> Vec<ConnectionRow> {
        while let Some(life) = self.followed.oldest() {
            self.finish_life(life);
        }
        std::mem::take(&mut self.finished)
    }

    /// Connections that made room for newer ones before they ended.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.followed.dropped()
    }

    /// The connection of a key, which is new where nothing was known of it.
    fn life(&mut self, event: &Event) -> &mut Life {
        if self.followed.get(&event.key).is_none() {
            self.add(event);
        }
        self.followed.get_mut(&event.key).expect("it was added")
    }

    #[cold]
    fn add(&mut self, event: &Event) {
        // Of those that have ended one makes room first.
        while self.followed.len() >= MAX_FOLLOWED
            && let Some((key, id)) = self.ended.pop_front()
        {
            self.finish_connection(key, id);
        }
        let connection = ConnectionId(self.next);
        self.next = self.next.saturating_add(1);
        let ends = match event.key {
            Key::Ends(_, _, ends) => Some(ends),
            Key::Block(_) | Key::Socket(..) => None,
        };
        let row = ConnectionRow {
            connection,
            protocol: event.protocol,
            process: event.process,
            // UDP has no request: its first use is its start.
            start: (event.protocol == protocols::UDP).then_some(event.time),
            tcb: match event.key {
                Key::Block(address) | Key::Socket(_, address) => Some(address.cast_signed()),
                Key::Ends(..) => None,
            },
            ..ConnectionRow::default()
        };
        let (first, sums) = (event.time, TrafficSums::default());
        let life = Life { row, ends: event.ends.or(ends), first, is_end_preliminary: false, sums, seen: None };
        if let Some(oldest) = self.followed.insert(event.key, None, life) {
            self.finish_life(oldest);
        }
    }

    /// Another connection takes the place of the one with the same key. That one is over, but when it ended is not known better.
    fn replace(&mut self, event: &Event) {
        let Some(life) = self.followed.get_mut(&event.key) else { return };
        life.row.end = life.row.end.or(Some(event.time));
        let id = life.row.connection;
        self.finish_connection(event.key, id);
    }

    /// Takes a connection out, if its key still names it.
    fn finish_connection(&mut self, key: Key, id: ConnectionId) {
        if self.followed.get(&key).is_some_and(|life| life.row.connection == id)
            && let Some(life) = self.followed.remove(&key)
        {
            self.finish_life(life);
        }
    }

    fn finish_life(&mut self, life: Life) {
        let held: usize = life.seen.iter().flat_map(|seen| seen.iter()).map(Seen::len).sum();
        self.remembered = self.remembered.saturating_sub(held);
        self.delays = self.delays.saturating_sub(life.sums.kept_delays());
        let told = self.told[usize::from(life.row.protocol == protocols::UDP)];
        self.finished.push(life.into_row(told));
    }
}

#[cfg(test)]
mod tests;
