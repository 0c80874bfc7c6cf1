//! `dump threadpool` over changes that are known.

use tracesift_ask::answer::Value;
use tracesift_ask::order::Between;
use tracesift_ask::question::threadpool::{Question, QueueQuestion};
use tracesift_ask::recording::Source;
use tracesift_ask::table_question::Listing;
use tracesift_ask::{When, ask};
use tracesift_grammar::TimeRange;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ThreadPoolRow, WorkItemRow, thread_pool_events as events, work_item_sources as sources};
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

/// Work of a source: when it was queued, taken and done, ms.
fn item(source: i8, of: i32, queued: i64, taken: Option<i64>, done: Option<i64>) -> WorkItemRow {
    WorkItemRow {
        start: queued * MS,
        time: done.or(taken).unwrap_or(100) * MS,
        process: Some(ProcessId(of)),
        thread: Some(ThreadId(of)),
        worker: taken.map(|_| ThreadId(of)),
        source,
        started: taken.map(|time| time * MS),
        ended: done.map(|time| time * MS),
        open: taken.is_none().then_some(true),
        ..WorkItemRow::default()
    }
}

fn items() -> Vec<WorkItemRow> {
    let mut items = vec![
        item(sources::RUNTIME, 1, 10, Some(20), None),
        item(sources::RUNTIME, 1, 12, Some(22), None),
        item(sources::RUNTIME, 1, 15, Some(45), None),
        // Another one begins to wait when one is taken.
        item(sources::RUNTIME, 1, 45, Some(50), None),
        item(sources::RUNTIME, 1, 60, None, None),
        item(sources::TASK, 1, 10, Some(20), Some(70)),
        item(sources::TASK, 1, 11, Some(11), Some(12)),
        item(sources::TASK, 2, 30, Some(40), None),
    ];
    items.sort_by_key(|row| row.time);
    items
}

#[test]
fn work_waits_by_source() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("queue.sift"));
    writer.write_table(&[process(1, 100, "a"), process(2, 200, "b")]);
    writer.write_table(&[thread(1, 1, 1001), thread(2, 2, 1002)]);
    items().iter().for_each(|row| writer.work_item(row));
    let info = TraceInfo { name: "queue".to_owned(), kind: "etl".to_owned(), end_ns: 100 * MS, ..TraceInfo::default() };
    let source = Source::archive(finish_as(writer, info));
    let rows = |question: QueueQuestion, columns: &[&str]| -> Vec<Vec<Value>> {
        let outcome = ask(std::slice::from_ref(&source), &question, &When::default());
        let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
        outcome.answer.rows().map(|row| columns.iter().map(|column| row[at(column)].clone()).collect()).collect()
    };
    let int = Value::Int;
    let text = |text: &str| Value::Text(text.to_owned());
    let columns =
        ["pid", "source", "items", "taken", "not_taken", "waited_ns", "avg_ns", "longest_ns", "longest_queue"];
    let ms = |ms: i64| int(ms * MS);
    let expected = [
        [int(100), text("task"), int(2), int(2), int(0), ms(10), ms(5), ms(10), int(1)],
        [int(200), text("task"), int(1), int(1), int(0), ms(10), ms(10), ms(10), int(1)],
        [int(100), text("runtime"), int(5), int(4), int(1), ms(55), int(55 * MS / 4), ms(30), int(3)],
    ];
    assert_eq!(rows(QueueQuestion::default(), &columns), expected);
    let expected = [[int(100), ms(51), ms(50)], [int(200), ms(0), Value::None], [int(100), ms(0), Value::None]];
    assert_eq!(rows(QueueQuestion::default(), &["pid", "run_ns", "longest_run_ns"]), expected);
    // A mean of 55 ms of waiting in 100 ms; in a part of the recording of what waits in it.
    let mean = |question: QueueQuestion| rows(question, &["source", "mean_queue"]);
    let of_runtime = || QueueQuestion::default().matching("--source", "runtime").expect("an option");
    assert_eq!(mean(of_runtime()), [[text("runtime"), Value::Float(0.55)]]);
    let mut part = of_runtime();
    part.time = TimeRange { start: Some(10 * MS), end: Some(20 * MS) };
    assert_eq!(mean(part), [[text("runtime"), Value::Float(2.3)]]);
    // Whatever rows are grouped by, sources stay apart.
    let by = |word: &str| QueueQuestion::default().by(&[word]).expect("a dimension");
    for (word, groups) in
        [("process", 3), ("thread", 3), ("worker", 4), ("method", 2), ("tag", 2), ("stack", 2), ("source", 2)]
    {
        let found = rows(by(word), &["source", "items"]);
        assert_eq!(found.len(), groups, "{word}: {found:?}");
    }
    // In the longest order, and without those that waited less.
    let long = QueueQuestion::default().between("--min-wait", Between { min: Some(10 * MS), max: None });
    let long = long.expect("an option").listed(Listing::Flat);
    let found = rows(long, &["start", "duration_ns", "source"]);
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!(found.last().expect("a row")[..2], [ms(15), ms(30)]);
}
