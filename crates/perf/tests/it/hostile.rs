//! Damaged and forged recordings: no panic, no endless walk, no memory beyond what the file's size justifies.

use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};

use tracesift_fixtures::cases;
use tracesift_fixtures::perf_data::{Attr, Bytes, SAMPLE_ID_ALL, file, pipe};
use tracesift_perf::{
    Counts, Endianness, Error, Kind, MergeOptions, Payload, PerfFile, Record, Records, Stop, damage_kind,
};

use crate::common;

const LITTLE: Endianness = Endianness::LittleEndian;

/// Looks at everything that a record has; gives what it cost as a number, so that nothing is optimised away.
fn look(record: &Record<'_>) -> u64 {
    let mut sum = u64::from(record.cpu().unwrap_or(0)) ^ record.id().unwrap_or(0) ^ record.stream_id().unwrap_or(0);
    sum ^= record.thread().map_or(0, |(pid, tid)| (pid ^ tid).cast_unsigned().into());
    match record.payload() {
        Ok(Payload::Sample(sample)) => {
            sum ^= sample.callchain.map_or(0, |chain| chain.iter().fold(0, |sum, address| sum ^ address));
            sum ^= sample
                .tail()
                .branches
                .map_or(0, |branches| branches.entries().fold(0, |sum, branch| sum ^ branch.from));
            sum ^= sample.values.map_or(0, |values| values.counters().fold(0, |sum, counter| sum ^ counter.value));
            sum ^= sample
                .tail()
                .user_registers
                .map_or(0, |registers| (0..80).filter_map(|at| registers.get(at)).count() as u64);
        }
        Ok(Payload::Namespaces(namespaces)) => sum ^= namespaces.iter().count() as u64,
        Ok(Payload::IdIndex(ids)) => sum ^= ids.iter().count() as u64,
        Ok(Payload::ThreadMap(threads)) => sum ^= threads.iter().count() as u64,
        Ok(payload) => sum ^= format!("{payload:?}").len() as u64,
        Err(error) => sum ^= error.missing.len() as u64,
    }
    sum
}

/// Reads a recording in every way; the number of its records.
fn read(bytes: &Arc<Vec<u8>>) -> u64 {
    let Ok(file) = PerfFile::new(bytes.clone()) else { return 0 };
    let counts = Counts::of(file.records());
    let (mut records, mut sum) = (0, 0);
    let mut merged = file.merged(MergeOptions { memory_limit: 1 << 20 });
    while merged.advance() {
        let Some(record) = merged.current() else { panic!("it advanced") };
        records += 1;
        sum ^= look(&record);
        if let (Some(tracing), Some(Ok(raw))) = (&merged.metadata().tracing, raw(&record)) {
            for format in tracing.formats().iter().take(3) {
                for field in &format.fields {
                    sum ^= field.signed(raw, tracing.endian).unwrap_or(0).cast_unsigned();
                    sum ^= field.elements(raw, tracing.endian).count() as u64;
                    sum ^= field.text(raw, tracing.endian).map_or(0, <[u8]>::len) as u64;
                }
            }
        }
    }
    let nested: u64 = counts.nested.values().sum();
    assert_eq!(records, counts.total_records() + nested, "both orders have all records");
    let mut ahead = file.merged(MergeOptions { memory_limit: 1 << 20 }).ahead();
    let mut again = 0;
    while let Some(record) = ahead.next() {
        again += 1;
        sum ^= look(&record);
    }
    assert_eq!(again, records, "on a thread of its own, too");
    let mut outline = file.merged(MergeOptions { memory_limit: 1 << 20 }).skip_known_threads(|_, event| event == 0);
    let mut outlined = 0;
    while let Some(record) = outline.next() {
        outlined += 1;
        sum ^= look(&record);
    }
    assert_eq!(outlined + outline.left_out().samples, records, "left out or not");
    std::hint::black_box(sum);
    records
}

fn raw<'a>(record: &Record<'a>) -> Option<Result<&'a [u8], tracesift_perf::Malformed>> {
    (record.kind() == Kind::Sample).then(|| record.sample().map(|sample| sample.raw.unwrap_or_default()))
}

/// The cases that can be read thousands of times.
fn small_cases() -> Vec<(String, Vec<u8>)> {
    let Some(cases) = cases("") else { return Vec::new() };
    let load = |name: String| (name.clone(), fs::read(cases.join("perf").join(name)).expect("readable"));
    common::names().into_iter().map(load).filter(|(_, bytes)| bytes.len() < 130_000).collect()
}

/// Numbers without order, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

#[test]
fn truncated_recordings_give_their_start() {
    for (name, bytes) in small_cases() {
        let whole = Arc::new(bytes.clone());
        let most = read(&whole);
        let step = if bytes.len() < 20_000 { 97 } else { 97 * 11 };
        let start = Instant::now();
        for length in (0..bytes.len()).step_by(step) {
            assert!(read(&Arc::new(bytes[..length].to_vec())) <= most, "{name}: cut at {length}");
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{name} took {:?}", start.elapsed());
    }
}

#[test]
fn changed_bytes_are_survived() {
    let rounds = env::var("FLIPS").ok().and_then(|count| count.parse().ok()).unwrap_or(3000);
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let cases = small_cases();
    if cases.is_empty() {
        return;
    }
    let (mut opened, mut longest) = (0, Duration::ZERO);
    for round in 0..rounds {
        let (_, bytes) = &cases[round % cases.len()];
        let mut bytes = bytes.clone();
        // Half of them where they hurt most: among headers and attributes.
        let end = if round % 2 == 0 { bytes.len() } else { bytes.len().min(600) };
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(end);
            bytes[at] = if numbers.below(2) == 0 { 0xff } else { numbers.below(256) as u8 };
        }
        let start = Instant::now();
        opened += usize::from(read(&Arc::new(bytes)) > 0);
        longest = longest.max(start.elapsed());
    }
    println!("{opened} of {rounds} had records, the longest took {longest:?}");
    assert!(opened > rounds / 3);
    assert!(longest < Duration::from_secs(10));
}

fn attr() -> Attr {
    let sample_type = 1 << 2 | 1 << 5 | 1 << 10;
    Attr { kind: 1, config: 0, period: 4000, sample_type, read_format: 0, flags: SAMPLE_ID_ALL, ids: Vec::new() }
}

fn counts(data: &Bytes) -> Counts {
    Counts::of(PerfFile::new(Arc::new(file(LITTLE, &[attr()], &data.bytes, &[]))).expect("a recording").records())
}

#[test]
fn forged_lengths_allocate_nothing() {
    let huge = [u64::MAX, u64::MAX / 8, 1 << 61, 1 << 32];
    for length in huge {
        let mut data = Bytes::new(LITTLE);
        for kind in [9, 16, 69, 73, 22, 83] {
            data.record(kind, 0, |out| {
                out.u64s(&[7, length, length, length]);
            });
        }
        let bytes = Arc::new(file(LITTLE, &[attr()], &data.bytes, &[(3, vec![0xff; 8]), (12, vec![0xff; 80])]));
        let file = PerfFile::new(bytes.clone()).expect("a recording");
        assert_eq!(file.damage().count(damage_kind::BAD_FEATURE), 2, "{:?}", file.damage());
        assert_eq!(read(&bytes), 6);
        let mut records = file.records();
        assert!(records.next().expect("a record").sample().is_err());
    }
    // Sections of the header.
    let bytes = file(LITTLE, &[attr()], &[], &[]);
    for field in (16..72).step_by(8) {
        for value in huge {
            let mut bytes = bytes.clone();
            bytes[field..field + 8].copy_from_slice(&value.to_le_bytes());
            read(&Arc::new(bytes));
        }
    }
}

#[test]
fn forged_lists_cost_no_more_than_they_hold() {
    // Two thousand events whose ids are the same 8 MiB of the file.
    let attrs: Vec<Attr> = (0..2000).map(|_| attr()).collect();
    let mut data = Bytes::new(LITTLE);
    for _ in 0..140 {
        data.record(2, 0, |out| {
            out.text(b"", 60_000);
        });
    }
    let mut bytes = file(LITTLE, &attrs, &data.bytes, &[]);
    let (attrs_at, data_at) = (104, 104 + 2000 * 152);
    for index in 0..2000_usize {
        let at = attrs_at + index * 152 + 136;
        bytes[at..at + 8].copy_from_slice(&(data_at as u64).to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&(8_u64 << 20).to_le_bytes());
    }
    let start = Instant::now();
    let opened = PerfFile::new(Arc::new(bytes)).expect("a recording");
    let ids: usize = opened.metadata().events.all().iter().map(|event| event.ids.len()).sum();
    assert!(ids <= 4 << 20, "{ids}");
    assert!(opened.damage().count(damage_kind::TOO_MANY) > 1000);

    // Events that keep their ids at many places, and samples of none of them.
    let attrs: Vec<Attr> = (0..20_000u64)
        .map(|index| Attr { sample_type: (1 << 6) | (index % 8) | ((index / 8 % 2) << 16), ids: vec![index], ..attr() })
        .collect();
    let mut data = Bytes::new(LITTLE);
    for _ in 0..50_000 {
        data.record(9, 0, |out| {
            out.u64s(&[u64::MAX; 6]);
        });
    }
    let found = Counts::of(PerfFile::new(Arc::new(file(LITTLE, &attrs, &data.bytes, &[]))).expect("open").records());
    assert_eq!((found.unattributed, found.damage.count(damage_kind::UNKNOWN_EVENT)), (50_000, 50_000));

    // A description of many events before as many features.
    let mut description = Bytes::new(LITTLE);
    description.u32(700).u32(64);
    for id in 0..700 {
        description.raw(&[0; 64]).u32(1).u32(4).raw(b"abc\0").u64(id);
    }
    let mut features = vec![(12, description.bytes)];
    features.extend((0..100_000).map(|_| (30, Vec::new())));
    read(&Arc::new(pipe(LITTLE, &[attr()], &[], &features)));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_record_that_cannot_be_walked_over_ends_the_walk_and_nothing_before() {
    let mut data = Bytes::new(LITTLE);
    data.record(68, 0, |_| {}).u32(9).u16(0).u16(7).u64(0);
    let found = counts(&data);
    assert!(matches!(found.stop, Some(Stop::Size { size: 7, kind: 9, .. })), "{:?}", found.stop);
    assert_eq!((found.total_records(), found.damage.count(damage_kind::WALK_STOPPED)), (1, 1));

    let mut data = Bytes::new(LITTLE);
    data.record(71, 0, |out| {
        out.u64s(&[1 << 40, 0, 0, 0, 0]);
    });
    let found = counts(&data);
    assert!(matches!(found.stop, Some(Stop::DataPastTheEnd { size, .. }) if size == 1 << 40), "{:?}", found.stop);
    assert_eq!(found.total_records(), 1);
}

#[test]
fn a_short_sample_costs_itself_only() {
    let mut data = Bytes::new(LITTLE);
    data.record(9, 0, |_| {}).record(9, 0, |out| {
        out.u64s(&[5, 0]).u32(4).u32(0);
    });
    let found = counts(&data);
    assert_eq!((found.total_samples(), found.sample_times), (2, Some((5, 5))));
    assert_eq!(found.damage.count(damage_kind::SHORT_RECORD), 1, "{:?}", found.damage);
}

#[test]
fn an_unfinished_recording_is_read_to_its_end() {
    let mut data = Bytes::new(LITTLE);
    data.record(68, 0, |_| {}).record(68, 0, |_| {});
    let mut bytes = file(LITTLE, &[attr()], &data.bytes, &[]);
    bytes[48..56].fill(0);
    let file = PerfFile::new(Arc::new(bytes)).expect("a recording");
    assert_eq!(file.damage().count(damage_kind::UNFINISHED), 1);
    assert_eq!(Counts::of(file.records()).total_records(), 2);
}

/// Compressed records, `pieces` of one stream.
fn compressed(pieces: &[&[u8]]) -> Bytes {
    let mut data = Bytes::new(LITTLE);
    for piece in pieces {
        data.record(83, 0, |out| {
            out.u64(piece.len() as u64).text(piece, piece.len().next_multiple_of(8));
        });
    }
    data
}

#[test]
fn damaged_compressed_data_cost_what_follows_in_their_stream() {
    let mut inner = Bytes::new(LITTLE);
    for time in 1..=500 {
        inner.record(9, 0, |out| {
            out.u64s(&[time, 0]).u32(4).u32(0);
        });
    }
    let frame = zstd::encode_all(inner.bytes.as_slice(), 3).expect("it compresses");
    let (first, second) = frame.split_at(frame.len() / 2);
    let found = counts(&compressed(&[first, second]));
    assert_eq!((found.total_samples(), found.damage.is_empty()), (500, true), "{:?}", found.damage);
    // What the end of the recording cuts off is one record at most, and is counted.
    let found = counts(&compressed(&[first]));
    assert!(found.total_samples() < 500);
    assert!(found.damage.count(damage_kind::UNDECODABLE) <= 1, "{:?}", found.damage);
    // A new stream is read after a broken one; a piece that continues the broken one is not.
    let found = counts(&compressed(&[&[1; 40], second, &frame]));
    assert_eq!((found.total_samples(), found.damage.count(damage_kind::UNDECODABLE)), (500, 2), "{:?}", found.damage);
}

#[test]
fn a_piece_that_stands_for_gigabytes_is_given_up() {
    let mut inner = Vec::new();
    let mut record = Bytes::new(LITTLE);
    record.record(3, 0, |out| {
        out.text(b"", 60_000);
    });
    for _ in 0..3000 {
        inner.extend(&record.bytes);
    }
    let frame = zstd::encode_all(inner.as_slice(), 19).expect("it compresses");
    assert!(frame.len() < 60_000, "{}", frame.len());
    let found = counts(&compressed(&[&frame]));
    let read: u64 = found.nested.values().sum();
    assert!((1000..1200).contains(&read), "{read}");
    assert_eq!(found.damage.count(damage_kind::UNDECODABLE), 1);
}

#[test]
fn what_is_no_recording_says_so() {
    let open = |bytes: &[u8]| PerfFile::new(Arc::new(bytes.to_vec()));
    assert!(matches!(open(b""), Err(Error::Empty)));
    for (bytes, hint) in [
        (&b"PERFFILE........................"[..], "first format"),
        (b"\x1f\x8b\x08.....", "gzip"),
        (b"hello", "PERFILE2"),
        (b"PERFILE2", "header"),
        (b"PERFILE2\x68\0\0\0\0\0\0\0.........", "header"),
    ] {
        let error = open(bytes).expect_err("no recording").to_string();
        assert!(error.contains(hint), "{error}");
    }
    assert!(PerfFile::open(env!("CARGO_MANIFEST_DIR")).expect_err("a directory").to_string().contains("directory"));
}

#[test]
fn a_stream_in_small_pieces_is_the_same() {
    /// Gives one byte at a time, as a slow pipe may.
    struct Slow(std::io::Cursor<Vec<u8>>);
    impl std::io::Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let length = into.len().min(1);
            self.0.read(&mut into[..length])
        }
    }
    let mut data = Bytes::new(LITTLE);
    data.record(71, 0, |out| {
        out.u64s(&[100_000, 0, 0, 0, 0]);
    });
    data.raw(&[0xee; 100_000]).record(68, 0, |_| {});
    let bytes = pipe(LITTLE, &[attr()], &data.bytes, &[]);
    let stream = Records::from_stream(Slow(std::io::Cursor::new(bytes))).expect("a stream");
    let found = Counts::of(stream);
    assert_eq!((found.total_records(), found.stop), (3, None));
}
