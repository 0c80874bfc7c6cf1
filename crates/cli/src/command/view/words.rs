//! Which words of a command line a page may send: questions and options that read nothing but the recordings of the session.

use std::any::TypeId;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args as _, Command};
use tracesift_view::Refused;

use crate::args::{FileArgs, OutputArgs, RunArgs};

/// What stands for the built-in stack tags.
pub(super) const OWN_TAGS: &str = "builtin";

/// The option whose values name files of the session.
const TAG_FILE: &str = "--tag-file";

/// Options for output that a page may set: the format is ours, and the columns are only chosen.
const OUTPUT: [&str; 2] = ["format", "columns"];

/// The words with the paths of the files of stack tags that they name.
pub(super) fn with_tag_files(words: &[String], tag_files: &[String]) -> Result<Vec<String>, Refused> {
    let path = |name: &str| {
        let number = name.strip_prefix('t').and_then(|number| number.parse::<usize>().ok());
        let known = number.and_then(|number| tag_files.get(number).filter(|_| *name == format!("t{number}")));
        let known = known.cloned().or_else(|| (name == OWN_TAGS).then(|| name.to_owned()));
        known.ok_or_else(|| Refused::words(format!("{TAG_FILE}: the session has no file `{name}`")))
    };
    let mut all = Vec::with_capacity(words.len());
    let mut is_value = false;
    for word in words {
        if is_value {
            all.push(path(word)?);
        } else if let Some(name) = word.strip_prefix(TAG_FILE).and_then(|rest| rest.strip_prefix('=')) {
            all.push(format!("{TAG_FILE}={}", path(name)?));
        } else {
            all.push(word.clone());
        }
        is_value = !is_value && word == TAG_FILE;
    }
    Ok(all)
}

/// Refuses what reads or writes files, and files other than those of the session.
pub(super) fn check(definition: &Command, matches: &ArgMatches, tag_files: &[String]) -> Result<(), Refused> {
    let (mut command, mut matches) = (definition, matches);
    loop {
        for option in command.get_arguments() {
            let id = option.get_id().as_str();
            let is_given =
                matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine);
            if is_given {
                check_option(option, matches, tag_files)?;
            }
        }
        let Some((name, below)) = matches.subcommand() else { return Ok(()) };
        let Some(found) = command.find_subcommand(name) else { return Ok(()) };
        (command, matches) = (found, below);
    }
}

/// Whether an option chooses files or test runs, or says where and how an answer is written.
fn is_of_shell(id: &str) -> bool {
    let all = OutputArgs::augment_args(RunArgs::augment_args(FileArgs::augment_args(Command::new("shell"))));
    all.get_arguments().any(|option| option.get_id() == id)
}

fn check_option(option: &Arg, matches: &ArgMatches, tag_files: &[String]) -> Result<(), Refused> {
    let id = option.get_id().as_str();
    let name = option.get_long().map_or_else(|| id.to_owned(), |long| format!("--{long}"));
    let refused = || Err(Refused::words(format!("{name}: a page may not set it")));
    if OUTPUT.contains(&id) {
        return Ok(());
    }
    if is_of_shell(id) {
        return refused();
    }
    if option.get_value_parser().type_id() == TypeId::of::<PathBuf>() {
        let mut values = matches.get_raw(id).into_iter().flatten();
        let is_known =
            |value: &std::ffi::OsStr| value == OWN_TAGS || tag_files.iter().any(|file| *value == *OsString::from(file));
        if !values.all(is_known) {
            return refused();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::with_tag_files;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn only_files_of_the_session_can_be_named() {
        let files = ["x.stacktags".to_owned()];
        let of = |text| with_tag_files(&words(text), &files);
        assert_eq!(of("dump cpu --tag-file t0").unwrap(), words("dump cpu --tag-file x.stacktags"));
        assert_eq!(
            of("dump cpu --tag-file=t0 --tag-file builtin").unwrap(),
            words("dump cpu --tag-file=x.stacktags --tag-file builtin")
        );
        for wrong in
            ["--tag-file /etc/passwd", "--tag-file=x.stacktags", "--tag-file t1", "--tag-file t+0", "--tag-file t00"]
        {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
