//! Thread pools of .NET programs: in real recordings, and in events that are made from their layouts.

use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;
use tracesift_extract::Options;
use tracesift_fixtures::cases;
use tracesift_scenario::providers::{Logged, write};
use tracesift_testing::recording::{Recording, extract_file};
use tracesift_trace::rows::{ProcessRow, ThreadPoolRow, thread_pool_events as events};

const RUNTIME: tracesift_etl::Guid = tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
const MS: i64 = 1_000_000;

/// Workers that started in recordings of .NET Framework.
#[test]
fn workers_of_net_framework() {
    let Some(folder) = cases("etl") else { return };
    for (file, workers) in [("net.4.5.2.x64.etl.zip", 2), ("net.4.5.2.x86.etl.zip", 4)] {
        let out = tempfile::tempdir().expect("a directory");
        let options = Options { out: Some(out.path().to_owned()), ..Options::default() };
        let report = extract_file(&folder.join(file), &options);
        let archive = tracesift_archive::Archive::open(&report.archive).expect("an archive");
        let processes: Vec<ProcessRow> = archive.rows().expect("processes");
        let rows: Vec<ThreadPoolRow> = archive.rows().expect("events");
        let started = rows.iter().filter(|row| row.event == events::STARTED).count();
        assert_eq!(started, workers, "{file}");
        let all_known = rows.iter().all(|row| row.process.is_some_and(|process| processes[process.index()].pid > 0));
        assert!(all_known && rows.iter().all(|row| row.workers.is_some_and(|workers| workers > 0)), "{rows:?}");
    }
}

/// Time, process, runtime, workers and reason of a change.
type Change = (i64, u32, u16, u32, u32);

const CHANGES: [Change; 8] = [
    (100 * MS, 7, 9, 4, 1),
    (200 * MS, 9, 9, 2, 0),
    (600 * MS, 7, 9, 5, 6),
    // Another runtime of the same process.
    (700 * MS, 7, 10, 3, 6),
    (1_100 * MS, 7, 9, 6, 6),
    (1_300 * MS, 7, 9, 4, 3),
    (1_400 * MS, 9, 9, 1, 7),
    (1_500 * MS, 7, 9, 5, 6),
];

fn log(pointers: PointerSize) -> Vec<Logged> {
    let mut logged = Vec::new();
    let mut put = |time: i64, pid: u32, id: u16, payload: Bytes| {
        let payload = payload.into_vec();
        logged.push(Logged { time, cpu: 1, provider: RUNTIME, id, version: 0, pid, tid: pid * 4, payload });
    };
    for (time, pid, runtime, workers, reason) in CHANGES {
        let mut payload = Bytes::new(pointers);
        payload.u64(12.5_f64.to_bits());
        payload.u32(workers);
        payload.u32(reason);
        payload.u16(runtime);
        put(time, pid, 55, payload);
    }
    for (time, id) in [(50 * MS, 50), (1_600 * MS, 51), (1_650 * MS, 57)] {
        let mut payload = Bytes::new(pointers);
        payload.u32(3);
        payload.u32(1);
        payload.u16(9);
        put(time, 7, id, payload);
    }
    let mut payload = Bytes::new(pointers);
    [2, 100, 1, 50, 9].into_iter().for_each(|value| payload.u16(value));
    put(10 * MS, 7, 59, payload);
    let mut payload = Bytes::new(pointers);
    payload.u64(7.25_f64.to_bits());
    payload.u16(9);
    put(20 * MS, 7, 54, payload);
    logged
}

#[test]
fn changes_are_told_with_what_came_before() {
    for pointers in [PointerSize::Four, PointerSize::Eight] {
        let processes = [(7, "app.exe"), (9, "other.exe")];
        let bytes = write(pointers, 2, &processes, log(pointers)).expect("events");
        let extracted = Recording::of("pool.etl", &bytes).extract();
        let rows: Vec<ThreadPoolRow> = extracted.archive.rows().expect("events");
        let changes = rows.iter().filter(|row| row.event == events::ADJUSTED);
        let found: Vec<_> = changes.map(|row| (row.time, row.workers, row.change, row.since, row.starved)).collect();
        let expected = CHANGES.iter().enumerate().map(|(place, change)| {
            let before = CHANGES[..place].iter().rfind(|other| (other.1, other.2) == (change.1, change.2));
            let since = before.map(|before| change.0 - before.0);
            let workers = i32::try_from(change.3).expect("a number");
            (
                change.0,
                Some(workers),
                before.map(|before| workers - before.3 as i32),
                since,
                since.filter(|_| before.is_some_and(|before| before.4 == 6)),
            )
        });
        assert_eq!(found, expected.collect::<Vec<_>>());
        let others: Vec<_> = rows
            .iter()
            .filter(|row| row.event != events::ADJUSTED)
            .map(|row| (row.time, row.event, row.workers, row.others, row.throughput))
            .collect();
        let expected = [
            (10 * MS, events::LIMITS, Some(2), Some(100), None),
            (20 * MS, events::SAMPLE, None, None, Some(7.25)),
            (50 * MS, events::STARTED, Some(3), Some(1), None),
            (1_600 * MS, events::STOPPED, Some(3), Some(1), None),
            (1_650 * MS, events::WAITS, Some(3), Some(1), None),
        ];
        assert_eq!(others, expected);
        assert_eq!(extracted.report.health.get("fields_not_as_expected"), 0);
    }
}
