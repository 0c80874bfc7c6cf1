//! Random command lines: the page's answers have the bytes of the program's, about every recording that is at hand.

use std::any::TypeId;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction};
use serde_json::Value;
use tempfile::TempDir;
use tracesift_ask::options::Registered;
use tracesift_ask::question;
use tracesift_extract::Options;
use tracesift_scenario::SplitMix64;

use super::recordings::{Raw, extracted, of_this_machine, scenarios, shared, variable};
use super::{Server, compare};
use crate::support::rows;

/// Command lines of each recording, and of each shared recording; `TRACESIFT_WORDS` names another number.
const LINES: usize = 16;
const LINES_OF_SHARED: usize = 2;

/// What command lines can be about.
struct Recorded {
    /// The recording of the session.
    id: String,
    end: i64,
    processes: Vec<(String, i64)>,
}

impl Recorded {
    fn of(directory: &Path, server: &Server, file: &str) -> Self {
        let (_, _, body) = server.send("GET /api/1/session", "");
        let session: Value = serde_json::from_slice(&body).unwrap();
        // The session has them in an order of its own.
        let recording = session["recordings"].as_array().unwrap().iter().find(|one| one["file"] == file).unwrap();
        let processes = rows(directory, &["dump", "process", file]);
        let name =
            |row: &Value| (row["process"].as_str().unwrap_or("none").to_owned(), row["pid"].as_i64().unwrap_or(0));
        Self {
            id: recording["id"].as_str().unwrap().to_owned(),
            end: recording["end_ns"].as_i64().unwrap(),
            processes: processes.iter().map(name).collect(),
        }
    }
}

/// Makes command lines.
struct Lines<'a> {
    random: SplitMix64,
    recorded: &'a Recorded,
}

impl Lines<'_> {
    fn one_of<'b, T>(&mut self, all: &'b [T]) -> &'b T {
        &all[self.random.index(all.len())]
    }

    /// A part of the recording, which may reach beyond it.
    fn range(&mut self) -> String {
        let mut edge = || self.random.between(-self.recorded.end / 20, self.recorded.end + self.recorded.end / 20 + 2);
        let (one, other) = (edge(), edge());
        let text = |ns: i64| {
            format!("{}{}.{:09}s", if ns < 0 { "-" } else { "" }, ns.abs() / 1_000_000_000, ns.abs() % 1_000_000_000)
        };
        match self.random.below(6) {
            0 => format!("{}..", text(one)),
            1 => format!("..{}", text(one)),
            _ => format!("{}..{}", text(one.min(other)), text(one.max(other))),
        }
    }

    /// Which processes.
    fn process(&mut self) -> String {
        let (name, pid) = match &self.recorded.processes[..] {
            [] => ("none".to_owned(), 4),
            all => all[self.random.index(all.len())].clone(),
        };
        match self.random.below(6) {
            0 => pid.to_string(),
            1 => format!("{}*", name.chars().take(2).collect::<String>()),
            2 => format!("!{name}"),
            3 => format!("*;!{name}"),
            4 => "*e*".to_owned(),
            _ => name,
        }
    }

    fn zero(&mut self) -> String {
        let process = self.process();
        match self.random.below(5) {
            0 => "mark:*".to_owned(),
            1 => format!("process-start:{process}"),
            2 => "first:*".to_owned(),
            3 => "event:*/*".to_owned(),
            _ => "process-end:*".to_owned(),
        }
    }

    /// A value of an option.
    fn value(&mut self, option: &Arg, keys: &[String]) -> String {
        let possible = option.get_possible_values();
        if !possible.is_empty() {
            return self.one_of(&possible).get_name().to_owned();
        }
        match option.get_id().as_str() {
            "time" => self.range(),
            "process" | "zero_process" => self.process(),
            "top" => (1 + self.random.below(20)).to_string(),
            "zero_time" => self.zero(),
            _ => match self.random.below(8) {
                0 => "*".to_owned(),
                1 => "*a*;*e*".to_owned(),
                2 => "!*a*".to_owned(),
                3 => (1 + self.random.below(9)).to_string(),
                4 => format!("{}us", 1 + self.random.below(5_000)),
                5 => format!("{}..{}", 1 + self.random.below(3), 4 + self.random.below(900)),
                _ if keys.is_empty() => "*".to_owned(),
                _ => self.one_of(keys).clone(),
            },
        }
    }

    /// A question with options that it understands.
    fn line(&mut self) -> Vec<String> {
        let all: Vec<&Registered> = question::all().collect();
        loop {
            let asked = *self.one_of(&all);
            let ways: Vec<_> = asked.ways().collect();
            let mut options: Vec<String> = self.one_of(&ways).iter().map(|word| (*word).to_owned()).collect();
            let keys: Vec<String> =
                asked.columns(&options).iter().map(|column| column.key.trim_end_matches("_ns").to_owned()).collect();
            let definition = asked.definition();
            let files = TypeId::of::<PathBuf>();
            let free: Vec<&Arg> = definition
                .get_arguments()
                .filter(|option| option.get_long().is_some() && option.get_value_parser().type_id() != files)
                .collect();
            // Those that most questions have are asked for more often.
            for usual in ["time", "process", "sort", "top", "measure", "zero_time"] {
                let found = free.iter().find(|option| option.get_id() == usual);
                if let Some(option) = found.filter(|_| self.random.chance(30)) {
                    options.push(self.option(option, &keys));
                }
            }
            for _ in 0..self.random.below(3) {
                if let Some(option) = free.get(self.random.index(free.len())) {
                    options.push(self.option(option, &keys));
                }
            }
            let arguments: Vec<&str> = options.iter().map(String::as_str).collect();
            if asked.plan(&arguments).is_ok() {
                let columns =
                    self.random.chance(10).then(|| format!("--columns={}", keys[self.random.index(keys.len())]));
                return asked.command.split(' ').map(str::to_owned).chain(options).chain(columns).collect();
            }
        }
    }

    fn option(&mut self, option: &Arg, keys: &[String]) -> String {
        let long = option.get_long().unwrap_or_default();
        match option.get_action() {
            ArgAction::SetTrue => format!("--{long}"),
            _ => format!("--{long}={}", self.value(option, keys)),
        }
    }
}

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
    let mut all = 0;
    for (place, file) in files.iter().enumerate() {
        let recorded = Recorded::of(directory, &server, file);
        let mut of_file = Lines { random: SplitMix64::new(seed ^ place as u64), recorded: &recorded };
        let asked: Vec<Vec<String>> = std::iter::repeat_with(|| of_file.line()).take(lines).collect();
        all += compare(directory, &server, &[(&recorded.id, file)], asked.into_iter());
    }
    println!("{} archives, {all} answers", files.len());
    all
}

fn seed() -> u64 {
    variable("TRACESIFT_SEED", 1) as u64
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
