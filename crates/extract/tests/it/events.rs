//! The table `events` of small recordings whose every event is known.

use std::path::Path;

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_etl::Guid;
use tracesift_etl::class::KERNEL_EVENT_TRACING;
use tracesift_etl::payload::dotnet::{RUNDOWN_PROVIDER, RUNTIME_PROVIDER};
use tracesift_etl::write::payload::{Bytes, ContextSwitch, ReadyThread, Stack, thread_state};
use tracesift_etl::write::{Extended, Head, Hook, PointerSize, SessionOptions, Writer};
use tracesift_extract::{EventSelection, Options, Outcome, extract, unwatched};
use tracesift_testing::recording::input_of;
use tracesift_trace::StackId;
use tracesift_trace::rows::{ContextSwitchRow, EventRow, FrameRow, ProcessRow, StackRow, ThreadRow};

const PROVIDER: Guid = Guid::from_u128(0x11);
const ACTIVITY: Guid = Guid::from_u128(0x22);
const PARENT: Guid = Guid::from_u128(0x33);
const LOCAL_SYSTEM: [u8; 12] = [1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
const KERNEL: u64 = 0xffff_f800_0000_1000;
/// Thread SetName: a kernel event without a table of its own.
const SET_NAME: Hook = Hook::new(5, 72, 2);

/// An event of a provider, logged by thread 8 of process 7.
fn event<'a>(provider: Guid, id: u16, extended: &'a [Extended<'a>]) -> Head<'a> {
    Head::Event {
        provider,
        id,
        version: 1,
        channel: 0,
        level: 4,
        opcode: 9,
        task: 0,
        keyword: 0x8000_0000_0000_0001,
        activity: if id == 1 { ACTIVITY } else { Guid::from_u128(0) },
        pid: 7,
        tid: 8,
        extended,
    }
}

fn clr_stack(frames: &[u64]) -> Vec<u8> {
    let mut payload = vec![9, 0, 0, 0];
    payload.extend((frames.len() as u32).to_le_bytes());
    payload.extend(frames.iter().flat_map(|frame| frame.to_le_bytes()));
    payload
}

/// Time stamps are ticks of 100 ns since the start.
fn write(path: &Path) {
    let zero = SessionOptions::default().zero_ticks;
    let mut out =
        Writer::create(std::io::Cursor::new(Vec::new()), SessionOptions::default()).expect("a recording is begun");
    let mut record = |ticks: i64, head: &Head<'_>, payload: &[u8]| {
        out.record(0, zero + ticks, head, payload).expect("written");
    };
    let whole = [
        Extended::RelatedActivity(PARENT),
        Extended::Raw { kind: 2, data: &LOCAL_SYSTEM },
        Extended::Stack { match_id: 0, frames: &[0x1000, 0x2000] },
    ];
    record(10, &event(PROVIDER, 1, &whole), &[0xab, 0xcd]);
    let kernel_half = [Extended::Stack { match_id: 77, frames: &[KERNEL] }];
    record(20, &event(PROVIDER, 2, &kernel_half), &[]);
    let user_half = [Extended::Stack { match_id: 77, frames: &[0x3000] }];
    record(25, &event(KERNEL_EVENT_TRACING, 18, &user_half), &[]);
    record(30, &event(RUNTIME_PROVIDER, 9, &[]), &[9, 0]);
    record(31, &event(RUNTIME_PROVIDER, 82, &[]), &clr_stack(&[0x4000, 0x5000]));
    record(40, &event(RUNDOWN_PROVIDER, 144, &[]), &[]);
    let mut name = Bytes::new(PointerSize::Eight);
    name.u32(7);
    name.u32(8);
    name.utf16("worker");
    record(50, &Head::System { hook: SET_NAME, pid: 7, tid: 8 }, name.as_slice());
    let mut stack = Bytes::new(PointerSize::Eight);
    Stack { event_time: zero + 50, pid: 7, tid: 8, frames: &[KERNEL, 0x6000] }.encode(&mut stack);
    record(60, &Head::Perfinfo { hook: Stack::HOOK, counters: &[] }, stack.as_slice());
    // The second half of nothing, and a text in place of a number of frames.
    record(70, &event(RUNTIME_PROVIDER, 82, &[]), b"CLR stack");
    let odd = [Extended::Raw { kind: 2, data: &[9, 9] }, Extended::Raw { kind: 6, data: &[1] }];
    record(80, &event(PROVIDER, 3, &odd), &[]);
    // Two events of one moment: the stack belongs to the second.
    record(90, &event(RUNTIME_PROVIDER, 9, &[]), &[9, 0]);
    record(90, &event(RUNTIME_PROVIDER, 10, &[]), &[9, 0]);
    record(91, &event(RUNTIME_PROVIDER, 82, &[]), &clr_stack(&[0x7000]));
    let start = SessionOptions::default().start_filetime;
    std::fs::write(path, out.finish(start + 1_000).expect("finished").into_inner()).expect("written");
}

fn run(directory: &TempDir, events: Option<EventSelection>) -> (Archive, bool) {
    let file = directory.path().join("events.etl");
    let options = Options { events, ..Options::default() };
    let extraction = extract(&input_of(&file), &options, &mut unwatched).expect("extracted");
    let (path, is_new) = match &extraction.outcomes[..] {
        [Outcome::Extracted(report)] => (report.archive.clone(), true),
        [Outcome::UpToDate(path) | Outcome::Named(path, _)] => (path.clone(), false),
        other => panic!("{other:?}"),
    };
    (Archive::open(&path).expect("archive"), is_new)
}

/// The addresses of a stack, leaf first.
fn addresses(archive: &Archive, stack: Option<StackId>) -> Vec<u64> {
    let stacks: Vec<StackRow> = archive.rows().expect("stacks");
    let frames: Vec<FrameRow> = archive.rows().expect("frames");
    let Some(row) = stacks.iter().find(|row| Some(row.stack) == stack) else { return Vec::new() };
    let address = |frame: &tracesift_trace::FrameId| frames[frame.index()].address.expect("no modules").cast_unsigned();
    row.frames.iter().map(address).collect()
}

#[test]
fn every_event_is_kept_with_its_header_items_and_stack() {
    let directory = TempDir::new().expect("directory");
    write(&directory.path().join("events.etl"));
    let (archive, _) = run(&directory, Some(EventSelection::All));
    archive.verify().expect("sound");
    assert_eq!(archive.info().events, "all");
    let rows: Vec<EventRow> = archive.rows().expect("events");
    let times: Vec<i64> = rows.iter().map(|row| row.time).collect();
    assert_eq!(times, [0, 1_000, 2_000, 2_500, 3_000, 3_100, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000, 9_000, 9_100]);
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let threads: Vec<ThreadRow> = archive.rows().expect("threads");
    for row in &rows[1..8] {
        assert_eq!(row.process.map(|id| processes[id.index()].pid), Some(7), "{row:?}");
        assert_eq!(row.thread.map(|id| threads[id.index()].tid), Some(8), "{row:?}");
    }

    let first = &rows[1];
    assert_eq!((first.provider.as_str(), first.event.as_str()), (first.guid.as_str(), "EventID(1)"));
    assert_eq!(first.guid, PROVIDER.to_string());
    assert_eq!((first.id, first.version, first.opcode, first.level), (Some(1), 1, 9, Some(4)));
    assert_eq!(first.keyword.map(i64::cast_unsigned), Some(0x8000_0000_0000_0001));
    assert_eq!(first.activity, Some(ACTIVITY.to_string()));
    assert_eq!(first.related_activity, Some(PARENT.to_string()));
    assert_eq!(first.user.as_deref(), Some("S-1-5-18"));
    assert_eq!((first.schema.as_deref(), first.fields.as_str(), first.raw.as_deref()), (None, "{}", Some("abcd")));

    let stack = |index: usize| addresses(&archive, rows[index].stack);
    assert_eq!(stack(1), [0x1000, 0x2000], "in the event as a whole");
    assert_eq!(stack(2), [KERNEL, 0x3000], "the user half came with an event of its own");
    assert_eq!(stack(4), [0x4000, 0x5000], "the runtime wrote it behind its event");
    assert_eq!(stack(7), [KERNEL, 0x6000], "in a record of its own");
    assert_eq!(stack(9), [0_u64; 0], "frames that are none");
    assert_eq!([stack(11), stack(12)], [vec![], vec![0x7000]], "of one moment");
    assert!([3, 5, 13].iter().all(|index| stack(*index).is_empty()), "what brings the stack of another has none");
    let name = &rows[7];
    assert_eq!((name.provider.as_str(), name.event.as_str(), name.id), ("Windows Kernel", "Thread/SetName", None));
    assert_eq!((name.level, name.keyword, name.activity.as_deref()), (None, None, None));
    assert!(name.fields.contains(r#""ThreadName":"worker""#), "{}", name.fields);
    assert_eq!((rows[10].user.as_deref(), rows[10].stack), (None, None), "items that are none");

    // What nobody describes is counted.
    let health: Vec<tracesift_trace::rows::HealthRow> = archive.rows().expect("health");
    let undescribed = health.iter().find(|row| row.kind == "events_without_schema").expect("counted");
    assert_eq!(undescribed.count, 3);
}

#[test]
fn the_selection_decides_what_is_kept_and_when_an_archive_is_up_to_date() {
    let directory = TempDir::new().expect("directory");
    write(&directory.path().join("events.etl"));
    let ids = |archive: &Archive| -> Vec<Option<i32>> {
        archive.rows::<EventRow>().expect("events").iter().map(|row| row.id).collect()
    };
    let (archive, is_new) = run(&directory, Some(EventSelection::None));
    assert_eq!((ids(&archive), is_new, archive.info().events.as_str()), (vec![], true, "none"));
    assert!(!archive.path().join("events.parquet").exists());
    assert!(!run(&directory, None).1, "an archive that is there is good as it is");

    let (archive, is_new) = run(&directory, Some(EventSelection::Default));
    // Allocations of .NET and stacks behind events of its runtime are in other tables.
    let of_providers = [1, 2, 18, 9, 3, 9].map(Some);
    assert_eq!((ids(&archive), is_new), (of_providers.to_vec(), true));
    assert!(!run(&directory, Some(EventSelection::None)).1, "it has more than is asked for");

    assert!(run(&directory, Some(EventSelection::All)).1);
    assert!(!run(&directory, Some(EventSelection::Default)).1);
}

/// Thread 50 has no record of its own, thread 8 an event of a provider; both are readied before their first switch, thread 70 never has one.
fn write_unknown_threads(path: &Path) {
    let zero = SessionOptions::default().zero_ticks;
    let mut out =
        Writer::create(std::io::Cursor::new(Vec::new()), SessionOptions::default()).expect("a recording is begun");
    let mut record = |ticks: i64, head: &Head<'_>, payload: &[u8]| {
        out.record(0, zero + ticks, head, payload).expect("written");
    };
    let ready = |tid: u32| {
        let mut bytes = Bytes::new(PointerSize::Eight);
        ReadyThread { tid, ..ReadyThread::default() }.encode(&mut bytes);
        bytes
    };
    let switch = |old_tid: u32, new_tid: u32| {
        let mut bytes = Bytes::new(PointerSize::Eight);
        let old_state = thread_state::WAITING;
        ContextSwitch { new_tid, old_tid, old_state, ..ContextSwitch::default() }.encode(&mut bytes);
        bytes
    };
    let kernel = |hook| Head::Perfinfo { hook, counters: &[] };
    record(5, &event(PROVIDER, 1, &[]), &[]);
    for ticks in [10, 20] {
        record(ticks, &kernel(ReadyThread::HOOK), ready(50).as_slice());
        record(ticks + 1, &kernel(ReadyThread::HOOK), ready(8).as_slice());
        record(ticks + 2, &kernel(ReadyThread::HOOK), ready(70).as_slice());
    }
    record(30, &kernel(ContextSwitch::HOOK), switch(0, 50).as_slice());
    record(40, &kernel(ContextSwitch::HOOK), switch(50, 8).as_slice());
    record(60, &kernel(ContextSwitch::HOOK), switch(8, 50).as_slice());
    let start = SessionOptions::default().start_filetime;
    std::fs::write(path, out.finish(start + 1_000).expect("finished").into_inner()).expect("written");
}

/// To be named by an event makes nobody known to the switches.
#[test]
fn switches_do_not_depend_on_the_events_that_are_kept() {
    let directory = TempDir::new().expect("directory");
    write_unknown_threads(&directory.path().join("events.etl"));
    let switches = |selection| -> (bool, Vec<String>) {
        let archive = run(&directory, Some(selection)).0;
        let threads: Vec<ThreadRow> = archive.rows().expect("threads");
        let rows: Vec<ContextSwitchRow> = archive.rows().expect("switches");
        let tid = |id: tracesift_trace::ThreadId| threads[id.index()].tid;
        let mut lines: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {} {:?} {:?}", row.time, tid(row.thread), row.prev_thread.map(tid), row.ready_time))
            .collect();
        // The rows that close the threads come in the order of their ids.
        lines.sort();
        (archive.info().has_ready, lines)
    };
    let without = switches(EventSelection::None);
    assert!(!without.0 && without.1.len() >= 3, "{without:?}");
    assert_eq!(switches(EventSelection::Default), without);
    assert_eq!(switches(EventSelection::All), without);

    // Nor do the events depend on what the switches show: `tracesift events` does not follow those.
    let (archive, _) = run(&directory, Some(EventSelection::All));
    let events: Vec<EventRow> = archive.rows().expect("events");
    let to_thread_8 = events.iter().find(|row| row.time == 4_000).expect("the switch");
    assert_eq!((to_thread_8.event.as_str(), to_thread_8.process), ("Thread/CSwitch", None));
}

/// File operations of both layouts, logged by a worker on behalf of thread 8 of process 7.
fn write_file_operations(path: &Path) {
    let zero = SessionOptions::default().zero_ticks;
    let mut out =
        Writer::create(std::io::Cursor::new(Vec::new()), SessionOptions::default()).expect("a recording is begun");
    let mut record = |ticks: i64, head: &Head<'_>, payload: &[u8]| {
        out.record(0, zero + ticks, head, payload).expect("written");
    };
    record(10, &event(PROVIDER, 1, &[]), &[]);
    let worker = |opcode: u8, version: u8| Head::System { hook: Hook::new(4, opcode, version), pid: 4, tid: 44 };
    // Version 2: request, thread, file object, file key, all of them as wide as a pointer.
    let mut flush = Bytes::new(PointerSize::Eight);
    [0xa0, 8, 0xb0, 0xc0].into_iter().for_each(|value| flush.u64(value));
    record(20, &worker(73, 2), flush.as_slice());
    // Version 3: offset, request, file object, file key, thread, size, flags, more flags.
    let mut read = Bytes::new(PointerSize::Eight);
    [0x1000, 0xa0, 0xb0, 0xc0].into_iter().for_each(|value| read.u64(value));
    [8, 4096, 0, 0].into_iter().for_each(|value| read.u32(value));
    record(30, &worker(67, 3), read.as_slice());
    let start = SessionOptions::default().start_filetime;
    std::fs::write(path, out.finish(start + 1_000).expect("finished").into_inner()).expect("written");
}

#[test]
fn file_operations_belong_to_the_thread_that_issued_them() {
    let directory = TempDir::new().expect("directory");
    write_file_operations(&directory.path().join("events.etl"));
    let (archive, _) = run(&directory, Some(EventSelection::All));
    let threads: Vec<ThreadRow> = archive.rows().expect("threads");
    let rows: Vec<EventRow> = archive.rows().expect("events");
    let rows = rows.iter().filter(|row| row.time > 1_000);
    let issued: Vec<_> = rows
        .map(|row| (row.event.as_str(), row.thread.map(|id| threads[id.index()].tid), row.raw.as_deref()))
        .collect();
    assert_eq!(issued, [("FileIO/Flush", Some(8), None), ("FileIO/Read", Some(8), None)]);
}
