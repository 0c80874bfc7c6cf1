//! The archive of a recording is the same however it is cut into slices, and however many threads work on them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_etl::write::payload::{Bytes, ContextSwitch, ReadyThread, Sample, Stack, Thread, thread_state};
use tracesift_etl::write::{Head, Hook, PointerSize, SessionOptions, Writer};
use tracesift_extract::{Budget, EventSelection, Options};
use tracesift_fixtures::cases;
use tracesift_scenario::{Knobs, Scenario, SplitMix64};
use tracesift_testing::recording::{Recording, extract_file, try_extract};
use tracesift_trace::StackId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, FrameRow, PageFaultRow, StackRow, ThreadRow};

/// How a recording is extracted.
fn how() -> Options {
    Options { events: Some(EventSelection::Default), ..Options::default() }
}

/// The files of the archive that an extract writes into `directory`, by name.
fn files(
    recording: &Path,
    directory: &Path,
    how: &Options,
    (slice_records, threads): (usize, usize),
) -> BTreeMap<PathBuf, Vec<u8>> {
    let out = directory.join(format!("{slice_records}-{threads}"));
    let budget = Budget { slice_records: Some(slice_records), threads: Some(threads), ..how.budget.clone() };
    let options = Options { out: Some(out), budget, ..how.clone() };
    let archive = extract_file(recording, &options).archive;
    let entries = std::fs::read_dir(&archive).expect("an archive");
    let of_entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.expect("a file").path();
        let bytes = std::fs::read(&path).expect("its bytes");
        (path.file_name().map(PathBuf::from).unwrap_or_default(), bytes)
    };
    entries.map(of_entry).collect()
}

/// Compares the archives of many cuts with that of none.
fn hold(recording: &Path, cuts: &[(usize, usize)]) {
    hold_with(recording, &how(), cuts);
}

fn hold_with(recording: &Path, how: &Options, cuts: &[(usize, usize)]) {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = files(recording, directory.path(), how, (usize::MAX, 1));
    for (slice_records, threads) in cuts {
        let cut = files(recording, directory.path(), how, (*slice_records, *threads));
        assert!(whole.keys().eq(cut.keys()), "{}: files of {slice_records}, {threads}", recording.display());
        for (name, bytes) in &whole {
            let same = cut.get(name) == Some(bytes);
            assert!(same, "{}: {} of {slice_records} records, {threads} threads", recording.display(), name.display());
        }
    }
}

#[test]
fn scenarios_have_the_same_archive_with_any_cut() {
    for seed in 0..12 {
        let recording = Recording::etl(&Scenario::random(seed, &Knobs::random(seed)));
        hold(recording.file(), &[(1, 3), (7, 2), (50, 1), (700, 4)]);
    }
}

#[test]
fn scenarios_with_all_events_have_the_same_archive_with_any_cut() {
    let all = Options { events: Some(EventSelection::All), ..how() };
    for seed in 20..26 {
        let recording = Recording::etl(&Scenario::random(seed, &Knobs::random(seed)));
        hold_with(recording.file(), &all, &[(1, 3), (60, 2)]);
    }
}

/// Tables of stacks are dropped again and again.
#[test]
fn scenarios_with_little_memory_have_the_same_archive_with_any_cut() {
    let little = Options { budget: Budget { memory: 256 << 10, ..Budget::default() }, ..how() };
    for seed in 30..36 {
        let recording = Recording::etl(&Scenario::random(seed, &Knobs::random(seed)));
        hold_with(recording.file(), &little, &[(1, 3), (40, 2), (500, 1)]);
    }
}

/// Bytes change at random places, runs of bytes are repeated, and the end is missing.
fn damaged(mut bytes: Vec<u8>, random: &mut SplitMix64) -> Vec<u8> {
    for _ in 0..1 + random.below(40) {
        // The header of the file stays.
        let place = 4096 + random.index(bytes.len() - 8192);
        bytes[place] = random.below(256) as u8;
    }
    if random.chance(50) {
        let place = 4096 + random.index(bytes.len() - 8192);
        bytes.copy_within(place..place + 1024, 4096 + (place % 2048));
    }
    if random.chance(30) {
        bytes.truncate(bytes.len() / 2 + random.index(bytes.len() / 2));
    }
    bytes
}

#[test]
fn damaged_recordings_have_the_same_archive_with_any_cut() {
    let mut held = 0;
    for seed in 0..16 {
        let bytes = Scenario::random(seed, &Knobs::random(seed)).bytes().expect("a recording");
        let recording = Recording::of("damaged.etl", &damaged(bytes, &mut SplitMix64::new(seed)));
        let scratch = tempfile::tempdir().expect("a directory");
        let options = Options { out: Some(scratch.path().to_owned()), ..Options::default() };
        if try_extract(recording.file(), &options).is_ok() {
            hold(recording.file(), &[(1, 3), (30, 2), (700, 2)]);
            held += 1;
        }
    }
    assert!(held > 8, "{held} recordings");
}

#[test]
fn shared_recordings_have_the_same_archive_with_any_cut() {
    let Some(directory) = cases("etl") else { return };
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).expect("a folder").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut held = 0;
    for path in paths {
        // Some are no recordings, others are several.
        if path.extension().is_some_and(|extension| extension == "txt") || path.ends_with("empty.etl") {
            continue;
        }
        let scratch = tempfile::tempdir().expect("a directory");
        let options = Options { out: Some(scratch.path().to_owned()), ..Options::default() };
        if try_extract(&path, &options).is_ok_and(|reports| reports.len() == 1) {
            hold(&path, &[(1 << 10, 3), (1 << 14, 2)]);
            held += 1;
        }
    }
    assert!(held > 10, "{held} recordings");
}

/// The archive of slices of one record, which is that of all cuts, in its directory.
fn cut_archive(recording: &Path, name: &str) -> (TempDir, Archive) {
    hold(recording, &[(1, 1), (1, 3), (3, 2)]);
    let directory = tempfile::tempdir().expect("a directory");
    files(recording, directory.path(), &how(), (1, 2));
    let archive = Archive::open(&directory.path().join("1-2").join(name)).expect("an archive");
    (directory, archive)
}

/// Gives the address of the leaf of a stack.
fn leaves(archive: &Archive) -> impl Fn(Option<StackId>) -> Option<i64> + use<> {
    let frames: Vec<FrameRow> = archive.rows().expect("frames");
    let stacks: Vec<StackRow> = archive.rows().expect("stacks");
    move |stack| frames[stacks[stack?.index()].frames[0].index()].address
}

/// The first pass knows threads by their tids alone. Here two threads have one, and the first one's end is not seen: it still runs on CPU 1
/// when the second one is seen on CPU 2.
#[test]
fn a_slice_begins_with_those_who_really_run() {
    let session = SessionOptions { cpus: 4, ..SessionOptions::default() };
    let zero = session.zero_ticks;
    let mut out = Writer::create(std::io::Cursor::new(Vec::new()), session.clone()).expect("a recording is begun");
    let mut record = |cpu: u16, ticks: i64, hook: Hook, encode: &dyn Fn(&mut Bytes)| {
        let mut bytes = Bytes::new(PointerSize::Eight);
        encode(&mut bytes);
        out.record(cpu, zero + ticks, &Head::Perfinfo { hook, counters: &[] }, bytes.as_slice()).expect("written");
    };
    let thread = |tid: u32| {
        move |out: &mut Bytes| {
            Thread { pid: 7, tid, start_address: 0, service_tag: 0, base_priority: 8, name: "" }.encode(out);
        }
    };
    let switch_to = |new_tid: u32| {
        move |out: &mut Bytes| {
            let old_state = thread_state::READY;
            ContextSwitch { new_tid, old_tid: 0, old_state, ..ContextSwitch::default() }.encode(out);
        }
    };
    record(0, 5, Thread::START, &thread(60));
    record(1, 10, Thread::START, &thread(50));
    record(1, 20, ContextSwitch::HOOK, &switch_to(50));
    record(1, 30, Thread::END, &thread(50));
    record(0, 40, Thread::START, &thread(50));
    record(2, 50, ContextSwitch::HOOK, &switch_to(50));
    record(1, 60, ReadyThread::HOOK, &|out| ReadyThread { tid: 60, ..ReadyThread::default() }.encode(out));
    // Only the thread tells which of two stacks is that of the event.
    for (tid, frames) in [(60, [0x5000, 0x6000]), (50, [0x2000, 0x3000])] {
        record(1, 61, Stack::HOOK, &|out| Stack { event_time: zero + 60, pid: 7, tid, frames: &frames }.encode(out));
    }
    record(3, 70, ContextSwitch::HOOK, &switch_to(60));
    // From here on the first pass is right again, and whoever worked on the slices before goes on.
    record(1, 80, ContextSwitch::HOOK, &|out| {
        let old_state = thread_state::WAITING;
        ContextSwitch { new_tid: 0, old_tid: 50, old_state, ..ContextSwitch::default() }.encode(out);
    });
    for (ticks, frames) in [(90, [0x7000, 0x3000]), (100, [0x8000, 0x3000])] {
        record(2, ticks, Sample::HOOK, &|out| Sample { tid: 50, count: 1, ..Sample::default() }.encode(out));
        let event_time = zero + ticks;
        record(2, ticks + 1, Stack::HOOK, &|out| Stack { event_time, pid: 7, tid: 50, frames: &frames }.encode(out));
    }
    let bytes = out.finish(session.start_filetime + 1_000).expect("finished").into_inner();
    let recording = Recording::of("reused.etl", &bytes);
    let (_directory, archive) = cut_archive(recording.file(), "reused.sift");
    let threads: Vec<ThreadRow> = archive.rows().expect("threads");
    let rows: Vec<ContextSwitchRow> = archive.rows().expect("switches");
    let row = rows.iter().find(|row| threads[row.thread.index()].tid == 60).expect("a switch");
    let readier = row.readier.map(|thread| (threads[thread.index()].tid, threads[thread.index()].start));
    assert_eq!(readier, Some((50, Some(1_000))), "{row:?}");
    let leaf = leaves(&archive);
    assert_eq!(leaf(row.ready_stack), Some(0x2000), "{row:?}");
    let samples: Vec<CpuSampleRow> = archive.rows().expect("samples");
    let leaves: Vec<_> = samples.iter().map(|sample| leaf(sample.stack)).collect();
    assert_eq!(leaves, [Some(0x7000), Some(0x8000)]);
}

/// With a coarse clock a thread has a page fault and a sample at one time: the first stack is that of the first event.
#[test]
fn events_of_one_time_take_stacks_in_their_order() {
    let session = SessionOptions::default();
    let zero = session.zero_ticks;
    let mut out = Writer::create(std::io::Cursor::new(Vec::new()), session.clone()).expect("a recording is begun");
    let mut record = |ticks: i64, head: &Head<'_>, encode: &dyn Fn(&mut Bytes)| {
        let mut bytes = Bytes::new(PointerSize::Eight);
        encode(&mut bytes);
        out.record(0, zero + ticks, head, bytes.as_slice()).expect("written");
    };
    let short = |hook: Hook| Head::Perfinfo { hook, counters: &[] };
    for ticks in [10, 30, 50] {
        record(ticks, &Head::System { hook: Hook::new(2, 11, 2), pid: 7, tid: 8 }, &|out| {
            out.pointer(0x1000);
            out.pointer(0x2000);
        });
        record(ticks, &short(Sample::HOOK), &|out| Sample { tid: 8, count: 1, ..Sample::default() }.encode(out));
        for frames in [[0x5000, 0x3000], [0x6000, 0x3000]] {
            let event_time = zero + ticks;
            record(ticks + 1, &short(Stack::HOOK), &|out| {
                Stack { event_time, pid: 7, tid: 8, frames: &frames }.encode(out);
            });
        }
    }
    let bytes = out.finish(session.start_filetime + 1_000).expect("finished").into_inner();
    let recording = Recording::of("coarse.etl", &bytes);
    let (_directory, archive) = cut_archive(recording.file(), "coarse.sift");
    let leaf = leaves(&archive);
    let faults: Vec<PageFaultRow> = archive.rows().expect("faults");
    let samples: Vec<CpuSampleRow> = archive.rows().expect("samples");
    let of_faults: Vec<_> = faults.iter().map(|row| leaf(row.stack)).collect();
    let of_samples: Vec<_> = samples.iter().map(|row| leaf(row.stack)).collect();
    assert_eq!((of_faults, of_samples), (vec![Some(0x5000); 3], vec![Some(0x6000); 3]));
}
