//! Random command lines about a recording.

use std::any::TypeId;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction};
use serde_json::Value;
use tracesift_archive::Archive;
use tracesift_ask::options::Registered;
use tracesift_ask::question;
use tracesift_scenario::SplitMix64;

use crate::support::rows;

/// What command lines can be about.
pub(crate) struct Recorded {
    end: i64,
    processes: Vec<(String, i64)>,
}

impl Recorded {
    /// An archive.
    pub(crate) fn of(directory: &Path, file: &str) -> Self {
        let archive = Archive::open(&directory.join(file)).unwrap();
        let processes = rows(directory, &["dump", "process", file]);
        let name =
            |row: &Value| (row["process"].as_str().unwrap_or("none").to_owned(), row["pid"].as_i64().unwrap_or(0));
        Self { end: archive.info().end_ns, processes: processes.iter().map(name).collect() }
    }
}

/// Makes command lines.
pub(crate) struct Lines<'a> {
    pub(crate) random: SplitMix64,
    pub(crate) recorded: &'a Recorded,
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
    pub(crate) fn line(&mut self) -> Vec<String> {
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
