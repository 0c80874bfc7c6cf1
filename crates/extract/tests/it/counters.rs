//! What hardware counters counted for threads: small recordings whose every count is known, and the recordings of the demo.

use std::collections::BTreeMap;
use std::path::Path;

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_etl::write::payload::{Bytes, ContextSwitch, CounterNames, CounterSample, SampleInterval, thread_state};
use tracesift_etl::write::{Head, Hook, PointerSize, SessionOptions, Writer};
use tracesift_extract::counters::best_counts;
use tracesift_extract::{Options, Outcome, extract, unwatched};
use tracesift_scenario::story;
use tracesift_testing::recording::input_of;
use tracesift_trace::HealthKind;
use tracesift_trace::counter_roles::{CACHE_MISSES, CYCLES, INSTRUCTIONS};
use tracesift_trace::rows::{CounterSampleRow, CounterSummaryRow, HealthRow, ThreadRow};

/// PerfInfo 49: somebody else changed the counters of a CPU.
const CORRUPTION: Hook = Hook::new(15, 49, 2);
const TOP: u64 = (1 << 48) - 1;

/// A context switch on a CPU at a time in ticks of 100 ns, from one thread to another, with its counters.
type Switch = (i64, u16, u32, u32, [u64; 2]);

/// Thread 8 runs from 10 to 20 and from 30 to 35 on CPU 0, where the first counter comes to its end; thread 9 from 20 to 30. The
/// counters of CPU 1 are changed before its second switch. The third switch there is not recorded.
const SWITCHES: [Switch; 9] = [
    (10, 0, 0, 8, [TOP - 9, 5]),
    (12, 1, 0, 7, [10, 10]),
    (20, 0, 8, 9, [90, 25]),
    (25, 1, 7, 6, [20, 2]),
    (30, 0, 9, 8, [190, 26]),
    (35, 0, 8, 0, [200, 4]),
    (40, 1, 6, 7, [1_000, 1_000]),
    (50, 1, 7, 6, [1_010, 1_003]),
    (60, 1, 5, 0, [1_100, 1_100]),
];

fn write(path: &Path) {
    let options = SessionOptions { cpus: 2, ..SessionOptions::default() };
    let (zero, start) = (options.zero_ticks, options.start_filetime);
    let mut out = Writer::create(std::io::Cursor::new(Vec::new()), options).expect("a recording is begun");
    let mut record = |cpu: u16, ticks: i64, head: &Head<'_>, encode: &dyn Fn(&mut Bytes)| {
        let mut payload = Bytes::new(PointerSize::Eight);
        encode(&mut payload);
        out.record(cpu, zero + ticks, head, payload.as_slice()).expect("written");
    };
    let kernel = |hook| Head::Perfinfo { hook, counters: &[] };
    let names = ["TotalCycles", "InstructionRetired"];
    record(0, 0, &kernel(CounterNames::HOOK), &|out| CounterNames { names: &names }.encode(out));
    let interval = SampleInterval { source: 11, new_interval: 65_536, old_interval: 65_536, name: "LLCMisses" };
    record(0, 0, &kernel(SampleInterval::START), &|out| interval.encode(out));
    for (ticks, cpu, old_tid, new_tid, counters) in SWITCHES {
        if ticks == 25 {
            // CPU 1, one counter: its source, and the time up to which it was right.
            record(0, 24, &kernel(CORRUPTION), &|out| [1, 1, 2, 22, 0].into_iter().for_each(|word| out.u32(word)));
        }
        let switch = ContextSwitch { new_tid, old_tid, old_state: thread_state::WAITING, ..ContextSwitch::default() };
        record(cpu, ticks, &Head::Perfinfo { hook: ContextSwitch::HOOK, counters: &counters }, &|out| {
            switch.encode(out)
        });
    }
    for ticks in [61, 62, 63] {
        let sample = CounterSample { instruction: 0x1000, tid: 8, source: 11 };
        record(0, ticks, &kernel(CounterSample::HOOK), &|out| sample.encode(out));
    }
    std::fs::write(path, out.finish(start + 1_000).expect("finished").into_inner()).expect("written");
}

fn archive(file: &Path) -> Archive {
    let extraction = extract(&input_of(file), &Options::default(), &mut unwatched).expect("extracted");
    match &extraction.outcomes[..] {
        [Outcome::Extracted(report)] => Archive::open(&report.archive).expect("an archive"),
        other => panic!("{other:?}"),
    }
}

/// Thread, counter, count, run time in ticks, differences.
type Sum = (Option<i64>, String, Option<i64>, i64, i64);

/// The rows of switches.
fn counted(archive: &Archive) -> Vec<Sum> {
    let threads: Vec<ThreadRow> = archive.rows().expect("threads");
    let rows: Vec<CounterSummaryRow> = archive.rows().expect("sums");
    let rows = rows.into_iter().filter(|row| row.source == 0);
    let mut found: Vec<_> = rows
        .map(|row| {
            let tid = row.thread.map(|id| threads[id.index()].tid);
            (tid, row.counter, row.value, row.run.expect("run time") / 100, row.parts)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn counts_between_switches_belong_to_the_thread_that_ran() {
    let directory = TempDir::new().expect("directory");
    let file = directory.path().join("counters.etl");
    write(&file);
    let archive = archive(&file);
    let of = |tid: Option<i64>, cycles: (Option<i64>, i64, i64), instructions: Option<i64>| {
        let (value, run, parts) = cycles;
        [
            (tid, "InstructionRetired".to_owned(), instructions, run, parts),
            (tid, "TotalCycles".to_owned(), value, run, parts),
        ]
    };
    let expected = [
        // The switch from thread 6 at 50 to another thread was lost.
        of(None, (Some(90), 10, 1), Some(97)),
        // On CPU 1 nothing is known up to the switch at 40.
        of(Some(7), (Some(10), 10, 1), Some(3)),
        // The second counter went back from 26 to 4.
        of(Some(8), (Some(110), 15, 2), Some(20)),
        of(Some(9), (Some(100), 10, 1), Some(1)),
    ];
    assert_eq!(counted(&archive), expected.concat());
    let rows: Vec<CounterSummaryRow> = archive.rows().expect("sums");
    assert!(rows.iter().all(|row| row.best == Some(true)));
    let role = |name: &str| rows.iter().find(|row| row.counter == name).and_then(|row| row.role);
    assert_eq!(
        [role("TotalCycles"), role("InstructionRetired"), role("LLCMisses")],
        [Some(CYCLES), Some(INSTRUCTIONS), Some(CACHE_MISSES)]
    );
    let sampled: Vec<_> = rows.iter().filter(|row| row.source == 3).map(|row| (row.value, row.parts)).collect();
    assert_eq!(sampled, [(Some(3 * 65_536), 3)]);
    let samples: Vec<CounterSampleRow> = archive.rows().expect("samples");
    assert!(samples.len() == 3 && samples.iter().all(|row| row.period == Some(65_536)));
    assert!(samples.iter().all(|row| row.role == Some(CACHE_MISSES)));
    let health: Vec<HealthRow> = archive.rows().expect("health");
    let count = |kind: HealthKind| health.iter().find(|row| row.kind == kind.word()).map_or(0, |row| row.count);
    assert_eq!((count(HealthKind::CHANGED_COUNTERS), count(HealthKind::COUNTERS_WENT_BACK)), (1, 1));
}

/// Each thread of the demo counts a known number of events in each millisecond of its run time, and samples tell its run time.
#[test]
fn the_counts_of_the_demo_are_those_of_its_run_time() {
    for figures in story::figures() {
        let directory = TempDir::new().expect("directory");
        let bytes = story::scenario(&figures).bytes().expect("a recording");
        let file = directory.path().join("demo.etl");
        std::fs::write(&file, bytes).expect("written");
        let archive = archive(&file);
        let processes: Vec<tracesift_trace::rows::ProcessRow> = archive.rows().expect("processes");
        let writer = processes.iter().find(|row| row.name == "FileWriter.exe").expect("the test").process;
        let samples: Vec<tracesift_trace::rows::CpuSampleRow> = archive.rows().expect("samples");
        let milliseconds = samples.iter().filter(|row| row.process == writer).count() as i64;
        let rows: Vec<CounterSummaryRow> = archive.rows().expect("sums");
        let sum = |role: i8| -> i64 {
            let rows = rows.iter().filter(|row| row.process == Some(writer) && row.role == Some(role));
            rows.map(|row| row.value.expect("a count")).sum()
        };
        assert_eq!(sum(CYCLES), milliseconds * 2_600_000, "{}", figures.recording);
        assert_eq!(sum(CYCLES) * 100 / sum(INSTRUCTIONS), figures.cpi as i64, "{}", figures.recording);
        assert!(rows.iter().all(|row| row.unknown == 0 && row.thread.is_some()), "{}", figures.recording);
    }
}

#[test]
fn best_counts_add_up_to_the_summary() {
    let directory = TempDir::new().expect("directory");
    let file = directory.path().join("counters.etl");
    write(&file);
    let archive = archive(&file);
    let mut found = BTreeMap::new();
    let names = best_counts(&archive, |count| {
        *found.entry((count.process, count.thread, count.counter)).or_insert(0) += count.value;
    })
    .expect("counts");
    let rows: Vec<CounterSummaryRow> = archive.rows().expect("sums");
    let place = |name: &str| names.iter().position(|known| known == name).expect("a counter");
    let best = rows.iter().filter(|row| row.best == Some(true));
    let expected: BTreeMap<_, _> =
        best.filter_map(|row| Some(((row.process, row.thread, place(&row.counter)), row.value?))).collect();
    assert_eq!(found, expected);
    assert!(found.len() > 6, "{found:?}");
}
