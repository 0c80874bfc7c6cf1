//! `dump dns` over queries that are known: the queries below names, and what the C library does not see.

use std::path::PathBuf;

use clap::{Args as _, FromArgMatches as _};
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::options::{Plan, QuestionOptions as _};
use tracesift_ask::question::dns;
use tracesift_ask::recording::Source;
use tracesift_ask::{When, ask};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::process;
use tracesift_trace::connections::protocols;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ConnectionRow, DnsQueryRow};
use tracesift_trace::{ConnectionId, ProcessId, RowSink as _};

/// Name, begin and end of the queries.
const QUERIES: [(&str, i64, i64); 5] =
    [("a.example", 10, 30), ("b.example", 20, 25), ("a.example", 25, 60), ("b.example", 70, 72), ("a.example", 80, 81)];

fn archive(kind: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("dns.sift"));
    writer.write_table(&[process(1, 100, "browser"), process(2, 200, "static"), process(3, 300, "other")]);
    for (name, start, time) in QUERIES {
        writer.dns_query(&DnsQueryRow {
            time,
            start,
            process: Some(ProcessId(1)),
            name: name.to_owned(),
            status: Some(0),
            ..DnsQueryRow::default()
        });
    }
    // Two processes ask servers by themselves, one of them twice; the third one sends something else.
    let datagrams = |id: i32, process: i32, port: i32| ConnectionRow {
        connection: ConnectionId(id),
        process: Some(ProcessId(process)),
        protocol: protocols::UDP,
        remote_port: Some(port),
        ..ConnectionRow::default()
    };
    writer.write_table(&[datagrams(0, 1, 53), datagrams(1, 2, 53), datagrams(2, 2, 53), datagrams(3, 3, 54)]);
    let info = TraceInfo { kind: kind.to_owned(), end_ns: 100, ..TraceInfo::default() };
    let archive = finish_as(writer, info);
    (directory, archive)
}

fn answer(archive: PathBuf, words: &[&str]) -> Answer {
    let command = dns::Options::augment_args(clap::Command::new("dns").no_binary_name(true));
    // That of the output of all questions.
    let command = command.arg(clap::Arg::new("details").long("details").action(clap::ArgAction::SetTrue));
    let matches = command.try_get_matches_from(words).expect("options");
    let options = dns::Options::from_arg_matches(&matches).expect("options");
    let Plan::Archives(asking) = options.plan(&mut |warning| panic!("{warning}")).expect("a plan") else {
        panic!("archives answer");
    };
    ask(&[Source::archive(archive)], asking.question.as_ref(), &When::default()).answer
}

/// Of each name its queries: begin and duration.
fn queries(answer: &Answer) -> Vec<(String, Vec<(i64, i64)>)> {
    let at = |key: &str| answer.columns.iter().position(|column| column.key == key).expect("a column");
    let text = |value: &Value| if let Value::Text(text) = value { text.clone() } else { panic!("{value:?}") };
    let int = |value: &Value| if let Value::Int(number) = value { *number } else { panic!("{value:?}") };
    let of_name = |row: &Vec<Value>| {
        let Value::Table(table) = &row[at("rows")] else { panic!("{row:?}") };
        let place = |key: &str| table.columns.iter().position(|column| column.key == key).expect("a column");
        let name = text(&row[at("name")]);
        assert!(table.rows.iter().all(|query| text(&query[place("name")]) == name));
        let queries = table.rows.iter();
        (name, queries.map(|query| (int(&query[place("start")]), int(&query[place("duration_ns")]))).collect())
    };
    answer.rows().map(of_name).collect()
}

#[test]
fn details_are_the_queries_below_each_name() {
    let (_directory, archive) = archive("etl");
    let all =
        [("b.example".to_owned(), vec![(70, 2), (20, 5)]), ("a.example".to_owned(), vec![(80, 1), (10, 20), (25, 35)])];
    assert_eq!(queries(&answer(archive.clone(), &["--details"])), all);
    assert_eq!(queries(&answer(archive.clone(), &["--top-details=all"])), all);
    let largest = [("b.example".to_owned(), vec![(20, 5)]), ("a.example".to_owned(), vec![(25, 35)])];
    assert_eq!(queries(&answer(archive.clone(), &["--top-details=1"])), largest);
    assert_eq!(queries(&answer(archive.clone(), &["--details", "--top-details=1"])), largest);
    assert_eq!(queries(&answer(archive.clone(), &["--details", "--top=1"])), all[1..]);
    let without = answer(archive, &[]);
    assert!(without.columns.iter().all(|column| column.key != "rows"), "{:?}", without.columns);
}

#[test]
fn a_note_counts_the_processes_that_ask_servers_by_themselves() {
    let notes = |kind: &str, words: &[&str]| {
        let (_directory, archive) = archive(kind);
        answer(archive, words).sections.remove(0).notes
    };
    let expected = "2 processes sent datagrams to DNS servers (`dump udp --remote-port 53`): a program that does not resolve \
        names through the C library has no queries here";
    assert_eq!(notes("perf", &[]), [expected]);
    assert!(notes("perf", &["-p", "static"])[0].starts_with("1 process sent"));
    assert!(notes("perf", &["-p", "other"]).is_empty());
    assert!(notes("etl", &[]).is_empty());
}
