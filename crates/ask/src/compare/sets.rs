//! Which runs belong together, as a command line says it.

use std::path::{Path, PathBuf};

use crate::usage_error::UsageError;

/// A set of runs, as it was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSet {
    /// What it is called.
    pub label: String,
    /// Files, directories and patterns.
    pub arguments: Vec<String>,
}

/// The sets that these arguments name, each of them a file, a directory or a pattern, with `LABEL=` before it if that is wanted; or
/// the files of two directories, which a shell makes of `good/*.sift bad/*.sift`. Each set but the first is compared with the first.
///
/// # Errors
/// When it is not clear which runs belong together.
pub fn read(arguments: &[String], exists: impl Fn(&Path) -> bool) -> Result<Vec<NamedSet>, UsageError> {
    match arguments {
        [] | [_] => Err(UsageError::new(
            "two sets of runs are compared",
            "name two directories, or two patterns in quotes: compare 'good/*' 'bad/*'; or divide one with --by or --split",
        )),
        [_, _] => different(named(arguments, &exists)),
        many if many.iter().all(|argument| is_several(argument, &exists)) => different(named(many, &exists)),
        many => by_directory(many),
    }
}

/// The one set that an argument names.
#[must_use]
pub fn one(argument: &str, exists: impl Fn(&Path) -> bool) -> NamedSet {
    let (label, files) = label_of(argument, &exists).unwrap_or((directory_of(argument).unwrap_or("A"), argument));
    NamedSet { label: label.to_owned(), arguments: vec![files.to_owned()] }
}

/// The sets, each with a name of its own.
fn different(sets: Vec<NamedSet>) -> Result<Vec<NamedSet>, UsageError> {
    let is_twice = |set: &&NamedSet| sets.iter().filter(|other| other.label == set.label).count() > 1;
    match sets.iter().find(is_twice) {
        Some(set) => {
            let message = format!("two sets are called {}", set.label);
            Err(UsageError { message, hint: Some("give each a name: compare before=old/ after=new/".to_owned()) })
        }
        None => Ok(sets),
    }
}

/// Whether an argument names several files, or a set by its label: then it is no file of a list that a shell made.
fn is_several(argument: &str, exists: &impl Fn(&Path) -> bool) -> bool {
    let is_archive = |path: &str| Path::new(path).extension().is_some_and(|end| end.eq_ignore_ascii_case("sift"));
    label_of(argument, exists).is_some()
        || argument.contains(['*', '?'])
        || exists(Path::new(argument)) && !is_archive(argument) && Path::new(argument).is_dir()
}

/// The label before an argument, and what it names.
fn label_of<'a>(argument: &'a str, exists: &impl Fn(&Path) -> bool) -> Option<(&'a str, &'a str)> {
    argument.split_once('=').filter(|(label, rest)| {
        !label.is_empty() && !rest.is_empty() && !label.contains(['/', '\\', '*', '?']) && !exists(Path::new(argument))
    })
}

/// A set for each argument. Those without a label are called as their directories are, if that tells them apart, else A, B, C …
fn named<'a>(arguments: &'a [String], exists: &impl Fn(&Path) -> bool) -> Vec<NamedSet> {
    let name =
        |argument: &'a String| label_of(argument, exists).map(|(label, _)| label).or_else(|| directory_of(argument));
    let mut names: Vec<Option<&str>> = arguments.iter().map(name).collect();
    names.sort_unstable();
    names.dedup();
    let has_names = names.len() == arguments.len() && names.first().is_some_and(Option::is_some);
    let letter = |place: usize| match u8::try_from(place) {
        Ok(place @ 0..26) => char::from(b'A' + place).to_string(),
        _ => format!("set {}", place + 1),
    };
    let set = |(place, argument): (usize, &String)| {
        let (label, files) = match label_of(argument, exists) {
            Some((label, files)) => (label.to_owned(), files),
            None => {
                let directory = directory_of(argument).filter(|_| has_names);
                (directory.map_or_else(|| letter(place), str::to_owned), argument.as_str())
            }
        };
        NamedSet { label, arguments: vec![files.to_owned()] }
    };
    arguments.iter().enumerate().map(set).collect()
}

/// The name of the directory that an argument is, or whose files its pattern describes; of a file nothing, and of long names.
fn directory_of(argument: &str) -> Option<&str> {
    const LONGEST: usize = 12;
    let path = Path::new(argument);
    let directory = match path.file_name()?.to_str()? {
        name if name.contains(['*', '?']) => path.parent()?,
        _ if argument.ends_with(['/', '\\']) || path.is_dir() => path,
        _ => return None,
    };
    let name = directory.file_name()?.to_str()?;
    let is_plain = !name.contains(['*', '?', '=']) && !name.to_lowercase().ends_with(".sift");
    Some(name).filter(|name| is_plain && name.chars().count() <= LONGEST)
}

/// A flat list of files, by the directories in which they lie.
fn by_directory(files: &[String]) -> Result<Vec<NamedSet>, UsageError> {
    let mut sets: Vec<(PathBuf, Vec<String>)> = Vec::new();
    for file in files {
        let directory = Path::new(file).parent().unwrap_or(Path::new("")).to_owned();
        match sets.iter_mut().find(|(known, _)| *known == directory) {
            Some((_, of_directory)) => of_directory.push(file.clone()),
            None => sets.push((directory, vec![file.clone()])),
        }
    }
    let labelled = |(directory, arguments): (PathBuf, Vec<String>)| {
        let label = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        NamedSet { label: if label.is_empty() { ".".to_owned() } else { label }, arguments }
    };
    let unclear = || UsageError::new("which runs belong together?", "put patterns in quotes: compare 'good/*' 'bad/*'");
    if sets.len() == 2 { Ok(sets.into_iter().map(labelled).collect()) } else { Err(unclear()) }
}

#[cfg(test)]
mod tests {
    use super::{NamedSet, read};

    fn sets(arguments: &[&str]) -> Result<Vec<NamedSet>, String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        read(&arguments, |path| path.to_str() == Some("odd=name")).map_err(|error| error.to_string())
    }

    fn set(label: &str, arguments: &[&str]) -> NamedSet {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        NamedSet { label: label.to_owned(), arguments }
    }

    #[test]
    fn two_arguments_are_two_sets() {
        assert_eq!(sets(&["x/good/*", "bad/"]), Ok(vec![set("good", &["x/good/*"]), set("bad", &["bad/"])]));
        assert_eq!(sets(&["x/a*", "x/b*"]), Ok(vec![set("A", &["x/a*"]), set("B", &["x/b*"])]));
        assert_eq!(sets(&["a.sift", "x/b*"]), Ok(vec![set("A", &["a.sift"]), set("B", &["x/b*"])]));
        assert_eq!(
            sets(&["before=old/", "after=new/*.sift"]),
            Ok(vec![set("before", &["old/"]), set("after", &["new/*.sift"])])
        );
        // Others are compared with the first.
        let three = vec![set("base", &["base/*"]), set("one", &["one/*"]), set("two", &["2/"])];
        assert_eq!(sets(&["base/*", "one/*", "two=2/"]), Ok(three));
        // A path that has such a sign, and a file of that name.
        assert_eq!(sets(&["a/b=c", "odd=name"]), Ok(vec![set("A", &["a/b=c"]), set("B", &["odd=name"])]));
    }

    #[test]
    fn a_list_of_files_is_two_sets_if_two_directories_have_them() {
        let list = ["good/1.sift", "good/2.sift", "x/bad/1.sift"];
        assert_eq!(sets(&list), Ok(vec![set("good", &list[..2]), set("bad", &list[2..])]));
        assert_eq!(sets(&["1.sift", "2.sift", "3.sift"]), Err("which runs belong together?".to_owned()));
        assert_eq!(sets(&["a/1", "b/2", "c/3"]), Err("which runs belong together?".to_owned()));
        assert_eq!(sets(&["a=1", "a=2"]), Err("two sets are called a".to_owned()));
        assert_eq!(sets(&["a"]), Err("two sets of runs are compared".to_owned()));
    }
}
