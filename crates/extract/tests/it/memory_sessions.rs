//! The memory of sessions, working sets of suspended apps, and parts of the system, against payloads made byte by byte.

use tracesift_etl::payload::KERNEL_MEMORY;
use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Hook, PointerSize, SessionOptions};
use tracesift_scenario::providers::{self, KernelRecord, Logged};
use tracesift_testing::recording::Recording;
use tracesift_trace::rows::{
    HealthRow, MemoryProcessRow, MemorySessionRow, Origin, ProcessRow, ReclaimRow, reclaim_kinds as kinds,
};

const MS: i64 = 1_000_000;
const PAGE: i64 = 4096;
const PROCESSES: [(u32, &str); 2] = [(4, "System"), (8, "app.exe")];

/// An entry per id: as many numbers of pages as the version has, from `first` on.
fn entries(pointer_size: PointerSize, version: u8, entries: &[(u32, u64)]) -> Vec<u8> {
    let mut payload = Bytes::new(pointer_size);
    payload.u32(entries.len() as u32);
    for (id, first) in entries {
        payload.u32(*id);
        (0..if version == 2 { 8 } else { 4 }).for_each(|size| payload.pointer(first + size));
    }
    payload.into_vec()
}

fn logged(ms: i64, id: u16, version: u8, payload: Vec<u8>) -> Logged {
    Logged { time: ms * MS, cpu: 1, provider: KERNEL_MEMORY, id, version, pid: 4, tid: 8, payload }
}

fn check(sessions: &[MemorySessionRow], version: u8) {
    let found: Vec<(i64, i64)> = sessions.iter().map(|row| (row.time, row.session)).collect();
    assert_eq!(found, [(10 * MS, 0), (10 * MS, 1), (510 * MS, 0), (510 * MS, 1)]);
    for (row, first) in sessions.iter().zip([100, 200, 150, 200]) {
        let pages = |more: i64| (first + more) * PAGE;
        assert_eq!([row.working_set, row.commit, row.paged_pool, row.private_working_set], [0, 1, 2, 3].map(pages));
        let stores = [row.store, row.stored, row.commit_debt, row.shared_commit];
        assert_eq!(stores, [4, 5, 6, 7].map(|more| (version == 2).then_some(pages(more))));
    }
}

#[test]
fn sessions_have_their_memory_from_either_source() {
    for (pointer_size, version) in [(PointerSize::Four, 1), (PointerSize::Eight, 1), (PointerSize::Eight, 2)] {
        let readings = [
            (10, entries(pointer_size, version, &[(0, 100), (1, 200)])),
            (510, entries(pointer_size, version, &[(0, 150), (1, 200)])),
        ];
        let events = readings.iter().map(|(ms, payload)| logged(*ms, 3, version, payload.clone())).collect();
        let bytes = providers::write(pointer_size, 2, &PROCESSES, events).expect("a recording");
        let extracted = Recording::of("sessions.etl", &bytes).extract();
        check(&extracted.archive.rows::<MemorySessionRow>().expect("rows"), version);

        let record = |(ms, payload): &(i64, Vec<u8>)| {
            let hook = Hook::new(2, 126, version);
            KernelRecord { time: ms * MS, cpu: 0, hook, caller: (4, 8), payload: payload.clone() }
        };
        let mut records: Vec<KernelRecord> = readings.iter().map(record).collect();
        // An entry is cut off: the event has no rows.
        let mut cut = entries(pointer_size, version, &[(0, 1)]);
        cut.pop();
        records.push(record(&(600, cut)));
        let options = SessionOptions { pointer_size, ..SessionOptions::default() };
        let bytes = providers::write_with_kernel(options, 2, &PROCESSES, Vec::new(), records).expect("a recording");
        let extracted = Recording::of("sessions.etl", &bytes).extract();
        check(&extracted.archive.rows::<MemorySessionRow>().expect("rows"), version);
        let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
        assert_eq!(health.iter().find(|row| row.kind == "undecodable_payload").map(|row| row.count), Some(1));
    }
}

#[test]
fn working_sets_of_suspended_apps_are_written_and_read_back() {
    let begin = |ms: i64, id: u16, pid: u32| {
        let mut payload = Bytes::new(PointerSize::Eight);
        payload.u32(pid);
        payload.u32(0);
        logged(ms, id, 0, payload.into_vec())
    };
    let end = |ms: i64, id: u16, version: u8, pid: u32, pages: u64| {
        let mut payload = Bytes::new(PointerSize::Eight);
        payload.u32(pid);
        payload.u32(0);
        match (id, version) {
            (5, 0) => payload.u32(pages as u32),
            (5, _) => [pages, 1, 2, 3].iter().for_each(|pages| payload.pointer(*pages)),
            _ => {}
        }
        logged(ms, id, version, payload.into_vec())
    };
    let events = vec![
        begin(100, 4, 8),
        end(130, 5, 1, 8, 1000),
        begin(400, 6, 8),
        end(420, 7, 0, 8, 0),
        begin(500, 4, 8),
        end(505, 5, 0, 8, 30),
        // Without a begin; twice begun; still under way at the end.
        end(600, 7, 0, 8, 0),
        begin(700, 4, 8),
        begin(800, 4, 8),
    ];
    let bytes = providers::write(PointerSize::Eight, 2, &PROCESSES, events).expect("a recording");
    let extracted = Recording::of("swaps.etl", &bytes).extract();
    let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
    let mut rows: Vec<ReclaimRow> = extracted.archive.rows().expect("rows");
    rows.sort_by_key(|row| row.start);
    assert!(rows.iter().all(|row| row.process.is_some_and(|process| processes[process.index()].name == "app.exe")));
    let found: Vec<_> =
        rows.iter().map(|row| (row.start / MS, row.time / MS, row.kind, row.reclaimed, row.open)).collect();
    assert_eq!(
        found[..3],
        [
            (100, 130, kinds::SWAP_OUT, Some(1000 * PAGE), None),
            (400, 420, kinds::SWAP_IN, None, None),
            (500, 505, kinds::SWAP_OUT, Some(30 * PAGE), None),
        ]
    );
    assert_eq!(found.len(), 4);
    assert_eq!((found[3].0, found[3].2, found[3].4), (800, kinds::SWAP_OUT, Some(true)));
    let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
    let count = |kind: &str| health.iter().find(|row| row.kind == kind).map(|row| row.count);
    assert_eq!([count("reclaims_without_begin"), count("reclaims_without_end")], [Some(1), Some(1)]);
}

/// Parts of the system have ids that no process has.
#[test]
fn parts_of_the_system_are_no_processes() {
    let part = 0xffff_fffd;
    let payload = entries(PointerSize::Eight, 2, &[(4, 100), (8, 200), (part, 300)]);
    let events = vec![logged(10, 2, 2, payload)];
    let bytes = providers::write(PointerSize::Eight, 2, &PROCESSES, events).expect("a recording");
    let extracted = Recording::of("parts.etl", &bytes).extract();
    let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
    let rows: Vec<MemoryProcessRow> = extracted.archive.rows().expect("rows");
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            let process = &processes[row.process.index()];
            (process.name.as_str(), process.origin == Origin::Pseudo, row.commit)
        })
        .collect();
    let pages = |pages: i64| Some(pages * PAGE);
    let expected =
        [("System", false, pages(101)), ("app.exe", false, pages(201)), ("System part 0xfffffffd", true, pages(301))];
    assert_eq!(found, expected);
}
