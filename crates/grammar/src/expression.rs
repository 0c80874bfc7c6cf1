//! Conditions on fields, as people type them: `Size > 4096 and (Name ~ *.log or not Status = 0)`.
//!
//! ```text
//! any        = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | "(" any ")" | FIELD OPERATOR VALUE
//! OPERATOR   = "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"
//! ```
//!
//! A field ends at a blank, a parenthesis or an operator. A value ends at a blank, or at a parenthesis that closes more than it has opened.
//! Either may stand in quotes of one kind, in which a quote is written twice.

use std::fmt;

/// A condition made of others of the type `C`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression<C> {
    /// All of them hold.
    All(Vec<Self>),
    /// One of them holds.
    Any(Vec<Self>),
    /// The other one does not hold.
    Not(Box<Self>),
    /// A single one.
    Is(C),
}

/// A field compared with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The field; never empty.
    pub field: String,
    /// How they compare.
    pub operator: Operator,
    /// The value. A number where sizes are compared.
    pub value: String,
}

/// How a field compares with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The same number, or a text that matches.
    Equal,
    /// Not [`Self::Equal`].
    NotEqual,
    /// A smaller number.
    Less,
    /// No larger number.
    LessOrEqual,
    /// A larger number.
    Greater,
    /// No smaller number.
    GreaterOrEqual,
    /// A text that matches the patterns.
    Matches,
    /// A text that does not.
    MatchesNot,
}

/// Longer ones first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, Operator); 9] = [
    ("!=", Operator::NotEqual),
    ("!~", Operator::MatchesNot),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("~", Operator::Matches),
];

/// Words that join conditions.
const WORDS: [&str; 3] = ["and", "or", "not"];

/// Parentheses and `not` inside of each other: more nobody types, and each takes stack.
const DEEPEST: usize = 64;

/// A text that is no condition, with the place of the mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    text: String,
    at: usize,
    reason: String,
}

impl ExpressionError {
    /// Where the mistake is: a place in the text, in bytes.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// What is wrong there.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl std::error::Error for ExpressionError {}

/// The reason, and the text with a mark below the place.
impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| -> String { text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect() };
        let before = self.text.get(..self.at).unwrap_or_default().chars().count();
        write!(f, "{}\n  {}\n  {:before$}^", shown(&self.reason), shown(&self.text), "")
    }
}

impl Expression<Comparison> {
    /// Reads a condition.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let whole = parser.any()?;
        parser.blanks();
        match parser.rest().chars().next() {
            None => Ok(whole),
            Some(')') => Err(parser.error("no parenthesis is open here")),
            Some(_) => Err(parser.error("expected `and`, `or` or the end")),
        }
    }
}

impl<C> Expression<C> {
    /// Whether it holds, where `holds` says so of a single condition.
    pub fn holds(&self, holds: &mut dyn FnMut(&C) -> bool) -> bool {
        match self {
            Self::All(all) => all.iter().all(|one| one.holds(holds)),
            Self::Any(any) => any.iter().any(|one| one.holds(holds)),
            Self::Not(one) => !one.holds(holds),
            Self::Is(one) => holds(one),
        }
    }

    /// The same of other single conditions.
    pub fn map<D>(self, map: &mut dyn FnMut(C) -> D) -> Expression<D> {
        match self {
            Self::All(all) => Expression::All(all.into_iter().map(|one| one.map(map)).collect()),
            Self::Any(any) => Expression::Any(any.into_iter().map(|one| one.map(map)).collect()),
            Self::Not(one) => Expression::Not(Box::new(one.map(map))),
            Self::Is(one) => Expression::Is(map(one)),
        }
    }

    /// Shows each single condition.
    pub fn each<'e>(&'e self, visit: &mut dyn FnMut(&'e C)) {
        match self {
            Self::All(more) | Self::Any(more) => more.iter().for_each(|one| one.each(visit)),
            Self::Not(one) => one.each(visit),
            Self::Is(one) => visit(one),
        }
    }
}

/// A number as it may be typed: whole, decimal or hexadecimal, or with a fraction.
#[must_use]
pub fn is_number(text: &str) -> bool {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => i128::from_str_radix(digits, 16).is_ok() && !digits.starts_with(['+', '-']),
        None => text.parse::<f64>().is_ok_and(f64::is_finite),
    }
}

struct Parser<'t> {
    text: &'t str,
    /// Bytes that are read.
    at: usize,
    /// Parentheses and `not` around this place.
    depth: usize,
}

type Parsed = Result<Expression<Comparison>, ExpressionError>;

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, reason: impl Into<String>) -> ExpressionError {
        self.error_at(self.at, reason)
    }

    fn error_at(&self, at: usize, reason: impl Into<String>) -> ExpressionError {
        ExpressionError { text: self.text.to_owned(), at, reason: reason.into() }
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Takes a word that joins conditions, if it stands here.
    fn word(&mut self, word: &str) -> bool {
        self.blanks();
        let rest = self.rest();
        let is_here = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
            && !rest[word.len()..].starts_with(|c: char| !ends_field(c) && c != '!');
        if is_here {
            self.at += word.len();
        }
        is_here
    }

    fn any(&mut self) -> Parsed {
        self.joined("or", Self::all, Expression::Any)
    }

    fn all(&mut self) -> Parsed {
        self.joined("and", Self::one, Expression::All)
    }

    fn joined(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Parsed,
        join: fn(Vec<Expression<Comparison>>) -> Expression<Comparison>,
    ) -> Parsed {
        let first = part(self)?;
        let mut parts = Vec::new();
        while self.word(word) {
            parts.push(part(self)?);
        }
        if parts.is_empty() {
            return Ok(first);
        }
        parts.insert(0, first);
        Ok(join(parts))
    }

    fn one(&mut self) -> Parsed {
        self.blanks();
        let start = self.at;
        if self.word("not") {
            let inner = self.deeper(start, Self::one)?;
            return Ok(Expression::Not(Box::new(inner)));
        }
        if !self.rest().starts_with('(') {
            return self.comparison().map(Expression::Is);
        }
        self.at += 1;
        let inner = self.deeper(start, Self::any)?;
        self.blanks();
        if !self.rest().starts_with(')') {
            let reason =
                if self.rest().is_empty() { "a parenthesis is not closed" } else { "expected `and`, `or` or `)`" };
            let at = if self.rest().is_empty() { start } else { self.at };
            return Err(self.error_at(at, reason));
        }
        self.at += 1;
        Ok(inner)
    }

    fn deeper(&mut self, start: usize, part: fn(&mut Self) -> Parsed) -> Parsed {
        if self.depth >= DEEPEST {
            return Err(self.error_at(start, format!("more than {DEEPEST} parentheses and `not` inside of each other")));
        }
        self.depth += 1;
        let part = part(self);
        self.depth -= 1;
        part
    }

    fn comparison(&mut self) -> Result<Comparison, ExpressionError> {
        let field = self.field()?;
        self.blanks();
        let operator = OPERATORS.iter().find(|(sign, _)| self.rest().starts_with(sign));
        let Some((sign, operator)) = operator else {
            return Err(self.error(format!("expected one of = != < <= > >= ~ !~ behind the field `{field}`")));
        };
        self.at += sign.len();
        self.blanks();
        let at = self.at;
        let value = self.value()?;
        let by_size =
            matches!(operator, Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual);
        if by_size && !is_number(&value) {
            return Err(self.error_at(at, "only numbers can be compared by size"));
        }
        Ok(Comparison { field, operator: *operator, value })
    }

    fn field(&mut self) -> Result<String, ExpressionError> {
        let start = self.at;
        let field = match self.quoted()? {
            Some(quoted) => quoted,
            None => {
                let rest = self.rest();
                let is_end =
                    |(at, c): (usize, char)| ends_field(c) || (c == '!' && rest[at + 1..].starts_with(['=', '~']));
                let end = rest.char_indices().find(|place| is_end(*place)).map_or(rest.len(), |(at, _)| at);
                self.at += end;
                let word = &rest[..end];
                if WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)) {
                    return Err(self.error_at(start, format!("a field is missing in front of `{word}`")));
                }
                word.to_owned()
            }
        };
        if field.trim().is_empty() { Err(self.error_at(start, "a field is missing")) } else { Ok(field) }
    }

    fn value(&mut self) -> Result<String, ExpressionError> {
        if let Some(quoted) = self.quoted()? {
            return Ok(quoted);
        }
        let rest = self.rest();
        let mut open = 0_usize;
        let is_end = |c: char| {
            match c {
                '(' => open += 1,
                ')' if open == 0 => return true,
                ')' => open -= 1,
                c => return c.is_whitespace(),
            }
            false
        };
        let end = rest.find(is_end).unwrap_or(rest.len());
        let word = &rest[..end];
        let is_joining = WORDS.iter().any(|known| word.eq_ignore_ascii_case(known));
        if word.is_empty() || is_joining || OPERATORS.iter().any(|(sign, _)| word.starts_with(sign)) {
            return Err(self.error("a value is missing here; quotes stand around values such as 'and' or '=5'"));
        }
        self.at += end;
        Ok(word.to_owned())
    }

    /// A text in quotes, if one begins here.
    fn quoted(&mut self) -> Result<Option<String>, ExpressionError> {
        let Some(quote) = self.rest().chars().next().filter(|c| matches!(c, '\'' | '"')) else { return Ok(None) };
        let start = self.at;
        let mut text = String::new();
        loop {
            self.at += 1;
            let rest = self.rest();
            let Some(end) = rest.find(quote) else { return Err(self.error_at(start, "a quote is not closed")) };
            text.push_str(&rest[..end]);
            self.at += end + 1;
            if !self.rest().starts_with(quote) {
                return Ok(Some(text));
            }
            text.push(quote);
        }
    }
}

fn ends_field(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '=' | '<' | '>' | '~')
}

/// Parts with a word between, some of them in parentheses.
fn joined(
    f: &mut fmt::Formatter<'_>,
    parts: &[Expression<Comparison>],
    word: &str,
    in_parentheses: fn(&Expression<Comparison>) -> bool,
) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            write!(f, " {word} ")?;
        }
        if in_parentheses(part) {
            write!(f, "({part})")?;
        } else {
            write!(f, "{part}")?;
        }
    }
    Ok(())
}

/// A text that is read as the same condition.
impl fmt::Display for Expression<Comparison> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(all) => joined(f, all, "and", |part| matches!(part, Self::All(_) | Self::Any(_))),
            Self::Any(any) => joined(f, any, "or", |part| matches!(part, Self::Any(_))),
            Self::Not(one) if matches!(**one, Self::All(_) | Self::Any(_)) => write!(f, "not ({one})"),
            Self::Not(one) => write!(f, "not {one}"),
            Self::Is(one) => write!(f, "{one}"),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = OPERATORS.iter().find(|(_, operator)| *operator == self.operator).map_or("=", |(sign, _)| sign);
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let is_plain =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '*' | '?' | '-' | ':' | '\\');
        let plain = |text: &str| {
            let is_word = !text.is_empty() && text.chars().all(is_plain);
            if is_word && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) {
                text.to_owned()
            } else {
                quoted(text)
            }
        };
        write!(f, "{} {sign} {}", plain(&self.field), plain(&self.value))
    }
}

#[cfg(test)]
mod tests;
