//! Every shared Linux recording extracts.

use serde_json::Value;
use tracesift_fixtures::cases;

use crate::extracted::Extracted;

/// Samples of the event that is CPU time.
fn expected_samples(entry: &Value) -> u64 {
    let events = entry["events"].as_array().unwrap();
    // Among the cases these are the CPU events: clocks, else cycles, each recorded with a frequency.
    let is = |event: &&Value, kind: u64, config: &str| event["type"] == kind && event["config"] == config;
    let sampled = || events.iter().filter(|event| event["samples"] != 0);
    let samples = |event: &Value| event["samples"].as_u64().unwrap();
    if let Some(clock) = sampled().find(|event| is(event, 1, "0x0") || is(event, 1, "0x1")) {
        return samples(clock);
    }
    // Of a hybrid CPU each kind of cores has its own.
    sampled()
        .filter(|event| ["0x0", "0x400000000", "0x800000000"].iter().any(|config| is(event, 0, config)))
        .map(samples)
        .sum()
}

#[test]
fn every_shared_recording_extracts() {
    let Some(cases) = cases("") else { return };
    let text = std::fs::read_to_string(cases.join("expected/perf-counts.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut without_cpu = Vec::new();
    for entry in &entries {
        let file = entry["file"].as_str().unwrap();
        let extracted = Extracted::of(&cases.join(file));
        let info = &extracted.info;
        assert_eq!(info.kind, "perf", "{file}");
        extracted.check_accounts();
        if extracted.health.get("no_cpu_event") > 0 {
            without_cpu.push(file.to_owned());
            continue;
        }
        assert_eq!(extracted.samples.len() as u64, expected_samples(entry), "{file}: {:?}", info.sample_sources);
        let idle = extracted.processes.iter().filter(|process| process.pid == 0).count();
        assert!(idle <= 1, "{file}");
    }
    println!("without a CPU event: {without_cpu:?}");
}
