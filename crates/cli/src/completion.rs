//! What may follow on a command line, for the shells: beside commands, options and their values, columns, stack tags, profiles, and the
//! processes of the archives that the line names.
//!
//! The script of a shell calls the program with `COMPLETE` set and the words of the line behind `--`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use tracesift_analysis::tags::{Nesting, TagSet};
use tracesift_archive::Archive;
use tracesift_ask::answer::View;
use tracesift_ask::question;
use tracesift_extract::OPTIONAL_TABLES;
use tracesift_record::profiles::PROFILES;
use tracesift_trace::rows::ProcessRow;
use tracesift_trace::view;

use crate::args::{self, topics};

/// The variable of the environment in which a shell names itself when it asks.
pub(crate) const VARIABLE: &str = "COMPLETE";

/// Archives that are looked into: a line is completed while somebody waits.
const MOST_ARCHIVES: usize = 16;
/// Names that are offered.
const MOST_NAMES: usize = 1000;

/// Answers a shell, and ends the program then. Does nothing where no shell asks.
pub(crate) fn answer() {
    if std::env::var_os(VARIABLE).is_some() {
        CompleteEnv::with_factory(definition).var(VARIABLE).complete();
    }
}

/// The definition of the command line with what is offered as values.
fn definition() -> Command {
    with_values(args::definition())
}

fn with_values(command: Command) -> Command {
    let children: Vec<String> = command.get_subcommands().map(|child| child.get_name().to_owned()).collect();
    let command = command.mut_args(|arg| match arg.get_id().as_str() {
        "process" | "parent" | "zero_process" => {
            arg.add(ArgValueCompleter::new(|current: &OsStr| listed(current, ';', process_names())))
        }
        "columns" => arg.add(ArgValueCompleter::new(|current: &OsStr| listed(current, ';', column_names(&words())))),
        "stacktags" => arg.add(ArgValueCompleter::new(|current: &OsStr| listed(current, ';', tag_names()))),
        "profiles" => arg.add(ArgValueCompleter::new(|current: &OsStr| listed(current, ',', profile_names()))),
        "tables" => arg.add(ArgValueCompleter::new(|current: &OsStr| listed(current, ';', table_names()))),
        "words" => arg.add(ArgValueCompleter::new(|current: &OsStr| listed(current, ' ', help_words(&words())))),
        _ => arg,
    });
    children.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_values))
}

/// The words of the line behind the program's name.
fn words() -> Vec<String> {
    let all = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    all.skip_while(|word| word != "--").skip(2).collect()
}

/// What completes the last item of a list; what stands before it stays. Items may begin with a sign.
fn listed(current: &OsStr, separator: char, names: Vec<String>) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else { return Vec::new() };
    let start = current.rfind(separator).map_or(0, |at| at + separator.len_utf8());
    let (before, item) = current.split_at_checked(start).unwrap_or(("", current));
    let sign = if item.starts_with(['!', '+']) { 1 } else { 0 };
    let (sign, item) = item.split_at_checked(sign).unwrap_or(("", item));
    let lower = item.to_lowercase();
    let fits = |name: &String| name.to_lowercase().starts_with(&lower);
    names.into_iter().filter(fits).map(|name| CompletionCandidate::new(format!("{before}{sign}{name}"))).collect()
}

/// What may follow behind `help` and these words: commands of the one that they lead to, and topics.
fn help_words(words: &[String]) -> Vec<String> {
    let definition = args::definition();
    // The last word is the one that is being written.
    let before = words.get(1..words.len().saturating_sub(1)).unwrap_or_default();
    let mut command = Some(&definition);
    for word in before {
        command = command.and_then(|command| command.find_subcommand(word));
    }
    let names = command.into_iter().flat_map(Command::get_subcommands).map(|child| child.get_name().to_owned());
    let topics = topics::TOPICS.iter().filter(|_| before.is_empty()).map(|(name, _)| (*name).to_owned());
    names.chain(topics).collect()
}

fn profile_names() -> Vec<String> {
    PROFILES.iter().map(|profile| profile.name.to_owned()).collect()
}

fn table_names() -> Vec<String> {
    OPTIONAL_TABLES.iter().map(|table| (*table).to_owned()).collect()
}

fn tag_names() -> Vec<String> {
    let Ok(set) = TagSet::built_in(Nesting::Names) else { return Vec::new() };
    set.tags().map(|tag| set.name(tag).to_owned()).collect()
}

/// The columns of the question on the line.
fn column_names(words: &[String]) -> Vec<String> {
    let definition = args::definition();
    let (mut command, mut path) = (&definition, Vec::new());
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        let Some(found) = command.find_subcommand(word) else { break };
        path.push(found.get_name());
        command = found;
    }
    let path = path.join(" ");
    let asked = question::all().find(|question| question.command == path);
    let columns = asked.map(|question| question.columns(words)).unwrap_or_default();
    columns.iter().filter(|column| column.view != View::Nowhere).map(|column| column.key.to_owned()).collect()
}

view! {
    /// The name of a process.
    #[derive(Clone, Debug)]
    struct NameOfProcess of ProcessRow { name }
}

/// Names of the processes in the archives that the line names, or in those of the current directory.
fn process_names() -> Vec<String> {
    let mut names = BTreeSet::new();
    for path in archives(&words()) {
        // What cannot be read says so when it is asked.
        let rows = Archive::open(&path).and_then(|archive| archive.rows::<NameOfProcess>()).unwrap_or_default();
        names.extend(
            rows.into_iter().map(|row| row.name).filter(|name| !name.is_empty() && !name.contains(char::is_control)),
        );
        if names.len() >= MOST_NAMES {
            break;
        }
    }
    names.into_iter().take(MOST_NAMES).collect()
}

/// Archives among these words, beside the recordings among them, and in the directories among them.
fn archives(words: &[String]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in words.iter().map(Path::new).filter(|path| path.exists()) {
        match path {
            archive if is_archive(archive) => found.push(archive.to_owned()),
            directory if directory.is_dir() => found.extend(archives_in(directory)),
            recording => found.extend(Some(recording.with_extension("sift")).filter(|archive| is_archive(archive))),
        }
    }
    if found.is_empty() {
        found = archives_in(Path::new("."));
    }
    found.truncate(MOST_ARCHIVES);
    found
}

fn archives_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_archive(path)).collect();
    found.sort_unstable();
    found
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "sift") && path.is_dir()
}
