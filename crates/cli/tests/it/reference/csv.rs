//! The files that `-csv` writes.

use std::fs;

use tracesift_testing::archive::{create, finish_as};
use tracesift_trace::RowSink as _;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::MarkRow;

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
