//! Reclaim and compaction of memory, in recordings made byte by byte.

use tracesift_fixtures::perf_data::Endianness;
use tracesift_fixtures::reclaims::{BEGIN, Kernel, Reclaim, WITHOUT_BEGIN, WITHOUT_END, recording};
use tracesift_trace::rows::ReclaimRow;

use crate::extracted::Extracted;
use crate::synthetic::Extracting as _;

/// What rows tell, on the clock of the recording.
fn found(extracted: &Extracted) -> Vec<Reclaim> {
    let rows: Vec<ReclaimRow> = extracted.archive.rows().unwrap();
    let tid = |row: &ReclaimRow| {
        let thread = extracted.threads.iter().find(|thread| Some(thread.thread) == row.thread).unwrap();
        assert_eq!(Some(thread.process), row.process);
        u32::try_from(thread.tid).unwrap()
    };
    let plain = |row: &ReclaimRow| Reclaim {
        start: row.start.cast_unsigned() + BEGIN,
        end: row.time.cast_unsigned() + BEGIN,
        tid: tid(row),
        kind: row.kind,
        order: row.order,
        pages: row.reclaimed.map(|bytes| {
            assert_eq!(bytes % 4096, 0);
            bytes / 4096
        }),
        cpu: row.cpu,
        is_open: row.open == Some(true),
    };
    rows.iter().map(plain).collect()
}

#[test]
fn begins_and_ends_of_reclaim_are_joined() {
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        for kernel in [Kernel::Old, Kernel::New] {
            let (recording, truth) = recording(endian, kernel);
            let extracted = recording.extracted();
            assert_eq!(found(&extracted), truth, "{endian:?}, {kernel:?}");
            let health = &extracted.health;
            let counts = [health.get("reclaims_without_begin"), health.get("reclaims_without_end")];
            assert_eq!(counts, [WITHOUT_BEGIN, WITHOUT_END]);
            assert!(extracted.info.enabled.iter().any(|table| table == "reclaims"), "{:?}", extracted.info.enabled);
        }
    }
}

#[test]
fn samples_without_fields_have_no_rows() {
    let (mut recording, _) = recording(Endianness::LittleEndian, Kernel::New);
    // Samples without raw data have nothing but their header.
    recording.sample_type &= !(1 << 10);
    let extracted = recording.extracted();
    assert_eq!(extracted.archive.row_count::<ReclaimRow>(), 0);
    assert!(extracted.health.get("incomplete_memory_events") + extracted.health.get("undecodable_records") > 0);
}

#[test]
fn samples_of_some_begins_and_ends_are_not_joined() {
    let (recording, _) = recording(Endianness::LittleEndian, Kernel::New);
    let mut bytes = recording.file();
    // The period of each event: 1, and from here on 2.
    let config = |number: u64| number.to_le_bytes();
    for id in 10..18_u64 {
        let place = (0..bytes.len() - 16)
            .find(|at| bytes[*at..*at + 8] == config(id) && bytes[*at + 8..*at + 16] == config(1))
            .unwrap();
        bytes[place + 8..place + 16].copy_from_slice(&config(2));
    }
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("perf.data");
    std::fs::write(&path, bytes).unwrap();
    let extracted = Extracted::of(&path);
    assert_eq!(extracted.health.get("sampled_tracepoints"), 8);
    let kinds: Vec<i8> = found(&extracted).iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [4], "a kill means something alone");
}
