//! `dump tcp` and `dump udp`: real recordings against their single events, and parts of generated connections against lists.

use std::collections::{BTreeMap, BTreeSet};

use tempfile::TempDir;
use tracesift_ask::answer::{Outcome, Value};
use tracesift_ask::events::EventFilter;
use tracesift_ask::question::tcp::retransmits;
use tracesift_ask::question::{tcp, udp};
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask, When, ask};
use tracesift_etl::write::PointerSize;
use tracesift_extract::{EventSelection, Options};
use tracesift_fixtures::cases;
use tracesift_scenario::providers;
use tracesift_scenario::tcp::{Conversation, Finish};
use tracesift_testing::recording::{Recording, try_extract};

use crate::recorded;

const MS: i64 = 1_000_000;

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
}
