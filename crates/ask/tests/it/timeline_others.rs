//! Lanes of `dump timeline` about files, system calls, network, memory, page faults, collections and compilations: against the questions
//! about them, and against plain sums of the rows.

use std::path::{Path, PathBuf};

use tracesift_ask::answer::Value;
use tracesift_extract::Options;
use tracesift_scenario::SplitMix64;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::extract_file;
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    ConnectionRow, FileIoRow, GcCollectionRow, HardFaultRow, JitMethodRow, MemoryStateRow, NetworkIoRow, PageFaultRow,
    SyscallNameRow, SyscallRow,
};
use tracesift_trace::{ConnectionId, ProcessId, RowSink as _, ThreadId};

use crate::commands::{Lanes, Row, by_bucket, integer, lanes, rows, time, values};

const END: i64 = 100_000;

/// Rows of one recording.
#[derive(Default)]
struct Made {
    files: Vec<FileIoRow>,
    calls: Vec<SyscallRow>,
    network: Vec<NetworkIoRow>,
    faults: Vec<PageFaultRow>,
    hard: Vec<HardFaultRow>,
    collections: Vec<GcCollectionRow>,
    compilations: Vec<JitMethodRow>,
    memory: Vec<MemoryStateRow>,
}

impl Made {
    fn random(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut made = Self::default();
        for _ in 0..120 {
            let time = random.between(0, END);
            let start = if random.between(0, 6) == 0 { time } else { random.between(0, time) };
            let of = i32::try_from(random.between(0, 2)).expect("small");
            let (process, thread) = (ProcessId(of + 1), ThreadId(of));
            let small = random.between(0, 9);
            let kind = i8::try_from(small).expect("small");
            made.files.push(FileIoRow {
                time,
                start,
                process,
                thread,
                operation: i8::try_from(random.between(0, 17)).expect("small"),
                transferred: (small > 2).then_some(small * 100),
                error: (small == 2).then_some(5),
                open: Some(small == 1),
                ..FileIoRow::default()
            });
            made.calls.push(SyscallRow {
                time,
                start,
                process,
                thread,
                number: of + 2,
                result: Some(0),
                ..SyscallRow::default()
            });
            made.network.push(NetworkIoRow {
                time,
                process: Some(process),
                connection: ConnectionId(of),
                kind: 1 + kind % 2,
                size: small,
                ..NetworkIoRow::default()
            });
            made.faults.push(PageFaultRow {
                time,
                process,
                thread,
                kind: 3 + kind % 6,
                weight: 1 + small,
                ..PageFaultRow::default()
            });
            made.hard.push(HardFaultRow {
                time,
                start,
                process: Some(process),
                thread: Some(thread),
                size: 4096,
                ..HardFaultRow::default()
            });
        }
        made.of_runtimes(&mut random);
        for at in 1..20 {
            made.memory.push(MemoryStateRow {
                time: at * 5_000 + random.between(-900, 900),
                zero: Some(random.between(0, 99)),
                free: Some(random.between(1, 99)),
                commit: Some(random.between(1, 99)),
                modified: (at % 3 > 0).then(|| random.between(1, 99)),
                standby: Some(vec![random.between(1, 99), random.between(0, 99)]),
                ..MemoryStateRow::default()
            });
        }
        made
    }

    /// Collections with several pauses, and compilations that are nested in others of their thread.
    fn of_runtimes(&mut self, random: &mut SplitMix64) {
        let mut at = 10;
        while at < END - 8_000 {
            let process = ProcessId(1 + i32::from(random.between(0, 2) > 0));
            let (a, b, c) = (random.between(1, 900), random.between(1, 900), random.between(1, 900));
            let pauses = match random.between(0, 3) {
                0 => vec![],
                1 => vec![at, at + a],
                _ => vec![at, at + a, at + a + b, at + a + b + c],
            };
            let pause = pauses.chunks(2).map(|pair| pair[1] - pair[0]).sum();
            let pause = (!pauses.is_empty()).then_some(pause);
            self.collections.push(GcCollectionRow {
                time: at + a + b + c + 9,
                start: at + 1,
                process,
                pauses: pause.map(|_| pauses),
                pause,
                ..GcCollectionRow::default()
            });
            let compilation = |start: i64, time: i64, exclusive: Option<i64>| JitMethodRow {
                start,
                time,
                process: Some(process),
                thread: Some(ThreadId(process.0 - 1)),
                exclusive,
                open: Some(exclusive.is_none()),
                ..JitMethodRow::default()
            };
            if random.between(0, 2) == 0 {
                self.compilations.push(compilation(at, at + a, Some(a)));
            } else {
                self.compilations.push(compilation(at + 10, at + 10 + a, Some(a)));
                self.compilations.push(compilation(at, at + a + 20 + b, Some(20 + b)));
            }
            if random.between(0, 4) == 0 {
                self.compilations.push(compilation(at + 2_500, at + 2_600, None));
            }
            at += 3_000 + random.between(0, 3_000);
        }
    }

    fn write(&self, directory: &Path) -> PathBuf {
        let mut writer = create(&directory.join("others.sift"));
        writer.write_table(&[process(1, 100, "a"), process(2, 200, "b")]);
        writer.write_table(&[thread(0, 1, 1000), thread(1, 2, 2000)]);
        let name = |(number, name): (i32, &str)| SyscallNameRow { number, name: name.to_owned() };
        writer.write_table(&[(2, "read"), (3, "write")].map(name));
        let connection = |id: i32| ConnectionRow {
            connection: ConnectionId(id),
            process: Some(ProcessId(id + 1)),
            protocol: if id == 0 { 6 } else { 17 },
            start: Some(0),
            ..ConnectionRow::default()
        };
        writer.write_table(&[connection(0), connection(1)]);
        macro_rules! write {
            ($($rows:ident $method:ident),+) => { $(
                let mut rows = self.$rows.clone();
                rows.sort_by_key(|row| row.time);
                rows.iter().for_each(|row| writer.$method(row));
            )+ };
        }
        write!(files file_io, calls syscall, network network_io, faults page_fault, hard hard_fault, memory memory_state);
        write!(collections gc_collection, compilations jit_method);
        finish_as(writer, TraceInfo { end_ns: END, ..TraceInfo::default() })
    }
}

/// The rows of `dump timeline`.
fn timeline(archive: &Path, lane: &str, measure: &str, more: &[&str]) -> Vec<Row> {
    rows(archive, &[&["dump", "timeline", "--lane", lane, "--measure", measure][..], more].concat())
}

/// The figures without their names, which differ by the column that has them.
fn plain(lanes: &Lanes) -> Vec<(String, Vec<i64>)> {
    lanes.iter().map(|(names, values)| (names.join(" "), values.clone())).collect()
}

/// Lane and measure, question, figure, and the columns that name the rows of both.
type Same = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// Lane and measure, the question with the same figures of each bucket, the columns that name its rows and those of the timeline.
const SAME: [Same; 7] = [
    ("file", "operations", &["dump", "file", "--by", "operation"], "operations", &["operation"], &["kind"]),
    ("file", "bytes", &["dump", "file", "--by", "operation"], "total_bytes", &["operation"], &["kind"]),
    ("syscall", "time", &["dump", "syscalls", "--by", "call"], "duration_sum_ns", &["call"], &["kind"]),
    ("fault", "count", &["dump", "faults", "--by", "kind"], "faults", &["kind"], &["kind"]),
    ("gc", "count", &["dump", "gc", "--by", "process"], "collections", &["process", "pid"], &["process", "pid"]),
    ("gc", "time", &["dump", "gc", "--by", "process"], "pause_sum_ns", &["process", "pid"], &["process", "pid"]),
    ("jit", "count", &["dump", "jit", "--by", "process"], "methods", &["process", "pid"], &["process", "pid"]),
];

#[test]
fn figures_are_those_of_the_questions_about_the_time_of_each_bucket() {
    let mut compared = 0;
    for seed in 1..4 {
        let directory = tempfile::tempdir().expect("a directory");
        let archive = Made::random(seed).write(directory.path());
        let mut random = SplitMix64::new(seed);
        // Long enough for rows of each kind.
        let start = random.between(0, END / 3);
        let end = start + random.between(END / 2, END / 3 * 2);
        for process in [&[][..], &["-p", "b"]] {
            for (lane, measure, question, figure, keys, own) in SAME {
                let time = time(start, end);
                let more = [&["--buckets", "7", &time][..], process].concat();
                let found = timeline(&archive, lane, measure, &more);
                let Some(row) = found.first() else { panic!("seed {seed}: nothing of {lane}") };
                let grid = ((start, end), integer(row, "from_ns"), integer(row, "bucket_ns"));
                let expected =
                    by_bucket(&archive, &[question, process].concat(), (keys, figure), grid, values(row).len());
                assert_eq!(
                    plain(&lanes(&found, own)),
                    plain(&expected),
                    "seed {seed}, {lane} {measure} {start}..{end}"
                );
                compared += expected.len();
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// The sum of a column over all rows.
fn sum(rows: &[Row], key: &str) -> i64 {
    rows.iter().map(|row| integer(row, key)).sum()
}

#[test]
fn figures_of_the_whole_recording_are_those_of_the_questions() {
    for seed in 1..6 {
        let directory = tempfile::tempdir().expect("a directory");
        let archive = Made::random(seed).write(directory.path());
        let whole = |lane: &str, measure: &str, key: &str| sum(&timeline(&archive, lane, measure, &[]), key);
        let of = |words: &[&str], key: &str| sum(&rows(&archive, words), key);
        assert_eq!(whole("file", "time", "total_ns"), of(&["dump", "file"], "total_ns"));
        assert_eq!(whole("syscall", "count", "total"), of(&["dump", "syscalls"], "calls"));
        assert_eq!(whole("fault", "time", "total_ns"), of(&["dump", "faults"], "hard_time_sum_ns"));
        assert_eq!(whole("jit", "time", "total_ns"), of(&["dump", "jit"], "sum_ns"));
        assert_eq!(whole("network", "operations", "total"), 120);
    }
}

#[test]
fn bytes_of_the_network_are_those_of_tcp_and_udp() {
    for name in ["etl/KernelNetwork.etl", "etl/net.4.5.2.x64.etl.zip"] {
        let Some(recording) = tracesift_fixtures::cases(name) else { return };
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join(recording.file_name().expect("a name"));
        std::fs::copy(&recording, &file).expect("copied");
        let archive = extract_file(&file, &Options::default()).archive;
        let network = timeline(&archive, "network", "bytes", &[]);
        for (kind, key) in [("sent", "sent_bytes"), ("received", "received_bytes")] {
            let row: Vec<Row> = network.iter().filter(|row| row["kind"] == Value::Text(kind.into())).cloned().collect();
            // With a time range the questions add up events, and not what the ends of connections tell.
            let of = |question| sum(&rows(&archive, &["dump", question, "--time=0..100000s"]), key);
            assert_eq!(sum(&row, "total_bytes"), of("tcp") + of("udp"), "{name} {kind}");
            assert!(!row.is_empty(), "{name} {kind}");
        }
    }
}

#[test]
fn figures_are_plain_sums_of_rows() {
    let directory = tempfile::tempdir().expect("a directory");
    let made = Made::random(77);
    let archive = made.write(directory.path());
    let bucket = 7_001;
    let more = ["--bucket", "7001ns", "--time=3us..91us"];
    let inside = |at: i64| (3_000..91_000).contains(&at);
    let place = |at: i64| usize::try_from(at / bucket).expect("small");
    let sums = |lane: &str, measure: &str| {
        let mut all = vec![0; place(91_000 - 1) + 1];
        for row in timeline(&archive, lane, measure, &more) {
            all.iter_mut().zip(values(&row)).for_each(|(sum, value)| *sum += value);
        }
        all
    };
    let counted = |ends: &mut dyn Iterator<Item = (i64, i64)>| {
        let mut all = vec![0; place(91_000 - 1) + 1];
        ends.filter(|(at, _)| inside(*at)).for_each(|(at, amount)| all[place(at)] += amount);
        all
    };
    let covered = |spans: &[(i64, i64)]| {
        let mut all = vec![0; place(91_000 - 1) + 1];
        for (start, end) in spans {
            (*start..*end).filter(|at| inside(*at)).for_each(|at| all[place(at)] += 1);
        }
        all
    };
    let end = |row: &FileIoRow| if row.open == Some(true) { row.start } else { row.time };
    assert_eq!(sums("file", "operations"), counted(&mut made.files.iter().map(|row| (end(row), 1))));
    let moved = |row: &&FileIoRow| matches!(row.operation, 2 | 3) && row.transferred.is_some();
    let bytes = made.files.iter().filter(moved).map(|row| (end(row), row.transferred.unwrap_or(0)));
    assert_eq!(sums("file", "bytes"), counted(&mut bytes.into_iter()));
    let works = |row: &&FileIoRow| row.open != Some(true) && row.operation != 15;
    let spans: Vec<_> = made.files.iter().filter(works).map(|row| (row.start, row.time)).collect();
    assert_eq!(sums("file", "time"), covered(&spans));
    assert_eq!(sums("syscall", "count"), counted(&mut made.calls.iter().map(|row| (row.time, 1))));
    let spans: Vec<_> = made.calls.iter().map(|row| (row.start, row.time)).collect();
    assert_eq!(sums("syscall", "time"), covered(&spans));
    assert_eq!(sums("network", "bytes"), counted(&mut made.network.iter().map(|row| (row.time, row.size))));
    // A hard fault is a row of both tables.
    let soft = made.faults.iter().filter(|row| row.kind != 7).map(|row| (row.time, row.weight));
    assert_eq!(sums("fault", "count"), counted(&mut soft.chain(made.hard.iter().map(|row| (row.time, 1)))));
    let spans: Vec<_> = made.hard.iter().map(|row| (row.start, row.time)).collect();
    assert_eq!(sums("fault", "time"), covered(&spans));
    let pauses = made.collections.iter().flat_map(|row| row.pauses.iter().flatten().copied().collect::<Vec<_>>());
    let pauses: Vec<i64> = pauses.collect();
    assert_eq!(sums("gc", "time"), covered(&pauses.chunks(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()));
    let outer = |row: &&JitMethodRow| {
        let holds =
            |other: &JitMethodRow| other.start < row.start && row.time < other.time && other.process == row.process;
        row.open != Some(true) && !made.compilations.iter().any(|other| other.open != Some(true) && holds(other))
    };
    let spans: Vec<_> = made.compilations.iter().filter(outer).map(|row| (row.start, row.time)).collect();
    assert_eq!(sums("jit", "time"), covered(&spans));
}

#[test]
fn memory_is_the_last_reading_that_the_question_has() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = Made::random(5).write(directory.path());
    let found = timeline(&archive, "memory", "bytes", &["--buckets", "40"]);
    assert_eq!(found.len(), 4, "{found:?}");
    let mut unknown = 0;
    for row in &found {
        let name = format!("{:?}", row["kind"]).trim_start_matches("Text(\"").trim_end_matches("\")").to_owned();
        for (place, value) in values(row).iter().enumerate() {
            let end = (integer(row, "from_ns") + integer(row, "bucket_ns") * (place as i64 + 1)).min(END + 1);
            let words = ["dump", "memory", "--total-memory", &time(0, end)];
            let expected = rows(&archive, &words);
            let expected = expected.first().map_or(0, |row| integer(row, &name));
            // A figure that the last reading does not have keeps the one before.
            if name != "modified" || expected != 0 {
                assert_eq!(*value, expected, "{name} {place}");
            }
            unknown += usize::from(*value == 0);
        }
        assert_eq!(Some(&integer(row, "total_bytes")), values(row).last());
    }
    assert!(unknown > 0);
}
