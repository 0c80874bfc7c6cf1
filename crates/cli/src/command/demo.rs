//! `demo`: from nothing to the first answers.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use clap::Parser as _;
use serde_json::Value;
use tracesift_ask::command_line::line;
use tracesift_ask::recording_label::path_text;

use crate::args::{Cli, Command, DemoArgs};
use crate::command::extract;
use crate::exit::Exit;
use crate::output::cell::cut_middle;
use crate::terminal::Messages;

/// What `--all` asks of the example recordings. `DIR` is their directory.
const ALL: &[&[&str]] = &[
    &["dump", "testrun", "DIR"],
    &["dump", "cpu", "DIR", "--top", "4", "--no-cmdline"],
    &["dump", "cpu", "DIR", "--process", "FileWriter", "--details", "--no-cmdline"],
    &["dump", "cpu", "DIR", "-f", "*Serial*", "--process", "FileWriter", "--stacktags", "*", "--top-methods", "6"],
    &["dump", "cpu", "DIR", "--process", "System", "--stacktags", "*checkpoint*", "--methods", "*checkpoint*"],
    &["dump", "cpu", "DIR", "--stacktags", "*virus*", "--totals", "total"],
    &["dump", "waits", "DIR", "-f", "*14527ms*", "--process", "FileWriter", "--top", "3"],
    &["dump", "process", "DIR", "--new-process", "started", "--no-cmdline"],
    &["dump", "dns", "DIR/browser", "--top", "5", "--top-details", "all"],
    &["dump", "power", "DIR/win10", "--diff"],
];

/// No line of the screen is longer.
const WIDEST: usize = 100;

/// A question of the screen.
struct Asked {
    /// In words.
    question: &'static str,
    /// As a command line. `DIR` is the directory of the recordings.
    words: &'static [&'static str],
    /// What the answer shows, with figures from its rows.
    shows: fn(&[Value]) -> Option<String>,
}

const SCREEN: &[Asked] = &[
    Asked { question: "How long did the tests take?", words: &["dump", "testrun", "DIR"], shows: slowest_test },
    Asked {
        question: "Who used the CPU in the first run?",
        words: &["dump", "cpu", "DIR/*_12695ms*", "--top", "2", "--no-cmdline"],
        shows: largest_process,
    },
    Asked {
        question: "What did the test wait for in the slowest run, and who ended these waits?",
        words: &["dump", "waits", "DIR/*_14527ms*", "-p", "FileWriter", "--methods", "Ntfs*", "--top", "2"],
        shows: longest_wait,
    },
    Asked {
        question: "What was System doing there?",
        words: &["dump", "cpu", "DIR/*_14527ms*", "-p", "System", "--stacktags", "*checkpoint*"],
        shows: checkpoint,
    },
];

/// What to try next.
const NEXT: &[&[&str]] = &[
    &["overview", "DIR/*_14527ms*"],
    &["flame", "DIR/*_12695ms*", "-o", "cpu.svg"],
    &["dump", "dns", "DIR/browser"],
    &["demo", "DIR", "--all"],
];

/// Writes example recordings, extracts them and shows the first answers.
pub(crate) fn run(args: &DemoArgs, no_color: bool) -> anyhow::Result<Exit> {
    let directory = &args.directory;
    let recordings = tracesift_scenario::demo(directory)?;
    let symbols = directory.join("symbols");
    let files = tracesift_scenario::story::write_symbol_files(&symbols)?;
    let directory = path_text(directory);
    let symbols = path_text(&symbols);
    let extract = ["extract", "DIR", "--recursive", "--symbols", &symbols];
    if args.all {
        writeln!(io::stdout(), "{} recordings written to {directory}", recordings.len())?;
        writeln!(io::stdout(), "{files} symbol files written to {symbols}\n")?;
        return show_all(&extract, &directory, no_color);
    }
    let cli = parsed(&extract, &directory, &[])?;
    if let Command::Extract(args) = &cli.command {
        let exit = extract::run_quietly(args, &Messages::new(no_color, false))?;
        if exit == Exit::NothingUsable {
            return Ok(exit);
        }
    }
    writeln!(
        io::stdout(),
        "{} recordings of a test that writes 5,000 files, serially and in parallel: beside a virus scanner,\n\
         while the file system makes checkpoints, and undisturbed. They lie in {},\n\
         with an archive (.sift) for each. Smaller recordings lie in directories there. Made by:\n$ {}\n",
        recordings.len(),
        cut_middle(&directory, WIDEST / 3),
        cut_middle(&command(&extract, &directory), WIDEST - 2),
    )?;
    let answers = tempfile::TempDir::with_prefix("tracesift-").context("cannot make a temporary directory")?;
    for asked in SCREEN {
        let exit = ask(asked, &directory, answers.path())?;
        if exit == Exit::NothingUsable {
            return Ok(exit);
        }
    }
    writeln!(io::stdout(), "Try next:")?;
    for words in NEXT {
        writeln!(io::stdout(), "  {}", command(words, &directory))?;
    }
    Ok(Exit::Fine)
}

/// Question, command line, answer, and what it shows.
fn ask(asked: &Asked, directory: &str, answers: &Path) -> anyhow::Result<Exit> {
    let answer = |format: &str| -> anyhow::Result<(Exit, String)> {
        let file = answers.join(format);
        let (name, width) = (file.to_string_lossy(), WIDEST.to_string());
        let cli = parsed(asked.words, directory, &["--format", format, "--out", &name, "--quiet", "--width", &width])?;
        let exit = super::run(&cli, None)?;
        Ok((exit, std::fs::read_to_string(&file).unwrap_or_default()))
    };
    let (exit, table) = answer("table")?;
    let (_, json) = answer("json")?;
    if exit == Exit::NothingUsable {
        return Ok(exit);
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}", asked.question)?;
    writeln!(out, "$ {}", command(asked.words, directory))?;
    for line in table.lines() {
        writeln!(out, "{}", cut_middle(line, WIDEST))?;
    }
    let rows: Vec<Value> = serde_json::from_str(&json).context("the answer is no JSON")?;
    if let Some(shows) = (asked.shows)(&rows) {
        writeln!(out, "=> {shows}")?;
    }
    writeln!(out)?;
    Ok(exit)
}

fn slowest_test(tests: &[Value]) -> Option<String> {
    let slowest = tests.iter().max_by_key(|test| test["max_ns"].as_i64())?;
    let (least, most) = (slowest["min_ns"].as_f64()?, slowest["max_ns"].as_f64()?);
    Some(format!(
        "{} took {} s at best and {} s at worst: {:.1} times as long for the same work.",
        slowest["test"].as_str()?,
        seconds(least),
        seconds(most),
        most / least
    ))
}

fn largest_process(processes: &[Value]) -> Option<String> {
    let of = |name: &str| processes.iter().find(|row| row["process"].as_str() == Some(name));
    let (scanner, test) = (of("MsMpEng.exe")?, of("FileWriter.exe")?);
    Some(format!(
        "The virus scanner (MsMpEng.exe) used {} s of CPU where the test used {} s.",
        seconds(scanner["cpu_ns"].as_f64()?),
        seconds(test["cpu_ns"].as_f64()?)
    ))
}

fn longest_wait(waits: &[Value]) -> Option<String> {
    let longest = waits.last()?;
    let whole: f64 = waits.iter().filter_map(|wait| wait["wait_ns"].as_f64()).sum();
    let waker = longest["waker_process"].as_str()?;
    Some(format!(
        "These {} waits alone took {} s, the longest {} s. {waker} ended it: it held the volume's lock.",
        waits.len(),
        seconds(whole),
        seconds(longest["wait_ns"].as_f64()?)
    ))
}

fn checkpoint(tags: &[Value]) -> Option<String> {
    let tag = tags.last()?;
    let (cpu, wait) = (tag["cpu_ns"].as_f64()?, tag["wait_ns"].as_f64()?);
    Some(format!(
        "A checkpoint of the file system ran {} s and waited {} s: it held the test for {} s.",
        seconds(cpu),
        seconds(wait),
        seconds(cpu + wait)
    ))
}

/// Nanoseconds as seconds with a digit behind the point.
fn seconds(ns: f64) -> String {
    format!("{:.1}", ns / 1e9)
}

/// The commands as `--all` shows them, with all that they print.
fn show_all(extract: &[&str], directory: &str, no_color: bool) -> anyhow::Result<Exit> {
    let mut exit = step(extract, directory, no_color)?;
    for question in ALL {
        if exit == Exit::NothingUsable {
            break;
        }
        exit = exit.max(step(question, directory, no_color)?);
    }
    Ok(exit)
}

/// Shows a command line and runs it.
fn step(words: &[&str], directory: &str, no_color: bool) -> anyhow::Result<Exit> {
    writeln!(io::stdout(), "$ {}", command(words, directory))?;
    let mut cli = parsed(words, directory, &[])?;
    cli.no_color |= no_color;
    let exit = super::run(&cli, None)?;
    writeln!(io::stdout())?;
    Ok(exit)
}

/// A command line as it is typed.
fn command(words: &[&str], directory: &str) -> String {
    let words = with_directory(words, directory);
    line(std::iter::once("tracesift").chain(words.iter().map(String::as_str)))
}

fn parsed(words: &[&str], directory: &str, more: &[&str]) -> anyhow::Result<Cli> {
    let words = with_directory(words, directory);
    let more = more.iter().map(|word| (*word).to_owned());
    Ok(Cli::try_parse_from(std::iter::once("tracesift".to_owned()).chain(words).chain(more))?)
}

fn with_directory(words: &[&str], directory: &str) -> Vec<String> {
    let word = |word: &&str| match word.strip_prefix("DIR") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{directory}{rest}"),
        _ => (*word).to_owned(),
    };
    words.iter().map(word).collect()
}
