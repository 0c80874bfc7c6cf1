//! Recordings of programs whose behaviour is known: what they tell of themselves comes back.
//!
//! Where nothing else is said a figure may differ by 5 %, a sampled one by three standard deviations if that is more.

mod clock_rates;
mod counting;
mod faulting;
mod measured;
mod network;
mod programs;
mod reclaims;
mod scheduling;
mod talking;
mod traced_calls;

use measured::record;
use tracesift_fixtures::skipped;
use tracesift_trace::rows::{
    AllocationRow, DiskIoRow, DiskOperation, MemoryProcessRow, PageFaultRow, allocation_kinds, page_fault_kinds,
};

/// CPU samples alone.
const CLOCK: &[&str] = &["-a", "-g", "-e", "cpu-clock/freq=999/"];

#[test]
fn cpu_time_is_what_the_threads_used() {
    for program in ["spinning", "many_threads"] {
        let Some(measured) = record(program, CLOCK) else { return };
        let mut sum = (0, 0);
        for (name, figures) in &measured.truth.0 {
            let (told, found) = (figures["cpu"], measured.sampled(figures["tid"]));
            measured.assert_sampled(found, told, 5.0, name);
            sum = (sum.0 + told, sum.1 + found);
        }
        assert!(measured.truth.0.len() >= 3, "{:?}", measured.truth);
        measured.assert_sampled(sum.1, sum.0, 3.0, program);
    }
}

#[test]
fn processes_that_end_soon_are_all_there() {
    let Some(measured) = record("short_processes", CLOCK) else { return };
    let figures = &measured.truth.0["processes"];
    for (name, pid) in figures.iter().filter(|(name, _)| name.starts_with("child")) {
        let lives: Vec<_> = measured.extracted.processes.iter().filter(|process| process.pid == *pid).collect();
        let [process] = lives.as_slice() else { panic!("{name}: {lives:?}") };
        assert_eq!(process.name, "true", "{process:?}");
        assert_eq!(process.parent_pid, Some(figures["parent"]), "{process:?}");
        assert!(process.start.is_some() && process.end.is_some(), "{process:?}");
    }
}

/// A row comes for each change of 1 MiB, and the kernel counts up to 64 pages per thread behind.
#[test]
fn touched_pages_are_resident_until_they_are_given_back() {
    let Some(measured) = record("holding", &["-a", "-e", "kmem:rss_stat"]) else { return };
    let told = &measured.truth.0["holder"];
    let process = measured.thread(told["tid"]).process;
    let rows: Vec<MemoryProcessRow> = measured.extracted.archive.rows().unwrap();
    let sizes: Vec<i64> = rows.iter().filter(|row| row.process == process).filter_map(|row| row.rss_anon).collect();
    assert!(sizes.len() < 1000, "{} rows: each of some pages has one", sizes.len());
    let largest = sizes.iter().copied().max().unwrap();
    let peak = sizes.iter().position(|size| *size == largest).unwrap();
    let (before, after) = (sizes[..peak].iter().min().unwrap(), sizes[peak..].iter().min().unwrap());
    const SLACK: i64 = 3 << 20;
    for (name, told, found) in
        [("touched", told["touched"], largest - before), ("given back", told["given-back"], largest - after)]
    {
        assert!((told - found).abs() <= SLACK, "{name}: {told} told, {found} found: {sizes:?}");
    }
}

#[test]
fn what_was_written_and_synchronised_went_to_the_disk() {
    let block = ["-e", "block:block_rq_insert", "-e", "block:block_rq_issue", "-e", "block:block_rq_complete"];
    let Some(measured) = record("writing", &[CLOCK, &block].concat()) else { return };
    let told = &measured.truth.0["writer"];
    let process = measured.thread(told["tid"]).process;
    let rows: Vec<DiskIoRow> = measured.extracted.archive.rows().unwrap();
    if told["to-disk"] == 0 {
        return skipped("the test executable does not lie on a disk");
    }
    if measured.extracted.health.get("disk_io_without_completion") > 0 {
        return skipped("perf left out completions of requests");
    }
    let own = rows.iter().filter(|row| row.process == Some(process) && row.operation == DiskOperation::Write);
    let written: i64 = own.map(|row| row.size).sum();
    measured::assert_close(written, told["written"], 0, "written");
}

#[test]
fn page_faults_are_those_that_the_kernel_counts_for_the_thread() {
    let faults = ["-a", "-c", "1", "-e", "minor-faults", "-e", "major-faults"];
    let Some(measured) = record("touching", &faults) else { return };
    let told = &measured.truth.0["toucher"];
    let thread = measured.thread(told["tid"]).thread;
    let zero = measured.extracted.info.clock_zero;
    let rows: Vec<PageFaultRow> = measured.extracted.archive.rows().unwrap();
    let between = |row: &&PageFaultRow| (told["from"]..told["until"]).contains(&(row.time + zero));
    let count = |kind: i8| -> i64 {
        let of_thread = rows.iter().filter(|row| row.thread == thread && row.kind == kind);
        of_thread.filter(between).map(|row| row.weight).sum()
    };
    assert!(told["minor"] > 0, "{told:?}");
    assert_eq!((count(page_fault_kinds::MINOR), count(page_fault_kinds::MAJOR)), (told["minor"], told["major"]));
}

/// The kernel tells of the private memory that a process can write: `VmData` of its status.
#[test]
fn mapped_memory_is_what_the_kernel_counts() {
    const MIB: i64 = 1 << 20;
    const PAGE: i64 = 4096;
    let calls = ["mmap", "munmap", "mremap", "mprotect", "brk"];
    let events = calls.map(|call| [format!("syscalls:sys_enter_{call}"), format!("syscalls:sys_exit_{call}")]);
    let events: Vec<&str> = events.iter().flatten().flat_map(|event| ["-e", event]).collect();
    let Some(measured) = record("mapping", &[&["-a", "-g"], &events[..]].concat()) else { return };
    let told = &measured.truth.0["mapper"];
    let process = measured.thread(told["tid"]).process;
    let zero = measured.extracted.info.clock_zero;
    let (from, until) = (told["from"] - zero, told["until"] - zero);
    let rows: Vec<AllocationRow> = measured.extracted.archive.rows().unwrap();
    let rows: Vec<&AllocationRow> = rows.iter().filter(|row| row.process == process).collect();
    let memory = [allocation_kinds::MAPPED, allocation_kinds::PROGRAM_BREAK];
    let data = |time: i64| -> i64 {
        let alive = rows.iter().filter(|row| memory.contains(&row.kind) && row.start <= time && time < row.time);
        alive.map(|row| row.size).sum()
    };
    assert_eq!(data(until) - data(from), told["data"], "{told:?}");
    // The block that is freed is the last one of three.
    let blocks = |base: i64| -> Vec<&AllocationRow> {
        rows.iter().copied().filter(|row| row.base == base && row.start >= from && row.start < until).collect()
    };
    let freed: Vec<_> = blocks(told["freed"]).into_iter().filter(|row| row.time < until).collect();
    let [freed] = freed.as_slice() else { panic!("{freed:?}") };
    assert_eq!((freed.size, freed.by_exit, freed.last), (60 * MIB + PAGE, Some(false), Some(true)));
    assert_eq!(data(freed.time - 1) - data(from), told["largest"], "{told:?}");
    // It moves with its number and its time, and what it grows by is a new block.
    let [kept, first, more] =
        [told["kept"], told["grown"], told["grown"] + 50 * MIB + PAGE].map(|base| match blocks(base)[..] {
            [row] => row,
            ref rows => panic!("{base:#x}: {rows:?}"),
        });
    assert_eq!([kept, first, more].map(|row| row.size), [40 * MIB + PAGE, 50 * MIB + PAGE, 20 * MIB]);
    assert_eq!([kept, first, more].map(|row| row.by_exit), [Some(true); 3]);
    assert!(kept.start < first.start && first.start < freed.start && freed.start < more.start);
    assert!(more.stack.is_some() && more.thread == first.thread);
}
