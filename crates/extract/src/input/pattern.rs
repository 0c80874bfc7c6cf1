//! The filter grammar: `a*;b?;!*c*`.
//!
//! File names, processes, methods, queries and tags are all filtered with it, so it is learnt once: `;` separates
//! patterns, a leading `!` excludes, `*` stands for any run of characters and `?` for exactly one. Case does not
//! matter, and a pattern always describes the whole text: one writes `*x*` for "contains x".

use std::fmt;

/// One pattern without list or exclusion syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    tokens: Box<[Token]>,
    /// Whether every token is a character.
    literal: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// `*`; never two in a row.
    Run,
    /// `?`
    One,
    /// A character, folded.
    Char(char),
}

impl Pattern {
    /// Reads a pattern. Every text is one.
    pub fn new(text: &str) -> Self {
        let mut tokens = Vec::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '*' if tokens.last() == Some(&Token::Run) => {}
                '*' => tokens.push(Token::Run),
                '?' => tokens.push(Token::One),
                c => tokens.push(Token::Char(fold(c))),
            }
        }
        let literal = tokens.iter().all(|token| matches!(token, Token::Char(_)));
        Pattern { tokens: tokens.into(), literal }
    }

    /// Whether it has no wildcards and so matches one text only.
    pub fn is_literal(&self) -> bool {
        self.literal
    }

    /// Whether the whole of `text` matches.
    ///
    /// Only the latest `*` is ever reconsidered: an earlier one that took more could not help, since the latest one
    /// can take the difference. So the cost is at most pattern length × text length, for any pattern, and nothing is
    /// allocated.
    pub fn matches(&self, text: &str) -> bool {
        let mut rest = text;
        let mut token = 0;
        // Token after the latest `*`, and the text from which it may take one more character.
        let mut retry: Option<(usize, &str)> = None;
        loop {
            let advanced = match (self.tokens.get(token), split_first(rest)) {
                (Some(Token::Run), _) => {
                    token += 1;
                    if token == self.tokens.len() {
                        return true;
                    }
                    retry = Some((token, rest));
                    continue;
                }
                (Some(Token::One), Some((_, after))) => Some(after),
                (Some(Token::Char(wanted)), Some((found, after))) if *wanted == fold(found) => Some(after),
                (None, None) => return true,
                // The pattern wants more than the text has; a longer run leaves even less.
                (Some(_), None) => return false,
                _ => None,
            };
            match (advanced, &mut retry) {
                (Some(after), _) => {
                    rest = after;
                    token += 1;
                }
                (None, Some((from, start))) => {
                    let Some((_, after)) = split_first(start) else { return false };
                    *start = after;
                    token = *from;
                    rest = after;
                }
                (None, None) => return false,
            }
        }
    }
}

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

impl fmt::Display for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// One entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    Include(&'a str),
    Exclude(&'a str),
}

/// Takes a list apart.
pub(crate) fn split(text: &str) -> impl Iterator<Item = Item<'_>> {
    text.split(';').filter_map(|item| {
        let item = item.trim();
        match item.strip_prefix('!') {
            Some(excluded) if !excluded.trim().is_empty() => Some(Item::Exclude(excluded.trim())),
            None if !item.is_empty() => Some(Item::Include(item)),
            _ => None,
        }
    })
}

/// Whether a text has wildcards.
pub(crate) fn has_wildcards(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// The character that stands for all cases of `c`. Characters whose lower case is several characters stay as they are.
pub(crate) fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(single), None) => single,
        _ => c,
    }
}

fn split_first(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    chars.next().map(|c| (c, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_text_case_insensitive() {
        for (pattern, text, expected) in [
            ("cmd", "CMD", true),
            ("cmd", "cmd.exe", false),
            ("*x*", "axb", true),
            ("x", "axb", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("**?*", "", false),
            ("**?*", "q", true),
            ("*ab", "aab", true),
            ("*a*ab*", "xaaab", true),
            ("a*b*c", "abbbcb", false),
            ("ÄÖ?", "äöß", true),
            ("[a-z]", "[A-Z]", true),
            ("a.c", "abc", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern:?} against {text:?}");
        }
    }

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

    #[test]
    fn hostile_patterns_stay_cheap() {
        let text = "a".repeat(20_000);
        let pattern = Pattern::new(&format!("{}b", "*a".repeat(200)));
        assert!(!pattern.matches(&text));
    }
}
