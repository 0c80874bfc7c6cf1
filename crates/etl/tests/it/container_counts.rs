//! Every real recording of the cases, held against two other readers: `etl-counts.json`.

use serde_json::{Value, json};
use tracesift_etl::counts::{Counts, Key, cpus_seen};
use tracesift_etl::{Error, EtlFile, Guid, Merge, MergeOptions};
use tracesift_fixtures::cases;

use crate::common;

fn open(entry: &Value) -> Result<EtlFile, Error> {
    let bytes = common::read(entry["file"].as_str().expect("a path"), entry["member"].as_str());
    EtlFile::open(Box::new(bytes))
}

fn guid(value: &Value) -> Guid {
    value.as_str().expect("a GUID").parse().expect("a GUID")
}

/// The counted key of an expected entry: by its numbers, since the names there are those of another reader.
fn key(expected: &Value) -> Key {
    let number = |name: &str| expected[name].as_u64().expect("a number");
    let version = number("version") as u8;
    match expected["kind"].as_str() {
        Some("kernel") => Key::Kernel { hook: (number("group") << 8 | number("opcode")) as u16, version },
        Some("classic") => Key::Classic { guid: guid(&expected["guid"]), opcode: number("opcode") as u8, version },
        Some("event") => Key::Event { provider: guid(&expected["provider"]), id: number("id") as u16, version },
        other => panic!("unknown kind {other:?}"),
    }
}

#[test]
fn every_figure_of_every_recording_agrees() {
    if cases("").is_none() {
        return;
    }
    for entry in common::expected("etl-counts.json").as_array().expect("a list") {
        if entry["bytes"] == 0 {
            assert!(matches!(open(entry), Err(Error::Empty)));
            continue;
        }
        let name = format!("{} {}", entry["file"], entry["member"]);
        let file = open(entry).expect("a recording");
        assert!(file.damage().is_empty(), "{name}: {:?}", file.damage());
        let (counts, damage) = Counts::of(&file);
        assert!(damage.is_empty(), "{name}: {damage:?}");
        let header = file.header();
        let total = counts.total().expect("records");
        let compressed = file.buffers().iter().filter(|buffer| buffer.is_compressed()).count();
        let header_records = |key| counts.get(key).map_or(0, |count| count.records);

        let found = json!({
            "bytes": file.bytes(),
            "os_build": header.os_version(),
            "pointer_size": header.pointer_size,
            "cpu_count": header.cpu_count,
            "perf_freq": header.performance_frequency,
            "clock_type": header.clock_number,
            "timer_resolution_100ns": header.timer_resolution,
            "start_time_utc": header.start_time_utc(),
            "end_time_utc": header.end_time_utc(),
            "buffer_size": header.buffer_size,
            "buffers_written": header.buffers_written,
            "log_file_mode": format!("{:#x}", header.log_file_mode),
            "events_lost": header.events_lost,
            "buffers_lost": header.buffers_lost,
            "session_name": header.session_name,
            "buffers_in_file": file.buffers().len(),
            "compressed_buffers": compressed,
            "cpus_seen_in_buffers": cpus_seen(&file),
            "buffers_flagged_events_lost": file.buffers_with_lost_events(),
            "buffers_flagged_buffer_lost": file.buffers_after_lost_buffers(),
            "logfile_header_records": header_records(Key::Kernel { hook: 0, version: 2 }),
            "first_timestamp_raw": total.first_time,
            "last_timestamp_raw": total.last_time,
            "total_records": total.records,
            "records_by_header_type": counts
                .by_header()
                .into_iter()
                .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
                .collect::<serde_json::Map<_, _>>(),
        });
        for (field, value) in found.as_object().expect("an object") {
            assert_eq!(*value, entry[field], "{name}: {field}");
        }
        let seconds = (header.end_time - header.start_time) as f64 / 1e7;
        assert!((seconds - entry["duration_s"].as_f64().expect("seconds")).abs() < 1e-7, "{name}");

        let expected = entry["counts"].as_array().expect("a list");
        assert_eq!(counts.by_key().len(), expected.len(), "{name}");
        for wanted in expected {
            let found = counts.get(key(wanted)).map(|count| count.records);
            assert_eq!(found, wanted["count"].as_u64(), "{name}: {wanted}");
        }

        let mut wanted: Vec<_> = entry["tracelogging_events"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|event| {
                (
                    guid(&event["provider"]),
                    event["event"].as_str().expect("a name").to_owned(),
                    event["count"].as_u64().expect("a count"),
                )
            })
            .collect();
        let mut found = counts.self_describing();
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn the_merged_stream_has_every_record_once_and_in_order() {
    if cases("").is_none() {
        return;
    }
    for entry in common::expected("etl-counts.json").as_array().expect("a list") {
        let Ok(file) = open(entry) else { continue };
        let files = [file];
        let mut merge = Merge::new(&files, MergeOptions::default());
        let (mut count, mut last) = (0u64, i64::MIN);
        while let Some(record) = merge.next() {
            assert!(record.time() >= last, "{}", entry["file"]);
            last = record.time();
            count += 1;
        }
        assert_eq!(Some(count), entry["total_records"].as_u64(), "{}", entry["file"]);
        assert!(merge.damage(0).is_some_and(|damage| damage.is_empty()), "{:?}", merge.damage(0));
    }
}

#[test]
fn parts_of_one_recording_merge_into_one_stream() {
    if cases("").is_none() {
        return;
    }
    let expected = common::expected("etl-counts.json");
    let parts: Vec<_> = expected
        .as_array()
        .expect("a list")
        .iter()
        .filter(|entry| entry["file"].as_str().is_some_and(|file| file.contains("diaghub")))
        .collect();
    assert_eq!(parts.len(), 4);
    let files: Vec<_> = parts.iter().map(|entry| open(entry).expect("a recording")).collect();
    let mut merge = Merge::new(&files, MergeOptions::default());
    let mut counts = vec![0u64; files.len()];
    let mut last = i64::MIN;
    while let Some(record) = merge.next() {
        assert!(record.time() >= last);
        last = record.time();
        counts[usize::from(record.part())] += 1;
    }
    let wanted: Vec<_> = parts.iter().filter_map(|entry| entry["total_records"].as_u64()).collect();
    assert_eq!(counts, wanted);
}

#[test]
fn a_filtered_stream_is_the_whole_stream_filtered() {
    if cases("").is_none() {
        return;
    }
    let bytes = common::read("etl/net.4.5.2.x64.etl.zip", Some("net.4.5.2.x64.etl"));
    let files = [EtlFile::open(Box::new(bytes)).expect("a recording")];
    let mut all = Merge::new(&files, MergeOptions::default());
    let mut stacks =
        Merge::of(&files, MergeOptions::default(), |record: &tracesift_etl::Record<'_>| record.is_stack_walk());
    let mut found = 0;
    while let Some(record) = all.next() {
        if record.is_stack_walk() {
            assert_eq!(stacks.peek_time(), Some(record.time()));
            let other = stacks.next().expect("as many");
            assert_eq!((other.bytes(), other.cpu(), other.kind()), (record.bytes(), record.cpu(), record.kind()));
            found += 1;
        }
    }
    assert_eq!(found, 12_280);
    assert!(stacks.next().is_none());
}
