//! Every recording of the cases, held against an independent walk: `perf-counts.json`.

use std::collections::BTreeMap;
use std::fs::File;

use serde_json::{Value, json};
use tracesift_fixtures::cases;
use tracesift_perf::{Counts, Kind, MergeOptions, Mode, PerfFile, Records};

use crate::common;

fn by_name(kinds: &BTreeMap<Kind, u64>) -> Value {
    json!(kinds.iter().map(|(kind, count)| (kind.name().expect("a name"), *count)).collect::<BTreeMap<_, _>>())
}

fn into_value(counts: &Counts) -> BTreeMap<&'static str, Value> {
    let metadata = counts.metadata.as_ref().expect("it was walked");
    let features = &metadata.features;
    let events: Vec<Value> = (0..)
        .zip(metadata.events.all())
        .map(|(index, event)| {
            json!({
                "index": index,
                "name": metadata.event_name(index),
                "type": event.attr.kind,
                "config": format!("{:#x}", event.attr.config),
                "sample_type": format!("{:#x}", event.attr.sample_format.bits()),
                "ids": event.ids.len(),
                "samples": counts.samples[index],
            })
        })
        .collect();
    BTreeMap::from([
        ("mode", json!(if metadata.mode == Mode::File { "file" } else { "pipe" })),
        ("os_release", json!(features.os_release)),
        ("arch", json!(features.arch)),
        ("perf_version", json!(features.perf_version)),
        ("cpus_available_online", json!(features.cpus.map(|cpus| [cpus.available, cpus.online]))),
        ("events", json!(events)),
        ("records", by_name(&counts.outer)),
        ("records_inside_compressed", by_name(&counts.nested)),
        ("total_records", json!(counts.total_records())),
        ("total_samples", json!(counts.total_samples())),
        ("first_sample_time_ns", json!(counts.sample_times.map(|times| times.0))),
        ("last_sample_time_ns", json!(counts.sample_times.map(|times| times.1))),
        ("first_record_time_ns", json!(counts.record_times.map(|times| times.0))),
        ("last_record_time_ns", json!(counts.record_times.map(|times| times.1))),
        ("walk_stopped", json!(counts.stop.as_ref().map(ToString::to_string))),
    ])
}

/// What perf 6.1 says and notes for people are not ours to give.
const NOT_OURS: [&str; 4] = ["file", "bytes", "perf_report_stats_6_1", "note"];

#[test]
fn every_figure_of_every_recording_agrees() {
    if cases("").is_none() {
        return;
    }
    let mut seen = Vec::new();
    for entry in common::expected() {
        let name = entry["file"].as_str().expect("a path").trim_start_matches("perf/").to_owned();
        let file = common::open(&name);
        assert_eq!(json!(file.bytes()), entry["bytes"], "{name}");
        let counts = Counts::of(file.records());
        let found = into_value(&counts);
        for (key, expected) in entry.as_object().expect("an object") {
            if !NOT_OURS.contains(&key.as_str()) {
                assert_eq!(found.get(key.as_str()), Some(expected), "{name}: {key}\n{:?}", counts.damage);
            }
        }
        assert_eq!(counts.unattributed, 0, "{name}");
        let stopped = entry.get("walk_stopped").is_some();
        assert_eq!(entry.get("walk_stopped").is_none(), counts.stop.is_none(), "{name}");
        assert!(file.damage().is_empty(), "{name}: {:?}", file.damage());
        assert_eq!(counts.damage.kinds().len(), usize::from(stopped), "{name}: {:?}", counts.damage);
        seen.push(name);
    }
    seen.sort();
    assert_eq!(seen, common::names(), "every recording has its expectation");
}

#[test]
fn order_of_time_has_the_same_records() {
    if cases("").is_none() {
        return;
    }
    for name in common::names() {
        let file = common::open(&name);
        let (mut total, mut in_order) = (0, Counts::default());
        let mut merged = file.merged(MergeOptions::default());
        let mut last = 0;
        while let Some(record) = merged.next() {
            total += 1;
            if let Some(time) = record.time() {
                assert!(time >= last, "{name}: {time} after {last} at {}", record.offset());
                last = time;
            }
            *in_order.outer.entry(record.kind()).or_default() += 1;
        }
        let mut counts = Counts::of(file.records());
        for (kind, count) in std::mem::take(&mut counts.nested) {
            *counts.outer.entry(kind).or_default() += count;
        }
        assert_eq!(in_order.outer, counts.outer, "{name}");
        assert_eq!(total, counts.total_records(), "{name}");
        assert_eq!(merged.damage(), &counts.damage, "{name}: nothing comes too late");
    }
}

#[test]
fn streams_are_read_as_they_come() {
    let Some(cases) = cases("") else { return };
    for name in common::names() {
        let path = cases.join("perf").join(&name);
        let file = PerfFile::open(&path).expect("a recording");
        let stream = Records::from_stream(File::open(&path).expect("readable"));
        if file.metadata().mode == Mode::File {
            assert!(stream.is_err(), "{name}: a file cannot be read as a stream");
            continue;
        }
        let (stream, file) = (Counts::of(stream.expect("a stream")), Counts::of(file.records()));
        assert_eq!(into_value(&stream), into_value(&file), "{name}");
    }
}
