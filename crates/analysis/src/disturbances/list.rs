//! The list of names and stack tags that the rules of disturbances look for.

use rustc_hash::FxHashMap;
use tracesift_grammar::Pattern;

use super::Kind;

/// The list that the program has. Its head describes the format.
pub const BUILT_IN: &str = include_str!("default.txt");

/// What a pattern of the list describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    /// File name of the image of a process, without `.exe`.
    Process,
    /// Name of a thread.
    Thread,
    /// Stack tag.
    Tag,
}

/// A list, read.
#[derive(Clone, Debug)]
pub(super) struct List {
    version: u32,
    patterns: FxHashMap<(Kind, Subject), Vec<Pattern>>,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub(super) struct ListError {
    /// Its number, from 1.
    pub(super) line: usize,
    /// What is wrong there.
    pub(super) problem: String,
}

impl List {
    /// Reads a list.
    ///
    /// # Errors
    /// When a line is not understood, or says what another one says.
    pub(super) fn read(text: &str) -> Result<Self, ListError> {
        let mut list = None;
        for (line, content) in (1..).zip(text.lines()) {
            let words: Vec<&str> = content.split_whitespace().collect();
            let read = match (words.as_slice(), &mut list) {
                ([], _) => Ok(()),
                ([first, ..], _) if first.starts_with('#') => Ok(()),
                (["version", version], None) => Self::of_version(version).map(|empty| list = Some(empty)),
                (_, None) => Err("the list begins with `version` and a number above 0".to_owned()),
                (words, Some(list)) => list.entry(words),
            };
            read.map_err(|problem| ListError { line, problem })?;
        }
        list.ok_or_else(|| ListError { line: 1, problem: "the list has no `version`".to_owned() })
    }

    fn of_version(version: &str) -> Result<Self, String> {
        let version = version.parse().ok().filter(|version| *version > 0);
        let version = version.ok_or("the version is no number above 0")?;
        Ok(Self { version, patterns: FxHashMap::default() })
    }

    fn entry(&mut self, words: &[&str]) -> Result<(), String> {
        let [kind, subject, pattern @ ..] = words else {
            return Err("a line has a kind, one of `process`, `thread` and `tag`, and a pattern".to_owned());
        };
        let kind = Kind::of_word(kind).ok_or_else(|| format!("`{kind}` is no kind of disturbance"))?;
        if !kind.is_listed() {
            return Err(format!("the rule of `{kind}` looks for no names"));
        }
        let subject = match *subject {
            "process" => Subject::Process,
            "thread" => Subject::Thread,
            "tag" => Subject::Tag,
            other => return Err(format!("`{other}` is none of `process`, `thread` and `tag`")),
        };
        let pattern = pattern.join(" ");
        if pattern.is_empty() {
            return Err("the pattern is missing".to_owned());
        }
        if subject == Subject::Process && pattern.to_ascii_lowercase().ends_with(".exe") {
            return Err(format!("`{pattern}` fits nothing, as images have no `.exe` here"));
        }
        let known = self.patterns.entry((kind, subject)).or_default();
        let pattern_read = Pattern::new(&pattern);
        if known.contains(&pattern_read) {
            return Err(format!("`{pattern}` is in the list already"));
        }
        known.push(pattern_read);
        Ok(())
    }

    /// The version of the list.
    pub(super) fn version(&self) -> u32 {
        self.version
    }

    /// Whether the list of a kind has a name.
    pub(super) fn has(&self, kind: Kind, subject: Subject, name: &str) -> bool {
        let Some(patterns) = self.patterns.get(&(kind, subject)) else { return false };
        let fits = |name: &str| patterns.iter().any(|pattern| pattern.matches(name));
        if subject == Subject::Tag { parts(name).any(fits) } else { fits(name) }
    }
}

/// A tag and the tags above it, each as a whole and without the names in front: of `A\B` those are `A\B`,
/// `A` and `B`.
fn parts(tag: &str) -> impl Iterator<Item = &str> {
    let starts = std::iter::once(0).chain(tag.match_indices('\\').map(|(at, _)| at + 1));
    starts.flat_map(move |start| {
        let rest = tag.get(start..).unwrap_or_default();
        let ends = rest.match_indices('\\').map(|(at, _)| at).chain(std::iter::once(rest.len()));
        ends.filter_map(move |end| rest.get(..end))
    })
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, List, Subject, parts};
    use crate::disturbances::Kind;
    use crate::tags::{Nesting, TagSet};

    #[test]
    fn the_built_in_list_is_read_and_names_tags_that_there_are() {
        let list = List::read(BUILT_IN).expect("the built-in list is sound");
        assert!(list.version() > 0);
        let set = TagSet::built_in(Nesting::Names).expect("the built-in rules are sound");
        for ((kind, _), patterns) in list.patterns.iter().filter(|((_, subject), _)| *subject == Subject::Tag) {
            for pattern in patterns {
                let is_known = set.tags().any(|tag| parts(set.name(tag)).any(|part| pattern.matches(part)));
                assert!(is_known, "{kind}: {pattern:?} fits no tag");
            }
        }
        for kind in Kind::ALL {
            assert_eq!(list.patterns.keys().any(|(listed, _)| *listed == kind), kind.is_listed(), "{kind}");
        }
    }

    #[test]
    fn a_tag_stands_for_those_below_it_wherever_it_stands() {
        let list = List::read("version 1\npaging tag Page fault\\Hard").expect("a list");
        for (tag, expected) in [
            ("Page fault\\Hard", true),
            ("memory\\page fault\\hard", true),
            ("Memory\\Page fault\\Hard\\File", true),
            ("Page fault", false),
            ("Page fault\\Hardly", false),
            ("No page fault\\Hard", false),
            ("Page fault\\Soft\\Hard", false),
            ("", false),
        ] {
            assert_eq!(list.has(Kind::Paging, Subject::Tag, tag), expected, "{tag}");
        }
    }

    #[test]
    fn names_are_whole_and_of_their_kind() {
        let list =
            List::read("# a\n\nversion 7\nrecorder  process  Xperf View\n\trecorder thread log*\n").expect("a list");
        let has = |kind, subject, name| list.has(kind, subject, name);
        assert_eq!(list.version(), 7);
        assert!(has(Kind::Recorder, Subject::Process, "xperf view"));
        assert!(
            !has(Kind::Recorder, Subject::Process, "xperf views") && !has(Kind::Paging, Subject::Process, "xperf view")
        );
        assert!(has(Kind::Recorder, Subject::Thread, "Logger") && !has(Kind::Recorder, Subject::Process, "Logger"));
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, line, problem) in [
            ("", 1, "the list has no `version`"),
            ("# version 1", 1, "the list has no `version`"),
            ("antivirus process a", 1, "the list begins with `version` and a number above 0"),
            ("version", 1, "the list begins with `version` and a number above 0"),
            ("version x", 1, "the version is no number above 0"),
            ("version 0", 1, "the version is no number above 0"),
            ("version 1\nversion 2", 2, "`version` is no kind of disturbance"),
            ("version 1\npaging", 2, "a line has a kind, one of `process`, `thread` and `tag`, and a pattern"),
            ("# a\nversion 1\nvirus process a", 3, "`virus` is no kind of disturbance"),
            ("version 1\ncpu-taken process a", 2, "the rule of `cpu-taken` looks for no names"),
            ("version 1\nantivirus driver a", 2, "`driver` is none of `process`, `thread` and `tag`"),
            ("version 1\nantivirus tag ", 2, "the pattern is missing"),
            ("version 1\nantivirus process a.EXE", 2, "`a.EXE` fits nothing, as images have no `.exe` here"),
            ("version 1\npaging thread a\n\npaging thread A", 4, "`A` is in the list already"),
        ] {
            let error = List::read(text).expect_err("wrong");
            assert_eq!((error.line, error.problem.as_str()), (line, problem), "{text}");
        }
    }
}
