//! Connections that programs tell of, and that `ss` knows.

use std::collections::BTreeSet;

use tracesift_trace::rows::{
    ConnectionRow, NetworkIoRow, SocketCallRow, connection_ends, network_io_kinds as kinds,
    socket_operations as operations,
};

use super::measured::{ATTEMPTS, Measured, in_one_of_several, record_of, record_words};
use super::talking::{CONNECTS, DATAGRAMS};
use tracesift_fixtures::skipped;

const STATES: &str = "sock:inet_sock_set_state";
const EVENTS: &[&str] = &[
    STATES,
    "sock:sock_send_length",
    "sock:sock_recv_length",
    "tcp:tcp_probe",
    "tcp:tcp_retransmit_skb",
    "tcp:tcp_send_reset",
    "tcp:tcp_receive_reset",
    "tcp:tcp_destroy_sock",
];

/// Tracepoints that this kernel has, as arguments of perf; prints why and gives `None` where some of them are missing.
fn arguments(events: &[&'static str]) -> Option<Vec<&'static str>> {
    let exists = |event: &str| {
        let roots = ["/sys/kernel/tracing/events/", "/sys/kernel/debug/tracing/events/"];
        roots.iter().any(|root| std::path::Path::new(&format!("{root}{}/id", event.replace(':', "/"))).exists())
    };
    if let Some(missing) = events.iter().find(|event| !exists(event)) {
        skipped(&format!("this kernel has no tracepoint {missing}, or may not be recorded"));
        return None;
    }
    Some(["-a", "-g"].into_iter().chain(events.iter().flat_map(|event| ["-e", event])).collect())
}

struct Talked {
    measured: Measured,
    connections: Vec<ConnectionRow>,
    io: Vec<NetworkIoRow>,
}

impl Talked {
    /// A recording with the states of all connections that were requested.
    fn record(events: &[&'static str]) -> Option<Self> {
        for _ in 0..ATTEMPTS {
            let measured = record_of("talking", "talking", &arguments(events)?)?;
            let archive = &measured.extracted.archive;
            let (connections, io) = (archive.rows().unwrap(), archive.rows().unwrap());
            let talked = Self { measured, connections, io };
            if talked.has_all_states() {
                return Some(talked);
            }
        }
        skipped("perf leaves out changes of state, every time");
        None
    }

    /// Whether perf's own text has the request and the answer of each connection of the programs: it leaves out records of idle CPUs
    /// without a word, and the answer comes on any CPU.
    fn has_all_states(&self) -> bool {
        let traced = self.measured.tracepoints();
        let states: Vec<&str> = traced.iter().filter(|line| line.event == STATES).map(|line| &*line.text).collect();
        let requested = self.measured.truth.0.values().filter(|told| told.contains_key("from"));
        requested.filter_map(|told| told.get("port")).all(|port| {
            let answer = states.iter().find(|text| {
                text.contains(&format!("sport={port} "))
                    && text.contains("oldstate=TCP_SYN_SENT newstate=TCP_ESTABLISHED")
            });
            let remote = answer.and_then(|text| text.split_whitespace().find(|word| word.starts_with("dport=")));
            remote.is_some_and(|remote| {
                let remote = format!("{remote} ");
                states.iter().any(|text| text.contains(&remote) && text.contains("newstate=TCP_SYN_SENT"))
            })
        })
    }

    fn told(&self, name: &str, figure: &str) -> i64 {
        self.measured.truth.0[name][figure]
    }

    /// The connection with that own port, and that port of the other side if it is one.
    fn connection(&self, port: i64, accepted: bool) -> &ConnectionRow {
        let port_of = |row: &ConnectionRow| if accepted { row.remote_port } else { row.local_port };
        let is = |row: &&ConnectionRow| row.accepted == Some(accepted) && port_of(row).map(i64::from) == Some(port);
        let found: Vec<_> = self.connections.iter().filter(is).collect();
        let [connection] = found[..] else { panic!("port {port}: {found:?}") };
        connection
    }

    fn pid(&self, row: &ConnectionRow) -> Option<i64> {
        row.process.map(|process| self.measured.extracted.processes[process.index()].pid)
    }

    fn count(&self, row: &ConnectionRow, kind: i8) -> usize {
        self.io.iter().filter(|io| io.connection == row.connection && io.kind == kind).count()
    }

    /// A time of the archive on the clock of the programs.
    fn time(&self, time: Option<i64>) -> i64 {
        time.unwrap() + self.measured.extracted.info.clock_zero
    }

    fn check_requested(&self, name: &str, row: &ConnectionRow) {
        let (from, until) = (self.told(name, "from"), self.told(name, "until"));
        let (start, connected) = (self.time(row.start), self.time(row.connected));
        assert!(from <= start && start <= connected && connected <= until, "{name}: {row:?}");
    }
}

#[test]
fn connections_and_their_bytes_are_those_that_programs_and_ss_tell() {
    in_one_of_several(
        || Talked::record(EVENTS),
        |talked: &Talked| {
            for (client, server) in [("client", "server"), ("client6", "server6")] {
                if !talked.measured.truth.0.contains_key(client) {
                    continue;
                }
                let told = &talked.measured.truth.0[client];
                for (name, accepted) in [(client, false), (server, true)] {
                    let row = talked.connection(told["port"], accepted);
                    let (sent, received) = (talked.told(name, "sent"), talked.told(name, "received"));
                    assert_eq!((row.sent, row.received), (Some(sent), Some(received)), "{name}: {row:?}");
                    assert_eq!(talked.pid(row), Some(talked.told(name, "pid")), "{name}: {row:?}");
                    assert_eq!(row.end_kind, Some(connection_ends::CLOSED), "{name}: {row:?}");
                    assert!(
                        row.start.is_some() && row.connected.is_some() && row.end > row.connected,
                        "{name}: {row:?}"
                    );
                    assert_eq!(
                        (row.retransmits, row.retransmit_delay, row.send_events),
                        (Some(0), None, None),
                        "{name}"
                    );
                    assert!(talked.count(row, kinds::SEGMENT_RECEIVED) > 0 && row.rtt_min > Some(0), "{name}: {row:?}");
                    let address = if client == "client6" { "::1" } else { "127.0.0.1" };
                    assert_eq!((row.local.as_deref(), row.remote.as_deref()), (Some(address), Some(address)));
                }
                let row = talked.connection(told["port"], false);
                talked.check_requested(client, row);
                assert_eq!((row.posted_events, row.remote_port.map(i64::from)), (Some(10), Some(told["remote"])));
                let own =
                    talked.io.iter().filter(|io| io.connection == row.connection && io.kind == kinds::SEND_POSTED);
                assert!(
                    own.clone().all(|io| io.thread.is_some() && io.stack.is_some()),
                    "{:?}",
                    own.collect::<Vec<_>>()
                );
                if let Some(acked) = told.get("acked") {
                    assert_eq!((row.sent, row.received), (Some(*acked), Some(told["got"])), "ss: {row:?}");
                    assert_eq!(row.retransmits, Some(told["again"]), "ss: {row:?}");
                    // The kernel smooths it: each acknowledgement changes it by an eighth of the difference, and the last one comes
                    // behind the last sample. So it may lie outside of the samples by half.
                    let (least, most) = row.rtt_min.zip(row.rtt_max).expect("samples");
                    assert!((least / 2..=most * 3 / 2).contains(&told["rtt"]), "ss: {} ns, {row:?}", told["rtt"]);
                }
            }
        },
    );
}

#[test]
fn a_reset_a_refusal_and_a_lost_request_are_told_apart() {
    in_one_of_several(
        || Talked::record(EVENTS),
        |talked: &Talked| {
            let port = talked.told("reset", "port");
            let (client, server) = (talked.connection(port, false), talked.connection(port, true));
            assert_eq!((client.end_kind, client.sent), (Some(connection_ends::RESET), Some(100)), "{client:?}");
            assert_eq!((server.end_kind, server.received), (Some(connection_ends::ABORTED), Some(100)), "{server:?}");
            assert_eq!((talked.count(client, kinds::RESET_RECEIVED), talked.count(server, kinds::RESET_SENT)), (1, 1));
            let remote = Some(talked.told("refused", "remote"));
            let refused: Vec<_> =
                talked.connections.iter().filter(|row| row.remote_port.map(i64::from) == remote).collect();
            let [refused] = refused[..] else { panic!("{refused:?}") };
            assert_eq!((refused.end_kind, refused.connected), (Some(connection_ends::REFUSED), None), "{refused:?}");
            assert_eq!(talked.pid(refused), Some(talked.told("refused", "pid")));
            assert!(refused.local_port.is_some_and(|port| port != 0), "{refused:?}");
            // The request that found no place was sent again, a second later, and until it was heard.
            let late = talked.connection(talked.told("late", "port"), false);
            talked.check_requested("late", late);
            let again = i64::try_from(talked.count(late, kinds::RETRANSMITTED)).unwrap();
            assert!(again > 0 && late.retransmits == Some(again), "{late:?}");
            assert_eq!(late.connected.unwrap() - late.start.unwrap() > 900_000_000, again > 0, "{late:?}");
        },
    );
}

#[test]
fn requests_take_as_long_as_programs_measure() {
    in_one_of_several(
        || Talked::record(&EVENTS[..1]),
        |talked: &Talked| {
            let mut more = Vec::new();
            for number in 0..CONNECTS {
                let name = format!("connect{number}");
                let row = talked.connection(talked.told(&name, "port"), false);
                talked.check_requested(&name, row);
                let told = talked.told(&name, "until") - talked.told(&name, "from");
                more.push(told - (row.connected.unwrap() - row.start.unwrap()));
                assert_eq!((row.sent, row.received, row.retransmits), (None, None, None), "nothing tells: {row:?}");
            }
            // Whoever takes the CPU from the program makes only its own figure larger.
            let least = more.iter().min().unwrap();
            assert!((0..50_000).contains(least), "{more:?}");
        },
    );
}

#[test]
fn without_events_of_processes_segments_count() {
    in_one_of_several(
        || Talked::record(&[STATES, "tcp:tcp_probe"]),
        |talked: &Talked| {
            let row = talked.connection(talked.told("client", "port"), true);
            // The last segments come when the state is another one, which the event leaves out; here the client sends before that.
            assert_eq!((row.received, row.sent), (Some(talked.told("server", "received")), None), "{row:?}");
        },
    );
}

#[test]
fn datagrams_belong_to_processes() {
    in_one_of_several(
        || Talked::record(EVENTS),
        |talked: &Talked| {
            let (bytes, times) = DATAGRAMS;
            let total = Some((bytes * times).try_into().unwrap());
            let pid = talked.told("datagrams", "pid");
            let is = |row: &&ConnectionRow| row.protocol == 17 && talked.pid(row) == Some(pid);
            let rows: Vec<_> = talked.connections.iter().filter(is).collect();
            let [row] = rows[..] else { panic!("{rows:?}") };
            assert_eq!((row.received, row.sent, row.receive_events), (total, Some(0), Some(3)), "{row:?}");
            assert_eq!((row.local.as_ref(), row.remote_port), (None, None), "the events tell no addresses");
            let client = talked.told("client", "pid");
            let is = |row: &&ConnectionRow| row.protocol == 17 && talked.pid(row) == Some(client);
            let sent: Vec<_> = talked.connections.iter().filter(is).map(|row| (row.sent, row.send_events)).collect();
            assert_eq!(sent, [(total, Some(3))]);
        },
    );
}

/// Calls that the standard library makes for connections.
const CALLS: &[&str] = &["socket", "connect", "accept4", "sendto", "recvfrom", "setsockopt", "shutdown"];

#[test]
fn calls_of_sockets_move_what_the_programs_tell() {
    let calls: Vec<String> =
        CALLS.iter().flat_map(|call| ["enter", "exit"].map(|side| format!("syscalls:sys_{side}_{call}"))).collect();
    let calls: Vec<&'static str> = calls.into_iter().map(|call| &*call.leak()).collect();
    in_one_of_several(
        || Talked::record(&[&EVENTS[..3], &calls].concat()),
        |talked: &Talked| {
            let rows: Vec<SocketCallRow> = talked.measured.extracted.archive.rows().unwrap();
            let port = talked.told("client", "port");
            for (name, accepted) in [("client", false), ("server", true)] {
                let connection = talked.connection(port, accepted);
                let of = |operation: i8| {
                    let is = move |row: &&SocketCallRow| {
                        row.connection == Some(connection.connection)
                            && row.operation == operation
                            && row.status == Some(0)
                    };
                    rows.iter().filter(is)
                };
                let moved = |operation: i8| of(operation).filter_map(|row| row.transferred).sum::<i64>();
                assert_eq!(moved(operations::SEND), talked.told(name, "sent"), "{name}");
                assert_eq!(moved(operations::RECEIVE), talked.told(name, "received"), "{name}");
                assert!(
                    of(operations::SEND).all(|row| row.process == connection.process && row.size == row.transferred)
                );
                assert_eq!(of(operations::CONNECT).count(), usize::from(!accepted), "{name}");
                let endpoints: BTreeSet<_> =
                    of(operations::SEND).chain(of(operations::RECEIVE)).map(|row| row.endpoint).collect();
                assert_eq!(endpoints.len(), 1, "{name}: {endpoints:?}");
            }
            // The request is answered while its call waits.
            let requested = talked.connection(port, false);
            let call = rows
                .iter()
                .find(|row| row.operation == operations::CONNECT && row.connection == Some(requested.connection));
            let call = call.unwrap();
            assert!(Some(call.start) <= requested.start && requested.connected <= Some(call.time), "{call:?}");
            assert!(talked.told("client", "from") <= talked.time(Some(call.start)), "{call:?}");
            assert!(talked.time(Some(call.time)) <= talked.told("client", "until"), "{call:?}");
            let failed = rows.iter().filter(|row| row.operation == operations::CONNECT && row.status == Some(111));
            assert_eq!(failed.count(), 1, "one request is refused");
        },
    );
}

#[test]
fn lost_packets_are_sent_again() {
    // A queue that is too short for a burst loses packets, also where the kernel has no netem.
    const NETWORK: &str = "ip link set lo up mtu 1500 && tc qdisc add dev lo root tbf rate 100mbit burst 5kb limit 8kb";
    let Some(arguments) = arguments(EVENTS) else { return };
    let tried = std::process::Command::new("unshare").args(["-n", "sh", "-c", NETWORK]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        return skipped("no network of its own that loses packets");
    }
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let script = format!("{NETWORK} && exec '{program}' --exact known::talking::losing --ignored --nocapture");
    in_one_of_several(|| record_words(&["unshare", "-n", "sh", "-c", &script], &arguments), check_losses);
}

fn check_losses(measured: &Measured) {
    let told = &measured.truth.0["sender"];
    let connections: Vec<ConnectionRow> = measured.extracted.archive.rows().unwrap();
    let is = |row: &&ConnectionRow| {
        row.accepted == Some(false)
            && row.local_port.map(i64::from) == Some(told["port"])
            && row.sent == Some(told["sent"])
    };
    let found: Vec<_> = connections.iter().filter(is).collect();
    let [sender] = found[..] else { panic!("{told:?}: {connections:?}") };
    // An event can be several segments at once.
    let again = sender.retransmits.unwrap();
    assert!(again <= told["again"] && (again > 0) == (told["again"] > 0), "{again} of {told:?}");
    let io: Vec<NetworkIoRow> = measured.extracted.archive.rows().unwrap();
    let rows = io.iter().filter(|io| io.connection == sender.connection && io.kind == kinds::RETRANSMITTED);
    assert_eq!(i64::try_from(rows.count()).unwrap(), again);
}
