//! `--tid`: answers about some threads are those parts of the answers about all.

use std::collections::BTreeSet;
use std::io::Cursor;

use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::order::Top;
use tracesift_ask::question::{cpu, stacks, threads, waits};
use tracesift_ask::recording::Source;
use tracesift_ask::shown::Shown;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{Ask, ThreadFilter, When, ask};
use tracesift_scenario::causal::{etl, perf, random, run};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{ContextSwitchRow, ThreadRow};

const ALL: Top = Top { take: Some(usize::MAX), skip: 0 };

fn asked(source: &Source, question: &dyn Ask) -> Answer {
    let outcome = ask(std::slice::from_ref(source), question, &When::default());
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

fn value<'a>(answer: &Answer, row: &'a [Value], key: &str) -> &'a Value {
    &row[answer.columns.iter().position(|column| column.key == key).expect("a column")]
}

fn of_thread(answer: &Answer, tid: i64) -> Vec<Vec<Value>> {
    answer.rows().filter(|row| *value(answer, row, "tid") == Value::Int(tid)).cloned().collect()
}

fn rows(answer: &Answer) -> Vec<Vec<Value>> {
    answer.rows().cloned().collect()
}

fn recordings(seed: u64) -> [Extracted; 2] {
    let (world, noise) = random(seed);
    let history = run(world, &noise, seed);
    let mut bytes = Cursor::new(Vec::new());
    perf::write(&history, 1_000_000, &mut bytes).expect("written");
    [
        Recording::etl(&etl::scenario(&history, 1_000_000)).extract(),
        Recording::of("perf.data", &bytes.into_inner()).extract(),
    ]
}

fn only(tid: i64) -> ThreadFilter {
    ThreadFilter { tid: Some(tid.to_string().parse().expect("an id")) }
}

/// Functions of a tree with depth, total and own time, of the process that they are of.
fn lines(answer: &Answer, rows: &[Vec<Value>]) -> BTreeSet<String> {
    let keys = ["pid", "depth", "module", "method", "total_ns", "self_ns", "count"];
    let line = |row: &Vec<Value>| {
        keys.map(|key| {
            answer.columns.iter().position(|column| column.key == key).map_or(Value::None, |at| row[at].clone())
        })
    };
    rows.iter().map(|row| format!("{:?}", line(row))).collect()
}

/// Without the columns of who woke a thread, all others have the same values.
fn wakers_alone_are_spared(source: &Source, all: &Answer) {
    let is_other = |key: &str| key != "wakers" && key != "woken_by";
    let others: Vec<&'static str> = all.columns.iter().map(|column| column.key).filter(|key| is_other(key)).collect();
    let question = threads::Question { top: ALL, ..threads::Question::default() };
    let narrowed = question.showing(&Shown::only(others.iter().copied())).expect("it reads what is looked at");
    let found = asked(source, &*narrowed);
    assert_eq!(found.rows().count(), all.rows().count());
    for (one, expected) in found.rows().zip(all.rows()) {
        for key in &others {
            assert_eq!(value(&found, one, key), value(all, expected, key), "{key}");
        }
        assert_eq!(value(&found, one, "woken_by"), &Value::None);
    }
}

#[test]
fn answers_about_a_thread_are_its_part_of_the_answers_about_all() {
    let mut count = [0; 3];
    for seed in 0..6 {
        for extracted in &recordings(seed) {
            let source = Source::archive(extracted.archive.path().to_owned());
            let all_threads = asked(&source, &threads::Question { top: ALL, ..threads::Question::default() });
            let all_waits = asked(&source, &waits::Question { top: ALL, ..waits::Question::default() });
            let min_share = tracesift_grammar::parse_share("0%").expect("a share");
            let plain = stacks::Question { top: ALL, min_share, ..stacks::Question::default() };
            let all_stacks = asked(&source, &stacks::Question { per_thread: true, ..plain.clone() });
            wakers_alone_are_spared(&source, &all_threads);
            let tids: BTreeSet<i64> = all_threads
                .rows()
                .filter_map(|row| match value(&all_threads, row, "tid") {
                    Value::Int(tid) if *tid > 0 => Some(*tid),
                    _ => None,
                })
                .collect();
            for tid in tids {
                let context = format!("seed {seed}, {}, thread {tid}", source.shown.display());
                let one = threads::Question { threads: only(tid), top: ALL, ..threads::Question::default() };
                let found = rows(&asked(&source, &one));
                assert_eq!(found, of_thread(&all_threads, tid), "{context}");
                count[0] += found.len();
                let one = waits::Question { threads: only(tid), top: ALL, ..waits::Question::default() };
                let found = rows(&asked(&source, &one));
                assert_eq!(found, of_thread(&all_waits, tid), "{context}");
                count[1] += found.len();
                let one = asked(&source, &stacks::Question { threads: only(tid), ..plain.clone() });
                let expected = lines(&all_stacks, &of_thread(&all_stacks, tid));
                assert_eq!(lines(&one, &rows(&one)), expected, "{context}");
                count[2] += expected.len();
            }
        }
    }
    println!("{count:?} rows");
    assert!(count.iter().all(|count| *count > 20), "{count:?}");
}

/// A thread that gets no CPU is who one looks for.
#[test]
fn who_is_ready_all_the_time_has_a_row() {
    let [_, linux] = recordings(3);
    let source = Source::archive(linux.archive.path().to_owned());
    let switches: Vec<ContextSwitchRow> = linux.archive.rows().expect("read");
    let known: Vec<ThreadRow> = linux.archive.rows().expect("read");
    let is_ready =
        |row: &&ContextSwitchRow| row.ready_time.is_some_and(|ready| ready >= row.off_time && ready < row.time);
    let mut count = 0;
    for row in switches.iter().filter(is_ready).take(40) {
        let (start, end) = (row.ready_time.expect("ready"), row.time);
        let time = format!("{start}ns..{end}ns").parse::<TimeSpec>().expect("a range");
        let when = When { time, ..When::default() };
        let tid = known[row.thread.index()].tid;
        let question = threads::Question { threads: only(tid), top: ALL, ..threads::Question::default() };
        let answer = ask(std::slice::from_ref(&source), &question, &when).answer;
        let ready: Vec<&Value> = answer.rows().map(|row| value(&answer, row, "ready_ns")).collect();
        assert_eq!(ready, [&Value::Int(end - start)], "thread {tid} at {start}");
        let question = cpu::Question { top: ALL, ..cpu::Question::default() };
        let answer = ask(std::slice::from_ref(&source), &question, &when).answer;
        let ready = answer.rows().map(|row| match value(&answer, row, "ready_ns") {
            Value::Int(ready) => *ready,
            _ => 0,
        });
        assert!(ready.sum::<i64>() >= end - start, "at {start}");
        count += 1;
    }
    assert!(count > 20, "{count} spans");
}
