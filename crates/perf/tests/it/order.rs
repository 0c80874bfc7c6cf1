//! Order in time: by rounds, without rounds, and within bounds.

use std::sync::Arc;

use proptest::prelude::*;
use tracesift_fixtures::perf_data::{Attr, Bytes, SAMPLE_ID_ALL, file};
use tracesift_perf::{DamageLog, Endianness, Kind, MergeOptions, PerfFile, damage_kind};

/// Time and CPU.
const SAMPLE_TYPE: u64 = 1 << 2 | 1 << 7;
/// A round's end.
const ROUND: u64 = 0;

/// A recording of samples with these times.
fn recording(times: &[u64], padding: usize) -> PerfFile {
    let mut data = Bytes::new(Endianness::LittleEndian);
    for &time in times {
        match time {
            ROUND => data.record(68, 0, |_| {}),
            time => data.record(9, 0, |out| {
                out.u64(time).u64(0).text(b"", padding);
            }),
        };
    }
    let attr = Attr {
        kind: 1,
        config: 0,
        period: 4000,
        sample_type: SAMPLE_TYPE,
        read_format: 0,
        flags: SAMPLE_ID_ALL,
        ids: vec![1],
    };
    PerfFile::new(Arc::new(file(Endianness::LittleEndian, &[attr], &data.bytes, &[]))).expect("a recording")
}

/// The times in order, and the damage.
fn merged(file: &PerfFile, memory_limit: usize) -> (Vec<u64>, DamageLog) {
    let mut records = file.merged(MergeOptions { memory_limit });
    let mut times = Vec::new();
    while let Some(record) = records.next() {
        times.push(if record.kind() == Kind::FinishedRound { ROUND } else { record.time().expect("a time") });
    }
    (times, records.damage().clone())
}

#[test]
fn rounds_let_out_what_was_there_when_the_one_before_ended() {
    let file = recording(&[1, 2, 2, 3, 4, ROUND, 3, 4, 5, 6, 7, ROUND, 6, 7, 8, 9, 10, ROUND], 0);
    let (times, damage) = merged(&file, 1 << 20);
    assert_eq!(times, [ROUND, ROUND, 1, 2, 2, 3, 3, 4, 4, ROUND, 5, 6, 6, 7, 7, 8, 9, 10]);
    assert!(damage.is_empty());
}

#[test]
fn a_broken_promise_is_counted() {
    let (times, damage) = merged(&recording(&[10, ROUND, 20, ROUND, 5, 30], 0), 1 << 20);
    assert_eq!(times, [ROUND, ROUND, 10, 5, 20, 30]);
    assert_eq!(damage.count(damage_kind::LATE_RECORD), 1);
}

#[test]
fn without_rounds_what_fits_is_sorted_as_a_whole() {
    let times: Vec<u64> = (1..=2000).rev().collect();
    let (merged, damage) = merged(&recording(&times, 0), 4 << 20);
    assert_eq!(merged, (1..=2000).collect::<Vec<u64>>());
    assert!(damage.is_empty());
}

#[test]
fn what_does_not_fit_is_sorted_as_far_as_it_is_behind() {
    // Two CPUs, read in turns of 200 records; a MiB holds more than one turn of both.
    let turn = |turn: u64| {
        (0..200).map(move |at| 1 + turn * 1000 + at * 5).chain((0..200).map(move |at| 3 + turn * 1000 + at * 5))
    };
    let times: Vec<u64> = (0..50).flat_map(turn).collect();
    let file = recording(&times, 1000);
    assert!(file.bytes() > 16 << 20);
    let (merged, damage) = merged(&file, 3 << 20);
    let mut sorted = times;
    sorted.sort_unstable();
    assert!(merged == sorted, "in order");
    assert!(damage.is_empty());
}

proptest! {
    #[test]
    fn every_record_comes_once(times in prop::collection::vec(0..200u64, 0..600), limit in 0..600_000usize) {
        let file = recording(&times, 600);
        let (merged, damage) = merged(&file, limit);
        let late = merged.iter().filter(|time| **time != ROUND).scan(0, |last, &time| {
            let late = time < *last;
            *last = time.max(*last);
            Some(u64::from(late))
        });
        prop_assert_eq!(damage.count(damage_kind::LATE_RECORD), late.sum::<u64>());
        let (mut merged, mut times) = (merged, times);
        merged.sort_unstable();
        times.sort_unstable();
        prop_assert_eq!(merged, times);
    }
}
