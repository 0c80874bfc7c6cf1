//! Rows of stack tags and hardware counters of `dump timeline` against other questions about each bucket, on recordings of the demo.

use std::collections::BTreeMap;

use tracesift_analysis::Span;
use tracesift_ask::Ask;
use tracesift_ask::answer::{Section, Value};
use tracesift_ask::question::methods::{self, Tags};
use tracesift_ask::question::timeline::{Buckets, LaneKind, Measure, Question};
use tracesift_ask::recording::OpenRecording;
use tracesift_ask::tag_files;
use tracesift_extract::counters::counter_sums;
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_trace::rows::ThreadRow;

use crate::cells::{integer, recording, text, value};

const BUCKETS: u16 = 7;

/// Each row, its sum checked, by what names it.
fn rows<K: Ord>(question: &Question, section: &Section, key: impl Fn(&[Value]) -> K) -> BTreeMap<K, Vec<i64>> {
    let mut rows = BTreeMap::new();
    for row in &section.rows {
        let Value::Integers(values) = value(question, row, "values") else { panic!("no values") };
        let total = integer(question, row, "total_ns") + integer(question, row, "total");
        assert_eq!(values.iter().sum::<i64>(), total);
        assert!(rows.insert(key(row), values.clone()).is_none(), "two rows of one lane");
    }
    rows
}

/// The time ranges of the buckets.
fn ranges(recording: &OpenRecording, question: &Question, section: &Section) -> Vec<Span> {
    let row = section.rows.first().expect("a row");
    let (from, width) = (integer(question, row, "from_ns"), integer(question, row, "bucket_ns"));
    let bucket = |place: i64| Span::new(from + width * place, (from + width * (place + 1)).min(recording.file.end + 1));
    (0..i64::from(BUCKETS)).map(bucket).collect()
}

#[test]
fn rows_of_tags_are_the_answers_about_their_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let recording = recording(&directory);
    let set = tag_files::load(&[], false, &mut |warning| panic!("{warning}")).expect("rules");
    for (measure, figure) in [(Measure::Cpu, "exclusive_cpu_ns"), (Measure::Samples, "samples")] {
        let question = Question {
            lane: LaneKind::Tag,
            measure: Some(measure),
            tags: Some(set.clone()),
            buckets: Buckets::Number(BUCKETS),
            ..Question::default()
        };
        let section = question.section(&recording).expect("an answer");
        let found = rows(&question, &section, |row| text(&question, row, "stack_tag"));
        let mut expected: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for (place, range) in ranges(&recording, &question, &section).into_iter().enumerate() {
            let tags = Tags { patterns: Patterns::default(), set: set.clone(), cache: None };
            let time = TimeRange { start: Some(range.start), end: Some(range.end) };
            let other = methods::Question { tags: Some(tags), time, ..methods::Question::default() };
            for row in other.section(&recording).expect("an answer").rows {
                let figure = integer(&other, &row, figure);
                let tag = text(&other, &row, "stack_tag");
                if figure > 0 && !tag.is_empty() {
                    expected.entry(tag).or_insert_with(|| vec![0; usize::from(BUCKETS)])[place] += figure;
                }
            }
        }
        assert!(found.len() > 5, "{found:?}");
        assert_eq!(found, expected, "{measure:?}");
    }
}

#[test]
fn rows_of_counters_are_the_sums_of_their_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let recording = recording(&directory);
    let threads: Vec<ThreadRow> = recording.archive().rows().expect("threads");
    for lane in [LaneKind::Process, LaneKind::Thread, LaneKind::Cpu] {
        let question = Question {
            lane,
            measure: Some(Measure::Counter),
            buckets: Buckets::Number(BUCKETS),
            ..Question::default()
        };
        let section = question.section(&recording).expect("an answer");
        let (mut expected, mut found) = (BTreeMap::new(), BTreeMap::new());
        for row in &section.rows {
            let Value::Integers(values) = value(&question, row, "values") else { panic!("no values") };
            let id = if lane == LaneKind::Thread { "tid" } else { "pid" };
            let id = if lane == LaneKind::Cpu { 0 } else { integer(&question, row, id) };
            let sums =
                found.entry((id, text(&question, row, "counter"))).or_insert_with(|| vec![0; usize::from(BUCKETS)]);
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        let ranges = ranges(&recording, &question, &section);
        let sums = counter_sums(recording.archive(), &ranges).expect("sums");
        for (place, rows) in sums.into_iter().enumerate() {
            let rows = rows.into_iter().filter(|row| row.best == Some(true) && row.idle != Some(true));
            for (row, value) in
                rows.filter_map(|row| row.value.map(|value| (row, value))).filter(|(_, value)| *value > 0)
            {
                let thread = row.thread.and_then(|thread| threads.get(thread.index()));
                let id = match lane {
                    LaneKind::Cpu => 0,
                    LaneKind::Thread => thread.map_or(-1, |thread| thread.tid),
                    _ => pid(&recording, row.process),
                };
                expected.entry((id, row.counter)).or_insert_with(|| vec![0; usize::from(BUCKETS)])[place] += value;
            }
        }
        assert!(found.len() > 2, "{found:?}");
        assert_eq!(found, expected, "{lane:?}");
    }
}

fn pid(recording: &OpenRecording, process: Option<tracesift_trace::ProcessId>) -> i64 {
    let rows: Vec<tracesift_trace::rows::ProcessRow> = recording.archive().rows().expect("processes");
    rows.iter().find(|row| Some(row.process) == process).map_or(-1, |row| row.pid)
}

#[test]
fn only_counters_with_the_name_have_rows() {
    let directory = tempfile::tempdir().expect("a directory");
    let recording = recording(&directory);
    let rows_for = |counter: &str| {
        let question = Question { measure: Some(Measure::Counter), counter: counter.into(), ..Question::default() };
        let section = question.section(&recording).expect("an answer");
        let names: Vec<String> = section.rows.iter().map(|row| text(&question, row, "counter")).collect();
        (names, question.candidates(&recording).expect("names"))
    };
    let (all, _) = rows_for("");
    let (cycles, _) = rows_for("*cycles*");
    assert!(!cycles.is_empty() && cycles.len() < all.len());
    assert!(cycles.iter().all(|name| name.to_lowercase().contains("cycles")), "{cycles:?}");
    let (none, candidates) = rows_for("nosuch");
    assert!(none.is_empty() && candidates[0].passing == 0 && candidates[0].names.len() >= 2, "{candidates:?}");
}
