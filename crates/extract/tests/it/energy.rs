//! Counters of energy of a Windows recording: payloads made byte by byte, and the counters that a scenario wrote.

use tracesift_etl::payload::PROCESSOR_POWER;
use tracesift_etl::write::PointerSize;
use tracesift_scenario::energy::{self, Machine, PACKAGE, PROCESSOR};
use tracesift_scenario::providers::{self, Logged};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{EnergyRow, HealthRow};

const MS: i64 = 1_000_000;
const SIZES: [PointerSize; 2] = [PointerSize::Four, PointerSize::Eight];

fn extracted(pointer_size: PointerSize, events: Vec<Logged>) -> Extracted {
    let bytes = providers::write(pointer_size, 10, &[(4, "System")], events).expect("a recording");
    Recording::of("energy.etl", &bytes).extract()
}

fn rows(extracted: &Extracted) -> Vec<EnergyRow> {
    extracted.archive.rows().expect("energy")
}

fn count(extracted: &Extracted, kind: &str) -> Option<i64> {
    let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
    health.iter().find(|row| row.kind == kind).map(|row| row.count)
}

fn of_bytes(time: i64, id: u16, version: u8, payload: &[u8]) -> Logged {
    let payload = payload.to_vec();
    Logged { time: time * MS, cpu: 0, provider: PROCESSOR_POWER, id, version, pid: 4, tid: 8, payload }
}

fn row(time: i64, cpu: Option<i32>, counter: &str, counts: i64, span: i64) -> EnergyRow {
    EnergyRow {
        time: time * MS,
        cpu,
        package: None,
        counter: counter.to_owned(),
        value: None,
        counts: Some(counts),
        span: span * MS,
    }
}

#[test]
fn payloads_tell_what_was_counted_since_the_reading_before() {
    for pointer_size in SIZES {
        let extracted = extracted(
            pointer_size,
            vec![
                // Group 0, number 2, counter 5, value.
                of_bytes(10, PROCESSOR, 0, &[0, 0, 2, 5, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0]),
                of_bytes(11, PROCESSOR, 0, &[0, 0, 1, 5, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0]),
                // Counter 1, value.
                of_bytes(12, PACKAGE, 0, &[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
                of_bytes(20, PROCESSOR, 0, &[0, 0, 2, 5, 0, 0, 0, 0x15, 1, 0, 0, 0, 0, 0, 0]),
                of_bytes(31, PACKAGE, 0, &[1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]),
                of_bytes(41, PROCESSOR, 0, &[0, 0, 1, 5, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0]),
                // The same number of another kind is another counter.
                of_bytes(50, PACKAGE, 0, &[5, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]),
                // Set back.
                of_bytes(60, PROCESSOR, 0, &[0, 0, 2, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
                of_bytes(70, PROCESSOR, 0, &[0, 0, 2, 5, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]),
            ],
        );
        let expected = [
            row(20, Some(2), "processor 5", 0x105, 10),
            row(31, None, "package 1", 5, 19),
            row(41, Some(1), "processor 5", 0, 30),
            row(70, Some(2), "processor 5", 2, 10),
        ];
        assert_eq!(rows(&extracted), expected);
        assert_eq!(count(&extracted, "energy_readings_without_row"), Some(1));
        assert_eq!(count(&extracted, "fields_not_as_expected"), None);
    }
}

#[test]
fn payloads_that_end_too_early_are_counted() {
    let whole = [0, 0, 2, 5, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0];
    for (id, whole) in [(PROCESSOR, &whole[..]), (PACKAGE, &whole[3..])] {
        let events = (0..=whole.len() as i64).map(|length| of_bytes(length, id, 0, &whole[..length as usize]));
        // A processor whose number nobody knows.
        let unknown = [of_bytes(60, PROCESSOR, 0, &[1, 0, 2, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])];
        let extracted = extracted(PointerSize::Eight, events.chain(unknown).collect());
        assert_eq!(rows(&extracted), []);
        assert_eq!(count(&extracted, "fields_not_as_expected"), Some(whole.len() as i64));
        assert_eq!(count(&extracted, "processor_beyond_group_0"), Some(1));
    }
}

#[test]
fn the_counters_of_a_machine() {
    let machine = Machine::of_two_cpus();
    for pointer_size in SIZES {
        // The counters start again at 0 in the recording.
        let events = machine.windows_readings(u64::MAX - 2_000_000, pointer_size);
        let rows = rows(&extracted(pointer_size, events));
        let mut expected = Vec::new();
        for span in machine.readings.windows(2) {
            let (from, to) = (span[0], span[1]);
            expected.push(row(to, None, "package 0", machine.used_by_all((from, to)), to - from));
            expected.extend(
                (0..machine.cpus)
                    .map(|cpu| row(to, Some(cpu.into()), "processor 3", machine.used(cpu, (from, to)), to - from)),
            );
        }
        assert_eq!(rows, expected);
    }
}

#[test]
fn a_counter_that_is_read_once_leaves_no_table() {
    let extracted = extracted(PointerSize::Eight, vec![energy::package(5, 0, 7, PointerSize::Eight)]);
    assert_eq!(rows(&extracted), []);
    assert!(!extracted.report.archive.join("energy.parquet").exists());
}
