//! `dump threadpool` over changes that are known.

use tracesift_ask::answer::Value;
use tracesift_ask::question::threadpool::Question;
use tracesift_ask::recording::Source;
use tracesift_ask::table_question::Listing;
use tracesift_ask::{When, ask};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ThreadPoolRow, thread_pool_events as events};
use tracesift_trace::{ProcessId, RowSink as _, ThreadId};

const MS: i64 = 1_000_000;

fn change(time: i64, of: i32, workers: i32, reason: i8, since: Option<i64>, starved: bool) -> ThreadPoolRow {
    ThreadPoolRow {
        time: time * MS,
        process: Some(ProcessId(of)),
        thread: Some(ThreadId(of)),
        event: events::ADJUSTED,
        workers: Some(workers),
        reason: Some(reason),
        change: since.map(|_| 1),
        since: since.map(|since| since * MS),
        starved: since.filter(|_| starved).map(|since| since * MS),
        ..ThreadPoolRow::default()
    }
}

#[test]
fn starvation_is_told_by_process() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("pool.sift"));
    writer.write_table(&[process(1, 100, "a"), process(2, 200, "b")]);
    writer.write_table(&[thread(1, 1, 1001), thread(2, 2, 1002)]);
    let started = ThreadPoolRow { event: events::STARTED, ..change(5, 1, 1, 0, None, false) };
    for row in [
        ThreadPoolRow { reason: None, ..started },
        change(10, 1, 4, 6, None, false),
        change(20, 1, 5, 6, Some(10), true),
        change(25, 2, 9, 3, None, false),
        change(50, 1, 3, 3, Some(30), true),
        change(60, 2, 8, 6, Some(35), false),
    ] {
        writer.thread_pool(&row);
    }
    let info = TraceInfo { name: "pool".to_owned(), kind: "etl".to_owned(), end_ns: 100 * MS, ..TraceInfo::default() };
    let source = Source::archive(finish_as(writer, info));
    let rows = |question: Question, columns: &[&str]| -> Vec<Vec<Value>> {
        let outcome = ask(std::slice::from_ref(&source), &question, &When::default());
        let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
        outcome.answer.rows().map(|row| columns.iter().map(|column| row[at(column)].clone()).collect()).collect()
    };
    let int = Value::Int;
    let columns = ["pid", "events", "adjusted", "starvations", "starved_ns", "most_workers", "started"];
    let expected = [
        vec![int(200), int(2), int(2), int(1), Value::None, int(9), int(0)],
        vec![int(100), int(4), int(3), int(2), int(40 * MS), int(5), int(1)],
    ];
    assert_eq!(rows(Question::default(), &columns), expected);
    let starved = Question::default().matching("--reason", "starvation").expect("an option").listed(Listing::Flat);
    let starved = starved.sorted_by_word("start").expect("a word");
    let expected = [
        vec![int(10 * MS), int(100), int(4), Value::None],
        vec![int(20 * MS), int(100), int(5), int(10 * MS)],
        vec![int(60 * MS), int(200), int(8), int(35 * MS)],
    ];
    assert_eq!(rows(starved, &["time", "pid", "workers", "since_ns"]), expected);
}
