//! The file of names that the rules of disturbances look for.

use tracesift_grammar::Pattern;

use super::Kind;

/// What a pattern describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Process,
    Thread,
    Tag,
}

/// A line of the file.
#[derive(Clone, Debug)]
struct Entry {
    kind: Kind,
    subject: Subject,
    pattern: Pattern,
    /// Of a tag: those below it.
    below: Option<Pattern>,
}

/// The patterns of a file.
#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) version: u32,
    entries: Vec<Entry>,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(super) struct ListError {
    /// Its number, the first is 1.
    line: usize,
    /// What is wrong with it.
    reason: String,
}

impl List {
    /// The file that the program has.
    pub(super) fn built_in() -> Self {
        Self::read(include_str!("default.txt")).expect("the built-in list is sound")
    }

    fn read(text: &str) -> Result<Self, ListError> {
        let mut list = Self { version: 0, entries: Vec::new() };
        for (line, content) in (1..).zip(text.lines()) {
            let wrong = |reason: String| ListError { line, reason };
            let mut words = content.split_whitespace();
            let Some(first) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            if first == "version" {
                let version = words.next().and_then(|word| word.parse().ok()).filter(|version| *version > 0);
                list.version = version.ok_or_else(|| wrong("the version is no number above 0".to_owned()))?;
                continue;
            }
            if list.version == 0 {
                return Err(wrong("`version` does not come first".to_owned()));
            }
            let kind = Kind::of_word(first).ok_or_else(|| wrong(format!("`{first}` is no kind")))?;
            let subject = match words.next() {
                Some("process") => Subject::Process,
                Some("thread") => Subject::Thread,
                Some("tag") => Subject::Tag,
                other => return Err(wrong(format!("`{}` is none of process, thread, tag", other.unwrap_or_default()))),
            };
            let pattern = words.collect::<Vec<_>>().join(" ");
            if pattern.is_empty() {
                return Err(wrong("the pattern is missing".to_owned()));
            }
            let below = (subject == Subject::Tag).then(|| Pattern::new(&format!("{pattern}\\*")));
            list.entries.push(Entry { kind, subject, pattern: Pattern::new(&pattern), below });
        }
        Ok(list)
    }

    /// Whether a pattern of the kind describes a name.
    pub(super) fn has(&self, kind: Kind, subject: Subject, name: &str) -> bool {
        let of_kind = self.entries.iter().filter(|entry| entry.kind == kind && entry.subject == subject);
        of_kind
            .into_iter()
            .any(|entry| entry.pattern.matches(name) || entry.below.as_ref().is_some_and(|below| below.matches(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::{List, Subject};
    use crate::disturbances::Kind;
    use crate::tags::{Nesting, TagSet};

    #[test]
    fn the_built_in_list_is_sound_and_names_tags_that_there_are() {
        let list = List::built_in();
        assert!(list.version > 0);
        let set = TagSet::built_in(Nesting::Names).expect("the built-in rules are sound");
        for entry in list.entries.iter().filter(|entry| entry.subject == Subject::Tag) {
            let fits = |name: &str| {
                entry.pattern.matches(name) || entry.below.as_ref().is_some_and(|below| below.matches(name))
            };
            assert!(set.tags().any(|tag| fits(set.name(tag))), "{entry:?} fits no tag");
        }
    }

    #[test]
    fn a_tag_stands_for_those_below_it() {
        let list = List::built_in();
        let has = |tag: &str| list.has(Kind::Antivirus, Subject::Tag, tag);
        assert!(has("Antivirus") && has("antivirus\\Avast"));
        assert!(!has("Antivirus2") && !has("My\\Antivirus"));
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, line, reason) in [
            ("antivirus process a", 1, "`version` does not come first"),
            ("version x", 1, "the version is no number above 0"),
            ("# a\nversion 1\nvirus process a", 3, "`virus` is no kind"),
            ("version 1\nantivirus driver a", 2, "`driver` is none of process, thread, tag"),
            ("version 1\nantivirus tag ", 2, "the pattern is missing"),
        ] {
            let error = List::read(text).expect_err("wrong");
            assert_eq!((error.line, error.reason.as_str()), (line, reason), "{text}");
        }
    }
}
