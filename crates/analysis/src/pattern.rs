//! Patterns with wildcards, in which people name methods, modules, processes and files.
//!
//! `*` stands for any run of characters and `?` for exactly one. Case does not matter, and a pattern always describes the
//! whole text: one writes `*x*` for "contains x". Lists of patterns are the business of who filters.

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
    #[must_use]
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
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.literal
    }

    /// Whether the whole of `text` matches.
    ///
    /// Only the latest `*` is ever reconsidered: an earlier one that took more could not help, since the latest one
    /// can take the difference. So the cost is at most pattern length × text length, for any pattern, and nothing is
    /// allocated.
    #[must_use]
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

/// The character that stands for all cases of `c`. Characters whose lower case is several characters stay as they are.
#[must_use]
pub fn fold(c: char) -> char {
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
    use super::Pattern;

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
    fn hostile_patterns_stay_cheap() {
        let text = "a".repeat(20_000);
        let pattern = Pattern::new(&format!("{}b", "*a".repeat(200)));
        assert!(!pattern.matches(&text));
    }
}
