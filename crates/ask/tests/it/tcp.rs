//! `dump tcp` and `dump udp`: real recordings against their single events, and parts of generated connections against lists.

use std::collections::{BTreeMap, BTreeSet};

use tempfile::TempDir;
use tracesift_ask::answer::{Outcome, Value};
use tracesift_ask::events::EventFilter;
use tracesift_ask::order::Between;
use tracesift_ask::question::tcp::{Order, retransmits};
use tracesift_ask::question::{tcp, udp};
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask, When, ask};
use tracesift_etl::write::PointerSize;
use tracesift_extract::{EventSelection, Options};
use tracesift_fixtures::cases;
use tracesift_scenario::providers;
use tracesift_scenario::tcp::{Conversation, Figures, Finish};
use tracesift_testing::archive::{create, finish};
use tracesift_testing::recording::{Recording, try_extract};
use tracesift_trace::rows::{ConnectionRow, DnsQueryRow, FrameRow, StackRow, SymbolRow};
use tracesift_trace::{ConnectionId, FrameId, StackId};

use crate::recorded;

const MS: i64 = 1_000_000;

/// A host is the name of the last answer with the address before the connection began.
#[test]
fn hosts_have_the_names_of_answers() {
    let directory = TempDir::new().expect("a directory");
    let mut writer = create(&directory.path().join("hosts.sift"));
    let query = |time: i64, name: &str, results: &str| DnsQueryRow {
        time,
        start: time - 1,
        name: name.to_owned(),
        results: Some(results.to_owned()),
        ..DnsQueryRow::default()
    };
    writer.write_table(&[
        query(10, "a.example", "10.0.0.2;::ffff:10.0.0.3;"),
        query(50, "b.example", "type: 5 c.example;10.0.0.2;"),
        query(60, "v6.example", "fe80::7"),
    ]);
    let connection = |number: i32, remote: &str, start: Option<i64>, stack: Option<i32>| ConnectionRow {
        connection: ConnectionId(number),
        protocol: 6,
        remote: Some(remote.to_owned()),
        remote_port: Some(443),
        start,
        sent: Some(1 << number),
        stack: stack.map(StackId),
        ..ConnectionRow::default()
    };
    writer.write_table(&[
        connection(0, "10.0.0.2", Some(5), Some(0)),
        connection(1, "10.0.0.2", Some(10), Some(0)),
        connection(2, "10.0.0.2", Some(70), Some(1)),
        connection(3, "10.0.0.3", Some(70), None),
        connection(4, "fe80::7", Some(70), Some(1)),
        connection(5, "10.0.0.2", None, Some(1)),
    ]);
    let symbol = |frame: i32, function: &str| SymbolRow {
        frame: FrameId(frame),
        module: Some("app.exe".to_owned()),
        function: function.to_owned(),
        ..SymbolRow::default()
    };
    writer.write_table(&[0, 1, 2].map(|frame| FrameRow { frame: FrameId(frame), ..FrameRow::default() }));
    writer.write_table(&[symbol(0, "Main"), symbol(1, "Upload"), symbol(2, "Poll")]);
    let stack = |stack: i32| StackRow { stack: StackId(stack), frames: vec![FrameId(stack + 1), FrameId(0)] };
    writer.write_table(&[stack(0), stack(1)]);
    let source = Source::archive(finish(writer));
    let sent = |question: &tcp::Question, key: &str| {
        let rows = values(&asked(&source, question, ".."), [key, "sent_bytes"]);
        let pair = |[name, sent]: &[Value; 2]| match name {
            Value::Text(name) => (name.clone(), number(sent)),
            Value::List(lines) => (lines.join("|"), number(sent)),
            other => panic!("{other:?}"),
        };
        rows.iter().map(pair).collect::<BTreeMap<String, i64>>()
    };
    let by = |name: &str| tcp::Question::default().by(&[name]).expect("a dimension");
    let expected = [("10.0.0.2", 1 + 32), ("a.example", 2 + 8), ("b.example", 4), ("v6.example", 16)];
    assert_eq!(sent(&by("host"), "host"), expected.map(|(host, sent)| (host.to_owned(), sent)).into());
    let expected = [("(no stack)", 8), ("app.exe!Poll", 4 + 16 + 32), ("app.exe!Upload", 1 + 2)];
    assert_eq!(sent(&by("method"), "method"), expected.map(|(host, sent)| (host.to_owned(), sent)).into());
    let stacks = sent(&by("stack"), "stack");
    assert_eq!(stacks.values().copied().collect::<BTreeSet<i64>>(), [8, 52, 3].into());
    assert!(
        stacks.keys().any(|stack| stack.contains("app.exe!Upload") && stack.contains("app.exe!Main")),
        "{stacks:?}"
    );
    let of_upload = by("host").matching("--methods", "Upload").expect("an option");
    assert_eq!(sent(&of_upload, "host"), [("10.0.0.2", 1), ("a.example", 2)].map(|(h, s)| (h.to_owned(), s)).into());
}

fn asked(source: &Source, question: &dyn Ask, time: &str) -> Outcome {
    let when = When { time: time.parse().expect("a range"), ..When::default() };
    let outcome = ask(std::slice::from_ref(source), question, &when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome
}

fn values<const N: usize>(outcome: &Outcome, keys: [&str; N]) -> Vec<[Value; N]> {
    let at = keys.map(|key| {
        outcome.answer.columns.iter().position(|column| column.key == key).unwrap_or_else(|| panic!("no {key}"))
    });
    outcome.answer.rows().map(|row| at.map(|at| row[at].clone())).collect()
}

fn number(value: &Value) -> i64 {
    match value {
        Value::Int(number) => *number,
        other => panic!("{other:?}"),
    }
}

/// Packets and bytes, received and sent.
type Sums = [i64; 4];

/// The sums by protocol and pid, and the number of pairs of ends, as single events tell.
fn told(recording: &std::path::Path) -> (BTreeMap<(bool, i64), Sums>, [usize; 2]) {
    let mut sums: BTreeMap<(bool, i64), Sums> = BTreeMap::new();
    let mut ends: [BTreeSet<(i64, String)>; 2] = Default::default();
    recorded::events(recording, &EventFilter::default(), |event| {
        let is_provider = event.provider == "Microsoft-Windows-Kernel-Network";
        let is_udp = event.event.starts_with("UdpIp/") || event.event.starts_with("KERNEL_NETWORK_TASK_UDPIP");
        if !is_provider && !event.event.starts_with("TcpIp/") && !is_udp {
            return;
        }
        let mut json = String::new();
        event.fields.write_json(&mut json);
        let fields: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let name = event.event.rsplit('/').next().unwrap_or_default();
        let is_receive = name.starts_with("Recv") || name.starts_with("Datareceived");
        let is_send = name.starts_with("Send") || name.starts_with("Datasent");
        let pid = fields["PID"].as_i64().expect("a pid");
        let sums = sums.entry((is_udp, pid)).or_default();
        let at = if is_receive { 0 } else { 2 };
        if is_receive || is_send {
            sums[at] += 1;
            sums[at + 1] += fields["size"].as_i64().expect("a size");
        }
        let end = |address: &str, port: &str| format!("{} {}", fields[address], fields[port]);
        let (source, destination) = (end("saddr", "sport"), end("daddr", "dport"));
        let pair = if is_udp && is_receive { [destination, source] } else { [source, destination] };
        ends[usize::from(is_udp)].insert((pid, pair.join(" ")));
    });
    (sums, ends.map(|ends| ends.len()))
}

#[test]
fn real_recordings_have_the_sums_of_their_events() {
    let Some(cases) = cases("etl") else { return };
    for name in ["KernelNetwork.etl", "net.4.5.2.x64.etl.zip", "net.4.5.2.x86.etl.zip"] {
        let recording = cases.join(name);
        let (expected, ends) = told(&recording);
        let out = TempDir::new().expect("a directory");
        let options =
            Options { out: Some(out.path().to_owned()), events: Some(EventSelection::None), ..Options::default() };
        let source = Source::archive(try_extract(&recording, &options).expect("extracted").remove(0).archive);
        let mut found: BTreeMap<(bool, i64), Sums> = BTreeMap::new();
        let keys = ["pid", "received_packets", "received_bytes", "sent_packets", "sent_bytes"];
        let tcp = tcp::Question::default().by(&["process"]).expect("a dimension");
        let udp = udp::Question::default().by(&["process"]).expect("a dimension");
        for (is_udp, question) in [(false, &tcp as &dyn Ask), (true, &udp as &dyn Ask)] {
            for row in values(&asked(&source, question, ".."), keys) {
                let [pid, sums @ ..] = row.map(|value| number(&value));
                found.insert((is_udp, pid), sums);
            }
        }
        assert_eq!(found, expected, "{name}");
        let connections = [&tcp::Question::default() as &dyn Ask, &udp::Question::default()]
            .map(|question| asked(&source, question, "..").answer.rows().count());
        assert_eq!(connections, ends, "{name}: no ends are used twice in these recordings");
        if name == "KernelNetwork.etl" {
            // As an independent reader of the file has them.
            let all = found.values().fold([0; 4], |all: Sums, sums| std::array::from_fn(|at| all[at] + sums[at]));
            let pids: BTreeSet<i64> = found.keys().map(|(_, pid)| *pid).collect();
            let received = 15_315_588 + 8_580 + 5_874 + 3_918;
            assert_eq!(all, [7_968 + 134 + 149 + 61, received, 575 + 26 + 8, 60_019 + 8_632 + 2_912]);
            assert_eq!(pids.into_iter().collect::<Vec<_>>(), [4, 344, 1008, 2432, 2716]);
        }
    }
}

#[test]
fn a_part_has_the_figures_of_its_events() {
    let conversation = |seed: u64, tcb: u64, port: u16| Conversation {
        caller: (7, 12),
        tcb,
        local: ([10, 0, 0, 1], port),
        remote: ([10, 0, 0, 2], 443),
        start: Some(100 * MS),
        first_data: 200 * MS,
        segments: 60,
        sequence: 1000,
        seed,
        finish: Finish::Closed,
    };
    let mut events = Vec::new();
    let all = [conversation(1, 0x1000, 50_000), conversation(2, 0x2000, 50_001)];
    let figures = all.each_ref().map(|one| one.log(PointerSize::Eight, &mut events));
    let bytes = providers::write(PointerSize::Eight, 60, &[(7, "client.exe")], events).expect("a recording");
    let extracted = Recording::of("net.etl", &bytes).extract();
    let source = Source::archive(extracted.report.archive.clone());
    let question = tcp::Question::default().by(&["connection"]).and_then(|question| question.sorted_by_word("name"));
    let question = question.expect("a question");
    let keys = ["connection", "received_bytes", "sent_packets", "sent_bytes", "retransmits", "retransmit_delay_ns"];
    for (range, from, to) in [("..", 0, 60_000), ("0..3", 0, 3000), ("1.5..4", 1500, 4000), ("2.25..2.75", 2250, 2750)]
    {
        let inside = |time: i64| time >= from * MS && time < to * MS;
        let sum = |list: &[(i64, i64)]| list.iter().filter(|(time, _)| inside(*time)).map(|(_, of)| of).sum::<i64>();
        let count = |list: &[(i64, i64)]| list.iter().filter(|(time, _)| inside(*time)).count() as i64;
        let expected = figures.each_ref().map(|of| {
            [sum(&of.receives), count(&of.sends), sum(&of.sends), count(&of.retransmits), sum(&of.retransmits)]
        });
        let outcome = asked(&source, &question, range);
        let rows = values(&outcome, keys);
        assert_eq!(rows.len(), 2, "{range}");
        for ([name, row @ ..], expected) in rows.iter().zip(expected) {
            assert!(matches!(name, Value::Text(name) if name.ends_with(" 10.0.0.2:443")), "{name:?}");
            assert_eq!(row.each_ref().map(number), expected, "{range}");
        }
        // The same from a grouping that adds the connections up.
        let by_host = tcp::Question::default().by(&["host"]).expect("a dimension");
        let rows = values(&asked(&source, &by_host, range), ["host", "connections", "sent_bytes"]);
        let sent = expected.iter().map(|of| of[2]).sum::<i64>();
        assert_eq!(rows, [[Value::Text("10.0.0.2".to_owned()), Value::Int(2), Value::Int(sent)]], "{range}");
    }
    // After the end nothing is left.
    assert_eq!(asked(&source, &question, "55..56").answer.rows().count(), 0);

    let mut expected: Vec<(i64, i64, bool)> = Vec::new();
    for of in &figures {
        expected.extend(of.retransmits.iter().map(|(time, delay)| (*delay, *time, false)));
        expected.extend(of.received_again.iter().map(|(time, delay)| (*delay, *time, true)));
    }
    expected.sort_unstable();
    let listed =
        values(&asked(&source, &retransmits::Question::default(), ".."), ["delay_ns", "time_ns", "received_again"]);
    let mut listed: Vec<(i64, i64, bool)> =
        listed.iter().map(|[delay, time, again]| (number(delay), number(time), *again == Value::Bool(true))).collect();
    listed.sort_unstable();
    assert_eq!(listed, expected);

    retransmissions_of_some_connections(&source, &figures, &expected);
}

/// `all`: delay and time of each retransmission, and whether the other side sent it.
fn retransmissions_of_some_connections(source: &Source, figures: &[Figures; 2], all: &[(i64, i64, bool)]) {
    // Filters of connections, limits of single ones, and both orders.
    let of_first = tcp::Question::default().matching("--connection", "*:50000 *").expect("an option");
    let first: Vec<(i64, i64, bool)> = {
        let sent = figures[0].retransmits.iter().map(|(time, delay)| (*delay, *time, false));
        let again = figures[0].received_again.iter().map(|(time, delay)| (*delay, *time, true));
        sent.chain(again).collect()
    };
    assert!(!first.is_empty() && first.len() < all.len());
    let middle = all[all.len() / 2].0;
    for order in [Order::Delay, Order::Time] {
        for delay in
            [Between::default(), Between { min: Some(middle), max: None }, Between { min: None, max: Some(middle) }]
        {
            let connections = of_first.clone();
            let question = retransmits::Question { connections, delay, order, ..retransmits::Question::default() };
            let rows = values(&asked(source, &question, ".."), ["delay_ns", "time_ns", "received_again"]);
            let rows: Vec<(i64, i64, bool)> = rows
                .iter()
                .map(|[delay, time, again]| (number(delay), number(time), *again == Value::Bool(true)))
                .collect();
            let mut expected: Vec<_> = first.iter().copied().filter(|(of, ..)| delay.contains(Some(*of))).collect();
            match order {
                Order::Delay => expected.sort_unstable(),
                Order::Time => expected.sort_by_key(|(delay, time, _)| (*time, *delay)),
            }
            assert_eq!(rows, expected, "{order:?} {delay:?}");
        }
    }
    // Limits of connections, in a part with the figures of the part.
    let sent =
        |of: usize| figures[of].sends.iter().filter(|(time, _)| *time < 3000 * MS).map(|(_, size)| size).sum::<i64>();
    let most = sent(0).max(sent(1));
    assert_ne!(sent(0), sent(1));
    let of = usize::from(sent(1) == most);
    let limit = Between { min: Some(most), max: None };
    let connections = tcp::Question::default().between("--min-sent", limit).expect("an option");
    let question = retransmits::Question { connections, ..retransmits::Question::default() };
    let rows = asked(source, &question, "0..3").answer.rows().count();
    let early = |list: &[(i64, i64)]| list.iter().filter(|(time, _)| *time < 3000 * MS).count();
    assert_eq!(rows, early(&figures[of].retransmits) + early(&figures[of].received_again));
}
