//! net.4.5.2: who used the CPU, held against two independent counts of the same files.

use std::collections::{HashMap, HashSet};

use tracesift_archive::Archive;
use tracesift_fixtures::cases;
use tracesift_trace::rows::{
    CpuSampleRow, DiskIoRow, DiskOperation, Origin, ProcessCounterRow, ProcessRow, ProcessSummaryRow, ThreadRow,
};

use crate::recordings::support::extract_file;

struct Samples {
    all: usize,
    /// Of the idle thread, its interrupts among them.
    idle: usize,
    interrupts: usize,
    of_processes: usize,
    with_stack: usize,
    /// By name and pid: samples inside the thread's life, samples after its end.
    by_process: HashMap<(String, i64), (usize, usize)>,
}

fn samples(archive: &Archive) -> Samples {
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let threads: Vec<ThreadRow> = archive.rows().expect("threads");
    let rows: Vec<CpuSampleRow> = archive.rows().expect("samples");
    let mut samples =
        Samples { all: rows.len(), idle: 0, interrupts: 0, of_processes: 0, with_stack: 0, by_process: HashMap::new() };
    for row in &rows {
        let (process, thread) = (&processes[row.process.index()], &threads[row.thread.index()]);
        if thread.idle_cpu.is_some() {
            samples.idle += 1;
            samples.interrupts += usize::from(process.origin == Origin::Pseudo);
            continue;
        }
        samples.of_processes += 1;
        samples.with_stack += usize::from(row.stack.is_some());
        let entry = samples.by_process.entry((process.name.clone(), process.pid)).or_default();
        if thread.end.is_some_and(|end| row.time > end) {
            entry.1 += 1;
        } else {
            entry.0 += 1;
        }
    }
    let weight: i64 = rows.iter().map(|row| row.weight).sum();
    let summary: Vec<ProcessSummaryRow> = archive.rows().expect("summary");
    assert_eq!(summary.iter().map(|row| row.cpu).sum::<i64>(), weight);
    assert_eq!(summary.iter().map(|row| row.samples).sum::<i64>(), rows.len() as i64);
    samples
}

#[test]
fn x64_samples_per_process() {
    let Some(folder) = cases("etl") else { return };
    let extracted = extract_file(&folder.join("net.4.5.2.x64.etl.zip")).expect("extracted");
    assert_eq!(extracted.reports[0].records, 179_474);
    let samples = samples(&extracted.archives()[0]);
    assert_eq!((samples.all, samples.idle, samples.of_processes), (79_528, 73_313, 6_215));
    assert_eq!(samples.interrupts, 105);
    // The counts inside the threads' lives; three and one sample fall just after the end of a thread and still belong to it.
    for (name, pid, inside, after) in [
        ("Test.x64.exe", 3676, 5_126, 3),
        ("PerfView.exe", 3988, 355, 1),
        ("MsMpEng.exe", 1632, 283, 0),
        ("dwm.exe", 980, 132, 0),
        ("svchost.exe", 1104, 104, 0),
        ("System", 4, 103, 0),
    ] {
        assert_eq!(samples.by_process[&(name.to_owned(), pid)], (inside, after), "{name}({pid})");
    }
    assert!(samples.with_stack * 1000 >= samples.of_processes * 999, "{} with stack", samples.with_stack);
}

#[test]
fn x86_samples_of_all_processes() {
    let Some(folder) = cases("etl") else { return };
    let extracted = extract_file(&folder.join("net.4.5.2.x86.etl.zip")).expect("extracted");
    assert_eq!(extracted.reports[0].records, 168_298);
    let samples = samples(&extracted.archives()[0]);
    assert_eq!((samples.all, samples.idle, samples.of_processes), (88_809, 82_128, 6_681));
    assert_eq!(samples.interrupts, 129);
    assert!(samples.with_stack * 1000 >= samples.of_processes * 999, "{} with stack", samples.with_stack);
}

#[test]
fn x64_counters_of_processes() {
    let Some(folder) = cases("etl") else { return };
    let extracted = extract_file(&folder.join("net.4.5.2.x64.etl.zip")).expect("extracted");
    let archive = &extracted.archives()[0];
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let rows: Vec<ProcessCounterRow> = archive.rows().expect("counters");
    // PerfView counts one PerfCtr, 32 PerfCtrRundown and one ProcessStop.
    assert_eq!(rows.len(), 34);
    let named = |name: &str| -> Vec<&ProcessCounterRow> {
        rows.iter().filter(|row| processes[row.process.index()].name == name).collect()
    };
    let [first, second] = named("Test.x64.exe")[..] else { panic!("two readings") };
    let (kernel, stop) = if first.peak_working_set.is_some() { (first, second) } else { (second, first) };
    assert_eq!(kernel.peak_working_set, Some(18_219_008));
    assert_eq!((kernel.peak_commit, stop.peak_commit), (Some(10_784_768), Some(10_784_768)));
    assert_eq!((kernel.hard_faults, stop.hard_faults), (None, Some(145)));
    // The memory was given back before the reading.
    assert_eq!((kernel.working_set, kernel.handles, stop.handles), (None, None, Some(101)));
    let system = named("System")[0];
    assert_eq!((system.page_faults, system.handles, system.commit), (Some(17_742), Some(664), Some(122_880)));
}

/// What the operations of one kind add up to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Operations {
    count: usize,
    bytes: i64,
    /// ns, as all times.
    response: i64,
    longest: i64,
    service: i64,
}

/// Figures of all operations of a kind, in µs where they are times.
fn operations(rows: &[DiskIoRow], operation: DiskOperation) -> Operations {
    let of_kind = || rows.iter().filter(|row| row.operation == operation);
    let response = || of_kind().map(|row| row.time - row.start);
    let us = |ns: i64| (ns + 500) / 1_000;
    Operations {
        count: of_kind().count(),
        bytes: of_kind().map(|row| row.size).sum(),
        response: us(response().sum()),
        longest: us(response().max().unwrap_or(0)),
        service: us(of_kind().filter_map(|row| row.service).sum()),
    }
}

/// Time in which at least one operation was under way, µs.
fn busy(rows: &[DiskIoRow]) -> i64 {
    let mut spans: Vec<(i64, i64)> = rows.iter().map(|row| (row.start, row.time)).collect();
    spans.sort_unstable();
    let mut until = i64::MIN;
    let mut busy = 0;
    for (start, end) in spans {
        busy += (end - start.max(until)).max(0);
        until = until.max(end);
    }
    (busy + 500) / 1_000
}

/// The figures were counted from the events by a separate program.
#[test]
fn x64_disk_operations() {
    let Some(folder) = cases("etl") else { return };
    let extracted = extract_file(&folder.join("net.4.5.2.x64.etl.zip")).expect("extracted");
    let archive = &extracted.archives()[0];
    let rows: Vec<DiskIoRow> = archive.rows().expect("operations");
    let expected =
        Operations { count: 1_208, bytes: 19_564_544, response: 2_013_232, longest: 404_587, service: 1_472_923 };
    assert_eq!(operations(&rows, DiskOperation::Read), expected);
    let writes = operations(&rows, DiskOperation::Write);
    assert_eq!((writes.count, writes.bytes, writes.response, writes.service), (21, 286_720, 171_492, 135_332));
    let flushes = operations(&rows, DiskOperation::Flush);
    assert_eq!((flushes.count, flushes.service, flushes.longest), (2, 188_460, 109_777));
    assert_eq!(busy(&rows), 1_982_860);
    assert_eq!(rows.iter().filter_map(|row| row.queue_start).max(), Some(3), "three others, four in all");
    assert_eq!(rows.iter().filter_map(|row| row.file).collect::<HashSet<_>>().len(), 38);
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let reads = |name: &str| {
        let is_of = |row: &&DiskIoRow| row.process.is_some_and(|process| processes[process.index()].name == name);
        rows.iter().filter(is_of).filter(|row| row.operation == DiskOperation::Read).count()
    };
    assert_eq!((reads("MsMpEng.exe"), reads("Test.x64.exe")), (1_060, 100));
}

#[test]
fn x86_disk_operations() {
    let Some(folder) = cases("etl") else { return };
    let extracted = extract_file(&folder.join("net.4.5.2.x86.etl.zip")).expect("extracted");
    let rows: Vec<DiskIoRow> = extracted.archives()[0].rows().expect("operations");
    let expected =
        Operations { count: 2_339, bytes: 37_686_784, response: 5_301_768, longest: 180_265, service: 3_899_762 };
    assert_eq!(operations(&rows, DiskOperation::Read), expected);
    let writes = operations(&rows, DiskOperation::Write);
    assert_eq!((writes.count, writes.bytes, writes.response, writes.service), (50, 651_264, 513_346, 324_153));
    let flushes = operations(&rows, DiskOperation::Flush);
    assert_eq!((flushes.count, flushes.response, flushes.service), (4, 171_797, 93_599));
    assert_eq!(busy(&rows), 4_484_489);
    assert_eq!(rows.iter().filter_map(|row| row.queue_start).max(), Some(12), "twelve others, thirteen in all");
    assert_eq!(rows.iter().filter_map(|row| row.file).collect::<HashSet<_>>().len(), 130);
}
