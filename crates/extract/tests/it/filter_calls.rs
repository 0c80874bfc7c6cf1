//! Calls of file system filter drivers: the rows of events that are made from their layouts, against the calls that were written.

use tracesift_etl::write::PointerSize;
use tracesift_scenario::filters::{self, Call, DRIVERS, HELPER, Outcome, SECONDS};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{FileRow, FilterCallRow, FrameRow, ModuleRow, ProcessRow, ThreadRow};

const END: i64 = SECONDS * 1_000_000_000;

/// Begin, end, whether it is open; driver and routine; phase and major function; pid, tid and CPU; path, request and NTSTATUS.
type Plain = ((i64, i64, bool), (String, i64), (i8, i16), (i64, i64, i16), (Option<String>, Option<i64>, Option<i64>));

/// What a row of a call says, from the calls alone.
fn expected(calls: &[Call], has_begins: bool, pointers: PointerSize) -> Vec<Plain> {
    let mut rows: Vec<Plain> = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        let is_same = |other: &&Call| {
            (other.driver, other.is_after, other.request.1) == (call.driver, call.is_after, call.request.1)
        };
        let next = calls[place + 1..].iter().find(is_same).map_or(END, |other| other.start);
        let span = match call.outcome {
            Outcome::Unended if !has_begins => continue,
            Outcome::Unended => (call.start, next, true),
            Outcome::Failed if !has_begins => (call.end, call.end, false),
            Outcome::Failed | Outcome::Completed => (call.start, call.end, false),
        };
        let (pid, tid) = if has_begins { call.by } else { call.ended_by };
        let cpu = if call.outcome == Outcome::Unended { call.cpus.0 } else { call.cpus.1 };
        let rva = filters::routine(call.driver, call.is_after, pointers) & 0xFFFF;
        let status = (call.outcome == Outcome::Failed).then_some(i64::from(filters::DENIED));
        let irp = (call.request.0 != 0).then_some(call.request.0 as i64);
        rows.push((
            span,
            (DRIVERS[call.driver].to_owned(), rva as i64),
            (i8::from(call.is_after), call.major),
            (i64::from(pid), i64::from(tid), cpu as i16),
            (filters::path(call.file), irp, status),
        ));
    }
    rows.sort();
    rows
}

fn found(extracted: &Extracted) -> Vec<Plain> {
    let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
    let threads: Vec<ThreadRow> = extracted.archive.rows().expect("threads");
    let modules: Vec<ModuleRow> = extracted.archive.rows().expect("modules");
    let frames: Vec<FrameRow> = extracted.archive.rows().expect("frames");
    let paths: Vec<FileRow> = extracted.archive.rows().expect("files");
    let rows: Vec<FilterCallRow> = extracted.archive.rows().expect("calls");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let plain = |row: FilterCallRow| {
        let frame = frames[row.frame.expect("a routine").index()];
        assert_eq!(frame.module, row.driver);
        let driver = modules[row.driver.expect("a driver").index()].name.clone();
        let pid = processes[row.process.expect("a process").index()].pid;
        let tid = threads[row.thread.expect("a thread").index()].tid;
        (
            (row.start, row.time, row.open == Some(true)),
            (driver, frame.rva.expect("in a module")),
            (row.phase, row.major),
            (pid, tid, row.cpu),
            (row.file.map(|file| paths[file.index()].path.clone()), row.irp, row.status),
        )
    };
    let mut rows: Vec<Plain> = rows.into_iter().map(plain).collect();
    rows.sort();
    rows
}

#[test]
fn calls_are_those_that_were_written() {
    for seed in 1..=4 {
        let (_, calls) = filters::calls(seed);
        let has = |outcome: Outcome| calls.iter().any(|call| call.outcome == outcome);
        let pends = calls.iter().any(|call| call.ended_by == HELPER && call.by != HELPER && call.cpus.0 != call.cpus.1);
        assert!(calls.len() > 300 && has(Outcome::Failed) && has(Outcome::Unended) && pends, "{}", calls.len());
        for pointers in [PointerSize::Four, PointerSize::Eight] {
            for has_begins in [true, false] {
                let bytes = filters::write(&calls, pointers, has_begins).expect("a recording");
                let extracted = Recording::of("filters.etl", &bytes).extract();
                assert_eq!(found(&extracted), expected(&calls, has_begins, pointers), "{pointers:?}, {has_begins}");
                let unended = calls.iter().filter(|call| has_begins && call.outcome == Outcome::Unended).count();
                let health = &extracted.report.health;
                assert_eq!(health.get("filter_calls_without_end"), unended as i64, "{health:?}");
                assert_eq!(health.get("undecodable_payload"), 0, "{health:?}");
            }
        }
    }
}

/// The filters of an operation are called one after the other: their times add up to less than that of the operation.
#[test]
fn calls_of_an_operation_are_no_longer_than_it() {
    (1..=24).for_each(are_no_longer_than_their_operations);
}

fn are_no_longer_than_their_operations(seed: u64) {
    let (operations, calls) = filters::calls(seed);
    let ended: Vec<Call> = calls.into_iter().filter(|call| call.outcome == Outcome::Completed).collect();
    let bytes = filters::write(&ended, PointerSize::Eight, false).expect("a recording");
    let rows: Vec<FilterCallRow> = Recording::of("filters.etl", &bytes).extract().archive.rows().expect("calls");
    assert_eq!(rows.len(), ended.len());
    for (number, operation) in operations.iter().enumerate() {
        let of_it: Vec<&Call> = ended.iter().filter(|call| call.operation == number).collect();
        let is_part = |row: &&FilterCallRow| of_it.iter().any(|call| (call.start, call.end) == (row.start, row.time));
        let within = |row: &&FilterCallRow| row.start >= operation.start && row.time <= operation.end;
        let parts: Vec<&FilterCallRow> = rows.iter().filter(is_part).filter(within).collect();
        assert_eq!(parts.len(), of_it.len(), "seed {seed}");
        assert!(parts.iter().map(|row| row.time - row.start).sum::<i64>() <= operation.end - operation.start);
    }
}

/// A cut event costs that event.
#[test]
fn cut_events_cost_themselves() {
    let (_, calls) = filters::calls(3);
    let whole = filters::write(&calls, PointerSize::Eight, true).expect("a recording");
    let count = Recording::of("whole.etl", &whole).extract().archive.row_count::<FilterCallRow>();
    assert!(count > 300, "{count}");
    for length in [whole.len() / 3, whole.len() / 2, whole.len() - 5_000] {
        let extracted = Recording::of("cut.etl", &whole[..length]).extract();
        assert!(extracted.archive.row_count::<FilterCallRow>() <= count);
    }
}
