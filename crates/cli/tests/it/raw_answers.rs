//! Answers about recordings that are not extracted: they are those about the archive, although not everything is extracted for them.

use std::path::Path;

use tempfile::TempDir;
use tracesift_ask::answer::View;
use tracesift_ask::options::{Plan, Registered};
use tracesift_ask::shown::Shown;
use tracesift_ask::{Reads, question};
use tracesift_extract::Options;
use tracesift_fixtures::cases;
use tracesift_scenario::{PointerSize, SplitMix64, interrupts};

use crate::lines::{Lines, Recorded};
use crate::recordings::{Raw, extracted, scenarios, seed, shared, variable};
use crate::support::program;

/// Command lines of each scenario, and of each shared recording; `TRACESIFT_WORDS` names another number.
const LINES: usize = 8;
const LINES_OF_SHARED: usize = 1;

/// Whether a part of the recording is extracted for the answer to these words, of which only these columns are looked at.
fn reads_a_part(asked: &Registered, words: &[&str], keys: impl IntoIterator<Item = &'static str>) -> bool {
    let Ok((when, Plan::Archives(asking))) = asked.plan(words) else { return false };
    let narrowed = asking.question.showing(&Shown::only(keys));
    when.reads(narrowed.as_deref().unwrap_or(asking.question.as_ref())) != Reads::Everything
}

/// The columns of a question with which a part of the recording is extracted, as `--columns` takes them.
fn columns_of_a_part(asked: &Registered, words: &[&str]) -> Option<String> {
    let Ok((when, Plan::Archives(asking))) = asked.plan(words) else { return None };
    let columns = asking.columns.unwrap_or_else(|| when.columns(asking.question.as_ref()));
    let keys = columns.iter().filter(|column| column.view != View::Nowhere).map(|column| column.key);
    let keys: Vec<&str> = keys.filter(|key| reads_a_part(asked, words, [*key])).collect();
    (!keys.is_empty()).then(|| format!("--columns={}", keys.join(";")))
}

/// What the program prints about a file.
fn answer(directory: &Path, words: &[&str], file: &str) -> String {
    let (named, options) = words.split_at(2);
    let output = program(directory, &[named, &[file], options].concat()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("there is no column"), "{words:?}: {said}");
    String::from_utf8(output.stdout).unwrap().replace(file, "FILE")
}

/// Compares the answer about a recording with that about its archive.
fn compare(directory: &Path, words: &[&str], raw: &str, archive: &str) {
    let (of_raw, of_archive) = (answer(directory, words, raw), answer(directory, words, archive));
    for (of_raw, of_archive) in of_raw.lines().zip(of_archive.lines()) {
        assert_eq!(of_raw, of_archive, "{words:?} about {raw}");
    }
    assert_eq!(of_raw.len(), of_archive.len(), "{words:?} about {raw}");
}

/// Compares answers to each form of each question that reads a part of a recording; how many.
fn compare_all(directory: &Path, raw: &Raw) -> usize {
    let archives = extracted(raw, &directory.join("archives"), &Options::default());
    let [archive] = &archives[..] else { return 0 };
    let (raw, archive) = (raw.file.to_str().unwrap(), archive.to_str().unwrap());
    let mut all = 0;
    for asked in question::all() {
        for way in asked.ways() {
            let Some(columns) = columns_of_a_part(asked, &way) else { continue };
            let named: Vec<&str> = asked.command.split(' ').collect();
            compare(directory, &[&named[..], &way, &[&columns, "--format=json"]].concat(), raw, archive);
            compare(directory, &[&named[..], &way].concat(), raw, archive);
            all += 2;
        }
    }
    all
}

/// Compares answers to random command lines about recordings; how many.
#[expect(clippy::print_stdout, reason = "a failure needs the seed; how much was compared is shown")]
fn compare_random(directory: &Path, raw: &[Raw], lines: usize, seed: u64) -> usize {
    println!("seed {seed}, {lines} command lines of each recording");
    let mut all = 0;
    for (place, raw) in raw.iter().enumerate() {
        let archives = extracted(raw, &directory.join("archives").join(place.to_string()), &Options::default());
        let [archive] = &archives[..] else { continue };
        let (raw, archive) = (raw.file.to_str().unwrap(), archive.to_str().unwrap());
        let recorded = Recorded::of(directory, archive);
        let mut of_file = Lines { random: SplitMix64::new(seed ^ place as u64), recorded: &recorded };
        let asked = std::iter::repeat_with(|| of_file.line()).take(50 * lines).filter_map(|line| {
            let words: Vec<&str> =
                line.iter().map(String::as_str).filter(|word| !word.starts_with("--columns=")).collect();
            let named = |asked: &&Registered| words.starts_with(&asked.command.split(' ').collect::<Vec<_>>());
            let asked = question::all().find(named)?;
            let columns = columns_of_a_part(asked, &words[asked.command.split(' ').count()..])?;
            // What limits figures of other tables, such as a broken chain of switches, is not known where these are not read.
            let columns = columns.trim_end_matches(";warnings").to_owned();
            Some(words.into_iter().map(str::to_owned).chain([columns, "--format=json".to_owned()]).collect::<Vec<_>>())
        });
        for words in asked.take(lines) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            compare(directory, &words, raw, archive);
            all += 1;
        }
    }
    println!("{all} answers");
    all
}

#[test]
fn answers_about_the_demo_are_those_about_its_archive() {
    let directory = TempDir::new().unwrap();
    let raw = scenarios(directory.path(), 0..0);
    assert!(compare_all(directory.path(), &raw[0]) > 20);
}

/// Single events, and what is made of them or counted from them.
const OF_EVENTS: &[&[&str]] = &[
    &["dump", "events"],
    &["dump", "events", "--by=process,name"],
    &["dump", "tracelog"],
    &["dump", "timeline", "--lane=event"],
    &["dump", "regions"],
    &["dump", "cpu", "--zero-time=event:*/GC/Start", "--columns=process;pid;first_ns;start_ns;cpu_ns"],
    &["dump", "cpu", "--in-region=Tasks/Task"],
    &["dump", "udp", "--time=2..5"],
    &["dump", "udp", "--bucket=1s"],
    &["overview", "--columns=frames;frames_without_name"],
];

/// A temporary archive keeps the events that an archive keeps which is made without options.
#[test]
fn answers_from_single_events_are_those_about_the_archive() {
    let Some(folder) = cases("etl") else { return };
    let directory = TempDir::new().unwrap();
    let mut with_rows = vec![false; OF_EVENTS.len()];
    for name in ["net.4.5.2.x86.etl.zip", "Tx-HTTP_Server.etl", "KernelNetwork.etl", "AMSITrace.etl"] {
        let raw = Raw { file: folder.join(name) };
        let archives = extracted(&raw, &directory.path().join(name), &Options::default());
        let [archive] = &archives[..] else { panic!("{name}: {archives:?}") };
        let (raw, archive) = (raw.file.to_str().unwrap(), archive.to_str().unwrap());
        for (words, has_rows) in OF_EVENTS.iter().zip(&mut with_rows) {
            let words: Vec<&str> = if words[0] == "overview" {
                vec![words[0], "--format=json", words[1]]
            } else {
                [words, &["--format=json"][..]].concat()
            };
            compare(directory.path(), &words, raw, archive);
            *has_rows |= answer(directory.path(), &words, raw).trim() != "[]";
        }
    }
    assert!(with_rows.iter().all(|has_rows| *has_rows), "{with_rows:?}");
}

/// Rows of interrupts name who ran, which switches tell.
#[test]
fn answers_about_interrupts_are_those_about_their_archive() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("interrupts.etl");
    let story = interrupts::story(seed());
    std::fs::write(&file, interrupts::write(&story, PointerSize::Eight, 2).unwrap()).unwrap();
    assert!(compare_all(directory.path(), &Raw { file }) > 20);
}

#[test]
fn random_answers_about_scenarios_are_those_about_their_archives() {
    let directory = TempDir::new().unwrap();
    let lines = variable("TRACESIFT_WORDS", LINES);
    let raw = scenarios(directory.path(), seed()..seed() + 2);
    assert!(compare_random(directory.path(), &raw, lines, seed()) > 3 * lines);
}

#[test]
fn random_answers_about_shared_recordings_are_those_about_their_archives() {
    let raw = shared();
    if raw.is_empty() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let lines = variable("TRACESIFT_WORDS", LINES_OF_SHARED);
    assert!(compare_random(directory.path(), &raw, lines, seed()) > 20 * lines);
}

/// A recording that was made again under its name, or that of another system, is not what the extract beside it was made from.
#[test]
fn an_extract_of_another_recording_answers_for_none() {
    let directory = TempDir::new().unwrap();
    // Recordings of another time or machine have another head.
    let write = |name: &str, pointer_size: PointerSize| {
        let seed = if pointer_size == PointerSize::Eight { 1 } else { 2 };
        let bytes = interrupts::write(&interrupts::story(seed), pointer_size, 2).unwrap();
        std::fs::write(directory.path().join(name), bytes).unwrap();
    };
    let asked = |file: &str| {
        let output = program(directory.path(), &["dump", "interrupts", file, "--format", "csv"]).output().unwrap();
        let [text, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (text.replace(file, "FILE"), said.contains("is not the extract of"))
    };
    write("x.etl", PointerSize::Eight);
    let (before, said) = asked("x.etl");
    assert!(!said);
    assert!(program(directory.path(), &["extract", "x.etl", "-q"]).output().unwrap().status.success());
    // A copy of the recording has another time and the same content.
    write("x.etl", PointerSize::Eight);
    assert!(!asked("x.etl").1);
    write("x.etl", PointerSize::Four);
    write("y.etl", PointerSize::Four);
    let (after, said) = asked("x.etl");
    assert!(said);
    assert_eq!(after.replace(",x,", ",y,"), asked("y.etl").0.replace(",x,", ",y,"));
    assert_ne!(after, before);
}
