//! Connections: the rows of events that are made from their layouts, against the connections that were written.

use tracesift_etl::payload::{KERNEL_NETWORK, TCPIP};
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;
use tracesift_extract::{EventSelection, Options};
use tracesift_scenario::providers::{self, Logged};
use tracesift_scenario::tcp::{Conversation, Figures, Finish};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{
    ConnectionRow, EventRow, HealthRow, NetworkIoRow, ProcessRow, connection_ends as ends, network_io_kinds as kinds,
};

const MS: i64 = 1_000_000;
const PROCESSES: [(u32, &str); 2] = [(7, "client.exe"), (9, "server.exe")];

fn extracted(pointer_size: PointerSize, events: Vec<Logged>) -> Extracted {
    let bytes = providers::write(pointer_size, 120, &PROCESSES, events).expect("a recording");
    Recording::of("net.etl", &bytes).extract()
}

fn conversation(seed: u64) -> Conversation {
    Conversation {
        caller: (7, 12),
        tcb: 0x8765_4000,
        local: ([10, 0, 0, 1], 50_000),
        remote: ([10, 0, 0, 2], 443),
        start: Some(100 * MS),
        first_data: 200 * MS,
        segments: 60,
        // The numbers wrap around on the way.
        sequence: u32::MAX - 20_000,
        seed,
        finish: Finish::Closed,
    }
}

/// The rate of bursts, by floating point.
fn rate(packets: &[(i64, i64)]) -> Option<f64> {
    let (mut weighted, mut weight) = (0.0, 0.0);
    for burst in packets.chunk_by(|a, b| b.0 - a.0 <= 350 * MS) {
        let seconds = (burst[burst.len() - 1].0 - burst[0].0) as f64 / 1e9;
        let bytes = burst.iter().map(|(_, size)| *size as f64).sum::<f64>();
        if seconds > 0.0 {
            weighted += bytes * bytes / seconds;
            weight += bytes;
        }
    }
    (weight > 0.0).then(|| weighted / weight)
}

fn check(row: &ConnectionRow, of: &Conversation, figures: &Figures) {
    let count = |list: &[(i64, i64)]| Some(list.len() as i64);
    assert_eq!((row.sent, row.received), (Some(figures.sent), Some(figures.received)));
    assert_eq!((row.send_events, row.receive_events), (count(&figures.sends), count(&figures.receives)));
    assert_eq!((row.start, row.connected, row.end), (of.start, figures.connected, figures.end));
    assert_eq!(row.retransmits, count(&figures.retransmits));
    let delays = figures.retransmits.iter().map(|(_, delay)| *delay);
    assert_eq!((row.retransmit_delay, row.retransmit_delay_max), (Some(delays.clone().sum()), delays.max()));
    let mut delays: Vec<i64> = figures.retransmits.iter().map(|(_, delay)| *delay).collect();
    delays.sort_unstable();
    let middle = [(delays.len() - 1) / 2, delays.len() / 2].map(|at| delays[at]);
    assert_eq!(row.retransmit_delay_min, delays.first().copied());
    assert_eq!(row.retransmit_delay_median, Some((middle[0] + middle[1]) / 2));
    assert_eq!(row.retransmit_time_outs, None, "the recording has no time-out");
    assert_eq!(row.client_retransmits, count(&figures.received_again));
    assert_eq!(row.last_sent, figures.sends.last().map(|(time, _)| *time));
    let gap = |list: &[(i64, i64)]| list.windows(2).map(|pair| pair[1].0 - pair[0].0).max();
    assert_eq!((row.max_send_gap, row.max_receive_gap), (gap(&figures.sends), gap(&figures.receives)));
    for (found, packets) in [(row.send_rate, &figures.sends), (row.receive_rate, &figures.receives)] {
        let (found, expected) = (found.expect("a rate") as f64, rate(packets).expect("a rate"));
        assert!((found - expected).abs() <= 1.0, "{found} {expected}");
    }
    let [a, b, c, d] = of.local.0;
    assert_eq!(row.local, Some(format!("{a}.{b}.{c}.{d}")));
    assert_eq!((row.local_port, row.remote_port), (Some(of.local.1.into()), Some(of.remote.1.into())));
    assert_eq!((row.tcb, row.protocol), (Some(of.tcb.cast_signed()), 6));
}

#[test]
fn losses_and_rates_of_generated_connections_are_found() {
    for (seed, pointer_size) in [(1, PointerSize::Four), (2, PointerSize::Eight), (3, PointerSize::Eight)] {
        let first = conversation(seed);
        let was_there = Conversation {
            caller: (9, 20),
            tcb: 0x8765_5000,
            local: ([10, 0, 0, 1], 50_001),
            start: None,
            seed: seed + 10,
            finish: Finish::Reset,
            ..first.clone()
        };
        // The kernel uses the place of a connection again.
        let next = Conversation {
            local: ([10, 0, 0, 1], 50_002),
            start: Some(60_000 * MS),
            first_data: 60_100 * MS,
            seed: seed + 20,
            finish: Finish::TimedOut,
            ..first.clone()
        };
        let mut events = Vec::new();
        let all = [first, was_there, next];
        let figures: Vec<Figures> = all.iter().map(|one| one.log(pointer_size, &mut events)).collect();
        assert!(figures.iter().all(|of| of.retransmits.len() > 3 && of.received_again.len() > 2), "{figures:?}");
        let extracted = extracted(pointer_size, events);
        let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
        let mut rows: Vec<ConnectionRow> = extracted.archive.rows().expect("connections");
        rows.sort_by_key(|row| row.local_port);
        assert_eq!(rows.len(), 3);
        for ((row, of), figures) in rows.iter().zip(&all).zip(&figures) {
            check(row, of, figures);
            assert_eq!((row.stat_bytes_out, row.stat_bytes_in), (Some(figures.sent + 1), Some(figures.received + 2)));
            assert_eq!((row.stat_segments_out, row.stat_segments_in), (Some(30), Some(40)));
            assert_eq!(row.stat_retransmitted, Some(777));
            assert_eq!((row.rtt_min, row.rtt_avg, row.rtt_max), (Some(19 * MS), Some(21 * MS), Some(300 * MS)));
        }
        let name = |row: &ConnectionRow| row.process.map(|process| processes[process.index()].name.as_str());
        assert_eq!([name(&rows[0]), name(&rows[2])], [Some("client.exe"); 2]);
        assert_eq!(rows[0].template.as_deref(), Some("Datacenter, RTO 20 ms"));
        assert_eq!(
            [0, 1, 2].map(|row: usize| rows[row].end_kind),
            [ends::CLOSED, ends::RESET, ends::SEND_TIMED_OUT].map(Some)
        );
        assert_eq!([0, 1, 2].map(|row: usize| rows[row].accepted), [Some(false), None, Some(false)]);
        let io: Vec<NetworkIoRow> = extracted.archive.rows().expect("operations");
        for (row, figures) in rows.iter().zip(&figures) {
            let of = |kind: i8| io.iter().filter(move |io| io.connection == row.connection && io.kind == kind);
            let list = |kind: i8| of(kind).map(|io| (io.time, io.delay.expect("a delay"))).collect::<Vec<_>>();
            assert_eq!(list(kinds::RETRANSMITTED), figures.retransmits);
            assert_eq!(list(kinds::RECEIVED_AGAIN), figures.received_again);
            assert_eq!(of(kinds::SENT).map(|io| io.size).sum::<i64>(), figures.sent);
        }
        assert!(io.is_sorted_by_key(|io| io.time));
    }
}

/// Data that is not acknowledged in time: TCPIP 1069, field by field as its layout has it.
#[test]
fn a_time_out_of_a_retransmission_is_an_operation_of_its_connection() {
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        let of = conversation(4);
        let mut events = Vec::new();
        of.log(pointer_size, &mut events);
        let time_out = |time: i64, length: usize| {
            let mut payload = Bytes::new(pointer_size);
            payload.pointer(of.tcb);
            // Cwnd, SSThresh, RttSample, NumBytes, SeqNo, SndUna, Round, SRTT, RTO, DWnd, BaseRtt, DupAckCount
            [10, 20, 30, 1460, 5000, 4000, 7, 21, 300, 0, 19, 0].iter().for_each(|field| payload.u32(*field));
            let mut payload = payload.into_vec();
            payload.truncate(length);
            Logged { time, cpu: 0, provider: TCPIP, id: 1069, version: 0, pid: 4, tid: 8, payload }
        };
        let times = [of.first_data + 7_000, of.first_data + 1_009_000];
        events.extend(times.map(|time| time_out(time, usize::MAX)));
        events.push(time_out(of.first_data + 2_000_000, 6));
        let extracted = extracted(pointer_size, events);
        let row: ConnectionRow = extracted.archive.rows().expect("connections").remove(0);
        assert_eq!(row.retransmit_time_outs, Some(2));
        let io: Vec<NetworkIoRow> = extracted.archive.rows().expect("operations");
        let found: Vec<_> = io.iter().filter(|io| io.kind == kinds::RETRANSMIT_TIME_OUT).collect();
        assert_eq!(found.iter().map(|io| io.time).collect::<Vec<_>>(), times);
        assert!(found.iter().all(|io| (io.size, io.sequence, io.delay) == (0, Some(4000), None)), "{found:?}");
        assert!(found.iter().all(|io| io.connection == row.connection));
    }
}

/// What the tables of connections say of each packet is not said again in the table of events.
#[test]
fn traffic_is_no_event_unless_all_are_kept() {
    let log = || {
        let mut events = Vec::new();
        conversation(1).log(PointerSize::Eight, &mut events);
        events
    };
    let kept = |selection| {
        let bytes = providers::write(PointerSize::Eight, 120, &PROCESSES, log()).expect("a recording");
        let options = Options { events: Some(selection), ..Options::default() };
        let extracted = Recording::of("net.etl", &bytes).extract_with(&options);
        let rows: Vec<EventRow> = extracted.archive.rows().expect("events");
        rows.iter().filter_map(|row| row.id).filter(|id| *id > 1000).collect::<Vec<i32>>()
    };
    let traffic = |id: &i32| matches!(id, 1074 | 1159 | 1160 | 1332);
    let (few, all) = (kept(EventSelection::Default), kept(EventSelection::All));
    assert!(all.iter().filter(|id| traffic(id)).count() > 60, "{all:?}");
    // Rare ones stay, since an instant may be sought by them.
    assert_eq!(few, all.into_iter().filter(|id| !traffic(id)).collect::<Vec<_>>());
    assert!(few.contains(&1002), "{few:?}");
}

/// A packet as Kernel-Network logs it.
fn packet(time: i64, id: u16, pid: u32, size: u32, (local, remote): (u16, u16), pointer_size: PointerSize) -> Logged {
    let mut payload = Bytes::new(pointer_size);
    payload.u32(pid);
    payload.u32(size);
    payload.bytes(&[10, 0, 0, 2, 10, 0, 0, 1]);
    payload.u16(remote.swap_bytes());
    payload.u16(local.swap_bytes());
    if id == 10 {
        payload.zeros(8);
    }
    payload.u32(0);
    payload.pointer(0);
    Logged { time, cpu: 0, provider: KERNEL_NETWORK, id, version: 0, pid: 4, tid: 8, payload: payload.into_vec() }
}

#[test]
fn connections_without_an_address_in_the_kernel_are_those_of_their_ends() {
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        let event =
            |time: i64, id: u16, size: u32, ports: (u16, u16)| packet(time * MS, id, 7, size, ports, pointer_size);
        let mut events = vec![
            event(10, 12, 0, (50_000, 80)),
            event(11, 10, 100, (50_000, 80)),
            event(12, 11, 2000, (50_000, 80)),
            event(13, 14, 100, (50_000, 80)),
            event(14, 13, 0, (50_000, 80)),
            event(15, 11, 7, (50_000, 80)),
            event(20, 15, 0, (50_000, 80)),
            event(21, 11, 9, (50_000, 80)),
            event(30, 11, 50, (50_001, 80)),
            event(31, 42, 60, (5000, 53)),
            // The source of a received datagram is the other side.
            event(32, 43, 70, (53, 5000)),
            packet(33 * MS, 11, 9, 5, (50_001, 80), pointer_size),
        ];
        let mut cut = event(34, 10, 1, (1, 1));
        cut.payload.truncate(19);
        events.push(cut);
        let extracted = extracted(pointer_size, events);
        let mut rows: Vec<ConnectionRow> = extracted.archive.rows().expect("connections");
        rows.sort_by_key(|row| row.connection);
        let [first, second, third, udp, other, of_server] = &rows[..] else { panic!("{rows:#?}") };
        let ms = |time: i64| Some(time * MS);
        assert_eq!((first.start, first.end, first.end_kind), (ms(10), ms(14), Some(ends::CLOSED)));
        assert_eq!((first.sent, first.received, first.retransmits), (Some(100), Some(2007), Some(1)), "late data, too");
        assert_eq!((first.accepted, first.posted_events, first.client_retransmits), (Some(false), None, None));
        assert_eq!((second.start, second.end, second.accepted, second.received), (ms(20), None, Some(true), Some(9)));
        assert_eq!((third.start, third.end, third.received), (None, None, Some(50)));
        assert_eq!((udp.protocol, udp.start, udp.sent, udp.local_port), (17, ms(31), Some(60), Some(5000)));
        assert_eq!((udp.received, udp.remote_port), (Some(0), Some(53)));
        assert_eq!(other.protocol, 17);
        assert_eq!((other.received, other.local_port, other.remote_port), (Some(70), Some(5000), Some(53)));
        assert_eq!((of_server.received, of_server.local_port), (Some(5), Some(50_001)), "of another process");
        let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
        assert_eq!(health.iter().find(|row| row.kind == "undecodable_payload").map(|row| row.count), Some(1));
    }
}

#[test]
fn the_richer_source_tells_and_the_other_one_is_counted() {
    let mut events = Vec::new();
    let figures = conversation(5).log(PointerSize::Eight, &mut events);
    events.push(packet(300 * MS, 10, 7, 100, (50_000, 443), PointerSize::Eight));
    events.push(packet(301 * MS, 42, 7, 60, (5000, 53), PointerSize::Eight));
    let extracted = extracted(PointerSize::Eight, events.clone());
    let rows: Vec<ConnectionRow> = extracted.archive.rows().expect("connections");
    let sent =
        |protocol: i16| rows.iter().filter(|row| row.protocol == protocol).filter_map(|row| row.sent).sum::<i64>();
    assert_eq!((sent(6), sent(17)), (figures.sent, 60));
    let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
    assert_eq!(health.iter().find(|row| row.kind == "other_network_source").map(|row| row.count), Some(1));

    // Without the operations the connections have the same figures.
    let bytes = providers::write(PointerSize::Eight, 120, &PROCESSES, events).expect("a recording");
    let options = Options { tables: "!network_io".parse().expect("tables"), ..Options::default() };
    let without = Recording::of("net.etl", &bytes).extract_with(&options);
    assert_eq!(without.archive.rows::<ConnectionRow>().expect("connections"), rows);
    assert!(!without.archive.path().join("network_io.parquet").exists());
}
