//! Waits and their chains in an archive of three processes: A waits for B's lock, B for C's answer, C for a disk.

use std::path::{Path, PathBuf};

use tracesift_ask::MethodPatterns;
use tracesift_ask::answer::{Answer, Table, Value};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::order::{Between, Top};
use tracesift_ask::question::threads;
use tracesift_ask::question::waits::{Question, sums};
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask, When, ask};
use tracesift_grammar::TimeRange;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{self, process, stack};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ContextSwitchRow, SymbolRow, ThreadRow, switch_flags};
use tracesift_trace::{FrameId, RowSink as _, StackId, ThreadId};

const MS: i64 = 1_000_000;

/// Functions on the stacks, by frame, leaf first.
const FUNCTIONS: [(&str, &str); 6] = [
    ("ntdll.dll", "NtWaitForSingleObject"),
    ("a.exe", "A::Lock"),
    ("b.exe", "B::Ask"),
    ("b.exe", "B::Unlock"),
    ("c.exe", "C::Read"),
    ("storport.sys", "storport.sys+0x1080"),
];

fn thread(id: i32, tid: i64) -> ThreadRow {
    let name = (id == 2).then(|| "lock owner".to_owned());
    ThreadRow { name, idle_cpu: (id == 0).then_some(0), ..rows::thread(id, id, tid) }
}

fn archive(directory: &Path) -> PathBuf {
    let target = directory.join("chain.sift");
    let mut writer = create(&target);
    writer.write_table(&[
        process(0, 0, "Idle"),
        process(1, 10, "a.exe"),
        process(2, 20, "b.exe"),
        process(3, 30, "c.exe"),
    ]);
    writer.write_table(&[thread(0, 0), thread(1, 11), thread(2, 22), thread(3, 33)]);
    let frame = |frame| rows::frame(frame, 1);
    let symbol = |(frame, (module, function)): (i32, &(&str, &str))| SymbolRow {
        frame: FrameId(frame),
        module: Some((*module).to_owned()),
        function: (*function).to_owned(),
        ..SymbolRow::default()
    };
    writer.write_table(&(0..6).map(frame).collect::<Vec<_>>());
    writer.write_table(&(0..).zip(&FUNCTIONS).map(symbol).collect::<Vec<_>>());
    writer.write_table(&[stack(0, &[0, 1]), stack(1, &[0, 2]), stack(2, &[3]), stack(3, &[0, 4]), stack(4, &[5])]);

    // Thread, off, ready, on, wait stack, readier, ready stack, flags.
    let row = |thread: i32, span: [i64; 3], wait: i32, readier: i32, ready: i32, flags: i16| ContextSwitchRow {
        thread: ThreadId(thread),
        off_time: span[0] * MS,
        ready_time: Some(span[1] * MS),
        time: span[2] * MS,
        cpu: Some(0),
        off_state: Some(5),
        wait_reason: Some(6),
        wait_stack: Some(StackId(wait)),
        readier: Some(ThreadId(readier)),
        ready_stack: Some(StackId(ready)),
        flags,
        ..ContextSwitchRow::default()
    };
    let hang = ContextSwitchRow {
        ready_time: None,
        readier: None,
        ready_stack: None,
        wait_stack: None,
        cpu: None,
        ..row(3, [940, 0, 1_000], 3, 0, 0, switch_flags::OPEN_RIGHT)
    };
    for row in [
        // The disk interrupted A's thread, which has nothing to do with it.
        row(3, [110, 190, 190], 3, 1, 4, switch_flags::READIED_FROM_DPC),
        row(2, [105, 195, 196], 1, 3, 3, 0),
        row(1, [100, 200, 203], 0, 2, 2, 0),
        // The idle thread wakes nobody: that was an interrupt, too.
        row(2, [300, 310, 310], 1, 0, 2, 0),
        hang,
    ] {
        writer.context_switch(&row);
    }
    let info = TraceInfo {
        name: "chain".to_owned(),
        kind: "etl".to_owned(),
        end_ns: 1_000 * MS,
        has_switches: true,
        has_ready: true,
        ..TraceInfo::default()
    };
    finish_as(writer, info)
}

fn answer(question: &dyn Ask) -> Answer {
    let directory = tempfile::tempdir().expect("temporary directory");
    let outcome = ask(&[Source::archive(archive(directory.path()))], question, &When::default());
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

fn of(process: &str) -> ProcessFilter {
    ProcessFilter { process: ProcessPatterns::parse(process), ..ProcessFilter::default() }
}

fn value<'a>(answer: &'a Answer, row: &'a [Value], key: &str) -> &'a Value {
    &row[answer.columns.iter().position(|column| column.key == key).expect("a column")]
}

/// Length in ms and waker of each wait.
fn waits(answer: &Answer) -> Vec<(i64, String)> {
    answer
        .rows()
        .map(|row| match (value(answer, row, "wait_ns"), value(answer, row, "woken_by")) {
            (Value::Int(ns), Value::Text(waker)) => (ns / MS, waker.clone()),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_chain_leads_to_the_disk() {
    let answer = answer(&Question { filter: of("a.exe"), ..Question::default() });
    let rows: Vec<_> = answer.rows().collect();
    let [row] = rows[..] else { panic!("{} rows", rows.len()) };
    assert_eq!(waits(&answer), [(100, "b.exe(20) 22 lock owner".to_owned())]);
    assert_eq!(value(&answer, row, "wait_method"), &"a.exe!A::Lock".into());
    assert_eq!(value(&answer, row, "reason"), &"UserRequest".into());
    let Value::Table(Table { columns, rows: links, is_sparse: false }) = value(&answer, row, "chain") else {
        panic!("no chain")
    };
    let figures = |link: &Vec<Value>| {
        ["tid", "run_ns", "ready_ns", "wait_ns", "longest_wait_ns"].map(|key| {
            let at = columns.iter().position(|column| column.key == key).expect("a column");
            if let Value::Int(value) = link[at] { if key == "tid" { value } else { value / MS } } else { -1 }
        })
    };
    // B's own wait took 90 of the 100 ms, C's 80 of those 90.
    assert_eq!(links.iter().map(figures).collect::<Vec<_>>(), [[22, 9, 1, 90, 90], [33, 10, 0, 80, 80]]);
    // A line of its own for each link, below the row.
    let lines = [
        "<- b.exe(20) 22 lock owner: ran 9.0 ms, ready 1.0 ms, waited 90.0 ms (90.0 ms in b.exe!B::Ask)",
        "<- c.exe(30) 33: ran 10.0 ms, waited 80.0 ms (80.0 ms in c.exe!C::Read) <- disk",
    ];
    assert_eq!(value(&answer, row, "chain_text"), &Value::List(lines.map(str::to_owned).to_vec()));
}

#[test]
fn the_longest_stand_last() {
    let all = waits(&answer(&Question::default()));
    let expected =
        [(10, "interrupt"), (60, "(nobody)"), (80, "disk"), (90, "c.exe(30) 33"), (100, "b.exe(20) 22 lock owner")];
    assert_eq!(all, expected.map(|(ms, waker)| (ms, waker.to_owned())));
    let top = waits(&answer(&Question { top: Top { take: Some(2), skip: 1 }, ..Question::default() }));
    assert_eq!(top.iter().map(|(ms, _)| *ms).collect::<Vec<_>>(), [80, 90]);
}

#[test]
fn filters_and_time_ranges() {
    let lengths = |question: Question| waits(&answer(&question)).iter().map(|(ms, _)| *ms).collect::<Vec<_>>();
    let methods = MethodPatterns::parse("B.Ask", false);
    assert_eq!(lengths(Question { methods, ..Question::default() }), [10, 90]);
    let length = Between { min: Some(60 * MS), max: Some(90 * MS) };
    assert_eq!(lengths(Question { length, ..Question::default() }), [60, 80, 90]);
    let time = TimeRange { start: Some(150 * MS), end: Some(305 * MS) };
    assert_eq!(lengths(Question { time, ..Question::default() }), [5, 40, 45, 50]);
}

/// Rows added up so: the texts of these columns, then number, sum, union and longest in ms.
fn added_up(by: sums::By, waits: Question, keys: &[&str]) -> Vec<(Vec<String>, [i64; 4])> {
    let answer = answer(&sums::Question { waits, by, sort: sums::Sort::Sum });
    let row = |row: &Vec<Value>| {
        let text = |key: &&str| match value(&answer, row, key) {
            Value::Text(text) => text.clone(),
            Value::Int(figure) => figure.to_string(),
            Value::None => String::new(),
            other => panic!("{other:?}"),
        };
        let figure = |key| if let Value::Int(figure) = value(&answer, row, key) { *figure } else { panic!("no {key}") };
        let figures = ["wait_sum_ns", "wait_ns", "longest_ns"].map(|key| figure(key) / MS);
        (keys.iter().map(text).collect(), [figure("waits"), figures[0], figures[1], figures[2]])
    };
    answer.rows().map(row).collect()
}

#[test]
fn waits_are_added_up_by_method_and_by_whom_they_were_for() {
    let owned = |rows: &[(&[&str], [i64; 4])]| -> Vec<(Vec<String>, [i64; 4])> {
        rows.iter().map(|(key, figures)| (key.iter().map(|text| (*text).to_owned()).collect(), *figures)).collect()
    };
    // The hang has no stack.
    let by_method = added_up(sums::By::Method, Question::default(), &["wait_method"]);
    let expected: [(&[&str], _); 4] = [
        (&["(no stack)"], [1, 60, 60, 60]),
        (&["c.exe!C::Read"], [1, 80, 80, 80]),
        (&["a.exe!A::Lock"], [1, 100, 100, 100]),
        (&["b.exe!B::Ask"], [2, 100, 100, 90]),
    ];
    assert_eq!(by_method, owned(&expected));
    // A's wait for B's lock and B's wait for C's answer were for C, which waited for the disk; the longer one covers both.
    let keys = ["waited_for", "waker_did", "waker_method", "waker_woken_by"];
    let by_waker = added_up(sums::By::Waker, Question::default(), &keys);
    let expected: [(&[&str], _); 4] = [
        (&["interrupt", "", "", ""], [1, 10, 10, 10]),
        (&["(nobody)", "", "", ""], [1, 60, 60, 60]),
        (&["disk", "", "", ""], [1, 80, 80, 80]),
        (&["c.exe(30) 33", "waited", "c.exe!C::Read", "disk"], [2, 190, 100, 100]),
    ];
    assert_eq!(by_waker, owned(&expected));
    let direct = answer(&sums::Question { by: sums::By::Waker, ..sums::Question::default() });
    let direct: Vec<_> = direct.rows().map(|row| value(&direct, row, "direct_ns").clone()).collect();
    assert_eq!(direct, [10, 60, 80, 90].map(|ms| Value::Int(ms * MS)));
}

#[test]
fn whoever_is_asked_the_sums_are_those_of_the_threads() {
    let time = |start, end| TimeRange { start, end };
    for time in [time(None, None), time(Some(150 * MS), Some(305 * MS)), time(Some(108 * MS), Some(950 * MS))] {
        let rows = answer(&threads::Question { time, ..threads::Question::default() });
        let waits = rows.rows().map(|row| if let Value::Int(ns) = value(&rows, row, "wait_ns") { *ns } else { 0 });
        let waits = waits.sum::<i64>() / MS;
        assert!(waits > 0);
        for by in [sums::By::Method, sums::By::Waker, sums::By::Thread, sums::By::Process] {
            // What is shown of it changes nothing about the sum.
            let top = Top { take: Some(1), skip: 0 };
            let question = |top| Question { time, top, ..Question::default() };
            let sum: i64 = added_up(by, question(Top::default()), &[]).iter().map(|(_, figures)| figures[1]).sum();
            assert_eq!(sum, waits, "{by:?}");
            let one = answer(&sums::Question { waits: question(top), by, sort: sums::Sort::Union });
            assert_eq!(one.rows().count(), 1);
            let fact = one.sections[0].facts.iter().find(|fact| fact.label == "wait sum").expect("a sum");
            assert_eq!(fact.value, Value::Int(waits * MS), "{by:?}");
        }
    }
}
