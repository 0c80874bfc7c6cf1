//! Operations on files: the rows of events that are made from their layouts, against the operations that were written.

use std::collections::BTreeMap;

use tracesift_etl::write::PointerSize;
use tracesift_extract::{EventSelection, Options};
use tracesift_fixtures::cases;
use tracesift_scenario::files::{self, Kind, Operation, SECONDS, Source};
use tracesift_testing::recording::{Extracted, Recording, try_extract};
use tracesift_trace::rows::{
    EventRow, FileIoRow, FileRow, HealthRow, ProcessRow, ThreadRow, file_operations as operations,
};

const END: i64 = SECONDS * 1_000_000_000;
const SOURCES: [Source; 4] = [Source::Class(2), Source::Class(3), Source::Provider(0), Source::Provider(1)];

fn number(kind: Kind) -> i8 {
    match kind {
        Kind::Open => operations::OPEN,
        Kind::Read => operations::READ,
        Kind::Write => operations::WRITE,
        Kind::Flush => operations::FLUSH,
        Kind::List => operations::LIST,
        Kind::Query => operations::QUERY,
        Kind::Delete => operations::DELETE,
        Kind::Cleanup => operations::CLEANUP,
        Kind::Close => operations::CLOSE,
    }
}

/// Begin and end, operation, pid and tid, path, bytes asked and moved, status, whether it is open.
type Plain = (i64, i64, i8, (i64, i64), Option<String>, (Option<i64>, Option<i64>), Option<i64>, bool);

/// What a row of an operation says, from the operations alone.
fn expected(all: &[Operation], has_ends: bool) -> Vec<Plain> {
    let mut rows: Vec<Plain> = Vec::new();
    for (place, of) in all.iter().enumerate() {
        let moves = matches!(of.kind, Kind::Read | Kind::Write | Kind::List);
        let asked = moves.then_some(i64::from(of.transfer.1));
        let next = all[place + 1..].iter().find(|other| other.irp == of.irp).map_or(END, |other| other.start);
        let (time, moved, status, open) = match of.end {
            _ if !has_ends => (of.start, None, None, true),
            Some((time, bytes, status)) => {
                let moved = (moves && status == 0).then_some(bytes as i64);
                (time, moved, Some(i64::from(status)), false)
            }
            None => (next, None, None, true),
        };
        let by = (i64::from(of.by.0), i64::from(of.by.1));
        rows.push((of.start, time, number(of.kind), by, files::path(of.file), (asked, moved), status, open));
    }
    rows.sort();
    rows
}

fn found(extracted: &Extracted) -> Vec<Plain> {
    let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
    let threads: Vec<ThreadRow> = extracted.archive.rows().expect("threads");
    let paths: Vec<FileRow> = extracted.archive.rows().expect("files");
    let rows: Vec<FileIoRow> = extracted.archive.rows().expect("operations");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let plain = |row: FileIoRow| {
        let by = (processes[row.process.index()].pid, threads[row.thread.index()].tid);
        assert_eq!(row.error, row.status.filter(|status| status >> 31 != 0));
        assert_eq!(row.pattern.as_deref(), (row.operation == operations::LIST).then_some("*.txt"));
        assert_eq!(row.options, (row.operation == operations::OPEN).then_some(0x0300_0020));
        let is_transfer = matches!(row.operation, operations::READ | operations::WRITE);
        assert_eq!((row.io_flags, row.offset.is_some()), (is_transfer.then_some(0x43), is_transfer));
        let path = row.file.map(|file| paths[file.index()].path.clone());
        let open = row.open == Some(true);
        (row.start, row.time, row.operation, by, path, (row.size, row.transferred), row.status, open)
    };
    let mut rows: Vec<Plain> = rows.into_iter().map(plain).collect();
    rows.sort();
    rows
}

#[test]
fn operations_are_those_that_were_written() {
    for (seed, source) in (1..).zip(SOURCES.into_iter().cycle().take(12)) {
        for pointer_size in [PointerSize::Four, PointerSize::Eight] {
            for has_ends in [true, false] {
                let all = files::operations(seed);
                assert!(all.len() > 150 && all.iter().any(|of| of.end.is_none()), "{}", all.len());
                let bytes = files::write(&all, source, pointer_size, has_ends).expect("a recording");
                let extracted = Recording::of("files.etl", &bytes).extract();
                assert_eq!(found(&extracted), expected(&all, has_ends), "{source:?}, {pointer_size:?}, {has_ends}");
                let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
                let unended = health.iter().find(|row| row.kind == "file_operations_without_end");
                let count = all.iter().filter(|of| of.end.is_none()).count() as i64;
                assert_eq!(unended.map(|row| row.count), has_ends.then_some(count));
            }
        }
    }
}

/// The events of the provider and the rows agree, one by one.
#[test]
fn real_opens_are_their_events() {
    let Some(cases) = cases("etl") else { return };
    for (name, count) in [("net.4.5.2.x64.etl.zip", 562), ("net.4.5.2.x86.etl.zip", 968)] {
        let out = tempfile::tempdir().expect("a directory");
        let options =
            Options { out: Some(out.path().to_owned()), events: Some(EventSelection::All), ..Options::default() };
        let report = try_extract(&cases.join(name), &options).expect("extracted").remove(0);
        let archive = tracesift_archive::Archive::open(&report.archive).expect("an archive");
        let events: Vec<EventRow> = archive.rows().expect("events");
        let of_provider =
            events.iter().filter(|row| row.provider == "Microsoft-Windows-Kernel-File" && row.id == Some(12));
        let mut told: BTreeMap<(i64, Option<tracesift_trace::StackId>), usize> = BTreeMap::new();
        for event in of_provider {
            *told.entry((event.time, event.stack)).or_default() += 1;
        }
        let rows: Vec<FileIoRow> = archive.rows().expect("operations");
        let mut found: BTreeMap<(i64, Option<tracesift_trace::StackId>), usize> = BTreeMap::new();
        for row in &rows {
            assert_eq!((row.operation, row.start, row.open), (operations::OPEN, row.time, Some(true)));
            *found.entry((row.time, row.stack)).or_default() += 1;
        }
        assert_eq!(rows.len(), count, "{name}");
        assert_eq!(found, told, "{name}");
        assert!(rows.iter().filter(|row| row.stack.is_some()).count() * 10 > rows.len() * 9, "{name}: stacks");
        let named = rows.iter().filter(|row| row.file.is_some()).count();
        assert!(named * 10 > rows.len() * 9, "{name}: {named} of {} have a path", rows.len());
    }
}
