//! Explains mistakes that the parser cannot explain: an option of another command, a question under
//! another name, a path in place of a command.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use crate::args;
use crate::elsewhere;
use crate::exit::UsageError;

/// The error with tips that lead on.
///
/// # Errors
/// [`UsageError`] in place of the error where it says more.
pub(crate) fn explained(error: clap::Error, arguments: &[OsString]) -> Result<clap::Error, UsageError> {
    match error.kind() {
        ErrorKind::InvalidSubcommand => no_command(error, arguments),
        ErrorKind::UnknownArgument => Ok(no_option(error, arguments)),
        ErrorKind::ValueValidation => Ok(no_value(error)),
        _ => Ok(error),
    }
}

/// A text of the error's context.
fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn with_tips(mut error: clap::Error, tips: &[String]) -> clap::Error {
    let tips = tips.iter().map(|tip| StyledStr::from(tip.clone())).collect();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}

/// A word stands where a command or a question should.
fn no_command(mut error: clap::Error, arguments: &[OsString]) -> Result<clap::Error, UsageError> {
    let Some(word) = context(&error, ContextKind::InvalidSubcommand) else { return Ok(error) };
    let definition = args::definition();
    let (path, _) = place(&definition, arguments);
    let asked = [path.as_str(), &word].join(" ").trim_start().to_owned();
    // What lies there is meant, whatever it is called.
    let is_path = looks_like_a_file(&word);
    let (to, is_question) = match path.as_str() {
        "" => {
            (elsewhere::command(&word), definition.find_subcommand("dump").and_then(|dump| dump.find_subcommand(&word)))
        }
        "dump" => (elsewhere::question(&word), None),
        _ => return Ok(error),
    };
    if is_path {
        let missing = if path.is_empty() { "command" } else { "question" };
        let first = match definition.find_subcommand(args::OVERVIEW) {
            Some(overview) => overview.get_name(),
            None => "dump stats",
        };
        return Err(UsageError::new(
            format!("`{word}` is a path, and no {missing} stands before it"),
            format!(
                "`tracesift {first} {word}` tells what is in it, `tracesift dump cpu {word}` who used the CPU; `tracesift dump -h` lists the questions"
            ),
        ));
    }
    if is_question.is_some() {
        error.remove(ContextKind::SuggestedSubcommand);
        return Ok(with_tips(error, &[format!("it is a question: tracesift dump {word}")]));
    }
    to.map_or(Ok(error), |to| Err(elsewhere::refused(to, &asked)))
}

/// Whether a word is a path rather than the name of a command.
fn looks_like_a_file(word: &str) -> bool {
    const ENDINGS: &[&str] = &["sift", "etl", "data", "perf", "zip", "7z", "cab", "gz", "xz", "json7z", "diagsession"];
    let path = Path::new(word);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    word.contains(['/', '\\', '*']) || ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) || path.exists()
}

/// The command that the arguments lead to, with its words behind the program's name.
fn place<'c>(definition: &'c Command, arguments: &[OsString]) -> (String, &'c Command) {
    let mut path = Vec::new();
    let mut command = definition;
    for argument in arguments.iter().skip(1).map(|argument| argument.to_string_lossy()) {
        if argument.starts_with('-') {
            continue;
        }
        let Some(found) = command.find_subcommand(argument.as_ref()) else { break };
        path.push(found.get_name());
        command = found;
    }
    (path.join(" "), command)
}

/// An option that the command does not have.
fn no_option(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let Some(option) = context(&error, ContextKind::InvalidArg) else { return error };
    let definition = args::definition();
    let (path, command) = place(&definition, arguments);
    // Nothing here takes the values that this is about.
    error.remove(ContextKind::Suggested);
    if let Some((at, before)) = option_before(arguments, &option, command) {
        let mut joined = arguments.to_vec();
        // The parser names the first letter alone, as each could be an option: `-5` of `-50`.
        let value = joined.remove(at);
        let whole = format!("{before}={}", value.to_string_lossy());
        if let Some(argument) = joined.get_mut(at.saturating_sub(1)) {
            *argument = whole.clone().into();
        }
        // Is it a value at all, written so that it can be nothing else?
        return match args::parse(&joined) {
            Err(wrong) if wrong.kind() == ErrorKind::ValueValidation => no_value(wrong),
            _ => with_tips(error, &[format!("a value that begins with a dash is written {whole}")]),
        };
    }
    let owners = owners(&definition, &option);
    if owners.is_empty() || owners.contains(&path) {
        return error;
    }
    error.remove(ContextKind::SuggestedArg);
    with_tips(error, &[format!("{option} belongs to {}", listed(&owners))])
}

/// Where an argument stands that was taken for an option, and the option in front of it, if that takes a value.
fn option_before(arguments: &[OsString], taken: &str, command: &Command) -> Option<(usize, String)> {
    let at = arguments.iter().position(|argument| argument.to_string_lossy().starts_with(taken))?;
    let before = arguments.get(at.checked_sub(1)?)?.to_str()?;
    let takes = command
        .get_arguments()
        .any(|arg| is_called(arg, before) && arg.get_action().takes_values() && !arg.is_require_equals_set());
    takes.then(|| (at, before.to_owned()))
}

/// Whether an option has this name, with its dashes.
fn is_called(arg: &Arg, name: &str) -> bool {
    match name.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => name.strip_prefix('-').is_some_and(|short| arg.get_short().is_some_and(|c| short == c.to_string())),
    }
}

/// The commands that have an option, by their words.
fn owners(definition: &Command, option: &str) -> Vec<String> {
    fn collect(command: &Command, path: &str, option: &str, into: &mut Vec<String>) {
        let name = option.split('=').next().unwrap_or(option);
        let has = command.get_arguments().any(|arg| !arg.is_hide_set() && is_called(arg, name));
        if has {
            into.push(path.to_owned());
        }
        for child in command.get_subcommands() {
            collect(child, format!("{path} {}", child.get_name()).trim_start(), option, into);
        }
    }
    let mut owners = Vec::new();
    collect(definition, "", option, &mut owners);
    owners
}

/// Some of the commands, as a list of a sentence.
fn listed(owners: &[String]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<String> = owners.iter().take(SHOWN).map(|owner| format!("`tracesift {owner}`")).collect();
    match (owners.len().saturating_sub(SHOWN), shown.split_last()) {
        (0, Some((last, []))) => last.clone(),
        (0, Some((last, others))) => format!("{} and {last}", others.join(", ")),
        (more, _) => format!("{} and {more} others", shown.join(", ")),
    }
}

/// A value that is not what its option takes.
fn no_value(error: clap::Error) -> clap::Error {
    let reason = std::error::Error::source(&error).map(ToString::to_string);
    match reason.as_deref() {
        // What the standard library says of a sign, a fraction or a letter.
        Some("invalid digit found in string") => {
            with_tips(error, &["it takes a whole number that is not negative".to_owned()])
        }
        _ => error,
    }
}
