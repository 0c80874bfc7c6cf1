//! Metrics of runs whose every operation is known: of the window, with their fractions, and of what was recorded in whole.

use std::path::Path;

use tracesift_archive::ArchiveWriter;
use tracesift_ask::compare::metrics::{ComparedMetric, Metrics};
use tracesift_ask::compare::{Set, Settings, compare};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::path::{AccountQuery, WindowQuery};
use tracesift_ask::recording::Source;
use tracesift_testing::archive::finish_as;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{DiskIoRow, DiskOperation, FileIoRow, SyscallRow, file_operations};
use tracesift_trace::{ProcessId, ThreadId};

use crate::compare::{USUAL, begun};

const MS: i64 = 1_000_000;

/// The process of the test lives from here to the end of its window.
const BEGIN: i64 = 10 * MS;
const END: i64 = BEGIN + 290 * MS;

/// The metrics of sets of two runs each. `add` has the number of a run: those of the first set are even.
fn metrics(add: impl Fn(usize, &mut ArchiveWriter, &mut TraceInfo)) -> Metrics {
    let directory = tempfile::tempdir().expect("temporary directory");
    let mut sets = ["A", "B"].map(|label| Set { label: label.to_owned(), ..Set::default() });
    for number in 0..4 {
        sets[number % 2].sources.push(run(directory.path(), number, &add));
    }
    let filter = ProcessFilter { process: ProcessPatterns::parse("app"), ..ProcessFilter::default() };
    let windows = WindowQuery { filter, ..WindowQuery::default() };
    let accounts = AccountQuery { windows, ..AccountQuery::default() };
    let compared = compare(&sets, &accounts, &Settings::default()).expect("numbers that can be compared");
    assert!(compared.failures.is_empty(), "{:?}", compared.failures);
    assert_eq!(compared.cases.len(), 1, "{:?}", compared.unpaired);
    compared.cases[0].result.as_ref().expect("a result").metrics.clone()
}

fn run(directory: &Path, number: usize, add: &impl Fn(usize, &mut ArchiveWriter, &mut TraceInfo)) -> Source {
    let start = 133_000_000_000_000_000 + 600_000_000 * i64::try_from(number).expect("few");
    let (mut writer, mut info) = begun(directory, number, USUAL, "x", start, &[]);
    assert_eq!(info.end_ns, END);
    add(number, &mut writer, &mut info);
    Source::archive(finish_as(writer, info))
}

fn compared<'m>(metrics: &'m Metrics, name: &str) -> &'m ComparedMetric {
    let found = metrics.compared.iter().find(|metric| metric.name == name);
    found.unwrap_or_else(|| panic!("no {name}: {metrics:?}"))
}

/// Why a run lacks a metric.
fn lacking<'m>(metrics: &'m Metrics, name: &str) -> &'m str {
    let found = metrics.missing.iter().find(|metric| metric.name == name);
    &found.unwrap_or_else(|| panic!("{name} is there: {metrics:?}")).why
}

/// A disk operation of the test (1) or of another program (2).
fn operation(process: i32, start: i64, time: i64, size: i64) -> DiskIoRow {
    DiskIoRow {
        time,
        start,
        process: Some(ProcessId(process)),
        thread: Some(ThreadId(process)),
        operation: DiskOperation::Write,
        size,
        service: Some(time - start),
        ..DiskIoRow::default()
    }
}

#[test]
fn means_of_counts_keep_their_fraction_and_the_change_is_exact() {
    // The first run has no operation of the test, and all others have one.
    let metrics = metrics(|number, writer, _| {
        let mut rows = vec![operation(2, 20 * MS, 21 * MS, 512)];
        rows.extend((number > 0).then(|| operation(1, 30 * MS, 31 * MS, 4_096)));
        writer.write_table(&rows);
    });
    let operations = compared(&metrics, "disk-operations");
    assert_eq!(operations.means.map(|mean| mean.to_string()), ["0.5", "1"]);
    assert_eq!(operations.means.map(|mean| mean.number()), [0.5, 1.0]);
    assert_eq!(operations.medians.map(|median| median.number()), [0.5, 1.0]);
    assert_eq!((operations.means[0].unit(), operations.change()), ("integer", Some(1.0)));
    let bytes = compared(&metrics, "disk-bytes");
    assert_eq!(bytes.means.map(|mean| mean.to_string()), ["2 KiB", "4 KiB"]);
    assert_eq!(bytes.change(), Some(1.0));
}

#[test]
fn writes_that_complete_after_the_test_are_not_in_its_window() {
    let metrics = metrics(|_, writer, info| {
        writer.write_table(&[
            operation(1, 30 * MS, 31 * MS, 4_096),
            operation(2, 40 * MS, 41 * MS, 8_192),
            // The system writes for the test when it is gone, one of the two from within its life.
            operation(1, END - MS, END + 5 * MS, 1 << 20),
            operation(1, END + 6 * MS, END + 7 * MS, 1 << 20),
        ]);
        info.end_ns = END + 20 * MS;
    });
    let means = |name: &str| compared(&metrics, name).means.map(|mean| mean.number());
    assert_eq!(means("disk-bytes"), [4_096.0; 2]);
    assert_eq!(means("disk-operations"), [1.0; 2]);
    assert_eq!(means("disk-time"), [1e6; 2]);
    assert_eq!(means("disk-bytes-of-others"), [8_192.0; 2]);
}

#[test]
fn some_of_the_system_calls_are_no_number_of_all() {
    let of = |enabled: &'static [&'static str], profile: Option<&'static str>| {
        metrics(move |_, writer, info| {
            let (process, thread) = (ProcessId(1), ThreadId(1));
            let call = |start: i64| SyscallRow {
                start,
                time: start + MS,
                process,
                thread,
                result: Some(0),
                ..SyscallRow::default()
            };
            writer.write_table(&[call(20 * MS), call(30 * MS)]);
            let operation = file_operations::MAP;
            let mapped =
                FileIoRow { start: 20 * MS, time: 21 * MS, process, thread, operation, ..FileIoRow::default() };
            writer.write_table(&[mapped]);
            info.enabled = enabled.iter().map(|table| (*table).to_owned()).collect();
            info.facts = profile.map(|name| ("recording.profiles.0".to_owned(), name.to_owned())).into_iter().collect();
        })
    };
    let some = "only some system calls were recorded; record with: tracesift record --profile SysCall";
    let means = |metrics: &Metrics, name: &str| compared(metrics, name).means.map(|mean| mean.number());

    let maps = of(&["syscalls", "file_io", "allocations", "mapped_views"], Some("VirtualAlloc"));
    assert_eq!(lacking(&maps, "system-calls"), some);
    assert_eq!(lacking(&maps, "failed-system-calls"), some);
    for name in ["file-operations", "failed-file-operations"] {
        let why = "only some file operations were recorded; record with: tracesift record --profile File";
        assert_eq!(lacking(&maps, name), why);
    }

    let files = of(&["syscalls", "file_io"], Some("File"));
    assert_eq!(lacking(&files, "system-calls"), some);
    assert_eq!(means(&files, "file-operations"), [1.0; 2]);

    // The tracepoint of all calls enables the handles, whoever recorded it.
    let all = of(&["syscalls", "file_io", "socket_calls", "allocations", "mapped_views", "handles"], None);
    assert_eq!((means(&all, "system-calls"), means(&all, "file-operations")), ([2.0; 2], [1.0; 2]));

    let unknown = of(&[], None);
    assert!(
        lacking(&unknown, "system-calls").starts_with("the archive does not tell which system calls"),
        "{unknown:?}"
    );
}

#[test]
fn without_any_system_calls_the_reason_is_that_of_the_question() {
    let none = metrics(|_, _, _| ());
    assert_eq!(
        lacking(&none, "system-calls"),
        "system calls: not recorded; record with: tracesift record --profile SysCall"
    );
}
