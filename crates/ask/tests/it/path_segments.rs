//! The segments of a path: they tile the window, add up to the rows of the account, and are what really happened.

use std::collections::BTreeMap;

use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::filter::ProcessFilter;
use tracesift_ask::order::Top;
use tracesift_ask::path::AccountQuery;
use tracesift_ask::question::path::{Detail, Question, Segments};
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask, When, ask};
use tracesift_scenario::causal::path::{self as truth, State};
use tracesift_scenario::causal::{History, etl};

use super::path::{Lacks, archive, of, question};
use super::path_machines::{SEEDS, accounts, check_windows, recordings};

const MS: i64 = 1_000_000;

fn asked(source: &Source, question: &dyn Ask) -> Answer {
    let outcome = ask(std::slice::from_ref(source), question, &When::default());
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

fn value<'a>(answer: &Answer, row: &'a [Value], key: &str) -> &'a Value {
    let place = answer.columns.iter().position(|column| column.key == key);
    &row[place.unwrap_or_else(|| panic!("no column {key}"))]
}

fn text(answer: &Answer, row: &[Value], key: &str) -> String {
    match value(answer, row, key) {
        Value::None => String::new(),
        Value::Text(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::List(texts) => texts.join(" <- "),
        other => panic!("{key} is {other:?}"),
    }
}

fn integer(answer: &Answer, row: &[Value], key: &str) -> i64 {
    if let Value::Int(number) = value(answer, row, key) { *number } else { panic!("{key} is no number") }
}

fn known(lacks: Lacks, top: Option<usize>) -> Answer {
    let directory = tempfile::tempdir().expect("temporary directory");
    let question = question("auto", of("a"), Detail::default());
    let question = Segments(Question { top: Top { take: top, skip: 0 }, ..question });
    asked(&Source::archive(archive(directory.path(), lacks)), &question)
}

#[test]
fn a_path_leads_through_the_threads_that_ended_waits() {
    let answer = known(Lacks::default(), None);
    let keys = ["state", "process", "tid", "thread_key", "ended_by", "wait_method", "had_cpu", "for_site", "depth"];
    let row = |row: &Vec<Value>| {
        let texts: Vec<String> = keys.iter().map(|key| text(&answer, row, key)).collect();
        (integer(&answer, row, "from_ns") / MS, integer(&answer, row, "to_ns") / MS, texts.join("|"))
    };
    let found: Vec<_> = answer.rows().map(row).collect();
    let expected = [
        (10, 100, "run|a.exe|11|1|||||0"),
        (100, 105, "run|b.exe|22|2||||a.exe!A::Lock|1"),
        (105, 110, "run|c.exe|33|3||||a.exe!A::Lock|2"),
        (110, 190, "wait|c.exe|33|3|disk 1 read|c.exe!C::Read||a.exe!A::Lock|2"),
        (190, 195, "run|c.exe|33|3||||a.exe!A::Lock|2"),
        (195, 196, "ready|b.exe|22|2|||other|a.exe!A::Lock|1"),
        (196, 200, "run|b.exe|22|2||||a.exe!A::Lock|1"),
        (200, 203, "ready|a.exe|11|1|||||0"),
        (203, 900, "run|a.exe|11|1|||||0"),
    ];
    assert_eq!(found, expected.map(|(from, to, text)| (from, to, text.to_owned())));
    let chain = answer.rows().nth(3).map(|row| text(&answer, row, "chain"));
    let expected = "a.exe(10) 11 (a.exe!A::Lock) <- b.exe(20) 22 owner 7 (b.exe!B::Ask) <- c.exe(30) 33";
    assert_eq!(chain.as_deref(), Some(expected));
}

#[test]
fn the_longest_segments_stay_in_their_order_and_the_rest_is_counted() {
    let answer = known(Lacks::default(), Some(3));
    let starts: Vec<i64> = answer.rows().map(|row| integer(&answer, row, "from_ns") / MS).collect();
    assert_eq!(starts, [10, 110, 203]);
    let notes: Vec<&String> = answer.sections.iter().flat_map(|section| &section.notes).collect();
    assert!(notes.iter().any(|note| note.starts_with("6 segments with 23.0 ms are not shown")), "{notes:?}");
}

#[test]
fn without_switches_a_path_has_no_segments() {
    let answer = known(Lacks { switches: true, ..Lacks::default() }, None);
    assert_eq!(answer.rows().count(), 0);
}

/// Path times by window and what the segments and the rows of an account both tell.
type Sums = BTreeMap<Vec<String>, i64>;

fn sums(answer: &Answer, keys: &[&str], is_asked: impl Fn(&[Value]) -> bool) -> Sums {
    let mut sums = Sums::new();
    for row in answer.rows().filter(|row| is_asked(row)) {
        let key = keys.iter().map(|key| text(answer, row, key)).collect();
        *sums.entry(key).or_default() += integer(answer, row, "path_ns");
    }
    sums.retain(|_, time| *time != 0);
    sums
}

/// Compares the segments of windows with the rows of their accounts; the number of segments.
fn check(source: &Source, accounts: &AccountQuery, context: &str) -> usize {
    let top = Top { take: Some(usize::MAX), skip: 0 };
    let plain = Question { accounts: accounts.clone(), detail: Detail::For, top, ..Question::default() };
    let (rows, segments) = (asked(source, &plain), asked(source, &Segments(plain.clone())));
    let mut ends: BTreeMap<i64, i64> = BTreeMap::new();
    let mut windows: BTreeMap<i64, i64> = BTreeMap::new();
    for row in segments.rows() {
        let [window, start, length, from, to, time] =
            ["window", "window_from_ns", "window_ns", "from_ns", "to_ns", "path_ns"]
                .map(|key| integer(&segments, row, key));
        windows.insert(window, start + length);
        // No gap and no overlap.
        assert_eq!(from, *ends.entry(window).or_insert(start), "{context}: {row:?}");
        assert!(to > from && time == to - from, "{context}: {row:?}");
        ends.insert(window, to);
    }
    assert_eq!(ends, windows, "{context}");
    // Who did what: of all states.
    let of_rows = sums(&rows, &["window", "state", "process", "thread", "for_tag", "for_site"], |_| true);
    let keys = ["window", "state", "process_role", "thread_role", "for_tag", "for_site"];
    assert_eq!(sums(&segments, &keys, |_| true), of_rows, "{context}");
    // And all that is told of time that samples do not divide.
    let is_run = |answer: &Answer, row: &[Value]| text(answer, row, "state") == "run";
    let keys = ["window", "state", "process", "thread", "ended_by", "tag", "disturbance", "for_site"];
    let of_rows = sums(&rows, &keys, |row| !is_run(&rows, row));
    let keys = ["window", "state", "process_role", "thread_role", "ended_by", "tag", "disturbance", "for_site"];
    assert_eq!(sums(&segments, &keys, |row| !is_run(&segments, row)), of_rows, "{context}");
    segments.rows().count()
}

#[test]
fn segments_tile_the_window_and_add_up_to_the_rows() {
    let count = check_windows(check).iter().sum::<usize>();
    println!("{count} segments");
    assert!(count > 1_000, "{count} segments");
}

/// Thread and state of each part of a window by time; equal ones that follow each other are one.
fn joined(parts: impl Iterator<Item = (i64, i64, i64, &'static str)>) -> Vec<(i64, i64, i64, &'static str)> {
    let mut joined: Vec<(i64, i64, i64, &'static str)> = Vec::new();
    for (from, to, thread, state) in parts {
        match joined.last_mut() {
            Some(last) if (last.1, last.2, last.3) == (from, thread, state) => last.1 = to,
            _ => joined.push((from, to, thread, state)),
        }
    }
    joined
}

/// By the recursive definition over what really happened.
fn true_path(history: &History, anchor: usize) -> Vec<(i64, i64, i64, &'static str)> {
    let mut leaves = truth::path(history, (0, history.end), anchor);
    leaves.reverse();
    joined(leaves.iter().map(|leaf| {
        let state = match leaf.state {
            State::Run => "run",
            State::Ready(..) => "ready",
            State::Wait(..) => "wait",
            State::Unknown(_) => "unknown",
        };
        (leaf.start, leaf.end, i64::from(etl::tid(leaf.thread)), state)
    }))
}

#[test]
fn the_segments_of_a_path_are_those_that_really_were() {
    let mut count = 0;
    for seed in 0..SEEDS {
        let (history, [extracted, _]) = recordings(seed);
        let main = history.world.main.unwrap_or(0);
        let source = Source::archive(extracted.archive.path().to_owned());
        let accounts = accounts("..", ProcessFilter::default(), &etl::tid(main).to_string());
        let answer = asked(&source, &Segments(Question { accounts, ..Question::default() }));
        let found = joined(answer.rows().map(|row| {
            let state = match text(&answer, row, "state").as_str() {
                "run" => "run",
                "ready" => "ready",
                "wait" => "wait",
                _ => "unknown",
            };
            let [from, to, tid] = ["from_ns", "to_ns", "tid"].map(|key| integer(&answer, row, key));
            (from, to, tid, state)
        }));
        assert_eq!(found, true_path(&history, main), "seed {seed}");
        count += found.len();
    }
    println!("{count} segments");
    assert!(count > 100, "{count} segments");
}
