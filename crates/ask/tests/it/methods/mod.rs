//! `dump cpu` per method on recordings of which everything is known.

mod cut;
mod oracle;
mod series;
mod stacks;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracesift_analysis::tags::{Nesting, TagFile, TagSet};
use tracesift_ask::MethodPatterns;
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::measure::Measure;
use tracesift_ask::profile;
use tracesift_ask::question::cpu;
use tracesift_ask::question::methods::{Question, Sort, Tags};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::tag_cache::TagCache;
use tracesift_ask::{When, ask};
use tracesift_export::{Grouping, folded};
use tracesift_extract::Options;
use tracesift_grammar::Patterns;
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, ProcessKind, Scenario, ThreadTruth};
use tracesift_testing::recording::{extract_file, write_etl};
use tracesift_trace::rows::TagSummaryRow;

use oracle::{Figures, Key, Rows};

/// Writes a scenario, extracts it and gives the path of its archive.
fn archive(scenario: &Scenario, directory: &Path) -> PathBuf {
    extract_file(&write_etl(scenario, directory), &Options::default()).archive
}

fn answer(archive: &Path, question: &Question) -> Answer {
    let outcome = ask(&[Source::archive(archive.to_owned())], question, &When::default());
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

/// The rows of an answer by what they are of: more than one where threads have the same id, as those of the idle loop.
fn figures(answer: &Answer) -> Rows {
    let at = |key: &str| answer.columns.iter().position(|column| column.key == key);
    let mut found = Rows::new();
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
        found.entry(key).or_default().push(figures);
    }
    found.values_mut().for_each(|rows| rows.sort());
    found
}

/// Names of processes belong to the readers; the truth knows pids and starts.
fn without_names(figures: Rows) -> Rows {
    figures
        .into_iter()
        .map(|(key, figures)| {
            let process = if key.process == "DPC/ISR" { key.process } else { String::new() };
            (Key { process, ..key }, figures)
        })
        .collect()
}

fn difference(expected: &Rows, found: &Rows) -> Option<String> {
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
            // The idle loop, too, which is asked for by name.
            let filter = ProcessFilter { process: ProcessPatterns::parse("*"), ..ProcessFilter::default() };
            let found = answer(
                &archive,
                &Question { filter, time, per_thread, methods: Some(MethodPatterns::default()), ..Question::default() },
            );
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

/// What the processes of an archive have in all, by name, pid and start: CPU, wait and ready.
fn of_processes(archive: &Path, time: TimeRange) -> BTreeMap<(String, i64, Option<i64>), [i64; 3]> {
    let answer = ask(
        &[Source::archive(archive.to_owned())],
        &cpu::Question { time, ..cpu::Question::default() },
        &When::default(),
    )
    .answer;
    sums(&answer, ["cpu_ns", "wait_ns", "ready_ns"])
}

fn sums(answer: &Answer, keys: [&str; 3]) -> BTreeMap<(String, i64, Option<i64>), [i64; 3]> {
    let at = |key: &str| answer.columns.iter().position(|column| column.key == key).expect("a column");
    let mut sums: BTreeMap<(String, i64, Option<i64>), [i64; 3]> = BTreeMap::new();
    for row in answer.rows() {
        let int = |key: &str| match row[at(key)] {
            Value::Int(value) => Some(value),
            _ => None,
        };
        let Value::Text(name) = &row[at("process")] else { panic!("a process") };
        let sum = sums.entry((name.clone(), int("pid").expect("a pid"), int("start_ns"))).or_default();
        for (sum, key) in sum.iter_mut().zip(keys) {
            *sum += int(key).unwrap_or(0);
        }
    }
    sums.retain(|_, sum| *sum != [0; 3]);
    sums
}

/// Tags for the functions that scenarios name, with every kind of rule.
const TAGS: &str = r#"<?xml version="1.0"?>
<Tag Name="">
  <Tag Name="Kernel"><Entrypoint Module="nt*" Method="*"/>
    <Tag Name="Waits" Priority="5"><Entrypoint Module="*" Method="*a*"/></Tag>
  </Tag>
  <Tag Name="Low" Priority="-3"><Entrypoint Module="*" Method="*e*"/></Tag>
  <Tag Name="Managed"><Entrypoint Module="*.dll" Method="*.*"/></Tag>
</Tag>"#;

#[test]
fn tags_partition_cpu_and_plain_waits() {
    let file = TagFile { name: "tags", content: TAGS.as_bytes() };
    let own = Arc::new(TagSet::read(&[file], Nesting::Names).expect("rules"));
    let built_in = Arc::new(TagSet::built_in(Nesting::Names).expect("rules"));
    let mut rows = 0;
    for seed in 100..140 {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(&scenario, directory.path());
        let end = scenario.truth().end;
        for time in [TimeRange::default(), TimeRange { start: Some(end / 4), end: Some(end / 2) }] {
            let expected = of_processes(&archive, time);
            for (set, per_thread) in [(&own, false), (&own, true), (&built_in, false)] {
                let tags = Some(Tags { patterns: Patterns::parse("*"), set: set.clone(), cache: None });
                let filter = ProcessFilter { process: ProcessPatterns::parse("*"), ..ProcessFilter::default() };
                let found = answer(&archive, &Question { filter, time, tags, per_thread, ..Question::default() });
                rows += found.rows().count();
                let mut found = sums(&found, ["cpu_ns", "wait_sum_ns", "ready_sum_ns"]);
                // Processes that only waited have tags, and no row among those that used the CPU.
                found.retain(|process, [cpu, ..]| expected.contains_key(process) || *cpu > 0);
                assert_eq!(found, expected, "seed {seed}, {time:?}");
            }
        }
    }
    assert!(rows > 2_000, "{rows} rows are too few to say anything");
}

/// The archive keeps the tags of the built-in file. A range from the beginning of time is the whole recording, too, and answered
/// from the events.
#[test]
fn tags_that_the_archive_keeps_are_those_of_its_events() {
    let set = Arc::new(TagSet::built_in(Nesting::Names).expect("rules"));
    let everything = TimeRange { start: Some(i64::MIN), end: None };
    let mut rows = 0;
    for seed in 300..340 {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(&scenario, directory.path());
        let kept: Vec<TagSummaryRow> =
            OpenRecording::open(&Source::archive(archive.clone())).expect("opened").archive().rows().expect("rows");
        assert!(kept.iter().all(|row| row.tag_set == Some(set.hash())));
        for (pattern, sort) in [("*", Sort::Cpu), ("*wait*;Other;No stack", Sort::CpuWait)] {
            let ask = |time| {
                let tags = Some(Tags { patterns: Patterns::parse(pattern), set: set.clone(), cache: None });
                let filter = ProcessFilter { process: ProcessPatterns::parse("*"), ..ProcessFilter::default() };
                answer(&archive, &Question { filter, time, tags, sort, ..Question::default() })
            };
            let (stored, computed) = (ask(TimeRange::default()), ask(everything));
            rows += stored.rows().count();
            assert_eq!(stored.sections, computed.sections, "seed {seed}");
            if pattern == "*" {
                assert_eq!(stored.rows().count(), kept.len(), "seed {seed}");
            }
        }
    }
    assert!(rows > 500, "{rows} rows are too few to say anything");
}

/// Tags of other files come from the events once, then from the user's cache; a damaged cache is none.
#[test]
fn tags_of_other_files_are_kept_for_the_user() {
    let file = TagFile { name: "tags", content: TAGS.as_bytes() };
    let directory = tempfile::tempdir().expect("temporary directory");
    let folder = directory.path().join("cache");
    for nesting in [Nesting::Names, Nesting::Children] {
        let set = Arc::new(TagSet::read(&[file], nesting).expect("rules"));
        for seed in 400..404 {
            let scenario = Scenario::random(seed, &Knobs::random(seed));
            let recordings = tempfile::tempdir().expect("temporary directory");
            let archive = archive(&scenario, recordings.path());
            let ask = |pattern: &str, cache: Option<&Path>| {
                let cache = cache.map(|folder| Arc::new(TagCache::new(folder.to_owned())));
                let tags = Some(Tags { patterns: Patterns::parse(pattern), set: set.clone(), cache });
                answer(&archive, &Question { tags, ..Question::default() }).sections
            };
            let files = || std::fs::read_dir(&folder).map_or(0, |files| files.count());
            let before = files();
            // What is asked first is less than what is kept.
            assert_eq!(ask("*Waits", Some(&folder)), ask("*Waits", None));
            assert_eq!(files(), before + 1, "seed {seed}");
            assert_eq!(ask("*", Some(&folder)), ask("*", None));
            assert_eq!(files(), before + 1, "seed {seed}");
            for file in std::fs::read_dir(&folder).expect("a folder") {
                let path = file.expect("an entry").path();
                let mut bytes = std::fs::read(&path).expect("read");
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                std::fs::write(&path, bytes).expect("written");
            }
            assert_eq!(ask("*", Some(&folder)), ask("*", None));
        }
    }
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 8, "per archive and set of rules");
}

#[test]
fn a_tag_above_children_shows_the_total() {
    let scenario = Scenario::random(3, &Knobs::random(3));
    let directory = tempfile::tempdir().expect("temporary directory");
    let archive = archive(&scenario, directory.path());
    let file = TagFile { name: "tags", content: TAGS.as_bytes() };
    let row = |nesting, name: &str| {
        let set = Arc::new(TagSet::read(&[file], nesting).expect("rules"));
        let tags = Some(Tags { patterns: Patterns::parse(name), set, cache: None });
        let found = answer(&archive, &Question { tags, ..Question::default() });
        let at = |key: &str| found.columns.iter().position(|column| column.key == key).expect("a column");
        let sum = |key: &str| -> i64 {
            let at = at(key);
            found.rows().map(|row| if let Value::Int(value) = row[at] { value } else { 0 }).sum()
        };
        (sum("cpu_ns"), sum("exclusive_cpu_ns"))
    };
    let (total, own) = row(Nesting::Children, "Kernel");
    let (child, child_own) = row(Nesting::Children, "Kernel\\Waits");
    assert!(child > 0 && child == child_own, "{child} {child_own}");
    assert_eq!(total, own + child);
    let (flat, flat_own) = row(Nesting::Names, "Kernel");
    assert_eq!(flat, flat_own);
}

#[test]
fn profiles_add_up_to_what_the_threads_did() {
    for seed in 200..230 {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        let truth = scenario.truth();
        let directory = tempfile::tempdir().expect("temporary directory");
        let recording = OpenRecording::open(&Source::archive(archive(&scenario, directory.path()))).expect("opened");
        let is_busy = |process: usize| truth.processes[process].kind != ProcessKind::Idle;
        let of_threads = |figure: fn(&ThreadTruth) -> i64| -> i64 {
            truth.threads.iter().filter(|thread| is_busy(thread.process)).map(figure).sum()
        };
        let cpu: i64 = truth.samples.iter().filter(|sample| is_busy(sample.process)).map(|sample| sample.weight).sum();
        let known = truth.has_ready_events || truth.has_preemption;
        for (measure, expected) in [
            (Measure::CPU, cpu),
            (Measure::WAIT, of_threads(|thread| thread.wait)),
            (Measure::READY, if known { of_threads(|thread| thread.ready) } else { 0 }),
        ] {
            let question = profile::Question {
                processes: None,
                measure,
                filter: ProcessFilter::default(),
                time: TimeRange::default(),
                inside: Vec::new(),
                origin: 0,
                methods: MethodPatterns::default(),
                said: String::new(),
            };
            let folded = question.folded(&recording).expect("read");
            assert_eq!(folded.weights.total(), expected as u64, "seed {seed}, {measure:?}");
            for per_thread in [false, true] {
                let listed = question.listed(&recording, per_thread).expect("read");
                assert_eq!(listed.weights.total(), expected as u64, "seed {seed}, {measure:?}, {per_thread}");
                let mut lines = [Vec::new(), Vec::new()];
                folded::write(&folded, Grouping::Process, &mut lines[0]).expect("memory");
                folded::write(&listed, Grouping::Process, &mut lines[1]).expect("memory");
                let [by_tree, by_lists] = lines.map(|lines| {
                    let mut lines: Vec<String> =
                        String::from_utf8(lines).expect("text").lines().map(str::to_owned).collect();
                    lines.sort_unstable();
                    lines
                });
                assert_eq!(by_tree, by_lists, "seed {seed}, {measure:?}, {per_thread}");
            }
            let timed = question.timed(&recording).expect("read");
            assert_eq!(timed.samples.total(), expected as u64, "seed {seed}, {measure:?}, with times");
            let end = truth.end / 2;
            let half = |time| profile::Question { time, ..question.clone() }.folded(&recording).expect("read");
            let [first, second] =
                [(None, Some(end)), (Some(end), None)].map(|(start, end)| half(TimeRange { start, end }));
            assert_eq!(
                first.weights.total() + second.weights.total(),
                expected as u64,
                "seed {seed}, {measure:?}, in halves"
            );
        }
    }
}

#[test]
fn a_series_adds_up_to_the_whole() {
    for seed in 300..310 {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(&scenario, directory.path());
        let bucket = Some((scenario.truth().end / 7).max(1));
        let question = Question { methods: Some(MethodPatterns::default()), ..Question::default() };
        let keys = ["cpu_ns", "wait_sum_ns", "ready_sum_ns"];
        let of = |when: &When| {
            let outcome = ask(&[Source::archive(archive.clone())], &question, when);
            assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
            (sums(&outcome.answer, keys), outcome.answer.rows().count())
        };
        let (whole, rows) = of(&When::default());
        let (series, more) = of(&When { bucket, ..When::default() });
        assert_eq!(series, whole, "seed {seed}");
        assert!(more > rows || rows == 0, "seed {seed}: {more} rows of a series, {rows} of the whole");
    }
}
