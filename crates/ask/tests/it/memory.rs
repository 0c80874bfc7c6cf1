//! `dump memory` over readings that are known.

use tracesift_ask::answer::Value;
use tracesift_ask::question::memory;
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask as _, When, ask};
use tracesift_testing::archive::{create, finish_as};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{MemoryProcessRow, ProcessRow};
use tracesift_trace::{ProcessId, RowSink as _};

/// ETWAnalyzer takes both lives for one process that lost 90 bytes.
#[test]
fn a_pid_that_is_used_again_is_another_process() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("memory.sift"));
    let life = |id: i32, start: Option<i64>, end: Option<i64>| ProcessRow {
        process: ProcessId(id),
        pid: 77,
        name: "again.exe".to_owned(),
        start,
        end,
        ..ProcessRow::default()
    };
    writer.write_table(&[life(0, None, Some(50)), life(1, Some(60), None)]);
    for (time, process, commit) in [(0, 0, 100), (40, 0, 170), (70, 1, 5), (90, 1, 10)] {
        let process = ProcessId(process);
        let row = MemoryProcessRow { time, process, commit: Some(commit), ..MemoryProcessRow::default() };
        writer.memory_process(&row);
    }
    let archive = finish_as(writer, TraceInfo { kind: "etl".to_owned(), end_ns: 100, ..TraceInfo::default() });
    let question = memory::Question::default();
    let keys: Vec<&str> = question.columns().iter().map(|column| column.key).collect();
    let outcome = ask(&[Source::archive(archive)], &question, &When::default());
    let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
    assert!(keys.contains(&"diff_commit"));
    let mut found: Vec<[Value; 3]> =
        outcome.answer.rows().map(|row| ["pid", "commit", "diff_commit"].map(|key| row[at(key)].clone())).collect();
    found.sort_by_key(|[_, commit, _]| if let Value::Int(commit) = commit { *commit } else { 0 });
    // The second life begins in the recording, from nothing.
    assert_eq!(found, [[77, 10, 10], [77, 170, 70]].map(|row| row.map(Value::Int)));
}
