//! `dump disk` and `dump faults` of real recordings, against figures that a separate program counted from the events.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args as _, FromArgMatches as _};
use tracesift_archive::Archive;
use tracesift_ask::answer::{Section, Value};
use tracesift_ask::options::{Plan, QuestionOptions as _};
use tracesift_ask::order::Between;
use tracesift_ask::question::{disk, faults};
use tracesift_ask::recording::Source;
use tracesift_ask::runs::Selection;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{Ask, When, ask};
use tracesift_extract::Options;
use tracesift_fixtures::cases;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::try_extract;
use tracesift_testing::rows::{self, process};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{DiskIoRow, DiskOperation, FileRow, HardFaultRow, PageFaultRow, page_fault_kinds};
use tracesift_trace::{FileId, ProcessId, RowSink as _, ThreadId};

/// Rows by key of the column.
struct Answered {
    rows: Vec<BTreeMap<&'static str, Value>>,
    section: Section,
}

fn answered(archive: &Path, question: &impl Ask, when: &When) -> Answered {
    let outcome = ask(&[Source::archive(archive.to_owned())], question, when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let keys: Vec<&'static str> = outcome.answer.columns.iter().map(|column| column.key).collect();
    let rows = outcome.answer.rows().map(|row| keys.iter().copied().zip(row.iter().cloned()).collect()).collect();
    Answered { rows, section: outcome.answer.sections[0].clone() }
}

impl Answered {
    fn total(&self, label: &str) -> i64 {
        match self.section.facts.iter().find(|fact| fact.label == label).map(|fact| &fact.value) {
            Some(Value::Int(total)) => *total,
            other => panic!("{label}: {other:?} in {:?}", self.section.facts),
        }
    }

    /// The row in which a column has a text.
    fn row(&self, key: &str, text: &str) -> &BTreeMap<&'static str, Value> {
        let is_it = |row: &&BTreeMap<&'static str, Value>| row.get(key) == Some(&Value::Text(text.to_owned()));
        self.rows.iter().find(is_it).unwrap_or_else(|| panic!("{key} is nowhere {text}: {:?}", self.rows))
    }
}

fn number(row: &BTreeMap<&'static str, Value>, key: &str) -> i64 {
    match &row[key] {
        Value::Int(number) => *number,
        other => panic!("{key} is {other:?}"),
    }
}

fn fraction(row: &BTreeMap<&'static str, Value>, key: &str) -> f64 {
    match &row[key] {
        Value::Float(number) => *number,
        other => panic!("{key} is {other:?}"),
    }
}

/// Microseconds, as the figures were counted.
fn us(row: &BTreeMap<&'static str, Value>, key: &str) -> i64 {
    rounded(number(row, key))
}

fn rounded(ns: i64) -> i64 {
    (ns + 500) / 1_000
}

fn recording(name: &str) -> Option<(tempfile::TempDir, PathBuf)> {
    let file = cases("etl")?.join(name);
    let directory = tempfile::tempdir().expect("a directory");
    let options = Options { out: Some(directory.path().to_owned()), ..Options::default() };
    let archive = try_extract(&file, &options).expect("extracted").remove(0).archive;
    Some((directory, archive))
}

fn disk_by(names: &[&str]) -> disk::Question {
    disk::Question::default().by(names).expect("dimensions of the question")
}

#[test]
fn disk_operations_of_x64() {
    let Some((_directory, archive)) = recording("net.4.5.2.x64.etl.zip") else { return };
    let when = When::default();
    let disks = answered(&archive, &disk_by(&["disk"]), &when);
    let [row] = &disks.rows[..] else { panic!("one disk: {:?}", disks.rows) };
    let figures = ["reads", "read_bytes", "writes", "write_bytes", "flushes", "files", "queue_depth_max"];
    assert_eq!(figures.map(|key| number(row, key)), [1_208, 19_564_544, 21, 286_720, 2, 38, 4]);
    assert_eq!(["read_response_ns", "read_service_ns"].map(|key| us(row, key)), [2_013_232, 1_472_923]);
    assert_eq!(["write_response_ns", "write_service_ns"].map(|key| us(row, key)), [171_492, 135_332]);
    assert_eq!(
        ["flush_service_ns", "response_max_ns", "busy_ns"].map(|key| us(row, key)),
        [188_460, 404_587, 1_982_860]
    );
    assert_eq!(
        number(row, "total_service_ns"),
        number(row, "read_service_ns") + number(row, "write_service_ns") + number(row, "flush_service_ns")
    );
    let totals = ["reads", "read", "writes", "written", "flushes"].map(|label| disks.total(label));
    assert_eq!(totals, [1_208, 19_564_544, 21, 286_720, 2]);
    assert_eq!(
        (rounded(disks.total("busy")), rounded(disks.total("service"))),
        (1_982_860, us(row, "total_service_ns"))
    );
    // The same from the figures.
    let throughput = number(row, "read_bytes") as f64 * 1e3 / number(row, "read_service_ns") as f64;
    assert!((fraction(row, "read_throughput") - throughput).abs() < 1e-9);
    let share = fraction(row, "utilisation");
    assert!(share > 0.0 && share < 100.0, "{share}");
    let depth = fraction(row, "queue_depth_avg");
    assert!(
        (depth * number(row, "busy_ns") as f64 / share * 100.0 / number(row, "under_way_ns") as f64 - 1.0).abs() < 1e-6
    );
    // However they are grouped, the totals are the same.
    for by in [
        &["drive"][..],
        &["dir"],
        &["file"],
        &["process"],
        &["thread"],
        &["operation"],
        &["priority"],
        &["method"],
        &["stack"],
        &["tag"],
        &["process", "file"],
    ] {
        let grouped = answered(&archive, &disk_by(by), &when);
        for label in ["reads", "read", "writes", "written", "flushes", "service", "busy"] {
            assert_eq!(grouped.total(label), disks.total(label), "{by:?} {label}");
        }
        assert!(!grouped.rows.is_empty());
    }
    let processes = answered(&archive, &disk_by(&["process"]), &when);
    let reads = |name: &str| number(processes.row("process", name), "reads");
    assert_eq!((reads("MsMpEng.exe"), reads("Test.x64.exe")), (1_060, 100));
    let files = answered(&archive, &disk_by(&["file"]), &when);
    let named = files.rows.iter().filter(|row| row["path"] != Value::Text("(no file)".to_owned()));
    assert_eq!(named.count(), 38);
    let drives = answered(&archive, &disk_by(&["drive"]), &when);
    assert_eq!(number(drives.row("drive", "C:"), "reads"), 1_208, "{:?}", drives.rows);
    let operations = answered(&archive, &disk_by(&["operation"]), &when);
    let longest = ["read", "flush"].map(|kind| us(operations.row("operation", kind), "response_max_ns"));
    assert_eq!(longest, [404_587, 109_777]);
    // Windows does not tell which operations failed.
    assert_eq!(row["failed"], Value::None);
}

#[test]
fn disk_operations_of_x86() {
    let Some((_directory, archive)) = recording("net.4.5.2.x86.etl.zip") else { return };
    let disks = answered(&archive, &disk_by(&["disk"]), &When::default());
    let [row] = &disks.rows[..] else { panic!("one disk: {:?}", disks.rows) };
    let figures = ["reads", "read_bytes", "writes", "write_bytes", "flushes", "files", "queue_depth_max"];
    assert_eq!(figures.map(|key| number(row, key)), [2_339, 37_686_784, 50, 651_264, 4, 130, 13]);
    assert_eq!(["read_response_ns", "read_service_ns"].map(|key| us(row, key)), [5_301_768, 3_899_762]);
    assert_eq!(["write_response_ns", "write_service_ns"].map(|key| us(row, key)), [513_346, 324_153]);
    assert_eq!(
        ["flush_response_ns", "flush_service_ns", "busy_ns"].map(|key| us(row, key)),
        [171_797, 93_599, 4_484_489]
    );
}

fn hard_faults(archive: &Path, by: &[&str]) -> Answered {
    let question = faults::Question::default().by(by).and_then(|question| question.matching("--kind", "hard"));
    answered(archive, &question.expect("a question"), &When::default())
}

#[test]
fn hard_faults_of_real_recordings() {
    for (name, count, bytes, time, processes, files) in [
        ("net.4.5.2.x64.etl.zip", 153, 2_722_816, 964_385, 14, 27),
        ("net.4.5.2.x86.etl.zip", 394, 6_873_088, 3_085_393, 16, 105),
    ] {
        let Some((_directory, archive)) = recording(name) else { return };
        let all = hard_faults(&archive, &["kind"]);
        let [row] = &all.rows[..] else { panic!("one kind: {:?}", all.rows) };
        let figures = ["hard_faults", "faults", "hard_bytes", "processes", "files"].map(|key| number(row, key));
        assert_eq!(figures, [count, count, bytes, processes, files], "{name}");
        assert_eq!(us(row, "hard_time_sum_ns"), time, "{name}");
        assert!(number(row, "hard_time_ns") <= number(row, "hard_time_sum_ns"));
        assert_eq!((all.total("hard faults"), rounded(all.total("hard-fault time"))), (count, time));
        for by in ["thread", "file", "dir", "method", "tag", "stack"] {
            assert_eq!(hard_faults(&archive, &[by]).total("hard faults"), count, "{by}");
        }
        let of_processes = hard_faults(&archive, &["process"]);
        assert_eq!(of_processes.rows.len() as i64, processes, "{name}");
        if name.contains("x64") {
            assert_eq!(number(of_processes.row("process", "Test.x64.exe"), "hard_faults"), 101);
        } else {
            assert_eq!(number(of_processes.row("process", "PerfView.exe"), "hard_faults"), 146);
        }
        // Other faults were not recorded, and Linux has other kinds.
        for key in ["demand_zero", "transition", "copy_on_write", "other", "minor", "major"] {
            assert_eq!(row[key], Value::None, "{name}: {key}");
        }
    }
}

const MS: i64 = 1_000_000;

/// Two disks, one of which is not described.
fn archive(directory: &Path) -> PathBuf {
    let mut writer = create(&directory.join("disks.sift"));
    writer.write_table(&[process(1, 100, "a"), process(2, 200, "b")]);
    writer.write_table(&[rows::thread(0, 1, 1000), rows::thread(1, 2, 2000)]);
    let paths = [r"C:\data\one\file", r"C:\data\two\file", r"D:\pagefile.sys"];
    let file = |(id, path): (i32, &str)| FileRow { file: FileId(id), path: path.to_owned() };
    writer.write_table(&(0..).zip(paths).map(file).collect::<Vec<_>>());
    let operation = |start: i64, time: i64, thread: i32, disk: i32, file: Option<i32>, size: i64| DiskIoRow {
        time: time * MS,
        start: start * MS,
        process: Some(ProcessId(thread + 1)),
        thread: Some(ThreadId(thread)),
        disk,
        operation: if size == 0 { DiskOperation::Flush } else { DiskOperation::Read },
        size,
        file: file.map(FileId),
        service: Some((time - start) * MS),
        irp_flags: if file == Some(2) { 0x43 } else { 0x1 },
        queue_start: Some(0),
        ..DiskIoRow::default()
    };
    for row in [
        operation(0, 20, 0, 0, Some(0), 4096),
        operation(10, 40, 1, 0, Some(1), 8192),
        operation(10, 50, 1, 1, Some(2), 4096),
        operation(45, 60, 0, 1, None, 0),
        operation(90, 100, 0, 0, Some(0), 1 << 20),
    ] {
        writer.disk_io(&row);
    }
    let hard = |start: i64, time: i64| HardFaultRow {
        time: time * MS,
        start: start * MS,
        process: Some(ProcessId(1)),
        thread: Some(ThreadId(0)),
        size: 4096,
        file: Some(FileId(0)),
        ..HardFaultRow::default()
    };
    for row in [hard(0, 20), hard(10, 30)] {
        writer.hard_fault(&row);
    }
    let soft = |time: i64, kind: i8| PageFaultRow {
        time: time * MS,
        process: ProcessId(1),
        thread: ThreadId(0),
        kind,
        weight: 1,
        ..PageFaultRow::default()
    };
    for row in
        [soft(5, page_fault_kinds::DEMAND_ZERO), soft(20, page_fault_kinds::HARD), soft(30, page_fault_kinds::HARD)]
    {
        writer.page_fault(&row);
    }
    let info = TraceInfo { name: "disks".to_owned(), end_ns: 100 * MS, ..TraceInfo::default() };
    finish_as(writer, info)
}

/// The time range is from 15 to 45 ms.
#[test]
fn an_operation_counts_where_it_completes_and_keeps_the_disk_busy_where_it_is_under_way() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = archive(directory.path());
    let when = When { time: "15ms..45ms".parse::<TimeSpec>().expect("a range"), ..When::default() };
    let disks = answered(&archive, &disk_by(&["disk"]), &when);
    let figures = |disk: &str| {
        let row = disks.row("disk", disk);
        let figures = ["reads", "read_bytes", "response_ns", "busy_ns", "under_way_ns"].map(|key| number(row, key));
        (figures, (fraction(row, "utilisation") * 100.0).round(), (fraction(row, "queue_depth_avg") * 1e3).round())
    };
    assert_eq!(figures("0"), ([2, 12_288, 50 * MS, 25 * MS, 30 * MS], 8_333.0, 1_000.0));
    assert_eq!(figures("1"), ([0, 0, 0, 30 * MS, 30 * MS], 10_000.0, 1_000.0));
    assert_eq!((disks.total("reads"), disks.total("busy")), (2, 30 * MS));
    // Over two disks the share is the mean.
    let all = answered(&archive, &disk_by(&["process"]), &When::default());
    let row = all.row("process", "b");
    assert_eq!((number(row, "disks"), number(row, "busy_ns")), (2, 40 * MS));
    assert_eq!(fraction(row, "utilisation"), 35.0, "30 and 40 of 100 ms");
}

/// Who did not write has no time of writes. A service time that is not known stays unknown.
#[test]
fn no_operations_of_a_kind_took_no_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let known = archive(directory.path());
    let keys = ["reads", "read_service_ns", "writes", "write_service_ns", "write_response_ns", "flush_service_ns"];
    let of = |archive: &Path| {
        let found = answered(archive, &disk_by(&["process"]), &When::default());
        keys.map(|key| found.row("process", "a")[key].clone())
    };
    let numbers = [2, 30 * MS, 0, 0, 0, 15 * MS];
    assert_eq!(of(&known), numbers.map(Value::Int));
    let mut writer = create(&directory.path().join("unknown.sift"));
    writer.write_table(&[process(1, 100, "a")]);
    writer.disk_io(&DiskIoRow {
        time: 5 * MS,
        process: Some(ProcessId(1)),
        operation: DiskOperation::Write,
        size: 512,
        ..DiskIoRow::default()
    });
    let unknown = finish_as(writer, TraceInfo { end_ns: 10 * MS, ..TraceInfo::default() });
    let mut expected = [0, 0, 1, 0, 5 * MS, 0].map(Value::Int);
    expected[3] = Value::None;
    assert_eq!(of(&unknown), expected);
}

#[test]
fn groups_are_chosen_by_directory_flag_and_size() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = archive(directory.path());
    let texts = |question: &disk::Question, key: &str| -> Vec<String> {
        let found = answered(&archive, question, &When::default());
        let text = |row: &BTreeMap<&'static str, Value>| match &row[key] {
            Value::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        };
        found.rows.iter().map(text).collect()
    };
    let mut levels = disk_by(&["dir"]);
    levels.dir_level = Some(1);
    assert_eq!(texts(&levels, "dir"), ["(no file)", "D:", r"C:\data"]);
    assert_eq!(texts(&disk_by(&["dir"]), "dir"), ["(no file)", "D:", r"C:\data\two", r"C:\data\one"]);
    assert_eq!(texts(&disk_by(&["drive"]), "drive"), ["disk 1", "D:", "C:"]);
    let paging = disk_by(&["drive"]).on_condition("--paging").expect("a flag");
    assert_eq!(texts(&paging, "drive"), ["D:"]);
    let large = Between { min: Some(5_000), max: Some(10_000) };
    let large = disk_by(&["dir"]).groups_between("--min-read-size", large).expect("a limit");
    assert_eq!(texts(&large, "dir"), [r"C:\data\two"]);
    let long = disk_by(&["process"]).between("--min-duration", Between { min: Some(25 * MS), max: None });
    assert_eq!(texts(&long.expect("a limit"), "process"), ["b"]);
    let file = disk_by(&["process"]).matching("--path", r"*\two\*").expect("a filter");
    assert_eq!(texts(&file, "process"), ["b"]);
}

/// Linux tells kinds of page faults where each was recorded by itself, and hard faults never.
#[test]
fn kinds_of_page_faults_that_were_not_told_are_unknown() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("faults.sift"));
    writer.write_table(&[process(1, 100, "told"), process(2, 200, "untold")]);
    writer.write_table(&[rows::thread(0, 1, 1000), rows::thread(1, 2, 2000)]);
    for (time, of, kind, weight) in
        [(1, 1, page_fault_kinds::MINOR, 5), (2, 1, page_fault_kinds::MINOR, 2), (3, 2, page_fault_kinds::UNKNOWN, 4)]
    {
        let (process, thread) = (ProcessId(of), ThreadId(of - 1));
        writer.page_fault(&PageFaultRow { time, process, thread, kind, weight, ..PageFaultRow::default() });
    }
    let info = TraceInfo { kind: "perf".to_owned(), end_ns: 10, ..TraceInfo::default() };
    let archive = finish_as(writer, info);
    let all = answered(&archive, &faults::Question::default(), &When::default());
    let figures = |name: &str| {
        let row = all.row("process", name);
        ["faults", "minor", "major", "other"].map(|key| row[key].clone())
    };
    assert_eq!(figures("told"), [7, 7, 0, 0].map(Value::Int));
    assert_eq!(figures("untold"), [Value::Int(4), Value::None, Value::None, Value::Int(4)]);
    for row in &all.rows {
        for key in ["hard_faults", "hard_bytes", "hard_time_sum_ns", "hard_time_ns", "longest_ns", "demand_zero"] {
            assert_eq!(row[key], Value::None, "{key}");
        }
    }
    let totals: Vec<&str> = all.section.facts.iter().map(|fact| fact.label).collect();
    assert_eq!(totals, ["page faults"]);
}

/// Windows tells of a hard fault twice where both kinds of events are recorded.
#[test]
fn a_hard_fault_counts_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = archive(directory.path());
    let all = answered(&archive, &faults::Question::default(), &When::default());
    let row = all.row("process", "a");
    let figures = ["faults", "hard_faults", "demand_zero", "other"].map(|key| number(row, key));
    assert_eq!(figures, [3, 2, 1, 0]);
    let times = ["hard_time_sum_ns", "hard_time_ns", "longest_ns"].map(|key| number(row, key));
    assert_eq!(times, [40 * MS, 30 * MS, 20 * MS]);
}

/// The first disk serves operations for 60 of 100 ms, and some of them at the same time.
#[test]
fn service_times_are_a_share_and_busy_is_a_union() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = archive(directory.path());
    let disks = answered(&archive, &disk_by(&["disk"]), &When::default());
    let shares = |disk: &str| {
        let row = disks.row("disk", disk);
        ["active_percent", "utilisation"].map(|key| (fraction(row, key) * 1e6).round() / 1e6)
    };
    assert_eq!(shares("0"), [60.0, 50.0]);
    assert_eq!(shares("1"), [55.0, 50.0]);
    let names = |key: &str| disks.row("disk", "0")[key].clone();
    assert_eq!(
        names("process_names"),
        Value::Map(vec![("a(100)".to_owned(), 2.into()), ("b(200)".to_owned(), 1.into())])
    );
}

/// Busy time is the number of microseconds in which any operation of a real recording is under way.
#[test]
fn busy_is_the_time_that_operations_cover() {
    let Some((_directory, archive)) = recording("net.4.5.2.x86.etl.zip") else { return };
    let rows: Vec<DiskIoRow> = Archive::open(&archive).expect("an archive").rows().expect("rows");
    let end = rows.iter().map(|row| row.time).max().expect("operations");
    // One after the other over all nanoseconds, as so many begin and end there.
    let mut changes: BTreeMap<i64, i64> = BTreeMap::new();
    for row in &rows {
        *changes.entry(row.start).or_default() += 1;
        *changes.entry(row.time).or_default() -= 1;
    }
    let (mut open, mut since, mut busy) = (0, 0, 0);
    for (time, change) in changes {
        busy += if open > 0 { time - since } else { 0 };
        (open, since) = (open + change, time);
    }
    assert_eq!((open, since), (0, end));
    let disks = answered(&archive, &disk_by(&["operation"]), &When::default());
    assert_eq!(disks.total("busy"), busy);
}

/// The rows of a merged answer about archives, from the options of a command line.
fn merged(archives: &[&Path], words: &[&str]) -> Vec<BTreeMap<&'static str, Value>> {
    let command = disk::Options::augment_args(clap::Command::new("disk").no_binary_name(true));
    let matches = command.try_get_matches_from([&["--merge"], words].concat()).expect("options");
    let options = disk::Options::from_arg_matches(&matches).expect("options");
    let plan = options.plan(&mut |warning| panic!("{warning}")).expect("a plan");
    let Plan::Archives(asking) = plan else { panic!("archives answer") };
    let sources: Vec<Source> = archives.iter().map(|archive| Source::archive(archive.to_path_buf())).collect();
    let mut answer = ask(&sources, asking.question.as_ref(), &When::default()).answer;
    (asking.then)(&mut answer, &Selection::default());
    let keys: Vec<&'static str> = answer.columns.iter().map(|column| column.key).collect();
    assert_eq!(asking.columns.expect("columns").iter().map(|column| column.key).collect::<Vec<_>>(), keys);
    answer.rows().map(|row| keys.iter().copied().zip(row.iter().cloned()).collect()).collect()
}

#[test]
fn merged_rows_have_the_sums_of_all_files() {
    let [first, second] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let [first, second] = [&first, &second].map(|directory| archive(directory.path()));
    let alone = answered(&first, &disk_by(&["file"]), &When::default());
    let both = merged(&[&first, &second], &["--by=file"]);
    assert_eq!(both.len(), alone.rows.len());
    for row in &both {
        let of_file = alone.rows.iter().find(|other| other["path"] == row["path"]).expect("the row of a file");
        assert_eq!(number(row, "recordings"), 2);
        let sums = ["operations", "reads", "read_bytes", "total_bytes", "total_service_ns", "response_ns", "busy_ns"];
        for key in sums {
            assert_eq!(number(row, key), 2 * number(of_file, key), "{key}");
        }
        for key in ["response_max_ns", "response_avg_ns", "read_throughput"] {
            assert_eq!(row[key], of_file[key], "{key}");
        }
    }
    // A process of the second file has the name of one in the first, and limits are of the sums.
    let by_process = merged(&[&first, &second], &["--by=process", "--min-read-size=2000000"]);
    let [row] = &by_process[..] else { panic!("one row: {by_process:?}") };
    assert_eq!((&row["process"], number(row, "read_bytes")), (&Value::Text("a".to_owned()), 2 * (4096 + (1 << 20))));
    let largest = merged(&[&first, &second], &["--by=file", "--top=1"]);
    assert_eq!(largest, both[both.len() - 1..]);
}
