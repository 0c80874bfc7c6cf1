//! The filter grammar: `a*;b?;!*c*`.
//!
//! File names, processes, methods, queries and tags are all filtered with it, so it is learnt once: `;` separates
//! patterns, a leading `!` excludes, `*` stands for any run of characters and `?` for exactly one. Case does not
//! matter, and a pattern always describes the whole text: one writes `*x*` for "contains x".

use std::fmt;

use crate::Pattern;

/// A list of patterns with exclusions.
///
/// Accepts a text if it matches one of the including patterns (or there is none) and none of the excluding ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    text: String,
}

impl Patterns {
    /// Reads a list such as `*Serial*;!*WithAV*`. Blanks around a pattern and empty patterns are ignored.
    pub fn parse(text: &str) -> Self {
        let mut patterns = Patterns { text: text.to_owned(), ..Patterns::default() };
        for item in split(text) {
            match item {
                Item::Include(text) => patterns.include.push(Pattern::new(text)),
                Item::Exclude(text) => patterns.exclude.push(Pattern::new(text)),
            }
        }
        patterns
    }

    /// Whether every text is accepted because no pattern was given.
    pub fn is_empty(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// Whether `text` is accepted.
    pub fn matches(&self, text: &str) -> bool {
        self.matches_any(&[text])
    }

    /// Whether a thing that goes by several names is accepted: one of them must be included (if anything is), and
    /// none may be excluded. `cmd`, `cmd.exe` and `cmd.exe(1234)` are names of one process.
    pub fn matches_any(&self, names: &[&str]) -> bool {
        let hit = |patterns: &[Pattern]| patterns.iter().any(|pattern| names.iter().any(|name| pattern.matches(name)));
        (self.include.is_empty() || hit(&self.include)) && !hit(&self.exclude)
    }
}

/// Every text is a list of patterns.
impl From<&str> for Patterns {
    fn from(text: &str) -> Self {
        Self::parse(text)
    }
}

impl fmt::Display for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// One entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// It includes.
    Include(&'a str),
    /// It excludes.
    Exclude(&'a str),
}

/// Takes a list apart.
pub fn split(text: &str) -> impl Iterator<Item = Item<'_>> {
    text.split(';').filter_map(|item| {
        let item = item.trim();
        match item.strip_prefix('!') {
            Some(excluded) if !excluded.trim().is_empty() => Some(Item::Exclude(excluded.trim())),
            None if !item.is_empty() => Some(Item::Include(item)),
            _ => None,
        }
    })
}

/// The patterns of a list, those that exclude without their `!`.
pub fn list_items(text: &str) -> impl Iterator<Item = &str> {
    split(text).map(|item| match item {
        Item::Include(text) | Item::Exclude(text) => text,
    })
}

/// Whether a text has wildcards.
#[must_use]
pub fn has_wildcards(text: &str) -> bool {
    text.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_include_one_and_exclude_all() {
        let patterns = Patterns::parse("*Serial*; ;!*WithAV* ; ! ;");
        assert!(patterns.matches("CreateSerial"));
        assert!(!patterns.matches("CreateSerial_withav_2"));
        assert!(!patterns.matches("Parallel"));
        let only_excluding = Patterns::parse("!*idle*");
        assert!(only_excluding.matches("cmd") && !only_excluding.matches("Idle"));
        assert!(Patterns::parse("").is_empty() && Patterns::parse("").matches("anything"));
    }

    #[test]
    fn a_thing_with_several_names() {
        let names = ["cmd", "cmd.exe", "cmd.exe(1234)"];
        assert!(Patterns::parse("cmd").matches_any(&names));
        assert!(Patterns::parse("*(1234)").matches_any(&names));
        assert!(!Patterns::parse("cmd;!*(1234)").matches_any(&names));
        assert!(!Patterns::parse("!cmd").matches_any(&names));
    }
}
