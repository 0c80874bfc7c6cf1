//! Values of an option that are words of a list.
//!
//! An enum of this crate derives `ValueEnum`. The crates below this one do not depend on the parser of command lines:
//! a table beside the option gives their values words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word, its meaning, and its value.
pub type Word<T> = (&'static str, &'static str, T);

/// A parser of the words of a list. An empty meaning is not shown.
pub fn one_of<T: Copy + Send + Sync + 'static>(words: &'static [Word<T>]) -> impl TypedValueParser<Value = T> {
    let possible = words.iter().map(|(word, meaning, _)| {
        let value = PossibleValue::new(*word);
        if meaning.is_empty() { value } else { value.help(*meaning) }
    });
    PossibleValuesParser::new(possible).try_map(|text| {
        let found = words.iter().find(|(word, ..)| *word == text).map(|(.., value)| *value);
        found.ok_or_else(|| format!("`{text}` is not in the list"))
    })
}

/// The word of a number: the words stand in the order of their numbers, from 0. A number without a word is its own text.
#[must_use]
pub fn numbered(words: &[&str], number: i64) -> String {
    let known = usize::try_from(number).ok().and_then(|place| words.get(place));
    known.map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::one_of;

    #[test]
    fn a_word_gives_its_value() {
        let command = || {
            let option = Arg::new("size").long("size").value_parser(one_of(&[("small", "", 1), ("large", "More", 2)]));
            Command::new("test").no_binary_name(true).arg(option)
        };
        let value = |text: &str| {
            let matches = command().try_get_matches_from(["--size", text]).ok()?;
            matches.get_one::<i32>("size").copied()
        };
        assert_eq!([value("small"), value("large"), value("other")], [Some(1), Some(2), None]);
    }
}
