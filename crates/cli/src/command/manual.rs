//! `help`, `completions` and `man`, all made from the definition of the command line.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use clap_complete::env::Shells;

use crate::args::{self, topics};
use crate::completion;
use crate::elsewhere;
use crate::exit::{Exit, UsageError};

/// Prints all of the help of a command, or a topic.
pub(crate) fn help(words: &[String]) -> anyhow::Result<Exit> {
    let mut definition = args::definition();
    if let [word] = words
        && let Some((_, page)) = topics::TOPICS.iter().find(|(name, _)| name == word)
    {
        // A topic is a reference of many options: a line each.
        page().max_term_width(args::MAX_WIDTH).print_help()?;
        return Ok(Exit::Fine);
    }
    definition.build();
    let mut command = &definition;
    for (number, word) in words.iter().enumerate() {
        let asked = words.get(..=number).unwrap_or_default().join(" ");
        command = command.find_subcommand(word).ok_or_else(|| unknown(words, number, &asked))?;
    }
    command.clone().print_long_help()?;
    Ok(Exit::Fine)
}

fn unknown(words: &[String], number: usize, asked: &str) -> UsageError {
    let word = words.get(number).map_or("", String::as_str);
    let to = match (number, words.first().map(String::as_str)) {
        (0, _) => elsewhere::command(word),
        (1, Some("dump")) => elsewhere::question(word),
        _ => None,
    };
    to.map_or_else(
        || {
            let topics: Vec<&str> = topics::TOPICS.iter().map(|(name, _)| *name).collect();
            let hint = format!("`tracesift help` lists the commands; topics are {}", topics.join(", "));
            UsageError::new(format!("there is no `{asked}`"), hint)
        },
        |to| elsewhere::refused(to, asked),
    )
}

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let shells = Shells::builtins();
    let shell = shells.completer(&shell.to_string()).context("no completions are known for this shell")?;
    let mut script = Vec::new();
    shell.write_registration(completion::VARIABLE, "tracesift", "tracesift", "tracesift", &mut script)?;
    io::stdout().write_all(&script)?;
    Ok(Exit::Fine)
}

/// Writes a page per command into a directory, or prints the main page.
pub(crate) fn pages(out: Option<&Path>) -> anyhow::Result<Exit> {
    match out {
        Some(directory) => {
            let cannot = || format!("cannot write the manual pages to {}", directory.display());
            std::fs::create_dir_all(directory).with_context(cannot)?;
            clap_mangen::generate_to(args::definition(), directory).with_context(cannot)?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(args::definition()).render(&mut page)?;
            io::stdout().write_all(&page)?;
        }
    }
    Ok(Exit::Fine)
}
