use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;

use super::{
    Connections, Counted, EARLY, End, Ending, Ends, Event, Key, MAX_FOLLOWED, Opening, Told, TrafficSums, Transfer,
    protocols,
};
use crate::ids::ProcessId;
use crate::rows::{ConnectionRow, NetworkIoRow, connection_ends, network_io_kinds as kinds};

const TOLD: Told = Told {
    posted: false,
    sent: true,
    received: true,
    retransmits: true,
    delays: true,
    client_retransmits: true,
    keep_alives: true,
    time_outs: true,
};
const SECOND: i64 = 1_000_000_000;

fn event(time: i64, block: u64) -> Event {
    let (key, protocol) = (Key::Block(block), protocols::TCP);
    Event { time, key, protocol, ends: None, process: Some(ProcessId(1)), thread: None, stack: None }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Open(bool),
    Establish,
    List,
    End { is_preliminary: bool, kind: i8 },
    Transfer { kind: i8, size: i64, sequence: u32 },
}

fn step() -> impl Strategy<Value = (i64, u64, Step)> {
    let step = prop_oneof![
        2 => any::<bool>().prop_map(Step::Open),
        1 => Just(Step::Establish),
        1 => Just(Step::List),
        2 => (any::<bool>(), 0..3_i8).prop_map(|(is_preliminary, kind)| Step::End { is_preliminary, kind }),
        8 => (1..4_i8, 0..5_i64, 0..4_u32).prop_map(|(kind, size, sequence)| Step::Transfer { kind, size, sequence: sequence * 10 }),
    ];
    let after = prop_oneof![Just(1), Just(EARLY), Just(EARLY + 1), Just(SECOND)];
    (after, 0..3_u64, step)
}

/// A connection as the naive model has it.
#[derive(Clone, Debug)]
struct Plain {
    block: u64,
    first: i64,
    start: Option<i64>,
    connected: Option<i64>,
    end: Option<(i64, i8, bool)>,
    over: Option<i64>,
    accepted: Option<bool>,
    rows: Vec<NetworkIoRow>,
}

impl Plain {
    /// The time since the same data was transferred before.
    fn delay(&self, time: i64, kind: i8, size: i64, sequence: u32) -> Option<i64> {
        let same = |row: &&NetworkIoRow| row.sequence == Some(sequence.into()) && row.size > 1;
        let of = |kind: i8| self.rows.iter().filter(move |row| row.kind == kind);
        match kind {
            kinds::RETRANSMITTED => of(kinds::SENT).rfind(same).map(|row| time - row.time),
            _ if size <= 1 => None,
            kinds::SENT => {
                let before = of(kinds::SENT).rfind(same)?;
                let is_event = |row: &&NetworkIoRow| row.kind == kinds::RETRANSMITTED && row.window.is_none();
                let told = self.rows.iter().rposition(|row| is_event(&row));
                let announced = told.is_some_and(|told| {
                    let since = &self.rows[told + 1..];
                    self.rows[told].sequence == Some(sequence.into())
                        && !since.iter().any(|row| row.kind == kinds::SENT && same(&row))
                });
                (!announced).then_some(time - before.time)
            }
            _ => {
                let mut base: Option<i64> = None;
                for row in of(kinds::RECEIVED).filter(same) {
                    if base.is_none_or(|base| row.time - base >= 3 * SECOND) {
                        base = Some(row.time);
                    }
                }
                base.map(|base| time - base).filter(|delay| *delay < 3 * SECOND)
            }
        }
    }
}

/// The last connection of a block.
fn last(plain: &mut Vec<Plain>, block: u64, time: i64, is_new: impl Fn(&Plain) -> bool) -> &mut Plain {
    let known = plain.iter().rposition(|life| life.block == block);
    let place = match known {
        Some(place) if !is_new(&plain[place]) => place,
        other => {
            if let Some(place) = other {
                plain[place].over = Some(time);
            }
            let none = Plain {
                block,
                first: time,
                start: None,
                connected: None,
                end: None,
                over: None,
                accepted: None,
                rows: Vec::new(),
            };
            plain.push(none);
            plain.len() - 1
        }
    };
    &mut plain[place]
}

/// The marks of an extra row in the model: its window, which no event here has.
const EXTRA: Option<i64> = Some(-1);

fn follow(plain: &mut Vec<Plain>, time: i64, block: u64, step: Step) -> Option<(NetworkIoRow, Option<NetworkIoRow>)> {
    match step {
        Step::Open(accepted) => {
            let is_new = |life: &Plain| !(life.end.is_none() && life.start.is_none() && time - life.first <= EARLY);
            let life = last(plain, block, time, is_new);
            (life.start, life.accepted) = (Some(time), Some(accepted));
        }
        Step::Establish => {
            let life = last(plain, block, time, |life| life.end.is_some());
            life.connected = life.connected.or(Some(time));
        }
        Step::List => {
            last(plain, block, time, |life| life.end.is_some());
        }
        Step::End { is_preliminary, kind } => {
            let life = last(plain, block, time, |_| false);
            if life.end.is_none_or(|(_, _, was_preliminary)| was_preliminary && !is_preliminary) {
                life.end = Some((time, kind, is_preliminary));
            }
        }
        Step::Transfer { kind, size, sequence } => {
            let place = {
                last(plain, block, time, |_| false);
                plain.iter().rposition(|life| life.block == block).expect("it is there")
            };
            let life = &mut plain[place];
            let delay = life.delay(time, kind, size, sequence);
            let row = NetworkIoRow { time, kind, size, sequence: Some(sequence.into()), ..NetworkIoRow::default() };
            if kind == kinds::RETRANSMITTED {
                let same = |row: &&NetworkIoRow| {
                    row.kind == kinds::SENT && row.sequence == Some(sequence.into()) && row.size > 1
                };
                let before = life.rows.iter().rfind(same).map_or(0, |row| row.size);
                life.rows.push(NetworkIoRow { delay, size: if size == 0 { before } else { size }, ..row });
                return life.rows.last().map(|row| (*row, None));
            }
            life.rows.push(row);
            let again = delay.map(|delay| {
                let kind = if kind == kinds::SENT { kinds::RETRANSMITTED } else { kinds::RECEIVED_AGAIN };
                NetworkIoRow { kind, delay: Some(delay), window: EXTRA, ..row }
            });
            life.rows.extend(again);
            return Some((row, again));
        }
    }
    None
}

proptest! {
    #[test]
    fn connections_are_those_of_a_plain_list(steps in prop::collection::vec(step(), 0..80)) {
        let mut connections = Connections::default();
        connections.tells(TOLD, TOLD);
        let mut plain: Vec<Plain> = Vec::new();
        let mut time = 0;
        for (after, block, step) in steps {
            time += after;
            let expected = follow(&mut plain, time, block, step);
            let event = event(time, block);
            match step {
                Step::Open(true) => connections.opened(&event, Opening::Accepted { is_established: false }),
                Step::Open(false) => connections.opened(&event, Opening::Requested),
                Step::Establish => connections.opened(&event, Opening::Established),
                Step::List => connections.opened(&event, Opening::Listed),
                Step::End { is_preliminary, kind } => {
                    connections.ended(&event, Ending { kind: Some(kind), status: None, is_preliminary });
                }
                Step::Transfer { kind, size, sequence } => {
                    let transfer = Transfer { kind, size, sequence: Some(sequence), ..Transfer::default() };
                    let (row, again) = connections.transferred(&event, &transfer);
                    let (expected, repeated) = expected.expect("a row");
                    prop_assert_eq!((row.kind, row.size, row.delay), (expected.kind, expected.size, expected.delay));
                    let of = |row: NetworkIoRow| (row.kind, row.size, row.delay);
                    prop_assert_eq!(again.map(of), repeated.map(of));
                }
            }
        }
        let mut rows = connections.finish();
        rows.sort_by_key(|row| row.connection);
        prop_assert_eq!(rows.len(), plain.len());
        for (row, life) in rows.iter().zip(&plain) {
            let mut sums = TrafficSums::default();
            life.rows.iter().for_each(|row| sums.add(&NetworkIoRow { window: None, ..*row }));
            let mut expected = ConnectionRow {
                connection: row.connection,
                process: Some(ProcessId(1)),
                protocol: 6,
                tcb: Some(life.block.cast_signed()),
                start: life.start,
                connected: life.connected,
                end: life.end.map(|(end, _, _)| end).or(life.over),
                end_kind: life.end.map(|(_, kind, _)| kind),
                accepted: life.accepted,
                ..ConnectionRow::default()
            };
            sums.write(TOLD, false, &mut expected);
            prop_assert_eq!(row, &expected);
        }
        prop_assert_eq!(connections.dropped(), 0);
    }
}

#[test]
fn ends_name_a_connection_of_udp_from_its_first_use() {
    let end = |last: u8, port: u16| End { address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)), port };
    let ends = Ends { local: end(1, 5000), remote: end(2, 53) };
    let mut connections = Connections::default();
    connections.tells(TOLD, Told { received: false, ..TOLD });
    let key = Key::Ends(protocols::UDP, Some(ProcessId(3)), ends);
    let event = Event { key, protocol: protocols::UDP, process: Some(ProcessId(3)), ..event(7, 0) };
    let sent = Transfer { kind: kinds::SENT, size: 40, ..Transfer::default() };
    let (row, again) = connections.transferred(&event, &sent);
    assert_eq!((row.connection.0, row.process, row.size, again), (0, Some(ProcessId(3)), 40, None));
    let rows = connections.finish();
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.local.as_deref(), row.local_port), (Some("10.0.0.1"), Some(5000)));
    assert_eq!((row.remote.as_deref(), row.remote_port, row.tcb), (Some("10.0.0.2"), Some(53), None));
    assert_eq!((row.start, row.sent, row.received, row.end), (Some(7), Some(40), None, None));
}

#[test]
fn counts_of_the_system_come_after_the_end() {
    let mut connections = Connections::default();
    connections.opened(&event(1, 1), Opening::Requested);
    let reset = Ending { kind: Some(connection_ends::RESET), status: Some(5), is_preliminary: false };
    connections.ended(&event(5, 1), reset);
    let counted = Counted { bytes: [Some(10), Some(20)], rtt: [Some(1), Some(2), Some(3)], ..Counted::default() };
    connections.counted(&event(6, 1), &counted);
    connections.templated(&event(6, 1), "Internet", Some(300));
    connections.templated(&event(6, 1), "Internet", None);
    connections.opened(&event(9, 1), Opening::Requested);
    let finished: Vec<ConnectionRow> = connections.finished().collect();
    let [row] = &finished[..] else { panic!("{finished:?}") };
    assert_eq!((row.end, row.end_kind, row.end_status), (Some(5), Some(connection_ends::RESET), Some(5)));
    assert_eq!((row.stat_bytes_in, row.stat_bytes_out, row.rtt_max), (Some(10), Some(20), Some(3)));
    assert_eq!((row.template.as_deref(), row.sent), (Some("Internet, RTO 300 ms"), None), "nothing tells of traffic");
}

#[test]
fn a_flood_keeps_its_memory() {
    let mut connections = Connections::default();
    let mut rows = 0;
    let many = MAX_FOLLOWED as u64 + 10_000;
    for number in 0..2 * many {
        let time = number.cast_signed();
        // Every second connection ends; one has all kinds of sequence numbers.
        let event = event(time, number / 2);
        let sequence = Some((number as u32).wrapping_mul(0x9e37_79b9));
        let data = Transfer { kind: kinds::SENT, size: 100, sequence, ..Transfer::default() };
        connections.transferred(&event, &data);
        connections.transferred(&Event { key: Key::Block(u64::MAX), ..event }, &data);
        if number % 4 == 1 {
            connections.ended(&event, Ending::default());
        }
        rows += connections.finished().count();
    }
    assert!(connections.followed.len() <= MAX_FOLLOWED);
    let held: usize = connections
        .followed
        .values()
        .flat_map(|life| life.seen.iter())
        .flat_map(|seen| seen.iter())
        .map(super::Seen::len)
        .sum();
    assert_eq!(connections.remembered, held);
    assert!(held <= super::again::MAX_OF_ALL + super::again::MAX_OF_ONE);
    rows += connections.finish().len();
    assert!(rows as u64 >= many, "each connection has a row");
    assert_eq!(connections.remembered, 0);
}
