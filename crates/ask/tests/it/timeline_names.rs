//! Rows of methods and modules of `dump timeline` against `dump cpu` about each bucket, and against plain sums over the samples.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_analysis::{Attribution, Span};
use tracesift_ask::answer::{Section, Value};
use tracesift_ask::question::methods;
use tracesift_ask::question::timeline::{Buckets, LaneKind, Measure, Question};
use tracesift_ask::recording::OpenRecording;
use tracesift_ask::{Ask, MethodPatterns};
use tracesift_extract::stack_methods::{Granularity, NamedStacks};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{CpuSampleRow, Origin, ProcessRow};

use crate::cells::{integer, recording, text, value};

const BUCKETS: u16 = 7;

/// The values of each row by its name.
fn rows(question: &Question, section: &Section) -> BTreeMap<String, Vec<i64>> {
    let values = |row: &Vec<Value>| {
        let Value::Integers(values) = value(question, row, "values") else { panic!("no values") };
        assert_eq!(text(question, row, "lane"), text(question, row, "kind"));
        (text(question, row, "lane"), values.clone())
    };
    let found: BTreeMap<_, _> = section.rows.iter().map(values).collect();
    assert_eq!(found.len(), section.rows.len(), "two rows of one lane");
    found
}

fn question(lane: LaneKind, measure: Measure, patterns: &str) -> Question {
    Question {
        lane,
        measure: Some(measure),
        methods: MethodPatterns::parse(patterns, false),
        buckets: Buckets::Number(BUCKETS),
        ..Question::default()
    }
}

/// The time ranges of the buckets.
fn buckets(recording: &OpenRecording, question: &Question, section: &Section) -> Vec<Span> {
    let row = section.rows.first().expect("a row");
    let (from, width) = (integer(question, row, "from_ns"), integer(question, row, "bucket_ns"));
    let bucket = |place: i64| Span::new(from + width * place, (from + width * (place + 1)).min(recording.file.end + 1));
    (0..i64::from(BUCKETS)).map(bucket).collect()
}

fn none() -> Vec<i64> {
    vec![0; usize::from(BUCKETS)]
}

#[test]
fn rows_of_methods_are_the_answers_about_their_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let recording = recording(&directory);
    for (measure, figure) in [(Measure::Cpu, "cpu_ns"), (Measure::Samples, "samples")] {
        for patterns in ["", "*Write*;!Nt*", "ntoskrnl.exe!*"] {
            let question = question(LaneKind::Method, measure, patterns);
            let section = question.section(&recording).expect("an answer");
            let mut expected: BTreeMap<String, Vec<i64>> = BTreeMap::new();
            for (place, range) in buckets(&recording, &question, &section).into_iter().enumerate() {
                let time = TimeRange { start: Some(range.start), end: Some(range.end) };
                let methods = Some(MethodPatterns::parse(patterns, false));
                let other = methods::Question { methods, time, ..methods::Question::default() };
                for row in other.section(&recording).expect("an answer").rows {
                    let (module, method) = (text(&other, &row, "module"), text(&other, &row, "method"));
                    let name = if module.is_empty() { method } else { format!("{module}!{method}") };
                    let figure = integer(&other, &row, figure);
                    if figure > 0 {
                        expected.entry(name).or_insert_with(none)[place] += figure;
                    }
                }
            }
            let found = rows(&question, &section);
            assert!(found.len() > 3, "{found:?}");
            assert_eq!(found, expected, "{measure:?} {patterns}");
        }
    }
}

#[test]
fn rows_of_modules_are_sums_of_samples() {
    let directory = tempfile::tempdir().expect("a directory");
    let recording = recording(&directory);
    let archive = recording.archive();
    let named = NamedStacks::of(archive, Granularity::default()).expect("stacks");
    let samples: Vec<CpuSampleRow> = archive.rows().expect("samples");
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    for (measure, patterns) in [(Measure::Cpu, ""), (Measure::Samples, ""), (Measure::Cpu, "nt*!*;!*!*Ex*")] {
        let question = question(LaneKind::Module, measure, patterns);
        let section = question.section(&recording).expect("an answer");
        let ranges = buckets(&recording, &question, &section);
        let wanted = MethodPatterns::parse(patterns, false);
        let mut expected: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        // What interrupts took is a process of its own, with the id of the idle loop.
        let counts = |row: &ProcessRow| row.pid != 0 || row.origin == Origin::Pseudo;
        for row in samples.iter().filter(|row| counts(&processes[row.process.index()])) {
            let mut found = Vec::new();
            Attribution::of_sample(row.stack, row.frame).methods(&mut &named.stacks, &mut found);
            let names = found.iter().map(|method| named.names.name(*method));
            let names = names.filter(|name| wanted.matches(name.module.as_deref(), &name.function));
            let modules: BTreeSet<String> = names.filter_map(|name| name.module).collect();
            let place = ranges.iter().position(|range| range.contains(row.time)).expect("a bucket");
            for module in modules {
                let amount = if measure == Measure::Cpu { row.weight } else { 1 };
                expected.entry(module).or_insert_with(none)[place] += amount;
            }
        }
        let found = rows(&question, &section);
        assert!(found.len() > 1, "{found:?}");
        assert_eq!(found, expected, "{measure:?} {patterns}");
    }
}
