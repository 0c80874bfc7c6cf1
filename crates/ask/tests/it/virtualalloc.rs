//! `dump virtualalloc` over blocks that are known: the stacks below processes, and their numbers.

use std::path::PathBuf;

use clap::{Args as _, FromArgMatches as _};
use tracesift_ask::answer::{Answer, Table, Value};
use tracesift_ask::ask;
use tracesift_ask::options::{Plan, QuestionOptions as _};
use tracesift_ask::question::virtualalloc;
use tracesift_ask::recording::Source;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{frame, process, stack};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{AllocationRow, SymbolRow};
use tracesift_trace::{FrameId, ProcessId, StackId};

/// Process, stack, bytes, begin and end of a block; a block without an end stays.
type Block = (i32, Option<i32>, i64, i64, Option<i64>);

const BLOCKS: [Block; 9] = [
    (1, Some(0), 100, 10, None),
    (1, Some(1), 30, 20, None),
    // The functions of stack 0, at other addresses.
    (1, Some(2), 50, 30, None),
    (1, Some(3), 1_000, 40, Some(60)),
    (1, None, 7, 50, None),
    (2, Some(2), 40, 60, None),
    (2, Some(1), 5, 70, Some(90)),
    (2, Some(4), 41, 80, None),
    (1, Some(1), 1, 95, None),
];

/// The functions of each stack, leaf first.
const STACKS: [&[i32]; 5] = [&[0, 2], &[1, 2], &[3, 2], &[1, 0, 2], &[2]];
/// Two frames are in one function.
const FUNCTIONS: [&str; 4] = ["Leak", "Parse", "Main", "Leak"];

fn archive() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("memory.sift"));
    writer.write_table(&[process(1, 100, "first"), process(2, 200, "second")]);
    writer.write_table(&[0, 1, 2, 3].map(|id| frame(id, 0x1000 + i64::from(id))));
    let symbol = |(id, name): (i32, &&str)| SymbolRow {
        frame: FrameId(id),
        module: Some("app".to_owned()),
        function: (*name).to_owned(),
        ..SymbolRow::default()
    };
    writer.write_table(&(0..).zip(&FUNCTIONS).map(symbol).collect::<Vec<_>>());
    writer.write_table(&(0..).zip(STACKS).map(|(id, frames)| stack(id, frames)).collect::<Vec<_>>());
    let mut rows: Vec<AllocationRow> = BLOCKS
        .iter()
        .map(|(owner, stack, size, start, end)| AllocationRow {
            time: end.unwrap_or(100),
            start: *start,
            process: ProcessId(*owner),
            stack: stack.map(StackId),
            base: start << 12,
            size: *size,
            last: Some(true),
            open: Some(end.is_none()),
            ..AllocationRow::default()
        })
        .collect();
    rows.sort_by_key(|row| row.time);
    writer.write_table(&rows);
    let info = TraceInfo { kind: "etl".to_owned(), end_ns: 100, ..TraceInfo::default() };
    (directory, finish_as(writer, info))
}

fn answer(archive: &std::path::Path, words: &[&str]) -> Answer {
    let command = virtualalloc::Options::augment_args(clap::Command::new("virtualalloc").no_binary_name(true));
    let command = command.arg(clap::Arg::new("details").long("details").action(clap::ArgAction::SetTrue));
    let matches = command.try_get_matches_from(words).expect("options");
    let options = virtualalloc::Options::from_arg_matches(&matches).expect("options");
    let Plan::Archives(asking) = options.plan(&mut |warning| panic!("{warning}")).expect("a plan") else {
        panic!("archives answer");
    };
    ask(&[Source::archive(archive.to_owned())], asking.question.as_ref(), &options.when()).answer
}

fn place(answer: &Answer, key: &str) -> usize {
    answer.columns.iter().position(|column| column.key == key).unwrap_or_else(|| panic!("a column {key}"))
}

/// Number, blocks, bytes and leaf of a stack.
type Below = (Option<i64>, i64, i64, Option<String>);

fn of_table(table: &Table) -> Vec<Below> {
    let keys: Vec<&str> = table.columns.iter().map(|column| column.key).collect();
    assert_eq!(keys, ["stack_number", "not_released", "not_released_bytes", "stack"]);
    let row = |row: &Vec<Value>| match row.as_slice() {
        [number, Value::Int(count), Value::Int(bytes), Value::List(lines)] => {
            let number = if let Value::Int(number) = number { Some(*number) } else { None };
            (number, *count, *bytes, lines.first().cloned())
        }
        other => panic!("{other:?}"),
    };
    table.rows.iter().map(row).collect()
}

/// The stacks below each process, by pid.
fn stacks(answer: &Answer) -> Vec<(i64, Vec<Below>)> {
    let [pid, stacks] = ["pid", "stacks"].map(|key| place(answer, key));
    let row = |row: &Vec<Value>| match (&row[pid], &row[stacks]) {
        (Value::Int(pid), Value::Table(table)) => (*pid, of_table(table)),
        other => panic!("{other:?}"),
    };
    answer.rows().map(row).collect()
}

fn below(number: i64, count: i64, bytes: i64, leaf: &str) -> Below {
    (Some(number), count, bytes, Some(format!("app!{leaf}")))
}

#[test]
fn each_process_has_its_stacks_with_numbers_and_equal_functions_are_one_stack() {
    let (_directory, archive) = archive();
    let without = (None, 1, 7, Some("(no stack)".to_owned()));
    let first = vec![without, below(1, 2, 31, "Parse"), below(0, 2, 150, "Leak")];
    let second = vec![below(0, 1, 40, "Leak"), below(4, 1, 41, "Main")];
    for words in [&["--details"][..], &["--top-stacks=10"], &["--top-stacks=3", "--details", "--by=process"]] {
        assert_eq!(stacks(&answer(&archive, words)), [(200, second.clone()), (100, first.clone())], "{words:?}");
    }
    // The largest ones stay, and a time range changes no number.
    let largest = [(200, second[1..].to_vec()), (100, first[2..].to_vec())];
    assert_eq!(stacks(&answer(&archive, &["--top-stacks=1"])), largest);
    let others = [(200, second[..1].to_vec()), (100, first[1..2].to_vec())];
    assert_eq!(stacks(&answer(&archive, &["--top-stacks=1", "--skip-stacks=1"])), others);
    let late = stacks(&answer(&archive, &["--details", "--time=25ns..", "-p", "first"]));
    let without = (None, 1, 7, Some("(no stack)".to_owned()));
    assert_eq!(late, [(100, vec![below(1, 1, 1, "Parse"), without, below(0, 1, 50, "Leak")])]);
    // The order of the rows is that of the stacks, too.
    let counts = stacks(&answer(&archive, &["--details", "--sort=count", "-p", "first"]));
    assert_eq!(counts[0].1.iter().map(|row| row.1).collect::<Vec<_>>(), [1, 2, 2]);
}

/// Bytes of the two processes at each tenth of the recording, from the blocks.
fn growing_tenths(owner: i32) -> i64 {
    let at = |time: i64| -> i64 {
        let is_alive = |block: &&Block| block.0 == owner && block.3 <= time && block.4.is_none_or(|end| end > time);
        BLOCKS.iter().filter(is_alive).map(|block| block.2).sum()
    };
    (0..10).filter(|tenth| at((tenth + 1) * 10) > at(tenth * 10)).count() as i64
}

#[test]
fn the_growth_is_as_regular_as_the_tenths_in_which_bytes_are_added() {
    let (_directory, archive) = archive();
    let figures = |words: &[&str]| -> Vec<[i64; 2]> {
        let answer = answer(&archive, words);
        let keys = ["pid", "growing_tenths"].map(|key| place(&answer, key));
        let int = |value: &Value| if let Value::Int(number) = value { *number } else { -1 };
        answer.rows().map(|row| keys.map(|key| int(&row[key]))).collect()
    };
    let expected = [[200, growing_tenths(2)], [100, growing_tenths(1)]];
    assert_eq!(expected, [[200, 3], [100, 6]]);
    assert_eq!(figures(&["--sort=regularity", "--by=process"]), expected);
    // Of 40 ns a tenth has 4: the first process gets 100 bytes behind its begin, 30 and 50 at single instants.
    assert_eq!(figures(&["--time=5ns..45ns", "--by=process"]), [[100, 4]]);
    // Too short for tenths.
    assert_eq!(figures(&["--time=8ns..12ns", "--by=process"]), [[100, -1]]);
    // Of equally regular stacks the one with more bytes stands last.
    let stacks = answer(&archive, &["--sort=regularity", "--by=stack"]);
    let bytes = place(&stacks, "not_released_bytes");
    let last = stacks.rows().last().map(|row| row[bytes].clone());
    assert_eq!(last, Some(Value::Int(190)));
}

#[test]
fn what_the_end_of_a_process_freed_is_left_if_somebody_asks_for_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("memory.sift"));
    writer.write_table(&[process(1, 100, "first")]);
    let block = |size: i64, (start, time): (i64, i64), [by_exit, open]: [bool; 2]| AllocationRow {
        time,
        start,
        process: ProcessId(1),
        size,
        last: Some(true),
        by_exit: Some(by_exit),
        open: Some(open),
        ..AllocationRow::default()
    };
    let rows =
        [block(1, (10, 20), [false, false]), block(2, (10, 50), [true, false]), block(4, (30, 100), [false, true])];
    writer.write_table(&rows);
    let archive = finish_as(writer, TraceInfo { kind: "etl".to_owned(), end_ns: 100, ..TraceInfo::default() });
    let figures = |words: &[&str]| {
        let answer = answer(&archive, words);
        let keys = ["not_released_bytes", "freed_bytes", "by_exit_bytes"].map(|key| place(&answer, key));
        answer.rows().next().map(|row| keys.map(|key| if let Value::Int(bytes) = row[key] { bytes } else { -1 }))
    };
    assert_eq!(figures(&[]), Some([4, 3, 2]));
    assert_eq!(figures(&["--include-exited"]), Some([6, 1, 2]));
    assert_eq!(figures(&["--leak"]), Some([4, 0, 0]));
    assert_eq!(figures(&["--leak", "--include-exited"]), Some([6, 0, 2]));
    assert_eq!(figures(&["--include-exited", "--time=60ns.."]), Some([0, 0, 0]));
}

#[test]
fn a_number_of_a_stack_has_its_blocks() {
    let (_directory, archive) = archive();
    let sizes = |words: &[&str]| {
        let answer = answer(&archive, words);
        let bytes = place(&answer, "bytes");
        let mut sizes: Vec<i64> =
            answer.rows().map(|row| if let Value::Int(bytes) = row[bytes] { bytes } else { -1 }).collect();
        sizes.sort_unstable();
        sizes
    };
    let of_stacks = |wanted: &[i32]| {
        let is_wanted = |stack: Option<i32>| stack.is_some_and(|stack| wanted.contains(&stack));
        let mut sizes: Vec<i64> = BLOCKS.iter().filter(|block| is_wanted(block.1)).map(|block| block.2).collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sizes(&["--stack=0"]), of_stacks(&[0, 2]));
    // Any number of a stack with these functions.
    assert_eq!(sizes(&["--stack=2"]), of_stacks(&[0, 2]));
    assert_eq!(sizes(&["--stack=1;4", "--list"]), of_stacks(&[1, 4]));
    assert_eq!(sizes(&["--stack=77"]), Vec::<i64>::new());
    // A list alone: with a grouping the number only filters.
    let grouped = answer(&archive, &["--stack=1", "--by=process,stack"]);
    let [number, bytes] = ["stack_number", "not_released_bytes"].map(|key| place(&grouped, key));
    let rows: Vec<[&Value; 2]> = grouped.rows().map(|row| [&row[number], &row[bytes]]).collect();
    assert_eq!(rows, [[&Value::Int(1), &Value::Int(0)], [&Value::Int(1), &Value::Int(31)]]);
}
