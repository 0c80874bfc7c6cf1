//! Tracepoints: every field of every sched_switch, and order, time, CPU and thread of all records, held against the decode of
//! LinuxTracepoints (`golden/linuxtracepoints.perf.data.json`).

use serde_json::Value;
use tracesift_fixtures::cases;
use tracesift_perf::{Kind, MergeOptions, Metadata, Record, tracing::EventFormat};

use crate::common;

const NAME: &str = "linuxtracepoints.perf.data";
/// 2024-03-28, the day of the recording, in seconds since 1970.
const DAY: u64 = 19_810 * 86_400;

/// The events of the decode, in the order of the file and in that of time. It is JSON with comments and a comma too many.
fn golden() -> Option<(Vec<Value>, Vec<Value>)> {
    let text = common::golden(&format!("{NAME}.json"))?;
    let (_, rest) = text.split_once("/* Events in File order */").expect("a first half");
    let (first, second) = rest.split_once("/* Events in Time order */").expect("a second half");
    let parse = |half: &str| {
        let half = half.trim().trim_start_matches(',').trim_end_matches([']', ',', '\n', ' ']);
        serde_json::from_str(&format!("[{half}]")).expect("JSON")
    };
    Some((parse(first), parse(second)))
}

fn switch_format(metadata: &Metadata) -> &EventFormat {
    metadata.tracing.as_ref().expect("formats").by_name("sched", "sched_switch").expect("the format")
}

/// Compares one record; says whether its fields were compared, too.
fn compare(expected: &Value, record: &Record<'_>, metadata: &Metadata) -> bool {
    if let Some(kind) = expected["NonSample"].as_str() {
        let ours = record.kind().name().expect("a name").replace('_', "").to_lowercase();
        assert_eq!(ours, kind.to_lowercase());
        assert_eq!(Value::from(record.size()), expected["size"]);
        return false;
    }
    assert_eq!(record.kind(), Kind::Sample, "{expected}");
    let sample = record.sample().expect("it is well-formed");
    let (pid, tid) = record.thread().expect("a thread");
    let meta = &expected["meta"];
    assert_eq!(Value::from(record.cpu()), meta["cpu"]);
    assert_eq!(Value::from(pid.cast_unsigned()), meta["pid"]);
    assert_eq!(Value::from(tid.cast_unsigned()), *meta.get("tid").unwrap_or(&meta["pid"]));
    assert_eq!(wall_time(record.time().expect("a time"), metadata), meta["time"].as_str().expect("a time"));
    let event = metadata.events.get(record.event().expect("an event")).expect("it is there");
    let tracing = metadata.tracing.as_ref().expect("formats");
    let format = tracing.by_id(event.attr.config).expect("its format");
    let raw = sample.raw.expect("raw data");
    let common_type = format.field("common_type").expect("a common field");
    assert_eq!(common_type.unsigned(raw, tracing.endian), Some(format.id), "the sample is of its event's format");
    if format.name != "sched_switch" {
        assert_eq!(format.system, "user_events");
        return false;
    }
    assert_eq!(expected["n"], "sched:sched_switch");
    for field in format.fields.iter().filter(|field| !field.name.starts_with("common_")) {
        let value = match field.name.as_str() {
            "prev_comm" | "next_comm" => {
                str::from_utf8(field.text(raw, tracing.endian).expect("a text")).expect("UTF-8").into()
            }
            "prev_pid" | "next_pid" => format!("{:#X}", field.signed(raw, tracing.endian).expect("a number")).into(),
            _ => Value::from(field.signed(raw, tracing.endian).expect("a number")),
        };
        let expected = &expected[&field.name];
        let expected = expected.as_str().map_or(expected.clone(), |text| text.replace("0x", "0X").into());
        let value = value.as_str().map_or(value.clone(), |text| text.replace("0x", "0X").into());
        assert_eq!(value, expected, "{}", field.name);
    }
    true
}

/// As the decode writes it: hundreds of ns, without zeros at the end.
fn wall_time(time: u64, metadata: &Metadata) -> String {
    let clock = metadata.features.clock_data.expect("a moment in both clocks");
    let wall = clock.wall_ns + time - clock.clock_ns;
    let (second, fraction) = (wall / 1_000_000_000 - DAY, wall % 1_000_000_000 / 100);
    let fraction = format!("{fraction:07}");
    let text = format!("2024-03-28T{:02}:{:02}:{:02}.{fraction}", second / 3600, second / 60 % 60, second % 60);
    format!("{}Z", text.trim_end_matches('0').trim_end_matches('.'))
}

#[test]
fn every_record_agrees_in_both_orders() {
    let Some((by_file, by_time)) = golden() else { return };
    let file = common::open(NAME);
    let mut switches = 0;
    let mut records = file.records();
    for expected in &by_file {
        let record = records.next().expect("a record");
        switches += usize::from(compare(expected, &record, file.metadata()));
    }
    assert!(records.next().is_none());
    let mut records = file.merged(MergeOptions::default());
    // The decode lets a round out when it ends. We, as perf, wait for the end of the next one, so the marks stand elsewhere.
    let mut expected = by_time.iter().filter(|event| event["NonSample"] != "FinishedRound");
    while let Some(record) = records.next() {
        if record.kind() != Kind::FinishedRound {
            let expected = expected.next().expect("a record more");
            switches += usize::from(compare(expected, &record, file.metadata()));
        }
    }
    assert!(expected.next().is_none());
    assert_eq!(switches, 2 * 285);
}

#[test]
fn tracing_data_are_complete() {
    if cases("").is_none() {
        return;
    }
    let metadata = common::open(NAME).metadata().clone();
    let tracing = metadata.tracing.as_ref().expect("formats");
    assert_eq!((tracing.incomplete(), tracing.long_size, tracing.page_size), (None, 8, 4096));
    let format = switch_format(&metadata);
    assert_eq!(format.fields.len(), 11);
    assert!(format.print_format.contains("{ 0x00000080, \"I\" }"));
    assert_eq!(format.field("prev_comm").expect("a field").declaration, "char[16]");
    assert!(tracing.header_page.iter().any(|field| field.name == "commit"), "{:?}", tracing.header_page);
    // Every tracepoint event has its format.
    for event in metadata.events.all().iter().filter(|event| event.attr.kind == 2) {
        assert!(tracing.by_id(event.attr.config).is_some(), "{:?}", event.name);
    }
    let (_, text) = tracing.printk_formats().next().expect("a text");
    assert_eq!(text, b"thaw_processes");
    println!(
        "{} formats, {} texts, {} thread names, version {}",
        tracing.formats().len(),
        tracing.printk_formats().count(),
        tracing.saved_cmdlines().count(),
        tracing.version
    );
}
