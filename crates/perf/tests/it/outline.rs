//! An outline leaves out samples and nothing else: held against the walk over everything, also where two threads share the work.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracesift_fixtures::perf_data::{Attr, Bytes, SAMPLE_ID_ALL, file};
use tracesift_perf::{Endianness, Kind, MergeOptions, PerfFile, Record, damage_kind};

const OPTIONS: MergeOptions = MergeOptions { memory_limit: 4 << 20 };
/// Address, thread, time, id, CPU, call chain.
const SAMPLE_TYPE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 5;
const ID: u64 = 11;
const THREADS: u32 = 500;
/// Samples of some 6 MiB: enough for a second half.
const MANY: u64 = 40_000;

fn sample(data: &mut Bytes, time: u64) {
    data.record(9, 2, |out| {
        out.u64(0x1000).u32(7).u32(time as u32 % THREADS).u64(time).u64(ID).u32(3).u32(0);
        out.u64(12).u64s(&[time; 12]);
    });
}

/// The name of a thread, in the order of time.
fn comm(data: &mut Bytes, time: u64) {
    data.record(3, 0, |out| {
        out.u32(7).u32(time as u32 % THREADS).text(b"name", 8);
        out.u32(7).u32(time as u32 % THREADS).u64(time).u64(ID).u32(3).u32(0);
    });
}

fn samples(data: &mut Bytes, times: std::ops::Range<u64>) {
    for time in times {
        sample(data, time);
        if time.is_multiple_of(1000) {
            comm(data, time);
            data.record(68, 0, |_| {});
        }
    }
}

fn recording(data: &Bytes) -> PerfFile {
    let flags = SAMPLE_ID_ALL;
    let attr = Attr { kind: 1, config: 0, period: 1, sample_type: SAMPLE_TYPE, read_format: 0, flags, ids: vec![ID] };
    PerfFile::new(Arc::new(file(data.endian, &[attr], &data.bytes, &[]))).expect("a recording")
}

fn tell(record: &Record<'_>) -> String {
    let place = (record.kind(), record.misc(), record.size(), record.offset(), record.event(), record.time());
    format!("{place:?} {:?} {:?} {:?}", record.thread(), record.cpu(), record.id())
}

/// Holds the outline against the walk over all; gives the number of samples that it handed out.
fn compare(file: &PerfFile) -> u64 {
    let (mut all, mut outline) = (file.merged(OPTIONS), file.merged(OPTIONS).skip_known_threads(|_, _| false));
    let (mut handed_out, mut samples) = (0, 0);
    let mut first: BTreeMap<i32, u64> = BTreeMap::new();
    let mut told: BTreeMap<i32, u64> = BTreeMap::new();
    let mut others = (Vec::new(), Vec::new());
    let note = |record: &Record<'_>, threads: &mut BTreeMap<i32, u64>, others: &mut Vec<String>| {
        match (record.thread(), record.time()) {
            (Some((_, thread)), Some(time)) if record.kind() == Kind::Sample => {
                threads.entry(thread).or_insert(time);
            }
            _ => others.push(tell(record)),
        }
        u64::from(record.kind() == Kind::Sample)
    };
    while let Some(record) = all.next() {
        samples += note(&record, &mut first, &mut others.0);
    }
    while let Some(record) = outline.next() {
        handed_out += note(&record, &mut told, &mut others.1);
    }
    assert_eq!(told, first, "the first sample of each thread is told of");
    assert_eq!(others.0, others.1, "whatever is no sample of a thread is handed out as it is, in its place");
    let left_out = outline.left_out();
    assert_eq!((left_out.samples, &left_out.by_event), (samples - handed_out, &vec![samples - handed_out]));
    assert!(left_out.span.is_some_and(|(from, to)| from >= 1 && to >= from));
    assert_eq!(outline.damage(), all.damage());
    assert_eq!(outline.stop(), all.stop());
    assert_eq!(outline.position(), all.position());
    handed_out
}

/// A second walk knows nothing of the first one's threads, so it tells of each once more.
fn was_shared(handed_out: u64) -> bool {
    handed_out >= 2 * u64::from(THREADS)
}

#[test]
fn a_short_recording_is_walked_over_once() {
    let mut data = Bytes::new(Endianness::LittleEndian);
    samples(&mut data, 1..10_000);
    assert!(!was_shared(compare(&recording(&data))));
}

#[test]
fn the_second_half_of_a_long_one_is_looked_over_meanwhile() {
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let mut data = Bytes::new(endian);
        samples(&mut data, 1..MANY);
        assert!(was_shared(compare(&recording(&data))));
    }
}

#[test]
fn damage_of_both_halves_is_counted_once() {
    let mut data = Bytes::new(Endianness::LittleEndian);
    let short = |data: &mut Bytes| _ = data.record(9, 2, |out| _ = out.u64(0x1000));
    for part in 0..10 {
        samples(&mut data, 1 + part * (MANY / 10)..(part + 1) * (MANY / 10));
        short(&mut data);
        short(&mut data);
    }
    data.raw(&[0; 5]);
    let file = recording(&data);
    assert!(was_shared(compare(&file)));
    let mut outline = file.merged(OPTIONS).skip_known_threads(|_, _| false);
    while outline.next().is_some() {}
    assert_eq!(outline.damage().count(damage_kind::SHORT_RECORD), 20);
    assert_eq!(outline.damage().count(damage_kind::WALK_STOPPED), 1);
    assert!(outline.damage().kinds().iter().all(|kind| kind.examples.len() <= 8));
}

#[test]
fn what_explains_later_records_is_read_by_the_first_walk() {
    // In the second half: the walk there ends before it, and the first one goes on.
    let mut data = Bytes::new(Endianness::LittleEndian);
    samples(&mut data, 1..MANY * 3 / 4);
    data.record(67, 0, |out| _ = out.raw(&[1; 40]));
    samples(&mut data, MANY * 3 / 4..MANY);
    assert!(was_shared(compare(&recording(&data))));

    // In the first half, behind the head start: the second walk knew less than it should have.
    let mut data = Bytes::new(Endianness::LittleEndian);
    samples(&mut data, 1..MANY / 4);
    data.record(67, 0, |out| _ = out.raw(&[1; 40]));
    samples(&mut data, MANY / 4..MANY);
    assert!(!was_shared(compare(&recording(&data))));
}

#[test]
fn what_only_looks_like_records_is_not_taken_for_some() {
    let mut trace = Bytes::new(Endianness::LittleEndian);
    samples(&mut trace, 1..MANY);
    let mut data = Bytes::new(Endianness::LittleEndian);
    samples(&mut data, 1..MANY / 4);
    // A trace of a processor whose bytes are those of a recording.
    data.record(71, 0, |out| _ = out.u64s(&[trace.bytes.len() as u64, 0, 0, 0, 0]));
    data.raw(&trace.bytes);
    samples(&mut data, MANY / 4..MANY / 2);
    assert!(!was_shared(compare(&recording(&data))));
}

#[test]
fn a_walk_that_stops_in_the_first_half_stops() {
    let mut data = Bytes::new(Endianness::LittleEndian);
    samples(&mut data, 1..MANY / 3);
    data.u32(9).u16(0).u16(4);
    samples(&mut data, MANY / 3..MANY);
    assert!(!was_shared(compare(&recording(&data))));
}
