//! Waits for locks of .NET programs: in a real recording, and in events that are made from their layouts.

use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;
use tracesift_extract::Options;
use tracesift_fixtures::cases;
use tracesift_scenario::SplitMix64;
use tracesift_scenario::providers::{Logged, write};
use tracesift_testing::recording::{Extracted, Recording, extract_file};
use tracesift_trace::rows::{FrameRow, LockWaitRow, ModuleRow, ProcessRow, StackRow, ThreadRow, lock_sources};

const RUNTIME: tracesift_etl::Guid = tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;

/// The recording of .NET Framework on x86: 16 waits of PerfView.exe.
#[test]
fn waits_of_net_framework() {
    let Some(folder) = cases("etl") else { return };
    let out = tempfile::tempdir().expect("a directory");
    let options = Options { out: Some(out.path().to_owned()), ..Options::default() };
    let report = extract_file(&folder.join("net.4.5.2.x86.etl.zip"), &options);
    let archive = tracesift_archive::Archive::open(&report.archive).expect("an archive");
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let stacks: Vec<StackRow> = archive.rows().expect("stacks");
    let frames: Vec<FrameRow> = archive.rows().expect("frames");
    let modules: Vec<ModuleRow> = archive.rows().expect("modules");
    let rows: Vec<LockWaitRow> = archive.rows().expect("waits");
    let of_perfview = |row: &&LockWaitRow| processes[row.process.expect("a process").index()].name == "PerfView.exe";
    assert_eq!((rows.len(), rows.iter().filter(of_perfview).count()), (16, 16));
    let lengths = || rows.iter().map(|row| row.time - row.start);
    // 5.5181 ms in all, and 1.8772 ms the longest one.
    assert_eq!((lengths().sum::<i64>() / 100, lengths().max().expect("a wait") / 100), (55_181, 18_772));
    assert!(rows.iter().all(|row| row.source == lock_sources::MONITOR && row.open.is_none() && row.lock.is_none()));
    // The runtime writes the stack behind the event.
    let leaf_module = |row: &LockWaitRow| {
        let stack = &stacks[row.stack?.index()];
        let module = frames[stack.frames.first()?.index()].module?;
        Some(modules[module.index()].name.clone())
    };
    assert!(rows.iter().filter(|row| leaf_module(row).is_some()).count() > 8, "{rows:?}");
    let health = &report.health;
    assert_eq!((health.get("lock_waits_without_begin"), health.get("lock_waits_without_end")), (0, 0));
}

/// A wait: begin, end, thread, lock, owner, whether it is the runtime's own, and source. Without an end it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wait {
    start: i64,
    end: Option<i64>,
    tid: u32,
    lock: u64,
    owner: u32,
    native: bool,
    source: i8,
}

const PID: u32 = 7;
const SECONDS: i64 = 2;
const THREADS: [u32; 4] = [12, 16, 20, 24];

fn waits(seed: u64) -> Vec<Wait> {
    let mut rng = SplitMix64::new(seed);
    let mut waits = Vec::new();
    for tid in THREADS {
        let mut now = 10_000_000;
        for _ in 0..30 {
            now += rng.between(1, 20_000) * 1_000;
            let end = now + rng.between(1, 9_000) * 1_000;
            let source = if rng.chance(30) { lock_sources::WAIT_HANDLE } else { lock_sources::MONITOR };
            let owner = THREADS[rng.index(THREADS.len())];
            let (lock, native) = (0x1000 + rng.below(4) * 8, rng.chance(20));
            waits.push(Wait { start: now, end: Some(end), tid, lock, owner, native, source });
            now = end;
        }
    }
    // One lasts.
    let last = waits.iter_mut().rfind(|wait| wait.tid == THREADS[0]).expect("waits");
    last.end = None;
    waits
}

/// Events of the newest versions, or of the oldest ones, which tell less.
fn log(waits: &[Wait], pointers: PointerSize, is_new: bool) -> Vec<Logged> {
    let mut events = Vec::new();
    let mut put = |time: i64, tid: u32, (id, version): (u16, u8), payload: Bytes| {
        let payload = payload.into_vec();
        events.push(Logged { time, cpu: 0, provider: RUNTIME, id, version, pid: PID, tid, payload });
    };
    for wait in waits {
        let is_monitor = wait.source == lock_sources::MONITOR;
        let mut begin = Bytes::new(pointers);
        let mut end = Bytes::new(pointers);
        if is_monitor {
            begin.u8(wait.native.into());
            begin.u16(9);
            end.u8(wait.native.into());
            end.u16(9);
            if is_new {
                begin.pointer(wait.lock);
                begin.pointer(wait.lock + 4);
                begin.u64(wait.owner.into());
                let length = wait.end.map_or(0, |end| end - wait.start);
                end.u64((length as f64).to_bits());
            }
        } else {
            begin.u8(0);
            begin.pointer(wait.lock);
            begin.u16(9);
            end.u16(9);
        }
        let [first, last] =
            if is_monitor { [(81, 1 + u8::from(is_new)), (91, is_new.into())] } else { [(301, 0), (302, 0)] };
        put(wait.start, wait.tid, first, begin);
        if let Some(time) = wait.end {
            put(time, wait.tid, last, end);
        }
    }
    events
}

/// End, begin, tid, lock, owner, native, source, what the runtime measured, whether it lasts.
type Plain = (i64, i64, i64, Option<i64>, Option<i64>, Option<bool>, i8, Option<i64>, bool);

fn found(extracted: &Extracted) -> Vec<Plain> {
    let threads: Vec<ThreadRow> = extracted.archive.rows().expect("threads");
    let rows: Vec<LockWaitRow> = extracted.archive.rows().expect("waits");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let plain = |row: &LockWaitRow| {
        let tid = |thread: tracesift_trace::ThreadId| threads[thread.index()].tid;
        let (owner, open) = (row.owner.map(tid), row.open == Some(true));
        let by = tid(row.thread.expect("a thread"));
        (row.time, row.start, by, row.lock, owner, row.native, row.source, row.measured, open)
    };
    let mut rows: Vec<Plain> = rows.iter().map(plain).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn waits_are_those_that_were_written() {
    for (seed, pointers) in [(1, PointerSize::Four), (2, PointerSize::Eight)] {
        let waits = waits(seed);
        for is_new in [true, false] {
            let bytes = write(pointers, SECONDS, &[(PID, "app.exe")], log(&waits, pointers, is_new)).expect("events");
            let extracted = Recording::of("contention.etl", &bytes).extract();
            let plain = |wait: &Wait| {
                let is_monitor = wait.source == lock_sources::MONITOR;
                let end = wait.end.unwrap_or(SECONDS * 1_000_000_000);
                let lock = (is_new || !is_monitor).then_some(wait.lock as i64);
                let owner = (is_new && is_monitor).then_some(wait.owner.into());
                let native = is_monitor.then_some(wait.native);
                let measured = wait.end.filter(|_| is_new && is_monitor).map(|end| end - wait.start);
                (end, wait.start, wait.tid.into(), lock, owner, native, wait.source, measured, wait.end.is_none())
            };
            let mut expected: Vec<Plain> = waits.iter().map(plain).collect();
            expected.sort_unstable();
            assert_eq!(found(&extracted), expected, "{pointers:?} {is_new}");
            assert_eq!(extracted.report.health.get("fields_not_as_expected"), 0);
        }
    }
}
