//! Calls of sockets: the rows of events that are made from their layouts, against the calls that were written.

use tracesift_etl::class::WINSOCK_AFD;
use tracesift_etl::write::PointerSize;
use tracesift_extract::{EventSelection, Options};
use tracesift_scenario::providers::{self, Logged};
use tracesift_scenario::sockets::{Call, PROCESSES, story};
use tracesift_scenario::tcp::{Conversation, Finish};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{ConnectionRow, EventRow, HealthRow, ProcessRow, SocketCallRow, ThreadRow};

const END: i64 = 10_000_000_000;

fn extracted(pointer_size: PointerSize, events: Vec<Logged>) -> Extracted {
    let bytes = providers::write(pointer_size, 10, &PROCESSES, events).expect("a recording");
    Recording::of("sockets.etl", &bytes).extract()
}

#[test]
fn each_call_has_its_times_bytes_and_status() {
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        let story = story();
        let mut events = Vec::new();
        story.iter().for_each(|call| call.log(pointer_size, &mut events));
        let extracted = extracted(pointer_size, events);
        let rows: Vec<SocketCallRow> = extracted.archive.rows().expect("calls");
        let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
        let threads: Vec<ThreadRow> = extracted.archive.rows().expect("threads");
        assert_eq!(rows.len(), story.len());
        for call in &story {
            let span = (call.start, call.end(END));
            let found: Vec<_> = rows.iter().filter(|row| (row.start, row.time) == span).collect();
            let [row] = found[..] else { panic!("{call:?}\n{found:#?}") };
            assert_eq!(row.status, call.status.map(i64::from), "{call:?}");
            let endpoint = Some(call.endpoint.cast_signed()).filter(|_| call.status.is_some() || call.ids[0] != 1000);
            assert_eq!((row.endpoint, &row.address), (endpoint, &call.told_address()), "{call:?}");
            let moves = matches!(call.operation(), "send" | "receive");
            assert_eq!(row.size, Some(call.size).filter(|_| moves), "{call:?}");
            assert_eq!(row.transferred, call.transferred.filter(|_| moves && call.status == Some(0)), "{call:?}");
            let (pid, tid) = call.caller;
            assert_eq!(row.process.map(|process| processes[process.index()].pid), Some(pid.into()), "{call:?}");
            assert_eq!(row.thread.map(|thread| threads[thread.index()].tid), Some(tid.into()), "{call:?}");
            assert_eq!(row.cpu, (tid % 2) as i16);
        }
        let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
        assert!(!health.iter().any(|row| row.kind.contains("socket") || row.kind.contains("fields")), "{health:?}");
    }
}

/// What the table of calls shows is not kept a second time, unless all events are asked for.
#[test]
fn calls_are_kept_once() {
    let kept = |selection| {
        let mut events = Vec::new();
        story().iter().for_each(|call| call.log(PointerSize::Eight, &mut events));
        let bytes = providers::write(PointerSize::Eight, 10, &PROCESSES, events).expect("a recording");
        let options = Options { events: Some(selection), ..Options::default() };
        let extracted = Recording::of("sockets.etl", &bytes).extract_with(&options);
        assert_eq!(extracted.archive.row_count::<SocketCallRow>(), story().len() as u64);
        let rows: Vec<EventRow> = extracted.archive.rows().expect("events");
        rows.iter().filter_map(|row| row.id).filter(|id| *id >= 1000).collect::<Vec<i32>>()
    };
    let (few, all) = (kept(EventSelection::Default), kept(EventSelection::All));
    assert!(all.len() > story().len(), "{all:?}");
    // The reason of an abort and the number of an option are in no table.
    let stays = |id: &i32| matches!(id, 1001 | 1032 | 1035 | 3000..);
    assert_eq!(few, all.into_iter().filter(stays).collect::<Vec<_>>());
}

/// The payload of a send on a 64-bit system, byte by byte.
#[test]
fn a_payload_is_read_in_both_pointer_sizes_and_cut_at_each_byte() {
    let wide: &[u8] = &[
        1, 0, 0, 0, 0xa0, 0x0f, 0, 0, // end, location
        0x40, 0x50, 0, 0, 0x80, 0xff, 0xff, 0xff, 0x10, 0x20, 0x30, 0x40, 0x80, 0xff, 0xff,
        0xff, // process, endpoint
        1, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x2c, 1, 0, 0, // buffers, address, length 300
        0, 0, 0, 0, // status
    ];
    let narrow: &[u8] = &[
        1, 0, 0, 0, 0xa0, 0x0f, 0, 0, 0x40, 0x50, 0, 0x80, 0x10, 0x20, 0x30,
        0x40, // end, location, process, endpoint
        1, 0, 0, 0, 0, 0x10, 0, 0, 0x2c, 1, 0, 0, 0, 0, 0, 0, // buffers, address, length 300, status
    ];
    for (pointer_size, end, endpoint) in
        [(PointerSize::Eight, wide, 0xffff_ff80_4030_2010_u64), (PointerSize::Four, narrow, 0x4030_2010)]
    {
        let mut begin = end.to_vec();
        begin[0] = 0;
        let event = |time: i64, payload: &[u8]| Logged {
            time,
            cpu: 0,
            provider: WINSOCK_AFD,
            id: 1003,
            version: 0,
            pid: 7,
            tid: 20,
            payload: payload.to_vec(),
        };
        for length in 0..=end.len() {
            let events = vec![event(1_000, &begin), event(5_000, &end[..length])];
            let extracted = extracted(pointer_size, events);
            let rows: Vec<SocketCallRow> = extracted.archive.rows().expect("calls");
            let [row] = &rows[..] else { panic!("{length} bytes: {rows:?}") };
            assert_eq!((row.start, row.size), (1_000, Some(300)));
            assert_eq!(row.endpoint, Some(endpoint.cast_signed()));
            if length == end.len() {
                assert_eq!((row.time, row.transferred, row.status), (5_000, Some(300), Some(0)));
            }
        }
    }
}

/// Which calls used a connection, by the story: a request has the only connection of its process to the address that began in it.
#[test]
fn calls_have_the_connection_that_their_socket_asked_for() {
    const MS: i64 = 1_000_000;
    let talk = |pid: u32, tcb: u64, port: u16, start: i64, seed: u64| Conversation {
        caller: (pid, 20),
        tcb,
        local: ([10, 0, 0, 1], port),
        remote: ([10, 0, 0, 2], 443),
        start: Some(start * MS),
        first_data: (start + 50) * MS,
        segments: 1,
        sequence: 1000,
        seed,
        finish: Finish::Open,
    };
    let (client, server) = ((7, 20), (9, 30));
    let connect = |start: i64, endpoint: u64| Call::new(client, start, 30, [1018, 1017], endpoint);
    let [first, second, third, refused] = [0xffff_a000_u64, 0xffff_b000, 0xffff_c000, 0xffff_d000];
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        // A local port tells which connection a call should have; 0: none.
        let calls = [
            (connect(20, first), 50_000),
            (Call::new(client, 60, 1, [1003, 1003], first).with_data(10, 10), 50_000),
            // Two requests to the address in one call: nobody knows which is its own.
            (connect(200, second), 0),
            (Call::new(client, 260, 1, [1003, 1003], second).with_data(10, 10), 0),
            // Only another process asks for the address.
            (connect(400, third), 0),
            // What failed has its connection, but the socket has none.
            (connect(600, refused).failing(0xc000_0236), 50_005),
            (Call::new(client, 640, 1, [1003, 1003], refused).with_data(10, 0).failing(0xc000_020c), 0),
            // A closed socket has its connection for the last time.
            (Call::new(client, 700, 1, [1002, 1002], first), 50_000),
            (Call::new(client, 710, 1, [1003, 1003], first).with_data(10, 10), 0),
            // The same address again is another socket.
            (connect(800, first), 50_006),
            (Call::new(client, 840, 1, [1004, 1004], first).with_data(10, 10), 50_006),
            (Call::new(server, 900, 1, [1003, 1003], third).with_data(10, 10), 0),
        ];
        let mut events = Vec::new();
        for (pid, port, start) in
            [(7, 50_000, 30), (7, 50_001, 205), (7, 50_002, 210), (9, 50_003, 410), (7, 50_005, 610), (7, 50_006, 810)]
        {
            talk(pid, u64::from(port) << 4, port, start, u64::from(port)).log(pointer_size, &mut events);
        }
        calls.iter().for_each(|(call, _)| call.log(pointer_size, &mut events));
        let extracted = extracted(pointer_size, events);
        let connections: Vec<ConnectionRow> = extracted.archive.rows().expect("connections");
        let rows: Vec<SocketCallRow> = extracted.archive.rows().expect("calls");
        assert_eq!((connections.len(), rows.len()), (6, calls.len()));
        for (call, port) in &calls {
            let row = rows.iter().find(|row| row.start == call.start).expect("a row");
            let of_row = |connection: &&ConnectionRow| Some(connection.connection) == row.connection;
            let found = connections.iter().find(of_row).and_then(|connection| connection.local_port);
            assert_eq!(found.unwrap_or(0), *port, "{call:?}");
        }
    }
}
