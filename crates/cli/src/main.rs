//! The command line of tracesift: arguments in, answers out. What the numbers mean is decided elsewhere.

mod args;
mod command;
mod completion;
mod elsewhere;
mod etwanalyzer;
mod exit;
mod mistakes;
mod output;
mod progress;
mod terminal;
mod unquoted_glob;
mod watching;

#[cfg(test)]
mod docs;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::exit::{Exit, UsageError, is_broken_pipe};
use crate::terminal::Messages;
use crate::unquoted_glob::UnquotedGlob;

/// Allocator of the program, on each system: a question takes and gives back small blocks from several threads. The allocators of the
/// systems take a fifth to a quarter of its time (`docs/decisions/0032-the-program-has-its-own-allocator.md`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A shell that wants to know what may follow asks before anything else is looked at, and gets nothing else.
    completion::answer();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Looked for before the arguments are understood, since that may fail and say so.
    let no_color = arguments.iter().any(|argument| argument.eq_ignore_ascii_case("--no-color"));
    let quiet = arguments.iter().any(|argument| argument == "-q" || argument.eq_ignore_ascii_case("--quiet"));
    let messages = Messages::new(no_color, quiet);
    run(&arguments, &messages).unwrap_or_else(|error| failed(&error, &messages)).into()
}

fn run(arguments: &[OsString], messages: &Messages) -> anyhow::Result<Exit> {
    let rewritten = etwanalyzer::rewrite(arguments, messages)?;
    let (arguments, csv) = match &rewritten {
        Some(rewritten) => (rewritten.arguments.as_slice(), rewritten.csv.as_ref()),
        None => (arguments, None),
    };
    if rewritten.is_none() {
        hint_at_quotes(arguments, messages);
    }
    let cli = match args::parse(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Fine };
            mistakes::explained(error, arguments)?.print()?;
            return Ok(exit);
        }
    };
    command::run(&cli, csv)
}

/// Says that names of files stand where a pattern should. What they mean is still a valid command line, so it runs.
fn hint_at_quotes(arguments: &[OsString], messages: &Messages) {
    let texts: Vec<String> = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    if let Some(glob) = UnquotedGlob::find(&texts, &|path| std::path::Path::new(path).exists()) {
        messages.warning(&glob.message());
        messages.hint(&glob.hint());
    }
}

fn failed(error: &anyhow::Error, messages: &Messages) -> Exit {
    // Whoever reads our output has seen enough.
    if is_broken_pipe(error) {
        return Exit::Fine;
    }
    if watching::check().is_err() {
        messages.error("interrupted");
        return Exit::Interrupted;
    }
    if let Some(usage) = error.downcast_ref::<UsageError>() {
        messages.error(&usage.message);
        if let Some(hint) = &usage.hint {
            messages.hint(hint);
        }
        return Exit::Usage;
    }
    messages.error(&format!("{error:#}"));
    Exit::NothingUsable
}
