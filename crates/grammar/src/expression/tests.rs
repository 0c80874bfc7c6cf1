//! Conditions that are read, shown and refused.

use proptest::prelude::*;

use super::{Comparison, Expression, Operator, is_number};

fn parsed(text: &str) -> String {
    match Expression::parse(text) {
        Ok(expression) => expression.to_string(),
        Err(error) => format!("{error}"),
    }
}

#[test]
fn what_is_typed_is_read() {
    for (text, read) in [
        ("Size>4096", "Size > 4096"),
        ("Size > 4096 and Name ~ *.log", "Size > 4096 and Name ~ *.log"),
        ("a=1 or b=2 and c=3", "a == 1 or b == 2 and c == 3"),
        ("(a=1 or b=2) and c=3", "(a == 1 or b == 2) and c == 3"),
        ("NOT a=1 AND not(b=2)", "not a == 1 and not b == 2"),
        ("not (a=1 and b=2)", "not (a == 1 and b == 2)"),
        ("((a != 1))", "a != 1"),
        ("Values[0].TypeName!~*Foo*", "Values[0].TypeName !~ *Foo*"),
        ("'and' = \"it''s\"", "'and' == 'it''''s'"),
        (r#""a ""b""" = 'x y'"#, r#"'a "b"' == 'x y'"#),
        (r"Path ~ C:\Prog*(x86)\*", r"Path ~ 'C:\Prog*(x86)\*'"),
        ("(Path ~ *(x86))", "Path ~ '*(x86)'"),
        ("Name = ''", "Name == ''"),
        ("a=!b", "a == '!b'"),
        ("order=1 and nothing=2", "order == 1 and nothing == 2"),
        ("Offset >= -0x10 or x<1e3", "only numbers can be compared by size\n  Offset >= -0x10 or x<1e3\n            ^"),
        ("Offset >= 0x10 or x<1e3", "Offset >= 0x10 or x < 1e3"),
    ] {
        assert_eq!(parsed(text), read, "{text}");
    }
}

#[test]
fn mistakes_are_pointed_at() {
    for (text, reason, at) in [
        ("", "a field is missing", 0),
        ("Size", "expected one of = != < <= > >= ~ !~ behind the field `Size`", 4),
        ("Size >", "a value is missing here; quotes stand around values such as 'and' or '=5'", 6),
        ("Size > and b=1", "a value is missing here; quotes stand around values such as 'and' or '=5'", 7),
        ("Size = = 5", "a value is missing here; quotes stand around values such as 'and' or '=5'", 7),
        ("Size > big", "only numbers can be compared by size", 7),
        ("Size > 1 Name = 2", "expected `and`, `or` or the end", 9),
        ("Size > 1)", "no parenthesis is open here", 8),
        ("(Size > 1", "a parenthesis is not closed", 0),
        ("(Size > 1 Name", "expected `and`, `or` or `)`", 10),
        ("a=1 and", "a field is missing", 7),
        ("a=1 and or b=2", "a field is missing in front of `or`", 8),
        ("a=1 and ='x'", "a field is missing", 8),
        ("a = 'x", "a quote is not closed", 4),
        ("ü = 1 und b = 2", "expected `and`, `or` or the end", 7),
    ] {
        let error = Expression::parse(text).expect_err(text);
        assert_eq!((error.reason(), error.at()), (reason, at), "{text}");
    }
    let error = Expression::parse("ü\t= 1 und b = 2").expect_err("no condition");
    assert_eq!(error.to_string(), "expected `and`, `or` or the end\n  ü = 1 und b = 2\n        ^");
    let deep = format!("{}a=1{}", "(".repeat(65), ")".repeat(65));
    assert_eq!(Expression::parse(&deep).expect_err("too deep").at(), 64);
    assert!(Expression::parse(&deep[1..deep.len() - 1]).is_ok());
    assert!(Expression::parse(&"not ".repeat(1 << 20)).is_err());
}

#[test]
fn numbers() {
    assert!(["0", "-1", "+1", "0xff", "0XFF", "1.5", "1e3", "-.5"].iter().all(|text| is_number(text)));
    assert!(["", "0x", "-0x1", "0x-1", "NaN", "inf", "1 ", "1k", "1E"].iter().all(|text| !is_number(text)));
}

fn comparisons() -> impl Strategy<Value = Comparison> {
    let fields =
        prop_oneof!["[a-c]", "[a-z \\[\\].'\"!=()~üß]{1,6}".prop_filter("a name", |text| !text.trim().is_empty())];
    let of_texts =
        (fields.clone(), "[ -~ü]{0,6}", any::<bool>(), any::<bool>()).prop_map(|(field, value, not, matches)| {
            let operator = match (not, matches) {
                (false, false) => Operator::Equal,
                (true, false) => Operator::NotEqual,
                (false, true) => Operator::Matches,
                (true, true) => Operator::MatchesNot,
            };
            Comparison { field, operator, value }
        });
    let of_numbers = (fields, any::<i64>(), 0..4_usize).prop_map(|(field, value, which)| {
        let operator = [Operator::Less, Operator::LessOrEqual, Operator::Greater, Operator::GreaterOrEqual][which];
        Comparison { field, operator, value: value.to_string() }
    });
    prop_oneof![of_texts, of_numbers]
}

fn expressions() -> impl Strategy<Value = Expression<Comparison>> {
    comparisons().prop_map(Expression::Is).prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expression::All),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expression::Any),
            inner.prop_map(|one| Expression::Not(Box::new(one))),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_shown_is_read_as_the_same(expression in expressions()) {
        prop_assert_eq!(Expression::parse(&expression.to_string()), Ok(expression));
    }

    #[test]
    fn any_text_is_read_or_pointed_at(text in "[a-c=<>!~()'\" \u{fc}\t\\[\\].*0-9]{0,24}|.{0,24}") {
        match Expression::parse(&text) {
            Ok(expression) => prop_assert_eq!(Expression::parse(&expression.to_string()), Ok(expression)),
            Err(error) => {
                prop_assert!(text.is_char_boundary(error.at()));
                prop_assert_eq!(error.to_string().lines().count(), 3);
            }
        }
    }

    /// `and` binds closer than `or`, and `not` closest: against sums of products of bits.
    #[test]
    fn conditions_are_joined_as_a_plain_reading_joins_them(
        sums in prop::collection::vec(prop::collection::vec((0..3_usize, any::<bool>()), 1..4), 1..4),
        bits in prop::array::uniform3(any::<bool>()),
    ) {
        let name = |at: usize| ["a", "b", "c"][at];
        let product = |product: &Vec<(usize, bool)>| {
            let one = |(at, not): &(usize, bool)| format!("{}{} = 1", if *not { "not " } else { "" }, name(*at));
            product.iter().map(one).collect::<Vec<_>>().join(" and ")
        };
        let text = sums.iter().map(product).collect::<Vec<_>>().join(" or ");
        let expected = sums.iter().any(|product| product.iter().all(|(at, not)| bits[*at] != *not));
        let expression = Expression::parse(&text).expect("a condition");
        let mut of_bit = |comparison: &Comparison| (0..3).any(|at| comparison.field == name(at) && bits[at]);
        prop_assert_eq!(expression.holds(&mut of_bit), expected, "{}", text);
    }
}
