//! Allocated memory: the rows of events that are made from their layouts, against the memory that the story tells.

use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Hook, PointerSize, SessionOptions};
use tracesift_scenario::allocations::{Bit, LEAK, OTHER, SECONDS, WORKER_SPAN, story};
use tracesift_scenario::providers::{KernelRecord, write_with_kernel};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::StackId;
use tracesift_trace::rows::{AllocationRow, FrameRow, HealthRow, ProcessRow, StackRow, ThreadRow};

const END: i64 = SECONDS * 1_000_000_000;
const SIZES: [PointerSize; 2] = [PointerSize::Four, PointerSize::Eight];

fn extracted(size: PointerSize) -> Extracted {
    Recording::of("memory.etl", &story().write(size).expect("a recording")).extract()
}

/// A row in words of the operating system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Plain {
    pid: i64,
    kind: i8,
    base: i64,
    start: i64,
    end: i64,
    size: i64,
    tid: Option<i64>,
    free_tid: Option<i64>,
    last: Option<bool>,
    by_exit: Option<bool>,
    there: Option<bool>,
    open: Option<bool>,
    tag: Option<String>,
    is_of_heap: bool,
}

fn of_row(row: &AllocationRow, processes: &[ProcessRow], threads: &[ThreadRow]) -> Plain {
    let tid = |id: tracesift_trace::ThreadId| threads[id.index()].tid;
    Plain {
        pid: processes[row.process.index()].pid,
        kind: row.kind,
        base: row.base,
        start: row.start,
        end: row.time,
        size: row.size,
        tid: row.thread.map(tid),
        free_tid: row.free_thread.map(tid),
        last: row.last,
        by_exit: row.by_exit,
        there: row.there,
        open: row.open,
        tag: row.tag.clone(),
        is_of_heap: row.heap.is_some(),
    }
}

fn of_truth(bit: &Bit) -> Plain {
    let tid = i64::from(bit.pid) + 4;
    Plain {
        pid: bit.pid.into(),
        kind: bit.kind,
        base: bit.base.cast_signed(),
        start: bit.start.unwrap_or(0),
        end: bit.end.unwrap_or(END),
        size: bit.size.cast_signed(),
        tid: bit.start.map(|_| tid),
        free_tid: bit.end.filter(|_| !bit.by_exit).map(|_| tid),
        last: Some(!bit.partial),
        by_exit: Some(bit.by_exit),
        there: Some(bit.start.is_none()),
        open: Some(bit.end.is_none()),
        tag: bit.tag.map(str::to_owned),
        is_of_heap: matches!(bit.kind, 2 | 3),
    }
}

#[test]
fn memory_has_rows_from_allocation_to_release() {
    let mut expected: Vec<Plain> = story().truth.iter().map(of_truth).collect();
    expected.sort();
    for size in SIZES {
        let extracted = extracted(size);
        let rows: Vec<AllocationRow> = extracted.archive.rows().expect("allocations");
        assert!(rows.is_sorted_by_key(|row| row.time));
        let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
        let threads: Vec<ThreadRow> = extracted.archive.rows().expect("threads");
        let mut plain: Vec<Plain> = rows.iter().map(|row| of_row(row, &processes, &threads)).collect();
        plain.sort();
        for (row, expected) in plain.iter().zip(&expected) {
            assert_eq!(row, expected);
        }
        assert_eq!(plain.len(), expected.len());
        // Memory that nobody knows was released once.
        let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
        let unknown = health.iter().find(|row| row.kind == "frees_of_unknown_memory");
        assert_eq!(unknown.map(|row| row.count), Some(1));
    }
}

#[test]
fn the_parts_of_a_block_have_its_number() {
    for size in SIZES {
        let mut rows: Vec<AllocationRow> = extracted(size).archive.rows().expect("allocations");
        rows.sort_by_key(|row| (row.block, row.part));
        for parts in rows.chunk_by(|row, other| row.block == other.block) {
            let same = |row: &AllocationRow| (row.start, row.process, row.stack, row.kind);
            for (number, part) in parts.iter().enumerate() {
                assert_eq!((part.part, same(part)), (number as i32, same(&parts[0])));
                assert_eq!(part.last, Some(number + 1 == parts.len()));
            }
        }
    }
}

#[test]
fn allocation_and_release_have_their_stacks() {
    let extracted = extracted(PointerSize::Eight);
    let rows: Vec<AllocationRow> = extracted.archive.rows().expect("allocations");
    let stacks: Vec<StackRow> = extracted.archive.rows().expect("stacks");
    let frames: Vec<FrameRow> = extracted.archive.rows().expect("frames");
    let addresses = |stack: Option<StackId>| -> Vec<u64> {
        let stack = &stacks[stack.expect("a stack").index()];
        stack.frames.iter().filter_map(|frame| frames[frame.index()].address.map(i64::cast_unsigned)).collect()
    };
    for row in rows.iter().filter(|row| row.there == Some(false)) {
        let is_of_worker = row.start >= WORKER_SPAN.0 && row.base >= 0x2000_0000;
        let leaks = row.base < 0x2000_0000 && row.base >= 0x1000_0000 || is_of_worker && row.start == 5_600_000_000;
        assert_eq!(addresses(row.stack), if leaks { LEAK } else { OTHER }, "{row:?}");
        if row.open == Some(false) && row.by_exit == Some(false) {
            assert_eq!(addresses(row.free_stack), OTHER, "{row:?}");
        } else {
            assert_eq!(row.free_stack, None);
        }
    }
}

/// An event about memory of process 900, `ms` after the start: opcode, address, length, flags, and what stands behind them.
type Event = (i64, u8, u64, u64, u32, Option<u64>);

fn of_events(size: PointerSize, version: u8, events: &[Event]) -> Extracted {
    let record = |(ms, opcode, base, length, flags, committed): &Event| {
        let mut payload = Bytes::new(size);
        payload.pointer(*base);
        payload.pointer(*length);
        payload.u32(900);
        payload.u32(*flags);
        committed.iter().for_each(|bytes| payload.pointer(*bytes));
        let (time, hook) = (ms * 1_000_000, Hook::new(2, *opcode, version));
        KernelRecord { time, cpu: 0, hook, caller: (900, 904), payload: payload.into_vec() }
    };
    let options = SessionOptions { pointer_size: size, ..SessionOptions::default() };
    let records = events.iter().map(record).collect();
    let bytes = write_with_kernel(options, 1, &[(4, "System"), (900, "a.exe")], Vec::new(), records);
    Recording::of("events.etl", &bytes.expect("a recording")).extract()
}

const COMMIT: u32 = 0x1000;
const RESERVE: u32 = 0x2000;
const RELEASE: u32 = 0x8000;

/// Kind, address, size, whether it was there, and the time at which it was given back, ms; in the order of kinds and addresses.
fn fates(extracted: &Extracted) -> Vec<(i8, i64, i64, bool, Option<i64>)> {
    let rows: Vec<AllocationRow> = extracted.archive.rows().expect("allocations");
    let fate = |row: &AllocationRow| {
        let end = (row.open == Some(false)).then_some(row.time / 1_000_000);
        (row.kind, row.base, row.size, row.there == Some(true), end)
    };
    let mut fates: Vec<_> = rows.iter().map(fate).collect();
    fates.sort_unstable();
    fates
}

#[test]
fn all_versions_have_the_same_fields() {
    for (size, version) in SIZES.into_iter().flat_map(|size| (0..=3).map(move |version| (size, version))) {
        let events: [Event; 2] =
            [(10, 98, 0x10_0000, 0x4000, RESERVE | COMMIT, None), (20, 99, 0x10_0000, 0x4000, RELEASE, None)];
        let expected = [(0, 0x10_0000, 0x4000, false, Some(20)), (1, 0x10_0000, 0x4000, false, Some(20))];
        assert_eq!(fates(&of_events(size, version, &events)), expected, "version {version}");
    }
}

#[test]
fn a_rundown_has_memory_from_before_the_recording() {
    for size in SIZES {
        for opcode in [128, 129] {
            let events: [Event; 5] = [
                // Committed in the recording, so the rundown adds the rest.
                (10, 98, 0x10_1000, 0x1000, COMMIT, None),
                (20, opcode, 0x10_0000, 0x4000, RESERVE | COMMIT, Some(0x4000)),
                // A part is committed, and nothing tells which.
                (21, opcode, 0x20_0000, 0x8000, RESERVE, Some(0x3000)),
                (22, opcode, 0x30_0000, 0x8000, RESERVE, Some(0)),
                (30, 99, 0x10_0000, 0, RELEASE, None),
            ];
            let expected = [
                (0, 0x10_0000, 0x3000, true, Some(30)),
                (0, 0x10_1000, 0x1000, false, Some(30)),
                (1, 0x10_0000, 0x4000, true, Some(30)),
                (1, 0x20_0000, 0x8000, true, None),
                (1, 0x30_0000, 0x8000, true, None),
            ];
            assert_eq!(fates(&of_events(size, 2, &events)), expected, "opcode {opcode}");
        }
    }
}

/// A reservation from before the recording, of which only a commit is known.
#[test]
fn a_release_of_an_unknown_region_takes_the_committed_block() {
    for size in SIZES {
        let events: [Event; 3] = [
            (10, 98, 0x10_0000, 0x4000, COMMIT, None),
            (11, 98, 0x10_4000, 0x1000, COMMIT, None),
            (20, 99, 0x10_0000, 0, RELEASE, None),
        ];
        let expected = [(0, 0x10_0000, 0x4000, false, Some(20)), (0, 0x10_4000, 0x1000, false, None)];
        assert_eq!(fates(&of_events(size, 2, &events)), expected);
    }
}

#[test]
fn a_payload_that_is_cut_costs_its_event() {
    let mut records: Vec<KernelRecord> = Vec::new();
    for length in 0..24_usize {
        let payload = vec![0_u8; length];
        records.push(KernelRecord { time: 1_000_000, cpu: 0, hook: Hook::new(2, 98, 2), caller: (900, 904), payload });
    }
    let bytes = write_with_kernel(SessionOptions::default(), 1, &[(900, "a.exe")], Vec::new(), records);
    let extracted = Recording::of("cut.etl", &bytes.expect("a recording")).extract();
    assert_eq!(extracted.archive.rows::<AllocationRow>().expect("allocations"), []);
    let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
    let cut: i64 = health.iter().filter(|row| row.kind == "undecodable_payload").map(|row| row.count).sum();
    assert_eq!(cut, 24, "{health:?}");
}
