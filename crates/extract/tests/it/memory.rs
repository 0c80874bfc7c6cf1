//! The memory of processes and of the machine: rows against the numbers of pages that were written.

use tracesift_etl::payload::KERNEL_MEMORY;
use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Hook, PointerSize, SessionOptions};
use tracesift_scenario::providers::{self, KernelRecord, Logged};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{HealthRow, MemoryProcessRow, MemoryStateRow, ProcessRow};

const MS: i64 = 1_000_000;
const PAGE: i64 = 4096;
const PROCESSES: [(u32, &str); 2] = [(7, "grows.exe"), (9, "stays.exe")];

/// Pages of two processes at three readings: the first one grows, the second one stays.
fn processes(pointer_size: PointerSize, reading: u64, version: u8) -> Vec<u8> {
    let mut payload = Bytes::new(pointer_size);
    payload.u32(2);
    for (pid, pages) in [(7, 100 + 10 * reading), (9, 50)] {
        payload.u32(pid);
        let sizes = if version == 2 { 8 } else { 4 };
        (0..sizes).for_each(|size| payload.pointer(pages + size));
    }
    payload.into_vec()
}

fn lists(pointer_size: PointerSize, reading: u64, is_from_provider: bool) -> Vec<u8> {
    let mut payload = Bytes::new(pointer_size);
    if is_from_provider {
        payload.u8(8);
    }
    [1, 2, 3, 4, 5].into_iter().for_each(|pages| payload.pointer(pages + reading));
    (0..8).for_each(|priority| payload.pointer(10 + priority));
    (0..8).for_each(|priority| payload.pointer(20 + priority + reading));
    payload.pointer(6);
    if is_from_provider {
        [7, 8, 9, 1000 + reading].into_iter().for_each(|pages| payload.pointer(pages));
    }
    payload.into_vec()
}

/// As events of the provider Kernel-Memory.
fn from_provider(pointer_size: PointerSize, version: u8) -> Extracted {
    let logged = |reading: u64, id: u16, version: u8, payload: Vec<u8>| {
        let time = reading as i64 * 500 * MS;
        Logged { time, cpu: 0, provider: KERNEL_MEMORY, id, version, pid: 4, tid: 8, payload }
    };
    let mut events = Vec::new();
    for reading in 0..3 {
        events.push(logged(reading, 1, 1, lists(pointer_size, reading, true)));
        events.push(logged(reading, 2, version, processes(pointer_size, reading, version)));
    }
    let bytes = providers::write(pointer_size, 2, &PROCESSES, events).expect("a recording");
    Recording::of("memory.etl", &bytes).extract()
}

/// As events of the class Memory.
fn from_class(pointer_size: PointerSize, version: u8) -> Extracted {
    let record = |reading: u64, opcode: u8, version: u8, payload: Vec<u8>| {
        let (time, hook) = (reading as i64 * 500 * MS, Hook::new(2, opcode, version));
        KernelRecord { time, cpu: 0, hook, caller: (4, 8), payload }
    };
    let mut records = Vec::new();
    for reading in 0..3 {
        records.push(record(reading, 112, 0, lists(pointer_size, reading, false)));
        records.push(record(reading, 125, version, processes(pointer_size, reading, version)));
        // Version 0 has entries of another kind.
        records.push(record(reading, 125, 0, processes(pointer_size, reading, version)));
    }
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    let bytes = providers::write_with_kernel(options, 2, &PROCESSES, Vec::new(), records).expect("a recording");
    Recording::of("memory.etl", &bytes).extract()
}

fn check(extracted: &Extracted, version: u8, is_from_provider: bool) {
    let processes: Vec<ProcessRow> = extracted.archive.rows().expect("rows");
    let rows: Vec<MemoryProcessRow> = extracted.archive.rows().expect("rows");
    let of = |name: &str| -> Vec<&MemoryProcessRow> {
        rows.iter().filter(|row| processes[row.process.index()].name == name).collect()
    };
    let grows = of("grows.exe");
    assert_eq!(grows.iter().map(|row| row.time / MS).collect::<Vec<_>>(), [0, 500, 1000]);
    for (row, pages) in grows.iter().zip([100, 110, 120]) {
        let plain = [row.working_set, row.commit, row.virtual_size, row.private_working_set];
        assert_eq!(plain, [0, 1, 2, 3].map(|more| Some((pages + more) * PAGE)));
        let stores = [row.store, row.stored, row.commit_debt, row.shared_commit];
        assert_eq!(stores, [4, 5, 6, 7].map(|more| (version == 2).then_some((pages + more) * PAGE)));
    }
    // The reading between two equal ones is left out.
    let stays = of("stays.exe");
    assert_eq!(
        stays.iter().map(|row| (row.time / MS, row.working_set)).collect::<Vec<_>>(),
        [(0, Some(50 * PAGE)), (1000, Some(50 * PAGE))]
    );
    let states: Vec<MemoryStateRow> = extracted.archive.rows().expect("rows");
    assert_eq!(states.len(), 3);
    for (reading, row) in (0..).zip(&states) {
        let pages = |pages: i64| pages * PAGE;
        let expected = MemoryStateRow {
            time: reading * 500 * MS,
            zero: Some(pages(1 + reading)),
            free: Some(pages(2 + reading)),
            modified: Some(pages(3 + reading)),
            modified_no_write: Some(pages(4 + reading)),
            modified_page_file: Some(pages(6)),
            bad: Some(pages(5 + reading)),
            standby: Some((10..18).map(pages).collect()),
            repurposed: Some((20..28).map(|priority| pages(priority + reading)).collect()),
            active: None,
            paged_pool: is_from_provider.then_some(pages(7)),
            nonpaged_pool: is_from_provider.then_some(pages(8)),
            commit: is_from_provider.then_some(pages(1000 + reading)),
            ..MemoryStateRow::default()
        };
        assert_eq!(*row, expected);
    }
}

#[test]
fn readings_of_the_provider() {
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        for version in [1, 2] {
            check(&from_provider(pointer_size, version), version, true);
        }
    }
}

#[test]
fn readings_of_the_class() {
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        for version in [1, 2] {
            let extracted = from_class(pointer_size, version);
            check(&extracted, version, false);
            let health: Vec<HealthRow> = extracted.archive.rows().expect("rows");
            let unreadable: i64 =
                health.iter().filter(|row| row.kind.contains("undecodable")).map(|row| row.count).sum();
            assert_eq!(unreadable, 3, "the records of version 0: {health:?}");
        }
    }
}
