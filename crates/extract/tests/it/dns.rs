//! Queries for names: the rows of events that are made from their layouts, against the queries that were written.

use tracesift_etl::write::PointerSize;
use tracesift_scenario::dns::{Lookup, SERVICE, slow_browser};
use tracesift_scenario::providers::{self, Logged};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{DnsQueryRow, HealthRow, ProcessRow, dns_pairing};

const MS: i64 = 1_000_000;
const PROCESSES: [(u32, &str); 4] = [(4, "System"), (SERVICE, "svchost.exe"), (7, "browser.exe"), (9, "mail.exe")];

fn extracted(pointer_size: PointerSize, events: Vec<Logged>) -> Extracted {
    let bytes = providers::write(pointer_size, 70, &PROCESSES, events).expect("a recording");
    Recording::of("dns.etl", &bytes).extract()
}

fn rows(extracted: &Extracted) -> (Vec<DnsQueryRow>, Vec<ProcessRow>) {
    let rows = extracted.archive.rows().expect("queries");
    (rows, extracted.archive.rows().expect("processes"))
}

fn logged(lookups: &[Lookup], pointer_size: PointerSize) -> Vec<Logged> {
    let mut events = Vec::new();
    lookups.iter().for_each(|lookup| lookup.log(pointer_size, &mut events));
    events
}

#[test]
fn each_query_has_its_times_servers_and_answer() {
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        let lookups = slow_browser((7, 12));
        let (rows, processes) = rows(&extracted(pointer_size, logged(&lookups, pointer_size)));
        assert_eq!(rows.len(), 12);
        for lookup in &lookups {
            let span = (lookup.start, lookup.start + lookup.duration.unwrap());
            let is_it = |row: &&DnsQueryRow| {
                (row.start, row.time) == span
                    && row.name == lookup.name
                    && row.query_type == Some(lookup.query_type.cast_signed())
            };
            let row = rows.iter().find(is_it).unwrap_or_else(|| panic!("{lookup:?}\n{rows:#?}"));
            assert_eq!(row.process.map(|process| processes[process.index()].name.as_str()), Some("browser.exe"));
            assert_eq!((row.status, row.results.as_deref(), row.open), (Some(0), Some(lookup.results), Some(false)));
            let is_network = !lookup.servers.is_empty();
            assert_eq!(row.network, Some(is_network), "{row:?}");
            if is_network && lookup.name != "graph.oculus.com" && lookup.query_type == 28 {
                assert_eq!(row.servers.as_deref(), Some(&["10.0.0.1".to_owned(), "10.0.0.2".to_owned()][..]));
                assert_eq!(row.responses.as_deref(), Some(&[-1, 15 * MS][..]));
                assert_eq!(row.timed_out.as_deref(), Some(&["10.0.0.1".to_owned()][..]));
                assert_eq!(row.adapters.as_deref(), Some(&["Ethernet (10.0.0.7)".to_owned()][..]));
                assert_eq!(row.pairing, Some(dns_pairing::CLIENT));
            }
        }
    }
}

#[test]
fn two_processes_that_ask_for_one_name_keep_their_servers() {
    let quick = Lookup {
        servers: vec![("10.0.0.2", 5 * MS, Some(3 * MS))],
        names_client: true,
        ..Lookup::cached((9, 20), 105 * MS, 10 * MS, "Update.Example.")
    };
    let slow = Lookup {
        servers: vec![("10.0.0.1", 6 * MS, None), ("10.0.0.3", 30 * MS, Some(2 * MS))],
        names_client: true,
        ..Lookup::cached((7, 12), 100 * MS, 50 * MS, "update.example")
    };
    let (rows, _) = rows(&extracted(PointerSize::Eight, logged(&[quick.clone(), slow.clone()], PointerSize::Eight)));
    let [first, second] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((first.start, first.time), (105 * MS, 115 * MS), "in the order of their answers");
    assert_eq!((first.name.as_str(), second.name.as_str()), ("update.example", "update.example"));
    assert_eq!(first.servers.as_deref(), Some(&["10.0.0.2".to_owned()][..]));
    assert_eq!((first.timed_out.as_deref(), first.responses.as_deref()), (None, Some(&[3 * MS][..])));
    assert_eq!(second.servers.as_deref(), Some(&["10.0.0.1".to_owned(), "10.0.0.3".to_owned()][..]));
    assert_eq!(second.timed_out.as_deref(), Some(&["10.0.0.1".to_owned()][..]));
    assert_eq!(second.pairing, Some(dns_pairing::CLIENT));

    // Without the client in the events, both have all of them while both are open.
    let unnamed = [Lookup { names_client: false, ..quick }, Lookup { names_client: false, ..slow }];
    let (rows, _) = self::rows(&extracted(PointerSize::Eight, logged(&unnamed, PointerSize::Eight)));
    assert_eq!(rows[0].pairing, Some(dns_pairing::SEVERAL));
    assert_eq!(rows[1].pairing, Some(dns_pairing::SEVERAL));
    assert_eq!(rows[1].servers.as_ref().map(Vec::len), Some(3));
}

#[test]
fn what_begins_before_or_ends_after_the_recording_has_a_row() {
    let open = Lookup { duration: None, ..Lookup::cached((7, 12), 500 * MS, 0, "slow.example") };
    let mut events = logged(&[open], PointerSize::Eight);
    let mut before = logged(&[Lookup::cached((9, 20), 0, 200 * MS, "early.example")], PointerSize::Eight);
    events.push(before.pop().expect("the answer"));
    // A payload that is cut inside of a field, and an event of a version that nobody knows.
    let mut cut = logged(&[Lookup::cached((9, 20), 300 * MS, MS, "cut.example")], PointerSize::Eight);
    cut[0].payload.truncate(25);
    cut.truncate(1);
    events.extend(cut);
    let extracted = extracted(PointerSize::Eight, events);
    let (rows, _) = rows(&extracted);
    let [early, slow] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((early.start, early.time, early.pairing), (0, 200 * MS, Some(dns_pairing::BEGAN_BEFORE)));
    assert_eq!((slow.start, slow.time, slow.open), (500 * MS, 70_000 * MS, Some(true)));
    assert_eq!((slow.status, slow.results.as_deref()), (None, None));
    let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
    let count = |kind: &str| health.iter().find(|row| row.kind == kind).map(|row| row.count);
    assert_eq!(count("fields_not_as_expected"), Some(1));
}

#[test]
fn a_recording_without_queries_has_no_table() {
    let extracted = extracted(PointerSize::Eight, Vec::new());
    assert!(!extracted.archive.path().join("dns_queries.parquet").exists());
}
