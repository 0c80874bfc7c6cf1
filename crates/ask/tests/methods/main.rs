//! `dump cpu` per method on recordings of which everything is known.

mod cut;
mod oracle;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::ask;
use tracesift_ask::question::methods::Question;
use tracesift_ask::recording::Source;
use tracesift_ask::time_range::TimeRange;
use tracesift_extract::{Options, Outcome, extract, input, unwatched};
use tracesift_scenario::{Knobs, Scenario};

use oracle::{Figures, Key};

/// Writes a scenario, extracts it and gives the path of its archive.
fn archive(scenario: &Scenario, directory: &Path) -> PathBuf {
    for part in scenario.parts().expect("a recording") {
        std::fs::write(directory.join(format!("scenario{}", part.suffix)), &part.bytes).expect("written");
    }
    let argument = directory.join("scenario.etl").display().to_string();
    let selection = input::select(&[argument], &input::SelectOptions::default());
    let [input::Target::Recording(recording)] = &selection.targets[..] else { panic!("{:?}", selection.problems) };
    let extraction = extract(recording, &Options::default(), &mut unwatched).expect("extracted");
    let [Outcome::Extracted(report)] = &extraction.outcomes[..] else { panic!("one recording") };
    report.archive.clone()
}

fn answer(archive: &Path, question: &Question) -> Answer {
    let outcome = ask(&[Source::archive(archive.to_owned())], question);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

/// The rows of an answer by what they are of.
fn figures(answer: &Answer) -> BTreeMap<Key, Figures> {
    let at = |key: &str| answer.columns.iter().position(|column| column.key == key);
    let mut found = BTreeMap::new();
    for row in answer.rows() {
        let value = |key: &str| at(key).map_or(&Value::None, |at| &row[at]);
        let int = |key: &str| match value(key) {
            Value::Int(value) => Some(*value),
            Value::None => None,
            other => panic!("{key} is {other:?}"),
        };
        let text = |key: &str| match value(key) {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        let key = Key {
            process: text("process").expect("a process"),
            pid: int("pid").expect("a pid"),
            start: int("start_ns"),
            tid: int("tid"),
            module: text("module"),
            function: text("method").expect("a method"),
        };
        let figures = Figures {
            samples: int("samples"),
            cpu: int("cpu_ns"),
            exclusive: int("exclusive_cpu_ns"),
            wait: [int("wait_ns"), int("wait_sum_ns"), int("wait_count"), int("wait_longest_ns")],
            ready: [int("ready_ns"), int("ready_sum_ns"), int("ready_count"), int("ready_longest_ns")],
            switches: int("switches"),
            threads: int("threads"),
            first: int("first_ns"),
            last: int("last_ns"),
        };
        assert!(found.insert(key.clone(), figures).is_none(), "two rows of {key:?}");
    }
    found
}

/// Names of processes belong to the readers; the truth knows pids and starts.
fn without_names(figures: BTreeMap<Key, Figures>) -> BTreeMap<Key, Figures> {
    figures
        .into_iter()
        .map(|(key, figures)| {
            let process = if key.process == "DPC/ISR" { key.process } else { String::new() };
            (Key { process, ..key }, figures)
        })
        .collect()
}

fn difference(expected: &BTreeMap<Key, Figures>, found: &BTreeMap<Key, Figures>) -> Option<String> {
    let keys = expected.keys().chain(found.keys());
    let differs = keys.into_iter().find(|key| expected.get(key) != found.get(key))?;
    Some(format!("{differs:?}\n  expected {:?}\n  found    {:?}", expected.get(differs), found.get(differs)))
}

#[test]
fn figures_are_those_of_the_scenario() {
    let mut compared = 0;
    for seed in 0..60 {
        let knobs = Knobs::random(seed);
        let scenario = Scenario::random(seed, &knobs);
        let truth = scenario.truth();
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(&scenario, directory.path());
        let (third, two_thirds) = (truth.end / 3, truth.end / 3 * 2);
        let everything = TimeRange { start: Some(i64::MIN), end: Some(i64::MAX) };
        for (what, time, per_thread) in [
            ("summary", TimeRange::default(), false),
            ("events", everything, false),
            ("per thread", TimeRange::default(), true),
            ("a part", TimeRange { start: Some(third), end: Some(two_thirds) }, false),
            ("a part per thread", TimeRange { start: None, end: Some(third) }, true),
        ] {
            let filter = tracesift_ask::filter::ProcessFilter {
                // The idle loop, too, which is asked for by name.
                process: tracesift_ask::filter::ProcessPatterns::parse("*"),
                ..Default::default()
            };
            let found = answer(&archive, &Question { filter, time, per_thread, ..Question::default() });
            let expected = oracle::figures(&truth, time, per_thread);
            let found = without_names(figures(&found));
            compared += found.len();
            if let Some(difference) = difference(&expected, &found) {
                panic!("seed {seed}, {what}: {difference}\n{knobs:?}");
            }
        }
    }
    assert!(compared > 10_000, "{compared} rows are too few to say anything");
}
