//! The frame of every program: arguments in, work, report out.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use serde_json::Value;

use crate::arguments::{Arguments, Asked, Kind, Opt};
use crate::extra::{self, Method};
use crate::report::{self, Report};

/// What a program says of itself.
#[derive(Debug)]
pub struct Usage {
    /// Name of the program.
    pub name: &'static str,
    /// Its problem, in one sentence.
    pub problem: &'static str,
    /// Its own options.
    pub options: &'static [Opt],
    /// The keys below `truth` (and what its threads tell besides), with what they mean.
    pub keys: &'static [(&'static str, &'static str)],
    /// Its methods that can have more to do.
    pub methods: &'static [Method],
    /// The method that holds its lock, if it has one.
    pub lock: Option<Method>,
}

const COMMON: &[Opt] = &[
    Opt {
        name: extra::CPU,
        kind: Kind::Addition,
        default: "",
        meaning: "so much more CPU time in this method, in equal parts, one per call or per turn of its loop",
    },
    Opt {
        name: extra::LOCK,
        kind: Kind::Milliseconds,
        default: "0",
        meaning: "hold the lock so much longer in all, in equal parts, one each time that it is held",
    },
    Opt {
        name: "format",
        kind: Kind::Choice(&["json", "text"]),
        default: "json",
        meaning: "how the report is printed: one JSON document, or a line `key: value` each",
    },
];

/// What wrong usage ends with, as that of `tracesift` does.
const WRONG_USAGE: u8 = 64;

/// Runs a program: the report of the work goes to standard output, what went wrong to standard error.
pub fn run(usage: &Usage, work: impl FnOnce(&Arguments, &mut Report) -> io::Result<()>) -> ExitCode {
    match answer(usage, std::env::args_os().skip(1), work) {
        Ok(text) => {
            print(&text);
            ExitCode::SUCCESS
        }
        Err((code, why)) => {
            complain(usage.name, &why);
            ExitCode::from(code)
        }
    }
}

fn answer(
    usage: &Usage,
    given: impl IntoIterator<Item = OsString>,
    work: impl FnOnce(&Arguments, &mut Report) -> io::Result<()>,
) -> Result<String, (u8, String)> {
    let asked = Arguments::parse(&[usage.options, COMMON], given);
    let arguments = match asked.map_err(|why| (WRONG_USAGE, format!("{why}\nTry --help.")))? {
        Asked::Help => return Ok(usage.help()),
        Asked::Run(arguments) => arguments,
    };
    extra::begin(usage.methods, usage.lock.as_ref(), &arguments).map_err(|why| (WRONG_USAGE, why))?;
    let mut report = Report::begin();
    work(&arguments, &mut report).map_err(|error| (1, error.to_string()))?;
    extra::tell(&mut report);
    let value = report.end(usage.name, usage.problem, arguments.report());
    Ok(match arguments.word("format") {
        "text" => {
            let mut lines = Vec::new();
            report::as_text(&value, "", &mut lines);
            lines.join("\n")
        }
        _ => pretty(&value),
    })
}

/// A key per line, so that a script finds `"duration_ms"` without reading JSON.
fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

impl Usage {
    fn help(&self) -> String {
        let mut text = format!("{}\n\nUsage: {} [OPTIONS]\n\nOptions:\n", self.problem, self.name);
        for option in self.options.iter().chain(COMMON) {
            let default = if option.default.is_empty() { String::new() } else { format!(" [{}]", option.default) };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {:<26} {}{default}", option.usage(), option.meaning);
        }
        text.push_str("  --help                     this text\n");
        let names: Vec<&str> = self.methods.iter().map(|method| method.name).collect();
        let _ = writeln!(text, "\nMethods of --extra-cpu: {}", names.join(", "));
        if let Some(lock) = &self.lock {
            let _ = writeln!(text, "Method that holds the lock: {}", lock.name);
        }
        text.push_str("\nThe report:\n");
        for (key, meaning) in report::KEYS {
            let _ = writeln!(text, "  {key:<26} {meaning}");
        }
        for (key, meaning) in self.keys.iter().chain(extra::KEYS) {
            let _ = writeln!(text, "  {key:<26} {meaning}");
        }
        text.push_str("\nExit codes: 0 done, 1 the work was not possible, 64 wrong usage");
        text
    }
}

#[expect(clippy::print_stdout, reason = "the report is what the programs are for")]
fn print(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "the programs have no other way to say so")]
fn complain(name: &str, why: &str) {
    eprintln!("{name}: {why}");
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: Usage = Usage {
        name: "example",
        problem: "It does nothing.",
        options: &[Opt { name: "threads", kind: Kind::Count(1), default: "2", meaning: "how many" }],
        keys: &[("truth.done", "how much")],
        methods: &[Method { name: "work", parts: |arguments| Ok(arguments.number("threads")) }],
        lock: None,
    };

    fn run_with(words: &[&str]) -> Result<String, (u8, String)> {
        answer(&USAGE, words.iter().map(OsString::from), |arguments, report| {
            report.tell("done", arguments.number("threads"));
            Ok(())
        })
    }

    #[test]
    fn the_report_is_json_with_a_line_for_the_duration() {
        let text = run_with(&["--threads=3"]).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["truth"]["done"], &value["arguments"]["threads"]), (&3.into(), &3.into()));
        assert_eq!(text.lines().filter(|line| line.trim().starts_with("\"duration_ms\": ")).count(), 1, "{text}");
        assert!(run_with(&["--format", "text"]).unwrap().lines().any(|line| line.starts_with("duration_ms: ")));
    }

    #[test]
    fn help_names_options_and_keys() {
        let text = run_with(&["--help"]).unwrap();
        let parts = ["It does nothing.", "--threads N", "[2]", "--format json|text", "truth.done", "duration_ms", "64"];
        for part in parts.into_iter().chain(["--extra-cpu METHOD=MS", "--extra-cpu: work", "truth.extra_cpu_ns"]) {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn wrong_usage_and_failing_work_have_codes() {
        assert_eq!(run_with(&["--threads", "x"]).unwrap_err().0, 64);
        let unknown = "--extra-cpu: there is no method rest; there are work".to_owned();
        assert_eq!(run_with(&["--extra-cpu", "rest=5"]).unwrap_err(), (64, unknown));
        let no_lock = "--extra-lock: this program has no lock".to_owned();
        assert_eq!(run_with(&["--extra-lock", "5"]).unwrap_err(), (64, no_lock));
        let failed = answer(&USAGE, [], |_, _| Err(io::Error::other("no disk")));
        assert_eq!(failed.unwrap_err(), (1, "no disk".to_owned()));
    }
}
