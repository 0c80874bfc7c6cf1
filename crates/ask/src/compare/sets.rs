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

/// The two sets that these arguments name: two arguments, each a file, a directory or a pattern, with `LABEL=` before it if that
/// is wanted; or the files of two directories, which a shell makes of `good/*.sift bad/*.sift`.
///
/// # Errors
/// When it is not clear which runs belong together.
pub fn read(arguments: &[String], exists: impl Fn(&Path) -> bool) -> Result<[NamedSet; 2], UsageError> {
    match arguments {
        [] | [_] => Err(UsageError::new(
            "two sets of runs are compared",
            "name two directories, or two patterns in quotes: compare 'good/*' 'bad/*'",
        )),
        [a, b] => Ok([named(a, "A", &exists), named(b, "B", &exists)]),
        many => by_directory(many),
    }
}

/// `LABEL=ARGUMENT`, or an argument that names its own label.
fn named(argument: &str, default: &str, exists: &impl Fn(&Path) -> bool) -> NamedSet {
    let labelled = argument.split_once('=').filter(|(label, rest)| {
        !label.is_empty() && !rest.is_empty() && !label.contains(['/', '\\', '*', '?']) && !exists(Path::new(argument))
    });
    let (label, argument) = labelled.unwrap_or((default, argument));
    NamedSet { label: label.to_owned(), arguments: vec![argument.to_owned()] }
}

/// A flat list of files, by the directories in which they lie.
fn by_directory(files: &[String]) -> Result<[NamedSet; 2], UsageError> {
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
    let sets: [(PathBuf, Vec<String>); 2] = sets.try_into().map_err(|_| unclear())?;
    Ok(sets.map(labelled))
}

#[cfg(test)]
mod tests {
    use super::{NamedSet, read};

    fn sets(arguments: &[&str]) -> Result<[NamedSet; 2], String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        read(&arguments, |path| path.to_str() == Some("odd=name")).map_err(|error| error.to_string())
    }

    fn set(label: &str, arguments: &[&str]) -> NamedSet {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        NamedSet { label: label.to_owned(), arguments }
    }

    #[test]
    fn two_arguments_are_two_sets() {
        assert_eq!(sets(&["good/*", "bad/*"]), Ok([set("A", &["good/*"]), set("B", &["bad/*"])]));
        assert_eq!(
            sets(&["before=old/", "after=new/*.sift"]),
            Ok([set("before", &["old/"]), set("after", &["new/*.sift"])])
        );
        // A path that has such a sign, and a file of that name.
        assert_eq!(sets(&["a/b=c", "odd=name"]), Ok([set("A", &["a/b=c"]), set("B", &["odd=name"])]));
    }

    #[test]
    fn a_list_of_files_is_two_sets_if_two_directories_have_them() {
        let list = ["good/1.sift", "good/2.sift", "x/bad/1.sift"];
        assert_eq!(sets(&list), Ok([set("good", &list[..2]), set("bad", &list[2..])]));
        assert_eq!(sets(&["1.sift", "2.sift", "3.sift"]), Err("which runs belong together?".to_owned()));
        assert_eq!(sets(&["a/1", "b/2", "c/3"]), Err("which runs belong together?".to_owned()));
        assert_eq!(sets(&["a"]), Err("two sets of runs are compared".to_owned()));
    }
}
