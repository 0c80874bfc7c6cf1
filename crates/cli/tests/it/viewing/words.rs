//! Random command lines: the page's answers have the bytes of the program's, about every recording that is at hand.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_extract::Options;
use tracesift_scenario::SplitMix64;

use super::{Server, compare};
use crate::lines::{Lines, Recorded};
use crate::recordings::{Raw, extracted, of_this_machine, scenarios, seed, shared, variable};

/// Command lines of each recording, and of each shared recording; `TRACESIFT_WORDS` names another number.
const LINES: usize = 16;
const LINES_OF_SHARED: usize = 2;

/// Compares answers to random command lines; how many.
#[expect(clippy::print_stdout, reason = "a failure needs the seed; how much was compared is shown")]
fn compared(directory: &Path, raw: Vec<Raw>, lines: usize, seed: u64) -> usize {
    println!("seed {seed}, {lines} command lines of each recording");
    let mut files = Vec::new();
    for (place, raw) in raw.iter().enumerate() {
        for archive in extracted(raw, &directory.join(place.to_string()), &Options::default()) {
            files.push(archive.strip_prefix(directory).unwrap().to_str().unwrap().to_owned());
        }
    }
    if files.is_empty() {
        return 0;
    }
    let server = Server::start(directory, &files.iter().map(String::as_str).collect::<Vec<_>>());
    let (_, _, body) = server.send("GET /api/1/session", "");
    let session: Value = serde_json::from_slice(&body).unwrap();
    let recordings = session["recordings"].as_array().unwrap();
    let mut all = 0;
    for (place, file) in files.iter().enumerate() {
        let recorded = Recorded::of(directory, file);
        // The session has them in an order of its own.
        let id = recordings.iter().find(|one| one["file"] == *file).unwrap()["id"].as_str().unwrap();
        let mut of_file = Lines { random: SplitMix64::new(seed ^ place as u64), recorded: &recorded };
        let asked: Vec<Vec<String>> = std::iter::repeat_with(|| of_file.line()).take(lines).collect();
        all += compare(directory, &server, &[(id, file)], asked.into_iter());
    }
    println!("{} archives, {all} answers", files.len());
    all
}

#[test]
fn random_questions_about_scenarios_have_the_bytes_of_the_program() {
    let directory = TempDir::new().unwrap();
    let lines = variable("TRACESIFT_WORDS", LINES);
    let raw = scenarios(directory.path(), seed()..seed() + 2);
    assert!(compared(directory.path(), raw, lines, seed()) > 3 * lines);
}

#[test]
fn random_questions_about_shared_recordings_have_the_bytes_of_the_program() {
    let raw = shared();
    if raw.is_empty() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let lines = variable("TRACESIFT_WORDS", LINES_OF_SHARED);
    assert!(compared(directory.path(), raw, lines, seed()) > 50 * lines);
}

#[test]
fn random_questions_about_this_machine_have_the_bytes_of_the_program() {
    let directory = TempDir::new().unwrap();
    let Some(raw) = of_this_machine(directory.path()) else { return };
    let lines = variable("TRACESIFT_WORDS", LINES);
    assert!(compared(directory.path(), vec![raw], lines, seed()) > lines / 2);
}
