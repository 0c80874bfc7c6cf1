//! The pattern matcher against the plainest possible one.

use proptest::prelude::*;
use tracesift_grammar::{Pattern, Patterns};

/// What the grammar says, word by word; takes exponential time.
fn reference(pattern: &[char], text: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('*', rest)) => (0..=text.len()).any(|taken| reference(rest, &text[taken..])),
        Some(('?', rest)) => !text.is_empty() && reference(rest, &text[1..]),
        Some((wanted, rest)) => {
            text.first().is_some_and(|found| found.to_lowercase().eq(wanted.to_lowercase()))
                && reference(rest, &text[1..])
        }
    }
}

fn chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_reference(pattern in "[abAÄä*?]{0,8}", text in "[abBäÄ.]{0,10}") {
        prop_assert_eq!(Pattern::new(&pattern).matches(&text), reference(&chars(&pattern), &chars(&text)));
    }

    #[test]
    fn a_text_that_a_pattern_was_made_of_matches(
        pieces in prop::collection::vec(("[ab]{0,3}", "[abc]{0,4}"), 1..6),
    ) {
        let pattern: String = pieces.iter().flat_map(|(literal, _)| [literal.as_str(), "*"]).collect();
        let text: String = pieces.iter().flat_map(|(literal, run)| [literal.as_str(), run.as_str()]).collect();
        prop_assert!(Pattern::new(&pattern).matches(&text), "{} should match {}", pattern, text);
    }

    #[test]
    fn lists_follow_from_single_patterns(
        include in prop::collection::vec("[ab*?]{1,4}", 0..3),
        exclude in prop::collection::vec("[ab*?]{1,4}", 0..3),
        text in "[ab]{0,4}",
    ) {
        let list: Vec<String> = include.iter().cloned().chain(exclude.iter().map(|text| format!("!{text}"))).collect();
        let hit = |patterns: &[String]| patterns.iter().any(|pattern| reference(&chars(pattern), &chars(&text)));
        let expected = (include.is_empty() || hit(&include)) && !hit(&exclude);
        prop_assert_eq!(Patterns::parse(&list.join(";")).matches(&text), expected);
    }
}
