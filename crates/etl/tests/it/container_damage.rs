//! Damaged recordings: every record of every intact buffer is read, the damage is counted, nothing panics or hangs.

use proptest::prelude::*;
use tracesift_etl::counts::Counts;
use tracesift_etl::{BufferReader, DamageLog, Error, EtlFile, Merge, MergeOptions, ReadAt};
use tracesift_fixtures::cases;

use crate::common;

fn open(bytes: Vec<u8>) -> Result<EtlFile, Error> {
    EtlFile::open(Box::new(bytes))
}

/// Records of each buffer, by its sequence number in the undamaged original: (offset, records).
fn records_per_buffer(file: &EtlFile) -> Vec<(u64, usize)> {
    let mut reader = BufferReader::default();
    file.buffers().iter().map(|buffer| (buffer.offset, reader.records(file, buffer).len())).collect()
}

fn kinds(logs: &[&DamageLog]) -> Vec<(&'static str, u64)> {
    logs.iter().flat_map(|log| log.kinds()).map(|kind| (kind.kind, kind.count)).collect()
}

fn sum(buffers: &[(u64, usize)]) -> u64 {
    buffers.iter().map(|(_, records)| *records as u64).sum()
}

#[test]
fn every_record_of_the_intact_buffers_is_read() {
    if cases("").is_none() {
        return;
    }
    let original = open(common::read("etl/net.4.5.2.x64.etl.zip", Some("net.4.5.2.x64.etl"))).expect("a recording");
    let original = records_per_buffer(&original);
    for entry in common::expected("etl-damaged.json").as_array().expect("a list") {
        let path = entry["file"].as_str().expect("a path");
        let number = |name: &str| entry[name].as_u64();
        let file = open(common::read(path, None)).expect("still a recording");
        let found = records_per_buffer(&file);
        let (_, inside) = Counts::of(&file);
        let damage = kinds(&[file.damage(), &inside]);

        // Intact buffers stand where they stood, or all moved together where the header buffer was cut off.
        let moved = if path.contains("no-header-buffer") { 512 } else { 0 };
        let unchanged: Vec<(u64, usize)> = original
            .iter()
            .filter(|(offset, records)| found.iter().any(|(at, count)| at + moved == *offset && count == records))
            .copied()
            .collect();
        if let (Some(before), Some(after)) = (number("intact_buffers_before"), number("intact_buffers_after")) {
            let (first, rest) = original.split_at(before as usize);
            let last = &rest[rest.len() - after as usize..];
            assert_eq!(Some(sum(first)), number("records_in_intact_buffers_before"), "{path}");
            assert_eq!(Some(sum(last)), number("records_in_intact_buffers_after"), "{path}");
            assert!(first.iter().chain(last).all(|buffer| unchanged.contains(buffer)), "{path}");
        } else {
            assert_eq!(Some(sum(&unchanged)), number("records_in_intact_buffers"), "{path}");
            assert_eq!(Some(unchanged.len() as u64), number("intact_buffers"), "{path}");
        }

        let expected: &[(&str, u64)] = match path.trim_start_matches("etl/damaged-").trim_end_matches(".etl.gz") {
            "truncated-mid-buffer" => &[("truncated_buffer", 1)],
            "first-buffer-only" => &[],
            "buffersize-bitflip" => &[("bad_buffer_header", 1)],
            "zeroed-64k" => &[("zeroed_region", 1), ("undecodable_buffer", 1)],
            "random-compressed-payload" => &[("undecodable_buffer", 1)],
            "no-header-buffer" => &[("missing_header_buffer", 1)],
            other => panic!("no expectation for {other}"),
        };
        assert_eq!(damage, expected, "{path}");
        if path.contains("bitflip") {
            // Only the size of buffer 120 was wrong: its records are there too.
            assert_eq!(found, original);
        }
        assert_eq!(file.header().present, !path.contains("no-header-buffer"));
    }
}

#[test]
fn a_truncated_buffer_gives_the_records_before_the_cut() {
    if cases("").is_none() {
        return;
    }
    let original = open(common::read("etl/net.4.5.2.x64.etl.zip", Some("net.4.5.2.x64.etl"))).expect("a recording");
    let cut = open(common::read("etl/damaged-truncated-mid-buffer.etl.gz", None)).expect("a recording");
    let (mut whole, mut part) = (BufferReader::default(), BufferReader::default());
    let whole = whole.records(&original, &original.buffers()[200]);
    let part = part.records(&cut, &cut.buffers()[200]);
    assert!(part.len() > 100 && part.len() < whole.len());
    for (whole, part) in whole.zip(part) {
        assert_eq!(whole.bytes(), part.bytes());
    }
}

#[test]
fn what_is_no_recording_is_refused_with_a_reason() {
    assert!(matches!(open(Vec::new()), Err(Error::Empty)));
    let refused = |bytes: &[u8]| match open(bytes.to_vec()) {
        Err(Error::NotARecording { reason }) => reason,
        other => panic!("{other:?}"),
    };
    assert!(refused(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n").contains("git lfs pull"));
    assert!(refused(b"PK\x03\x04").contains("ZIP"));
    assert!(refused(b"\x48\0\0\0\x01").contains("5 bytes"));
    assert!(refused(b"short").contains("a text file"));
    assert!(refused(&[0; 100_000]).contains("no plausible buffer header"));
    assert!(refused(&b"a line of text\n".repeat(10_000)).contains("a text file"));
}

/// A file of which only the start can be read, as when it is cut while it is open.
struct Shrinking(Vec<u8>, u64);

impl ReadAt for Shrinking {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        if offset + into.len() as u64 > self.1 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        self.0.read_at(offset, into)
    }
}

#[test]
fn a_file_that_cannot_be_read_to_its_end_gives_what_can() {
    if cases("").is_none() {
        return;
    }
    let bytes = common::read("etl/Tx-Process.etl", None);
    let half = bytes.len() as u64 / 2 + 1000;
    let file = EtlFile::open(Box::new(Shrinking(bytes.clone(), half))).expect("a recording");
    assert_eq!(kinds(&[file.damage()]), [("unreadable_buffer", 1)]);
    let files = [file];
    let mut merge = Merge::new(&files, MergeOptions::default());
    let mut records = 0;
    while merge.next().is_some() {
        records += 1;
    }
    assert!((4000..7000).contains(&records), "{records}");
    // The last buffer's header is there, but not its records.
    assert_eq!(merge.damage(0).map(|damage| damage.count("unreadable_buffer")), Some(1));
    assert!(matches!(EtlFile::open(Box::new(Shrinking(bytes, 0))), Err(Error::Io(_))));
}

/// Opens and walks whatever the bytes are, in both ways.
fn walk(bytes: Vec<u8>) {
    let Ok(file) = open(bytes) else { return };
    let (counts, _) = Counts::of(&file);
    for event in counts.self_describing() {
        assert!(event.2 > 0);
    }
    let files = [file];
    let _ = files[0].header().utc_text(i64::MAX);
    let mut merge = Merge::new(&files, MergeOptions { memory_limit: 1 << 20 });
    let (mut records, mut last) = (0, i64::MIN);
    while let Some(record) = merge.next() {
        assert!(record.time() >= last);
        last = record.time();
        records += 1;
        let _ = (record.payload(), record.counters().len(), record.class(), record.pid(), record.message());
    }
    assert_eq!(records, counts.total().map_or(0, |total| total.records));
}

/// A small generator, so that the mutations are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

#[test]
fn mutated_recordings_neither_panic_nor_hang() {
    if cases("").is_none() {
        return;
    }
    let small = [
        ("etl/SelfDescribingSingleEvent.etl", None),
        ("etl/lxcore_kernel.etl", None),
        ("etl/smallEtlFile.etl", None),
        ("etl/primitive-types.etl.zip", Some("primitive-types.etl")),
        ("etl/damaged-first-buffer-only.etl.gz", None),
    ];
    for (path, member) in small {
        let bytes = common::read(path, member);
        assert!(bytes.len() < 100_000);
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        // Most bytes are filler; headers and the first records matter.
        let used = bytes.iter().rposition(|byte| *byte != 0xff).map_or(bytes.len(), |last| last + 1);
        for _ in 0..2000 {
            let mut mutated = bytes.clone();
            for _ in 0..1 + random.below(4) {
                let range = [used, 512, 80][random.below(3)].min(mutated.len());
                let at = random.below(range);
                match random.below(6) {
                    0 => mutated[at] ^= 1 << random.below(8),
                    1 => mutated[at] = random.next() as u8,
                    2 => mutated[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
                    3 => mutated.truncate(at.max(1)),
                    4 => {
                        let end = (at + random.below(64)).min(mutated.len());
                        mutated[at..end].fill(0);
                    }
                    _ => {
                        let end = (at + random.below(64)).min(mutated.len());
                        let part = mutated[at..end].to_vec();
                        mutated.splice(at..at, part);
                    }
                }
            }
            walk(mutated);
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_behind_a_buffer_header_are_survived(
        size in 72u32..4096, end in 0u32..5000, flags in any::<u16>(), rest in prop::collection::vec(any::<u8>(), 0..5000)
    ) {
        let mut bytes = vec![0; 72];
        bytes[..4].copy_from_slice(&size.to_le_bytes());
        bytes[0x30..0x34].copy_from_slice(&end.to_le_bytes());
        bytes[0x34..0x36].copy_from_slice(&(flags & 0xff).to_le_bytes());
        bytes.extend(rest);
        walk(bytes);
    }
}
