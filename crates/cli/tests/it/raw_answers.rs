//! Answers about recordings that are not extracted: they are those about the archive, although not everything is extracted for them.

use std::path::Path;

use tempfile::TempDir;
use tracesift_ask::options::Plan;
use tracesift_ask::{Reads, question};
use tracesift_extract::Options;
use tracesift_scenario::SplitMix64;

use crate::lines::{Lines, Recorded};
use crate::recordings::{Raw, extracted, scenarios, shared, variable};
use crate::support::program;

/// Command lines of each scenario, and of each shared recording; `TRACESIFT_WORDS` names another number.
const LINES: usize = 8;
const LINES_OF_SHARED: usize = 1;

/// Whether a part of the recording is extracted for an answer.
fn reads_a_part(words: &[String]) -> bool {
    let arguments: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !word.starts_with("--columns=")).collect();
    let of = |asked: &&tracesift_ask::options::Registered| {
        arguments.starts_with(&asked.command.split(' ').collect::<Vec<_>>())
    };
    // `dump cpu` and `dump cpu-x` differ in a word, so that the first one is the only one.
    let Some(asked) = question::all().find(of) else { return false };
    let rest = &arguments[asked.command.split(' ').count()..];
    match asked.plan(rest) {
        Ok((when, Plan::Archives(asking))) => when.reads(asking.question.as_ref()) != Reads::Everything,
        _ => false,
    }
}

/// What the program prints about a file.
fn answer(directory: &Path, words: &[String], file: &str) -> String {
    let (named, options) = words.split_at(2);
    let mut arguments: Vec<&str> = named.iter().map(String::as_str).collect();
    arguments.push(file);
    arguments.extend(options.iter().map(String::as_str));
    arguments.extend(["--format", "json"]);
    let output = program(directory, &arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Compares answers about recordings with those about their archives; how many.
#[expect(clippy::print_stdout, reason = "a failure needs the seed; how much was compared is shown")]
fn compared(directory: &Path, raw: &[Raw], lines: usize, seed: u64) -> usize {
    println!("seed {seed}, {lines} command lines of each recording");
    let mut all = 0;
    for (place, raw) in raw.iter().enumerate() {
        let archives = extracted(raw, &directory.join("archives").join(place.to_string()), &Options::default());
        let [archive] = &archives[..] else { continue };
        let archive = archive.to_str().unwrap();
        let recorded = Recorded::of(directory, archive);
        let mut of_file = Lines { random: SplitMix64::new(seed ^ place as u64), recorded: &recorded };
        let asked = std::iter::repeat_with(|| of_file.line()).take(200 * lines).filter(|line| reads_a_part(line));
        for words in asked.take(lines) {
            let file = raw.file.to_str().unwrap();
            let here = |text: String, file: &str| text.replace(file, "FILE");
            let of_raw = here(answer(directory, &words, file), file);
            let of_archive = here(answer(directory, &words, archive), archive);
            let rows = of_raw.lines().zip(of_archive.lines());
            for (of_raw, of_archive) in rows {
                assert_eq!(of_raw, of_archive, "{words:?} about {file}");
            }
            assert_eq!(of_raw.len(), of_archive.len(), "{words:?} about {file}");
            all += 1;
        }
    }
    println!("{all} answers");
    all
}

fn seed() -> u64 {
    variable("TRACESIFT_SEED", 1) as u64
}

#[test]
fn answers_about_scenarios_are_those_about_their_archives() {
    let directory = TempDir::new().unwrap();
    let lines = variable("TRACESIFT_WORDS", LINES);
    let raw = scenarios(directory.path(), seed()..seed() + 2);
    assert!(compared(directory.path(), &raw, lines, seed()) > 3 * lines);
}

#[test]
fn answers_about_shared_recordings_are_those_about_their_archives() {
    let raw = shared();
    if raw.is_empty() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let lines = variable("TRACESIFT_WORDS", LINES_OF_SHARED);
    assert!(compared(directory.path(), &raw, lines, seed()) > 20 * lines);
}
