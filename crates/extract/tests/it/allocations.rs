//! Allocated memory: the rows of events that are made from their layouts, against the memory that the story tells.

use tracesift_etl::write::PointerSize;
use tracesift_scenario::allocations::{Bit, LEAK, OTHER, SECONDS, WORKER_SPAN, story};
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
