//! Each switch of ETWAnalyzer's questions leads to an answer, or is refused by its name.

use std::path::Path;

use tempfile::TempDir;
use tracesift_ask::etwanalyzer::{Switch, To};
use tracesift_ask::question::DUMP;
use tracesift_testing::archive::{create, finish, small_archive};
use tracesift_trace::ConnectionId;
use tracesift_trace::rows::{ConnectionRow, NetworkIoRow};

use crate::support::program;

/// The questions whose switches are tried, as behind `-dump`.
const QUESTIONS: [&str; 9] = ["tcp", "dns", "disk", "file", "memory", "virtualalloc", "objectref", "power", "mark"];

/// Connections of TCP, of which always two have the same ends, one after the other, and their packets.
fn connections(target: &Path) {
    let mut writer = create(target);
    let row = |number: i32| ConnectionRow {
        connection: ConnectionId(number),
        protocol: 6,
        local: Some("10.0.0.1".to_owned()),
        local_port: Some(50_000 + number / 2),
        remote: Some("10.0.0.2".to_owned()),
        remote_port: Some(443),
        tcb: Some(0x1000 + i64::from(number)),
        start: (number > 0).then_some(i64::from(number) * 1000),
        sent: Some(100),
        received: Some(200),
        ..ConnectionRow::default()
    };
    writer.write_table(&(0..12).map(row).collect::<Vec<_>>());
    let packet = |number: i32| NetworkIoRow {
        time: i64::from(number) * 500,
        connection: ConnectionId(number % 12),
        kind: (number % 5) as i8,
        size: 100,
        delay: (number % 5 == 3).then_some(7),
        ..NetworkIoRow::default()
    };
    writer.write_table(&(0..60).map(packet).collect::<Vec<_>>());
    finish(writer);
}

/// Values that a switch may have, one list for each line that is tried.
fn values(to: To) -> Vec<Vec<&'static str>> {
    match to {
        To::Value("--top-details" | "--dir-level") => vec![vec!["3"]],
        To::Value("--address-in-map") => vec![vec!["0x1000"]],
        To::Value(_) | To::Path => vec![vec!["*"], vec!["*a*;!b*"]],
        To::Optional(_, words) => {
            let of_words = words.iter().map(|(theirs, _)| vec![*theirs]);
            std::iter::once(Vec::new()).chain(of_words).collect()
        }
        To::Word(_, words) | To::Choice(words) => words.iter().map(|(theirs, _)| vec![*theirs]).collect(),
        To::ChosenColumns(words) => {
            let of_words = words.iter().map(|(theirs, _)| vec![*theirs]);
            of_words.chain([vec!["*"]]).filter(|_| !words.is_empty()).collect()
        }
        To::Range(..) | To::Instants(..) => vec![vec!["1"], vec!["1", "5"], vec!["0", "0"]],
        To::Top(..) => vec![vec!["5"], vec!["5", "2"]],
        To::Instead(..) => vec![Vec::new(), vec!["ntdll*"]],
        To::Dropped(count, _) | To::Left(count, _) => vec![["total", "total"].into_iter().take(count.min(2)).collect()],
        _ => vec![Vec::new()],
    }
}

/// How a line ends, and what it says.
fn said(directory: &Path, line: &[&str]) -> (i32, String) {
    let output = program(directory, line).output().expect("the program runs");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn check(directory: &Path, question: &str, switch: &Switch, failures: &mut Vec<String>) -> usize {
    let mut lines = 0;
    for name in switch.names {
        let dashed = format!("-{name}");
        for values in values(switch.to) {
            let line = [&["-dump", question, dashed.as_str()], values.as_slice(), &["-fd", "."]].concat();
            let (code, text) = said(directory, &line);
            lines += 1;
            let is_refused = code == 64 && (text.contains(&dashed) || text.contains("--retransmits"));
            let is_fine = match switch.to {
                To::Refused(..) => is_refused,
                // Sizes of retransmissions are asked where those are shown.
                To::Range("--min-retransmit-size", ..) => is_refused,
                _ => matches!(code, 0 | 1) && !text.contains("error:"),
            };
            if !is_fine {
                failures.push(format!("{} ends with {code}: {text}", line.join(" ")));
            }
        }
    }
    lines
}

#[test]
fn each_old_switch_is_understood_or_refused_by_name() {
    let directory = TempDir::new().unwrap();
    small_archive(&directory.path().join("small.sift"));
    connections(&directory.path().join("tcp.sift"));
    let mut failures = Vec::new();
    for name in QUESTIONS {
        let legacy = DUMP.iter().filter_map(|question| question.legacy).find(|legacy| legacy.name == name);
        let legacy = legacy.unwrap_or_else(|| panic!("-dump {name} is known"));
        let tried: usize =
            legacy.switches.iter().map(|switch| check(directory.path(), name, switch, &mut failures)).sum();
        assert!(tried > 0, "{name}");
        for line in [vec!["-csv", "out.csv"], vec!["-showtotal", "total"], vec!["-details"]] {
            let line = [vec!["-dump", name], line, vec!["-fd", "."]].concat();
            let (code, text) = said(directory.path(), &line);
            if !matches!(code, 0 | 1) || text.contains("error:") {
                failures.push(format!("{} ends with {code}: {text}", line.join(" ")));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_csv_file_of_connections_has_both_ends() {
    let directory = TempDir::new().unwrap();
    connections(&directory.path().join("tcp.sift"));
    let (code, text) = said(directory.path(), &["-dump", "tcp", "-csv", "out.csv", "-fd", "tcp.sift"]);
    assert_eq!(code, 0, "{text}");
    let file = std::fs::read_to_string(directory.path().join("out.csv")).unwrap();
    let mut lines = file.lines().skip(1);
    let names: Vec<&str> = lines.next().unwrap().split(';').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(';').collect()).collect();
    assert_eq!(rows.len(), 12);
    let at = |name: &str| names.iter().position(|known| *known == name).unwrap();
    for row in &rows {
        let number: u64 = row[at("ConnectionIdx")].parse().unwrap();
        let ends = ["SourceIP", "Source Port", "DestinationIP", "Destination Port", "TCB"].map(|name| row[at(name)]);
        let port = (50_000 + number / 2).to_string();
        let tcb = format!("{:#x}", 0x1000 + number);
        assert_eq!(ends, ["10.0.0.1", port.as_str(), "10.0.0.2", "443", tcb.as_str()]);
    }
    let ids: std::collections::BTreeSet<&str> = rows.iter().map(|row| row[at("ConnectionIdx")]).collect();
    assert_eq!(ids.len(), rows.len(), "a row per connection");
}
