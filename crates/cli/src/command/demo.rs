//! `demo`: from nothing to the first answers.

use std::io::{self, Write as _};

use clap::Parser as _;

use crate::args::{Cli, DemoArgs};
use crate::exit::Exit;

/// What is asked of the example recordings. `DIR` is their directory.
const QUESTIONS: &[&[&str]] = &[
    &["dump", "testrun", "DIR"],
    &["dump", "cpu", "DIR", "--top", "4", "--no-cmdline"],
    &["dump", "cpu", "DIR", "--process", "FileWriter", "--details", "--no-cmdline"],
    &["dump", "cpu", "DIR", "-f", "*Serial*", "--process", "FileWriter", "--stacktags", "*", "--top-methods", "6"],
    &["dump", "cpu", "DIR", "--process", "System", "--stacktags", "*checkpoint*", "--methods", "*checkpoint*"],
    &["dump", "cpu", "DIR", "--stacktags", "*virus*", "--totals", "total"],
    &["dump", "waits", "DIR", "-f", "*14527ms*", "--process", "FileWriter", "--top", "3"],
    &["dump", "process", "DIR", "--new-process", "started", "--no-cmdline"],
];

/// Writes example recordings, extracts them and shows the first answers.
pub(crate) fn run(args: &DemoArgs, no_color: bool) -> anyhow::Result<Exit> {
    let directory = &args.directory;
    let recordings = tracesift_scenario::demo(directory)?;
    let symbols = directory.join("symbols");
    let files = tracesift_scenario::story::write_symbol_files(&symbols)?;
    writeln!(io::stdout(), "{} recordings written to {}", recordings.len(), directory.display())?;
    writeln!(io::stdout(), "{files} symbol files written to {}\n", symbols.display())?;
    let directory = directory.to_string_lossy();
    let symbols = symbols.to_string_lossy();
    let mut exit = step(&["extract", "DIR", "--symbols", &symbols], &directory, no_color)?;
    for question in QUESTIONS {
        if exit == Exit::NothingUsable {
            break;
        }
        exit = exit.max(step(question, &directory, no_color)?);
    }
    Ok(exit)
}

/// Shows a command line and runs it.
fn step(words: &[&str], directory: &str, no_color: bool) -> anyhow::Result<Exit> {
    let words: Vec<&str> = words.iter().map(|word| if *word == "DIR" { directory } else { word }).collect();
    let shown: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    writeln!(io::stdout(), "$ tracesift {}", shown.join(" "))?;
    let mut cli = Cli::try_parse_from(std::iter::once("tracesift").chain(words))?;
    cli.no_color |= no_color;
    let exit = super::run(&cli, None)?;
    writeln!(io::stdout())?;
    Ok(exit)
}

/// A word as every shell takes it: patterns are for us, not for the shell.
fn quoted(word: &str) -> String {
    if word.contains(['*', '?', ';', ' ']) { format!("\"{word}\"") } else { word.to_owned() }
}
