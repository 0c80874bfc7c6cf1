//! Paths as profiles, and the chains of their rows: the whole is the window, and profiles tell of states and
//! disturbances what the account tells.

use std::collections::BTreeMap;

use tracesift_ask::answer::{Answer, Table, Value};
use tracesift_ask::filter::ProcessFilter;
use tracesift_ask::order::Top;
use tracesift_ask::path::AccountQuery;
use tracesift_ask::profile::{PathProfile, PathQuestion};
use tracesift_ask::question::path::{Detail, Question};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::{When, ask};
use tracesift_export::flame::Flame;
use tracesift_export::{Grouping, Stacked, folded};
use tracesift_scenario::causal::path::{self as truth, State};
use tracesift_scenario::causal::{History, etl};

use super::path::{Lacks, archive, ask_of, of, question, rows_of};
use super::path_machines::{SEEDS, accounts, check_windows, recordings};

const MS: u64 = 1_000_000;

fn path_of(accounts: &AccountQuery) -> PathQuestion {
    PathQuestion { accounts: accounts.clone(), ..PathQuestion::default() }
}

/// The profile as lines: stack, weight.
fn lines<'a>(profile: impl Into<Stacked<'a>>) -> Vec<(String, u64)> {
    let mut text = Vec::new();
    folded::write(profile, Grouping::Process, &mut text).expect("memory");
    let text = String::from_utf8(text).expect("text");
    let line = |line: &str| {
        let (stack, weight) = line.rsplit_once(' ').expect("a weight");
        (stack.to_owned(), weight.parse().expect("a number"))
    };
    let mut lines: Vec<(String, u64)> = text.lines().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn a_stack_leads_from_the_first_thread_over_its_waits_to_the_code_of_the_last_one() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let open = |lacks: Lacks| {
        let archive = archive(directory.path(), lacks);
        OpenRecording::open(&Source::archive(archive)).expect("opened")
    };
    let recording = open(Lacks::default());
    let question = path_of(&accounts("auto", of("a"), ""));
    let PathProfile { profile, notes, warning } = question.listed(&recording).expect("read").expect("a path");
    let a = "a.exe(10)";
    let lock = format!("{a};a.exe!A::Lock;ntdll.dll!NtWaitForSingleObject");
    let b = format!("{lock};[waits for];b owner #");
    let ask = format!("{b};b.exe!B::Ask;ntdll.dll!NtWaitForSingleObject");
    let c = format!("{ask};[waits for];c main");
    let mut expected = vec![
        (format!("{a};a.exe!A::Work"), 590_250_000),
        (format!("{a};a.exe!A::Rest"), 196_750_000),
        (format!("{lock};[ready, CPU: idle CPU];[disturbance: cpu-asleep]"), 3 * MS),
        (format!("{ask};[ready while other had the CPU];[disturbance: cpu-taken]"), MS),
        (format!("{b};[not sampled]"), 9 * MS),
        (format!("{c};[not sampled]"), 10 * MS),
        (format!("{c};c.exe!C::Read;ntdll.dll!NtWaitForSingleObject;[wait: disk 1 read]"), 80 * MS),
    ];
    expected.sort();
    assert_eq!(lines(&profile), expected);
    assert!(notes.is_empty() && warning.is_none(), "{notes:?} {warning:?}");
    // Every form has the same.
    let folded = question.folded(&recording).expect("read").expect("a path").profile;
    assert_eq!(lines(&folded), expected);
    let timed = question.timed(&recording).expect("read").expect("a path").profile;
    let times: Vec<i64> = timed.samples.iter().map(|sample| sample.time / 1_000_000).collect();
    assert!(times.contains(&50) && times.contains(&600) && times.contains(&110), "{times:?}");
    assert_eq!(lines(&timed.fold()), expected);
    let drawn = Flame::default().write(&profile, &mut Vec::new()).expect("memory");
    assert_eq!(drawn.total, 890 * MS, "the picture is as wide as the process lived");
    // No window, no profile.
    let nobody = path_of(&accounts("process:nobody", ProcessFilter::default(), ""));
    let why = nobody.listed(&recording).expect("read").expect_err("no such process");
    assert_eq!(why, "nothing fits process:nobody");
}

#[test]
fn a_profile_of_a_recording_without_switches_or_samples_is_still_as_wide_as_the_window() {
    for lacks in [Lacks { switches: true, ..Lacks::default() }, Lacks { samples: true, ..Lacks::default() }] {
        let directory = tempfile::tempdir().expect("temporary directory");
        let recording = OpenRecording::open(&Source::archive(archive(directory.path(), lacks))).expect("opened");
        let question = path_of(&accounts("auto", of("a"), ""));
        let found = question.listed(&recording).expect("read").expect("a path");
        let lines = lines(&found.profile);
        assert_eq!(lines.iter().map(|(_, weight)| weight).sum::<u64>(), 890 * MS, "{lines:?}");
        assert_eq!(found.notes.len(), usize::from(lacks.switches), "{:?}", found.notes);
        // Marks of one kind are several windows.
        let question = path_of(&accounts("mark:begin*..end*", ProcessFilter::default(), ""));
        let found = question.timed(&recording).expect("read").expect("a path");
        assert_eq!(found.profile.samples.total(), 110 * MS);
        assert!(found.notes.iter().any(|note| note.starts_with("2 windows fit")), "{:?}", found.notes);
    }
}

/// The chains of the rows of an account: what the row is, threads, methods they waited in, µs, pieces.
fn chains_of(answer: &Answer, keys: &[&str]) -> Vec<(String, String, i64, i64)> {
    let place = answer.columns.iter().position(|column| column.key == "chains").expect("a column");
    let mut found = Vec::new();
    for (row, (name, _)) in answer.rows().zip(rows_of(answer, keys)) {
        let Value::Table(Table { columns, rows, .. }) = &row[place] else { panic!("no table") };
        let value = |chain: &[Value], key: &str| {
            chain[columns.iter().position(|column| column.key == key).expect("a column")].clone()
        };
        for chain in rows {
            let (Value::Int(time), Value::Int(pieces)) = (value(chain, "path_ns"), value(chain, "pieces")) else {
                panic!("no figures")
            };
            let texts = match (value(chain, "threads"), value(chain, "waits_in")) {
                (Value::List(threads), Value::List(places)) => {
                    format!("{} in {}", threads.join(", "), places.join(", "))
                }
                _ => "others".to_owned(),
            };
            found.push((name.clone(), texts, time, pieces));
        }
    }
    found
}

#[test]
fn the_chains_of_a_row_say_who_waited_where_for_whom() {
    let answer = ask_of(Lacks::default(), &question("auto", of("a"), Detail::For));
    let (b, c) = ("a main, b owner # in a.exe!A::Lock", "a main, b owner #, c main in a.exe!A::Lock, b.exe!B::Ask");
    let expected = [("b|ready", b, 1, 1), ("b|run", b, 9, 2), ("c|run", c, 10, 2), ("c|wait", c, 80, 1)];
    let expected = expected.map(|(row, chain, ms, pieces)| (row.to_owned(), chain.to_owned(), ms * 1_000_000, pieces));
    // The main thread's own time has no chain.
    assert_eq!(chains_of(&answer, &["process", "state"]), expected);
    let state = chains_of(&ask_of(Lacks::default(), &question("auto", of("a"), Detail::State)), &["state"]);
    let run: Vec<_> = state.iter().filter(|(row, ..)| row == "run").map(|(_, _, time, _)| time / 1_000_000).collect();
    assert_eq!(run, [10, 9], "the largest first");
}

fn answer(source: &Source, accounts: &AccountQuery) -> Answer {
    let top = Top { take: Some(usize::MAX), skip: 0 };
    let question = Question { accounts: accounts.clone(), detail: Detail::For, top, ..Question::default() };
    let outcome = ask(std::slice::from_ref(source), &question, &When::default());
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

fn value<'a>(answer: &Answer, row: &'a [Value], key: &str) -> &'a Value {
    &row[answer.columns.iter().position(|column| column.key == key).expect("a column")]
}

fn integer(answer: &Answer, row: &[Value], key: &str) -> i64 {
    if let Value::Int(number) = value(answer, row, key) { *number } else { panic!("{key} is no number") }
}

fn text(answer: &Answer, row: &[Value], key: &str) -> String {
    if let Value::Text(text) = value(answer, row, key) { text.clone() } else { String::new() }
}

/// State and disturbance of a folded stack.
fn state_of(stack: &str) -> (String, String) {
    let mut frames: Vec<&str> = stack.split(';').collect();
    let disturbance = frames.last().and_then(|last| last.strip_prefix("[disturbance: ")?.strip_suffix(']'));
    if disturbance.is_some() {
        frames.pop();
    }
    let last = frames.last().copied().unwrap_or_default();
    let state = [("[ready", "ready"), ("[wait:", "wait"), ("[unknown:", "unknown")];
    let state = state.into_iter().find(|(begin, _)| last.starts_with(begin)).map_or("run", |(_, state)| state);
    (state.to_owned(), disturbance.unwrap_or_default().to_owned())
}

/// Compares the profiles of windows with their accounts; the number of stacks.
fn check(source: &Source, accounts: &AccountQuery, context: &str) -> usize {
    let answer = answer(source, accounts);
    let mut windows = BTreeMap::new();
    let mut states: BTreeMap<(String, String), u64> = BTreeMap::new();
    for row in answer.rows() {
        windows.insert(integer(&answer, row, "window"), integer(&answer, row, "window_ns"));
        let key = (text(&answer, row, "state"), text(&answer, row, "disturbance"));
        let time = integer(&answer, row, "path_ns");
        *states.entry(key).or_default() += u64::try_from(time).expect("not negative");
        // The chains of a row are its time, unless it is of the first thread itself.
        let Value::Table(Table { columns, rows, .. }) = value(&answer, row, "chains") else { panic!("no chains") };
        let place = columns.iter().position(|column| column.key == "path_ns").expect("a column");
        let of_chain = |chain: &Vec<Value>| if let Value::Int(time) = chain[place] { time } else { panic!("no time") };
        let times: Vec<i64> = rows.iter().map(of_chain).collect();
        let is_own = *value(&answer, row, "for_tag") == Value::None;
        assert_eq!(times.iter().sum::<i64>(), if is_own { 0 } else { time }, "{context}: {row:?}");
        assert!(rows.len() <= 11 && times.iter().take(10).is_sorted_by(|a, b| a >= b), "{context}: {times:?}");
    }
    states.retain(|_, time| *time > 0);
    let width = u64::try_from(windows.values().sum::<i64>()).expect("not negative");
    let recording = OpenRecording::open(source).expect("opened");
    let question = path_of(accounts);
    let listed = question.listed(&recording).expect("read").expect("a path").profile;
    let folded = question.folded(&recording).expect("read").expect("a path").profile;
    let timed = question.timed(&recording).expect("read").expect("a path").profile;
    assert_eq!(listed.weights.total(), width, "{context}");
    assert_eq!(timed.samples.total(), width, "{context}");
    let stacks = lines(&listed);
    assert_eq!(lines(&folded), stacks, "{context}");
    assert_eq!(lines(&timed.fold()), stacks, "{context}");
    let mut found: BTreeMap<(String, String), u64> = BTreeMap::new();
    stacks.iter().for_each(|(stack, weight)| *found.entry(state_of(stack)).or_default() += weight);
    assert_eq!(found, states, "{context}");
    stacks.len()
}

#[test]
fn the_profile_of_a_path_is_its_window_and_agrees_with_its_account() {
    let stacks = check_windows(check);
    println!("{stacks:?} stacks");
    assert!(stacks.iter().all(|count| *count > 1_000), "{stacks:?}");
}

/// Processes of chains of several threads, with the state at their ends: ns.
type Chains = BTreeMap<(String, Vec<String>), i64>;

/// By the recursive definition over what really happened; no runs, which samples divide.
fn true_chains(history: &History, anchor: usize) -> Chains {
    let world = &history.world;
    let mut chains = Chains::new();
    for leaf in truth::path(history, (0, history.end), anchor) {
        let state = match leaf.state {
            State::Run => continue,
            State::Ready(..) => "ready",
            State::Wait(..) => "wait",
            State::Unknown(_) => "unknown",
        };
        if leaf.chain.len() > 1 {
            let process = |thread: &usize| world.processes[world.threads[*thread].process].name.clone();
            let processes = leaf.chain.iter().map(process).collect();
            *chains.entry((state.to_owned(), processes)).or_default() += leaf.end - leaf.start;
        }
    }
    chains
}

/// By the answer; `None` where it does not show all chains.
fn shown_chains(answer: &Answer) -> Option<Chains> {
    let mut chains = Chains::new();
    for row in answer.rows().filter(|row| text(answer, row, "state") != "run") {
        let Value::Table(Table { columns, rows, .. }) = value(answer, row, "chains") else { panic!("no chains") };
        for chain in rows {
            let value = |key: &str| &chain[columns.iter().position(|column| column.key == key).expect("a column")];
            let (Value::List(threads), Value::List(places)) = (value("threads"), value("waits_in")) else {
                return None;
            };
            assert_eq!(threads.len(), places.len() + 1, "{chain:?}");
            // A creator stands for what it made.
            let is_born = |place: usize| places.get(place).is_none_or(|place| place != "(start of the thread)");
            let lives = threads.iter().enumerate().filter(|(place, _)| is_born(*place)).map(|(_, thread)| thread);
            let processes: Vec<String> =
                lives.map(|thread| thread.split(' ').next().unwrap_or_default().to_owned()).collect();
            if let (true, Value::Int(time)) = (processes.len() > 1, value("path_ns")) {
                *chains.entry((text(answer, row, "state"), processes)).or_default() += time;
            }
        }
    }
    Some(chains)
}

#[test]
fn the_chains_of_a_path_are_those_that_really_were() {
    let (mut compared, mut longest) = (0, 0);
    for seed in 0..SEEDS {
        let (history, [extracted, _]) = recordings(seed);
        let main = history.world.main.unwrap_or(0);
        let source = Source::archive(extracted.archive.path().to_owned());
        let anchor = etl::tid(main).to_string();
        let answer = answer(&source, &accounts("..", ProcessFilter::default(), &anchor));
        let Some(found) = shown_chains(&answer) else { continue };
        let expected = true_chains(&history, main);
        assert_eq!(found, expected, "seed {seed}");
        compared += expected.len();
        longest = expected.keys().map(|(_, chain)| chain.len()).chain([longest]).max().unwrap_or(0);
    }
    println!("{compared} chains, the longest of {longest} threads");
    assert!(compared > 20 && longest > 2, "{compared} chains, the longest of {longest} threads");
}
