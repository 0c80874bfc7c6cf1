//! The files that `-csv` writes.

use std::fs;

use tracesift_testing::archive::{create, finish_as};
use tracesift_trace::RowSink as _;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    DiskIoRow, DiskOperation, FileIoRow, FileRow, MarkRow, MemoryProcessRow, ProcessRow, file_operations,
};
use tracesift_trace::{FileId, ProcessId};

use crate::support::{archives, run};

/// The file that a command line writes.
fn file(line: &[&str]) -> String {
    let directory = archives();
    let said = run(directory.path(), &[line, &["-csv", "out.csv"]].concat());
    assert!(said.starts_with("exit: 0\n--- stdout\n--- stderr\nnote: "), "{line:?}: {said}");
    assert!(said.ends_with(" written to out.csv\n") && said.lines().count() == 4, "{line:?}: {said}");
    let text = fs::read_to_string(directory.path().join("out.csv")).unwrap();
    assert!(text.ends_with("\r\n"));
    text.replace("\r\n", "\n")
}

macro_rules! files {
    ($($name:ident: $($argument:literal),+;)+) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(file(&[$($argument),+]));
        }
    )+};
}

files! {
    cpu_of_processes: "-dump", "CPU", "-fd", "Write*.json", "-smi";
    cpu_of_processes_without_separator_line: "-dump", "CPU", "-fd", "Write*.json", "-pn", "FileWriter", "-NoCSVSeparator", "-ShowTotal", "Total", "-NoPriority";
    cpu_of_methods: "-dump", "CPU", "-fd", "Write*.json", "-methods", "*Write*", "-fld", "s", "utc", "-timedigits", "6";
    cpu_of_tags: "-dump", "CPU", "-fd", "Write*.json", "-stacktags", "*", "-NoReady";
    processes: "-dump", "Process", "-fd", "Write*.json", "-column", "Process";
    processes_in_seconds: "-dump", "Process", "-fd", "Write*.json", "-timefmt", "s", "-newprocess", "1";
    versions: "-dump", "Version", "-fd", "Write*.json";
    versions_per_process: "-dump", "Version", "-fd", "Write*.json", "-dll", "*clr*";
    properties: "-dump", "Stats", "-fd", "Write*.json", "-properties", "OSName";
}

#[test]
fn marks_with_their_time_since_the_zero_point() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = create(&directory.path().join("Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift"));
    for (time, text) in [(1_000_000_000, "begin"), (3_500_000_001, "loaded"), (9_000_000_000, "end")] {
        writer.mark(&MarkRow { time, text: text.to_owned(), ..MarkRow::default() });
    }
    finish_as(writer, TraceInfo { end_ns: 10_000_000_000, ..TraceInfo::default() });
    let line =
        ["-dump", "Mark", "-MarkerFilter", "*e*", "-MinMaxMarkDiffTime", "0", "5", "-ZeroTime", "Marker", "beg*"];
    let said = run(directory.path(), &[&line[..], &["-timefmt", "s", "-csv", "out.csv"]].concat());
    assert!(said.starts_with("exit: 0\n"), "{said}");
    insta::assert_snapshot!(fs::read_to_string(directory.path().join("out.csv")).unwrap().replace("\r\n", "\n"));
}

#[test]
fn files_disks_and_memory() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = create(&directory.path().join("Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift"));
    let process = ProcessRow { process: ProcessId(3), pid: 77, name: "a.exe".to_owned(), ..ProcessRow::default() };
    let process = ProcessRow { session: Some(1), command_line: Some("a.exe -x".to_owned()), ..process };
    writer.write_table(&[process]);
    writer.write_table(&[FileRow { file: FileId(0), path: r"C:\d\e\f.txt".to_owned() }]);
    let disk = |operation, start, size| DiskIoRow {
        time: start + 2_000_000,
        start,
        operation,
        size,
        service: Some(1_500_000),
        file: Some(FileId(0)),
        process: Some(ProcessId(3)),
        ..DiskIoRow::default()
    };
    writer.write_table(&[disk(DiskOperation::Read, 0, 3_000_000), disk(DiskOperation::Write, 5_000_000, 1_500_000)]);
    let file = |operation, start, bytes: Option<i64>| FileIoRow {
        time: start + 1_000_000,
        start,
        process: ProcessId(3),
        operation,
        offset: bytes.map(|_| 100),
        size: bytes,
        transferred: bytes,
        file: Some(FileId(0)),
        ..FileIoRow::default()
    };
    writer.write_table(&[
        file(file_operations::OPEN, 0, None),
        file(file_operations::READ, 2_000_000, Some(512)),
        file(file_operations::CLEANUP, 4_000_000, None),
        file(file_operations::CLOSE, 6_000_000, None),
    ]);
    writer.write_table(&[MemoryProcessRow {
        time: 1_000_000_000,
        process: ProcessId(3),
        working_set: Some(3 << 20),
        commit: Some(5 << 20),
        ..MemoryProcessRow::default()
    }]);
    // 2022-04-04 08:15:00 UTC, recorded two hours east of it.
    let info = TraceInfo { start_filetime: 132_935_337_000_000_000, utc_offset_minutes: -120, ..TraceInfo::default() };
    finish_as(writer, TraceInfo { end_ns: 10_000_000_000, ..info });
    for (line, first, row) in [
        (
            &["-dump", "Disk", "-DirLevel", "2"][..],
            "CSVOptions;TestCase;Date;Test Time in ms;Baseline;Level2Directory;DiskTotalTimeIOInus;",
            r"Write;2022-04-04 10:15:00.000;250;;C:\d\e;3000;1500;1500;0;1500000;3000000;2000.0;1000.0;0.0;0;a.exe(77);",
        ),
        (
            &["-dump", "File"],
            "CSVOptions;TestCase;Date;Test Time in ms;Baseline;Process;ProcessName;File Directory;FileName;Open Count;",
            r"Write;2022-04-04 10:15:00.000;250;;a.exe(77);a.exe;C:\d\e;f.txt;1;1000;;1;2000;1;1000;512;612;0;0;0;;0;;0;0;3000;a.exe -x",
        ),
        (
            &["-dump", "Memory"],
            "CSVOptions;Time;Process;ProcessName;Session;Commit MiB;",
            "2022-04-04 10:15:01.000;a.exe(77);a.exe;1;5.000;;3.000;;a.exe -x;;Write;250;\
             Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500;PC",
        ),
    ] {
        let said = run(directory.path(), &[line, &["-csv", "out.csv", "-NoCSVSeparator"]].concat());
        assert!(said.starts_with("exit: 0\n"), "{said}");
        let text = fs::read_to_string(directory.path().join("out.csv")).unwrap();
        let (header, rows) = text.split_once("\r\n").unwrap();
        assert!(header.starts_with(first), "{header}");
        let (_options, found) = rows.split_once(';').unwrap();
        assert!(found.starts_with(row), "{found}");
        assert_eq!(found.trim_end().matches(';').count() + 1, header.matches(';').count(), "{text}");
    }
}

#[test]
fn a_question_without_such_a_file_gets_ours() {
    let directory = archives();
    let said = run(directory.path(), &["-dump", "TestRun", "-csv", "out.csv"]);
    assert!(said.contains("ETWAnalyzer has no CSV file of this question"), "{said}");
    let text = fs::read_to_string(directory.path().join("out.csv")).unwrap();
    assert!(text.starts_with("run,"), "{text}");
}

#[test]
fn our_own_csv_stays_as_it_is() {
    let directory = archives();
    run(directory.path(), &["dump", "cpu", "--csv", "out.csv"]);
    let text = fs::read_to_string(directory.path().join("out.csv")).unwrap();
    assert!(text.starts_with("file,test,test_ms,machine,date,process,pid,cpu_ns,"), "{text}");
}
