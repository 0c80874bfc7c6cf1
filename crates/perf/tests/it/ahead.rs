//! The walk on a thread of its own hands out what the walk in place does, whatever it leaves out on the way.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;
use tracesift_fixtures::cases;
use tracesift_fixtures::perf_data::{Attr, Bytes, SAMPLE_ID_ALL, file};
use tracesift_perf::{Endianness, Kind, MergeOptions, PerfFile, Record};

use crate::common;

const OPTIONS: MergeOptions = MergeOptions { memory_limit: 4 << 20 };
/// Address, thread, time, CPU, period, a group of counters, call chain, raw data.
const SAMPLE_TYPE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8 | 1 << 4 | 1 << 5 | 1 << 10;
/// As above, but without counters: the place of the chain never changes.
const FIXED: u64 = SAMPLE_TYPE & !(1 << 4);
/// `PERF_FORMAT_GROUP`.
const GROUP: u64 = 1 << 3;

/// A recording of samples with these call chains, so many counters in each.
fn recording(chains: &[Vec<u64>], sample_type: u64, counters: u64) -> PerfFile {
    let mut data = Bytes::new(Endianness::LittleEndian);
    for (time, chain) in (1..).zip(chains) {
        data.record(9, 0, |out| {
            out.u64(0x1000).u32(7).u32(8).u64(time).u64(3).u64(5);
            if sample_type & 1 << 4 != 0 {
                out.u64(counters);
                for counter in 0..counters {
                    out.u64(time + counter);
                }
            }
            out.u64(chain.len() as u64).u64s(chain).u32(4).u32(0xabcd);
        });
    }
    let attr =
        Attr { kind: 1, config: 0, period: 1, sample_type, read_format: GROUP, flags: SAMPLE_ID_ALL, ids: vec![1] };
    PerfFile::new(Arc::new(file(Endianness::LittleEndian, &[attr], &data.bytes, &[]))).expect("a recording")
}

fn tell(record: &Record<'_>) -> String {
    let place = (record.kind(), record.misc(), record.size(), record.offset(), record.event(), record.time());
    format!("{place:?} {:?} {:?} {:?} {:?}", record.thread(), record.cpu(), record.id(), record.payload())
}

/// Compares both walks; gives the number of samples with a numbered chain.
fn compare(file: &PerfFile) -> usize {
    let (mut here, mut ahead) = (file.merged(OPTIONS), file.merged(OPTIONS).ahead());
    let mut words_of: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let mut numbered = 0;
    while let Some(record) = here.next() {
        let other = ahead.next().expect("as many records");
        assert_eq!(tell(&other), tell(&record));
        if let Some(number) = other.chain_number() {
            let words = other.sample().expect("a sample").callchain.expect("a chain").iter().collect::<Vec<u64>>();
            assert_eq!(*words_of.entry(number).or_insert_with(|| words.clone()), words);
            numbered += 1;
        }
    }
    assert!(ahead.next().is_none());
    assert_eq!(ahead.finish().damage().kinds().len(), here.damage().kinds().len());
    let mut distinct: Vec<&Vec<u64>> = words_of.values().collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), words_of.len(), "equal chains have one number");
    numbered
}

#[test]
fn real_recordings_come_out_the_same() {
    let Some(cases) = cases("") else { return };
    let mut numbered = 0;
    for name in common::names() {
        let bytes = std::fs::read(cases.join("perf").join(&name)).expect("readable");
        if let Ok(file) = PerfFile::new(Arc::new(bytes)) {
            numbered += compare(&file);
        }
    }
    println!("{numbered} samples with a numbered chain");
    assert!(numbered > 1000);
}

#[test]
fn more_chains_than_are_kept_start_anew() {
    let mut chains: Vec<Vec<u64>> = (0..500_000).map(|chain| vec![chain]).collect();
    chains.extend((0..1000).map(|chain| vec![chain]));
    let file = recording(&chains, FIXED, 0);
    let mut ahead = file.merged(OPTIONS).ahead();
    let (mut last, mut without) = (None, 0);
    for chain in &chains {
        let record = ahead.next().expect("a sample");
        let sample = record.sample().expect("whole");
        assert!(sample.callchain.expect("a chain").iter().eq(chain.iter().copied()));
        assert_eq!(sample.raw.map(<[u8]>::len), Some(4));
        last = last.max(record.chain_number());
        without += usize::from(record.chain_number().is_none());
    }
    assert!(last >= Some(300_000), "numbers begin anew: {last:?}");
    assert!((1..150_000).contains(&without), "only while old numbers are waited for: {without}");
}

#[test]
fn a_walk_that_nobody_follows_ends() {
    let chains: Vec<Vec<u64>> = (0..100_000).map(|chain| vec![chain % 100; 10]).collect();
    let mut ahead = recording(&chains, FIXED, 0).merged(OPTIONS).ahead();
    assert!(ahead.advance());
    assert!(ahead.finish().position() > 0);
}

#[test]
fn an_outline_has_the_first_sample_of_each_thread_and_counts_the_others() {
    let chains: Vec<Vec<u64>> = (0..20_000).map(|chain| vec![chain; 20]).collect();
    let file = recording(&chains, FIXED, 0);
    let head = |record: &Record<'_>| {
        (record.kind(), record.time(), record.thread(), record.cpu(), record.size(), record.event())
    };
    let mut all = file.merged(OPTIONS);
    let mut first = Vec::new();
    let mut threads = HashSet::new();
    while let Some(record) = all.next() {
        assert_eq!(record.kind(), Kind::Sample);
        if threads.insert(record.thread()) {
            first.push(head(&record));
        }
    }
    let mut outline = file.merged(OPTIONS).skip_known_threads(|_, _| false).ahead();
    for first in &first {
        let record = outline.next().expect("the first of a thread");
        assert_eq!(&head(&record), first);
        assert!(record.sample().is_err());
    }
    // A few of the others show how far the walk is.
    let mut others = 0;
    while outline.advance() {
        others += 1;
    }
    assert!((1..10).contains(&others), "{others}");
    let merged = outline.finish();
    let left_out = merged.left_out();
    assert_eq!(left_out.samples as usize, chains.len() - first.len() - others);
    assert_eq!(left_out.by_event, [left_out.samples]);

    let mut whole = file.merged(OPTIONS).skip_known_threads(|_, _| true).ahead();
    for _ in &chains {
        assert!(whole.next().expect("all of them").sample().is_ok());
    }
    assert_eq!(whole.finish().left_out().samples, 0);
}

proptest! {
    #[test]
    fn any_chains_come_out_the_same(
        chains in prop::collection::vec(prop::collection::vec(0..3u64, 0..5), 0..300),
        counters in 0..3u64,
        with_counters: bool,
    ) {
        let numbered = compare(&recording(&chains, if with_counters { SAMPLE_TYPE } else { FIXED }, counters));
        prop_assert_eq!(numbered, chains.iter().filter(|chain| !chain.is_empty()).count());
    }
}
