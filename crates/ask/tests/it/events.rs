//! `events` over all recordings: nothing in them is dark.

use std::collections::BTreeMap;

use tracesift_ask::answer::Value as Cell;
use tracesift_ask::events::{EventFilter, Origin};
use tracesift_ask::question::stats;
use tracesift_etl::schema::Value;
use tracesift_extract::input::OpenOptions;
use tracesift_fixtures::cases;
use tracesift_grammar::Patterns;
use tracesift_testing::recording::input_of;

use crate::recorded::{events, linux_recordings, recordings};

#[test]
fn every_event_of_every_recording_is_taken_apart() {
    let Some(cases) = cases("etl") else { return };
    let mut unreadable = BTreeMap::new();
    for path in recordings(&cases) {
        let name = path.display();
        let mut left_over = 0;
        let scanned = events(&path, &EventFilter::default(), |event| {
            left_over += u64::from(event.fields.stopped.is_none() && !event.fields.rest.is_empty());
        });
        assert!(scanned.iter().map(|scanned| scanned.events).sum::<u64>() > 0, "{name}");
        // PerfView's own manifest describes two of its events with a field too few.
        assert!(left_over <= 2, "{name}: {left_over} events with bytes behind their last field");
        for ((provider, event), what) in scanned.into_iter().flat_map(|scanned| scanned.unreadable) {
            unreadable.insert(format!("{provider}/{event}"), what);
        }
    }
    // A provider that nobody describes: it neither brings metadata nor is its manifest known.
    assert_eq!(unreadable.keys().collect::<Vec<_>>(), ["6f669bfa-816a-4204-a824-47c8e6a00474/EventID(2)"]);
    assert!(unreadable.values().all(|what| what.misfits == 0), "{unreadable:?}");
}

/// A name that `dump stats` shows finds as many events with `events --name`: of Windows but for events that describe themselves, of
/// Linux but for the records that perf writes of its own accord.
#[test]
fn an_event_has_one_name() {
    let (Some(windows), Some(linux)) = (cases("etl"), cases("perf")) else { return };
    let mut names = 0;
    for path in recordings(&windows).into_iter().chain(linux_recordings(&linux)) {
        let stats = stats::recording(&input_of(&path), &OpenOptions::default()).expect("it can be read");
        let mut counted: BTreeMap<(String, String), u64> = BTreeMap::new();
        for table in stats.rows.into_iter().filter_map(|row| row.counts) {
            let place = |key: &str| table.columns.iter().position(|column| column.key == key).expect("a column");
            let [provider, name, count, kind, id] = ["provider_label", "name", "count", "kind", "id"].map(place);
            for row in table.rows {
                let is_of_perf = row[kind] == Cell::from("record") && matches!(row[id], Cell::Int(64..));
                match (&row[provider], &row[name], &row[count]) {
                    (Cell::Text(provider), Cell::Text(name), Cell::Int(count)) if !is_of_perf => {
                        *counted.entry((provider.clone(), name.clone())).or_default() += count.cast_unsigned();
                    }
                    _ => {}
                }
            }
        }
        let mut found: BTreeMap<(String, String), u64> = BTreeMap::new();
        events(&path, &EventFilter::default(), |event| {
            *found.entry((event.provider.to_owned(), event.event.to_owned())).or_default() += 1;
        });
        names += counted.len();
        for (name, count) in counted {
            assert_eq!(found.get(&name), Some(&count), "{}: {name:?}", path.display());
        }
    }
    assert!(names > 900, "{names}");
}

/// Counts, and the sum of the bytes, as an independent reader of the file has them.
#[test]
fn every_packet_of_kernel_network_is_read_to_its_end() {
    let Some(cases) = cases("etl") else { return };
    let filter =
        EventFilter { provider: Patterns::parse("Microsoft-Windows-Kernel-Network"), ..EventFilter::default() };
    let mut sums: BTreeMap<u16, (u64, i128)> = BTreeMap::new();
    events(&cases.join("KernelNetwork.etl"), &filter, |event| {
        assert_eq!((event.raw(), event.origin), (None, Some(Origin::BuiltIn)), "{}", event.event);
        let number = |name: &str| event.fields.get(name).and_then(Value::number).expect("a number");
        assert_eq!(number("connid"), 0);
        let sum = sums.entry(event.id.expect("an id")).or_default();
        *sum = (sum.0 + 1, sum.1 + number("size"));
    });
    let expected = [
        (10, (575, 60_019)),
        (11, (7_968, 15_315_588)),
        (26, (26, 8_632)),
        (27, (134, 8_580)),
        (29, (2, 0)),
        (42, (8, 2_912)),
        (43, (149, 5_874)),
        (59, (61, 3_918)),
    ];
    assert_eq!(sums.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn trace_logging_shows_its_field_types() {
    let Some(cases) = cases("etl") else { return };
    let filter = EventFilter { provider: Patterns::parse("CSharpTraceLoggingEventSource"), ..EventFilter::default() };
    let mut shapes: BTreeMap<String, (u64, String)> = BTreeMap::new();
    events(&cases.join("TraceLoggingTester.7z"), &filter, |event| {
        let mut json = String::new();
        event.fields.write_json(&mut json);
        let shape = shapes.entry(event.event.to_owned()).or_insert((0, json));
        shape.0 += 1;
    });
    let expected = [
        (
            "MarkBoolByteCharDoubleInt16Int32Int64SByteUInt16UInt32UInt64",
            r#"{"boolean":true,"b":0,"c":"A","d":3.14,"i16":-32768,"i32":2147483647,"i64":9223372036854775807,"sb":-128,"u16":65535,"u32":4294967295,"u64":18446744073709551615}"#,
        ),
        ("MarkString", r#"{"input":"Hello, ETW!"}"#),
        ("MarkStringInteger", r#"{"input":"Hello, ETW with number","number1":42}"#),
        ("WriteDateTime", r#"{"dateTime":"2000-01-01T00:00:00.0000000Z"}"#),
        ("WriteGuid", r#"{"guid":"00000000-0000-0000-0000-000000000001"}"#),
        ("WriteIntList", r#"{"numbers":[0,2,3,4]}"#),
        ("WriteTimeSpan", r#"{"timeSpan":420000000}"#),
    ];
    let expected = expected.map(|(name, fields)| (name.to_owned(), (10, fields.to_owned())));
    assert_eq!(shapes, BTreeMap::from(expected));
}

#[test]
fn filters_choose_by_kind_process_time_and_field() {
    let Some(cases) = cases("etl") else { return };
    let path = cases.join("net.4.5.2.x64.etl.zip");
    let count = |filter: EventFilter| events(&path, &filter, |_| {})[0].events;
    let base = EventFilter::default;
    let patterns = Patterns::parse;
    assert_eq!(count(EventFilter { class: patterns("Process"), ..base() }), 101);
    assert_eq!(count(EventFilter { name: patterns("GC/Start"), ..base() }), 528);
    let first = || "Count<=100".parse().expect("a condition");
    let of_first = count(EventFilter { name: patterns("GC/Start"), conditions: vec![first()], ..base() });
    let others = "Count>100".parse().expect("a condition");
    let of_others = count(EventFilter { name: patterns("GC/Start"), conditions: vec![others], ..base() });
    assert_eq!(of_first + of_others, 528);
    assert!(of_first > 0 && of_others > 0);
    let guid = EventFilter { provider: patterns("e13c0d23-*"), name: patterns("GC/Start"), ..base() };
    assert_eq!(count(guid), 528);
    let time =
        |text: &str| count(EventFilter { name: patterns("GC/Start"), time: text.parse().expect("a range"), ..base() });
    assert_eq!(time("..5s") + time("5s.."), 528);
    let processes = tracesift_ask::filter::ProcessPatterns::parse("Test.x64").into();
    let of_process = count(EventFilter { processes, name: patterns("PerfInfo/Sample"), ..base() });
    assert_eq!(of_process, 5_129, "as many samples as `dump cpu` charges to it");
}
