//! `dump stacks` on the same recordings: each line of each tree against the truth.

use std::collections::BTreeMap;

use tracesift_analysis::Measure as OfThreads;
use tracesift_analysis::call_tree::Direction;
use tracesift_ask::MethodPatterns;
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::ask;
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::measure::Measure;
use tracesift_ask::order::Top;
use tracesift_ask::question::methods;
use tracesift_ask::question::stacks::Question;
use tracesift_ask::recording::Source;
use tracesift_extract::stack_methods::Granularity;
use tracesift_grammar::Patterns;
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, MethodName, ProcessKind, Scenario, Truth};

use crate::methods::{archive, oracle};

/// Process, pid, start, tid, and the lines from the root on.
type Key = (String, i64, Option<i64>, Option<i64>, Vec<String>);
/// Total, own time and count; of all threads and processes that go by the same key.
type Lines = BTreeMap<Key, Vec<[i64; 3]>>;

fn everybody() -> ProcessFilter {
    ProcessFilter { process: ProcessPatterns::parse("*"), ..ProcessFilter::default() }
}

fn everything() -> Question {
    Question { filter: everybody(), top: Top { take: Some(usize::MAX), skip: 0 }, ..Question::default() }
}

/// The rows of an answer.
fn lines(answer: &Answer) -> Lines {
    let at = |key: &str| answer.columns.iter().position(|column| column.key == key);
    let mut found = Lines::new();
    let mut paths: Vec<Vec<String>> = Vec::new();
    for (number, row) in answer.rows().enumerate() {
        let value = |key: &str| at(key).map_or(&Value::None, |at| &row[at]);
        let int = |key: &str| if let Value::Int(value) = value(key) { Some(*value) } else { None };
        let text = |key: &str| if let Value::Text(text) = value(key) { text.clone() } else { String::new() };
        assert_eq!(int("row"), Some(number as i64));
        let mut path = int("parent").map_or_else(Vec::new, |parent| paths[parent as usize].clone());
        assert_eq!(int("depth"), Some(path.len() as i64));
        path.push(match &*text("kind") {
            "method" => name(&text("module"), &text("method")),
            "module" => text("module").to_lowercase(),
            "no stack" => "[no stack]".to_owned(),
            kind => panic!("{kind} where every line is shown"),
        });
        paths.push(path.clone());
        let process = if text("process") == "DPC/ISR" { "DPC/ISR".to_owned() } else { String::new() };
        let figures = ["total_ns", "self_ns", "count"].map(|key| int(key).expect("a figure"));
        found
            .entry((process, int("pid").expect("a pid"), int("start_ns"), int("tid"), path))
            .or_default()
            .push(figures);
    }
    found.values_mut().for_each(|lines| lines.sort_unstable());
    found
}

fn name(module: &str, function: &str) -> String {
    if module.is_empty() { function.to_owned() } else { format!("{module}!{function}") }
}

/// Time, own time and count of each line, by its way from the root.
type Tree = BTreeMap<Vec<String>, [i64; 3]>;

/// The same from the truth, with `path` making the lines of a stack, which stands leaf first; none where it is left out.
fn expected(truth: &Truth, question: &Question, path: impl Fn(&[&MethodName]) -> Option<Vec<String>>) -> Lines {
    let (a, b) = question.time.bounds();
    // By process and thread first, since several may go by one key.
    let mut trees: BTreeMap<(usize, Option<usize>), Tree> = BTreeMap::new();
    let mut add = |process: usize, thread: usize, stack: Vec<&MethodName>, time: i64| {
        let Some(path) = path(&stack) else { return };
        let tree = trees.entry((process, question.per_thread.then_some(thread))).or_default();
        for length in 1..=path.len() {
            let line = tree.entry(path[..length].to_vec()).or_default();
            line[0] += time;
            line[1] += if length == path.len() { time } else { 0 };
            line[2] += 1;
        }
    };
    let Measure::Threads(measure) = question.measure else { panic!("{:?}", question.measure) };
    match measure {
        OfThreads::Cpu => {
            for sample in truth.samples.iter().filter(|sample| a <= sample.time && sample.time < b) {
                let stack = match sample.stack {
                    Some(stack) => truth.stack_names(stack),
                    None => vec![&truth.names[sample.function]],
                };
                add(sample.process, sample.thread, stack, sample.weight);
            }
        }
        OfThreads::Wait | OfThreads::Ready => {
            let ended = truth.switches.iter().map(|switch| (switch.thread, switch.off, switch.wait_stack));
            // Nobody tells the stack of a thread that is not switched in again.
            let last = truth.threads.iter().enumerate().filter_map(|(at, thread)| Some((at, thread.closing?, None)));
            for (thread, off, stack) in ended.chain(last) {
                let (wait, ready) = oracle::off_cpu(off, question.time);
                let span = if measure == OfThreads::Wait { wait } else { ready };
                let stack = stack.map(|stack| truth.stack_names(stack)).unwrap_or_default();
                if let Some((from, to)) = span {
                    add(truth.threads[thread].process, thread, stack, to - from);
                }
            }
        }
    }
    let mut of_process: BTreeMap<usize, i64> = BTreeMap::new();
    for ((process, _), tree) in &trees {
        *of_process.entry(*process).or_default() += tree.values().map(|[_, own, _]| own).sum::<i64>();
    }
    let mut expected = Lines::new();
    for ((process, thread), tree) in trees.into_iter().filter(|((process, _), _)| of_process[process] > 0) {
        let row = &truth.processes[process];
        let name = if row.kind == ProcessKind::Interrupts { "DPC/ISR".to_owned() } else { String::new() };
        let start = if row.kind == ProcessKind::Instance { row.start } else { None };
        let tid = thread.map(|thread| i64::from(truth.threads[thread].tid));
        for (path, figures) in tree {
            expected.entry((name.clone(), i64::from(row.pid), start, tid, path)).or_default().push(figures);
        }
    }
    expected.values_mut().for_each(|lines| lines.sort_unstable());
    expected
}

fn label(name: &MethodName) -> String {
    self::name(name.module.as_deref().unwrap_or_default(), &name.function)
}

fn plain(direction: Direction) -> impl Fn(&[&MethodName]) -> Option<Vec<String>> {
    move |stack| {
        let mut path: Vec<String> = stack.iter().map(|name| label(name)).collect();
        if direction == Direction::Callees {
            path.reverse();
        }
        Some(if path.is_empty() { vec!["[no stack]".to_owned()] } else { path })
    }
}

#[test]
fn lines_are_those_of_the_scenario() {
    let mut compared = 0;
    for seed in 200..230 {
        let knobs = Knobs::random(seed);
        let scenario = Scenario::random(seed, &knobs);
        let truth = scenario.truth();
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(&scenario, directory.path());
        let a_part = TimeRange { start: Some(truth.end / 4), end: Some(truth.end / 2) };
        for measure in [Measure::CPU, Measure::WAIT, Measure::READY] {
            for (direction, per_thread, time) in [
                (Direction::Callees, false, TimeRange::default()),
                (Direction::Callers, false, TimeRange::default()),
                (Direction::Callees, true, a_part),
                (Direction::Callers, false, a_part),
            ] {
                let question = Question { measure, direction, per_thread, time, ..everything() };
                let found = lines(&answer(&archive, &question));
                let expected = expected(&truth, &question, plain(direction));
                compared += found.len();
                same(&found, &expected, &format!("seed {seed}, {measure:?} {direction:?} {per_thread} {time:?}"));
            }
        }
    }
    assert!(compared > 10_000, "{compared} lines are too few to say anything");
}

#[test]
fn code_without_symbols_is_one_line_per_module() {
    let mut folded = 0;
    for seed in 230..245 {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        let truth = scenario.truth();
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(&scenario, directory.path());
        for direction in [Direction::Callees, Direction::Callers] {
            let granularity = Granularity { fold_unresolved: true, ..Granularity::default() };
            let question = Question { direction, granularity, ..everything() };
            let found = lines(&answer(&archive, &question));
            let expected = expected(&truth, &question, |stack| {
                let mut path: Vec<String> = stack
                    .iter()
                    .map(|method| match &method.module {
                        Some(module) if method.function.starts_with(&format!("{module}+0x")) => name(module, module),
                        _ => label(method),
                    })
                    .collect();
                if direction == Direction::Callees {
                    path.reverse();
                }
                Some(if path.is_empty() { vec!["[no stack]".to_owned()] } else { path })
            });
            let is_folded = |line: &String| line.split_once('!').is_some_and(|(module, function)| module == function);
            folded += found.keys().filter(|(.., path)| path.last().is_some_and(is_folded)).count();
            same(&found, &expected, &format!("seed {seed}, {direction:?}"));
        }
    }
    assert!(folded > 100, "{folded} lines are too few to say anything");
}

#[test]
fn stacks_are_chosen_begun_folded_and_cut_off() {
    let mut compared = 0;
    for seed in 300..320 {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        let truth = scenario.truth();
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(&scenario, directory.path());
        for direction in [Direction::Callees, Direction::Callers] {
            for measure in [Measure::CPU, Measure::WAIT] {
                let question = Question {
                    measure,
                    direction,
                    methods: MethodPatterns::parse("*a*", false),
                    root: MethodPatterns::parse("*e*", false),
                    fold: Patterns::parse("*.dll"),
                    cut: Patterns::parse("*.sys"),
                    ..everything()
                };
                let found = lines(&answer(&archive, &question));
                let expected = expected(&truth, &question, |stack| chosen(stack, direction));
                compared += found.len();
                same(&found, &expected, &format!("seed {seed}, {measure:?} {direction:?}"));
            }
        }
    }
    assert!(compared > 1_000, "{compared} lines are too few to say anything");
}

/// A stack by the rules of the test above, outermost frame first, frame by frame.
fn chosen(stack: &[&MethodName], direction: Direction) -> Option<Vec<String>> {
    let module = |name: &MethodName| name.module.as_deref().unwrap_or_default().to_lowercase();
    let has = |name: &MethodName, letter: char| name.function.to_lowercase().contains(letter);
    if !stack.iter().any(|name| has(name, 'a')) {
        return None;
    }
    let mut frames: Vec<&MethodName> = Vec::new();
    for &frame in stack.iter().rev() {
        frames.push(frame);
        if module(frame).ends_with(".sys") {
            break;
        }
    }
    let from_root: Vec<&MethodName> = match direction {
        Direction::Callees => frames.into_iter().skip_while(|name| !has(name, 'e')).collect(),
        Direction::Callers => frames.into_iter().rev().skip_while(|name| !has(name, 'e')).collect(),
    };
    let mut path: Vec<String> = Vec::new();
    for frame in from_root {
        let folds = module(frame).ends_with(".dll");
        let line = if folds { module(frame) } else { label(frame) };
        if !(folds && path.last() == Some(&line)) {
            path.push(line);
        }
    }
    (!path.is_empty()).then_some(path)
}

#[test]
fn the_first_level_towards_callers_is_what_methods_have_by_themselves() {
    let mut compared = 0;
    for seed in 400..420 {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(&scenario, directory.path());
        let question = Question { direction: Direction::Callers, ..everything() };
        let mut roots = lines(&answer(&archive, &question));
        roots.retain(|(.., path), _| path.len() == 1 && path[0] != "[no stack]");
        let methods = methods::Question {
            filter: everybody(),
            methods: Some(MethodPatterns::default()),
            ..methods::Question::default()
        };
        let mut exclusive: BTreeMap<Key, Vec<i64>> = BTreeMap::new();
        for (key, figures) in
            crate::methods::without_names(crate::methods::figures(&crate::methods::answer(&archive, &methods)))
        {
            let path = vec![name(key.module.as_deref().unwrap_or_default(), &key.function)];
            let own = figures.iter().filter_map(|figures| figures.exclusive).filter(|own| *own > 0);
            let all: Vec<i64> = own.collect();
            if !all.is_empty() {
                exclusive.insert((key.process, key.pid, key.start, None, path), all);
            }
        }
        compared += roots.len();
        let roots: BTreeMap<Key, Vec<i64>> =
            roots.into_iter().map(|(key, lines)| (key, lines.iter().map(|line| line[0]).collect())).collect();
        assert_eq!(roots, exclusive, "seed {seed}");
    }
    assert!(compared > 500, "{compared} methods are too few to say anything");
}

fn answer(archive: &std::path::Path, question: &Question) -> Answer {
    let outcome = ask(&[Source::archive(archive.to_owned())], question, &tracesift_ask::When::default());
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

fn same(found: &Lines, expected: &Lines, what: &str) {
    let differs = found.keys().chain(expected.keys()).find(|key| found.get(key) != expected.get(key));
    if let Some(key) = differs {
        panic!("{what}: {key:?}\n  expected {:?}\n  found    {:?}", expected.get(key), found.get(key));
    }
}
