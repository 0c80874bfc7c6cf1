//! Which values of a dimension are asked for.

use std::fmt::{Display, Formatter};

use tracesift_grammar::Patterns;

use super::dimension::Of;
use crate::method_patterns::MethodPatterns;

/// Which values of a dimension are asked for.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    Texts(Patterns),
    Methods(MethodPatterns),
    /// Stacks with the functions of the stacks of these numbers.
    Stacks(Vec<i64>),
}

impl Wanted {
    /// What patterns of a dimension ask for.
    pub(super) fn parse(of: Of, patterns: &str) -> Self {
        match (of, stack_numbers(patterns)) {
            (Of::Stack, Some(numbers)) => Self::Stacks(numbers),
            (Of::Method | Of::Stack, _) => Self::Methods(MethodPatterns::parse(patterns, false)),
            _ => Self::Texts(Patterns::parse(patterns)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Texts(patterns) => patterns.is_empty(),
            Self::Methods(patterns) => patterns.is_empty(),
            Self::Stacks(numbers) => numbers.is_empty(),
        }
    }

    /// Whether the patterns let a text of a row pass.
    pub(super) fn lets_pass_text(&self, text: Option<&str>) -> bool {
        match self {
            Self::Texts(patterns) => text.is_some_and(|text| patterns.matches(text)),
            Self::Methods(_) | Self::Stacks(_) => false,
        }
    }
}

impl Display for Wanted {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Texts(patterns) => patterns.fmt(f),
            Self::Methods(patterns) => patterns.fmt(f),
            Self::Stacks(numbers) => {
                let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
                f.write_str(&texts.join(";"))
            }
        }
    }
}

/// The numbers of stacks that patterns of functions are in place of names: no function is called by a number.
fn stack_numbers(patterns: &str) -> Option<Vec<i64>> {
    let items = patterns.split(';').map(str::trim).filter(|item| !item.is_empty());
    let numbers: Vec<i64> = items.map(|item| item.parse::<u32>().ok().map(i64::from)).collect::<Option<_>>()?;
    (!numbers.is_empty()).then_some(numbers)
}
