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
    /// For each `*`, what must come behind it.
    anchors: Box<[Option<Anchor>]>,
}

/// A character that must come behind a `*`, in both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Anchor {
    /// Characters in between.
    offset: usize,
    lower: u8,
    upper: u8,
}

/// The characters of names, the most frequent first: what is not among them is rare.
const FREQUENT: &[u8] = b"etrainosl.cd:mpughyfb_wvkxq";

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
        let anchors = (0..tokens.len()).map(|at| anchor(&tokens, at)).collect();
        Pattern { tokens: tokens.into(), literal, anchors }
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
        // Nearly all names; whoever has hundreds of recordings looks at millions of them.
        if text.is_ascii() { self.matches_ascii(text.as_bytes()) } else { self.matches_any(text) }
    }

    /// The same for ASCII, where a search leads to the next place at which what follows a `*` can begin.
    fn matches_ascii(&self, text: &[u8]) -> bool {
        let (mut at, mut token) = (0, 0);
        // Token after the latest `*`, and the next place where the text behind it may begin.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let fits = match (self.tokens.get(token), text.get(at)) {
                (Some(Token::Run), _) => {
                    token += 1;
                    if token == self.tokens.len() {
                        return true;
                    }
                    let Some(start) = self.next_start(token, text, at) else { return false };
                    retry = Some((token, start + 1));
                    at = start;
                    continue;
                }
                (Some(Token::One), Some(_)) => true,
                (Some(Token::Char(wanted)), Some(found)) => *wanted == char::from(found.to_ascii_lowercase()),
                (None, None) => return true,
                // The pattern wants more than the text has; a longer run leaves even less.
                (Some(_), None) => return false,
                _ => false,
            };
            if fits {
                at += 1;
                token += 1;
                continue;
            }
            let Some((from, start)) = retry else { return false };
            let Some(start) = self.next_start(from, text, start) else { return false };
            retry = Some((from, start + 1));
            at = start;
            token = from;
        }
    }

    /// The first place from `start` on where the tokens from `token`, which stand behind a `*`, can begin.
    fn next_start(&self, token: usize, text: &[u8], start: usize) -> Option<usize> {
        let Some(Anchor { offset, lower, upper }) = self.anchors.get(token - 1).copied().flatten() else {
            return (start <= text.len()).then_some(start);
        };
        let rest = text.get(start.checked_add(offset)?..)?;
        memchr::memchr2(lower, upper, rest).map(|found| start + found)
    }

    fn matches_any(&self, text: &str) -> bool {
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

/// The rarest character that must stand at a fixed distance behind the `*` at a place, if there is one.
fn anchor(tokens: &[Token], place: usize) -> Option<Anchor> {
    if tokens.get(place) != Some(&Token::Run) {
        return None;
    }
    let behind = tokens.get(place + 1..)?.iter().take_while(|token| **token != Token::Run).enumerate();
    let characters = behind.filter_map(|(offset, token)| match token {
        Token::Char(c) => Some((offset, u8::try_from(*c).ok().filter(u8::is_ascii)?)),
        _ => None,
    });
    let rarity = |byte: u8| FREQUENT.iter().position(|frequent| *frequent == byte).unwrap_or(FREQUENT.len());
    let (offset, lower) = characters.max_by_key(|(_, byte)| rarity(*byte))?;
    Some(Anchor { offset, lower, upper: lower.to_ascii_uppercase() })
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

    proptest::proptest! {
        /// The search for ASCII finds what the plain one finds.
        #[test]
        fn ascii_is_nothing_else(pattern in "[aAbB_.*?ké]{0,8}", text in "[aAbBkK_.]{0,12}") {
            let pattern = Pattern::new(&pattern);
            proptest::prop_assert_eq!(pattern.matches(&text), pattern.matches_any(&text));
        }
    }

    #[test]
    fn hostile_patterns_stay_cheap() {
        let text = "a".repeat(20_000);
        let pattern = Pattern::new(&format!("{}b", "*a".repeat(200)));
        assert!(!pattern.matches(&text));
    }
}
