//! A condition on a field of an event: `Status!=0`, `QueryName=*.example.com`.

use std::str::FromStr;

use tracesift_etl::schema::{Decoded, Value};
use tracesift_grammar::{Comparison, Operator, Patterns};

use super::path::FieldPath;

/// A field compared with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    field: FieldPath,
    operator: Operator,
    /// The value as it was written.
    text: String,
    /// The value as a number, where it is one.
    number: Option<f64>,
    integer: Option<i128>,
    patterns: Patterns,
}

/// Longer ones first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, Operator); 7] = [
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// A text that is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// There is no comparison in it.
    #[error("`{0}` is no condition; write it as FIELD=VALUE, with one of = != < <= > >=")]
    Shape(String),
    /// Sizes can be compared with numbers only.
    #[error("`{0}`: only numbers can be compared by size")]
    NoNumber(String),
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let shape = || ConditionError::Shape(text.to_owned());
        let at = text.find(['=', '!', '<', '>']).ok_or_else(shape)?;
        let (field, rest) = text.split_at(at);
        let (sign, operator) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign)).ok_or_else(shape)?;
        let (field, value) = (field.trim(), rest[sign.len()..].trim());
        if field.is_empty() {
            return Err(shape());
        }
        let condition = Self::new(field, *operator, value);
        let by_size = !matches!(operator, Operator::Equal | Operator::NotEqual);
        if by_size && condition.number.is_none() {
            return Err(ConditionError::NoNumber(text.to_owned()));
        }
        Ok(condition)
    }
}

/// The grammar lets sizes be compared with numbers only.
impl From<Comparison> for Condition {
    fn from(comparison: Comparison) -> Self {
        Self::new(&comparison.field, comparison.operator, &comparison.value)
    }
}

impl Condition {
    fn new(field: &str, operator: Operator, value: &str) -> Self {
        let integer = integer(value);
        Self {
            field: FieldPath::new(field),
            operator,
            text: value.to_owned(),
            number: integer.map(|integer| integer as f64).or_else(|| value.parse().ok()),
            integer,
            patterns: Patterns::parse(value),
        }
    }

    /// Whether the event has the field and it compares as asked. An event without the field never passes; of an array one element is
    /// enough.
    #[must_use]
    pub fn accepts(&self, event: &Decoded<'_>) -> bool {
        self.field.find(event, &mut |value| self.accepts_value(value).then_some(())).is_some()
    }

    /// Its field and the text there, where it compares with a number: in an archive, values with a name are kept by that.
    pub(super) fn name_for_number<'e>(&self, event: &'e Decoded<'_>) -> Option<(&str, &'e str)> {
        let mut texts = |value: &'e Value<'_>| match value {
            Value::Text(text) if !text.is_empty() => Some(&**text),
            _ => None,
        };
        self.integer?;
        Some((self.field.text(), self.field.find(event, &mut texts)?))
    }

    fn accepts_value(&self, value: &Value<'_>) -> bool {
        match self.operator {
            Operator::Equal => self.equals(value),
            Operator::NotEqual => !self.equals(value),
            Operator::Matches => self.is_like(value),
            Operator::MatchesNot => !self.is_like(value),
            Operator::Less => self.compares(value, |left, right| left < right),
            Operator::LessOrEqual => self.compares(value, |left, right| left <= right),
            Operator::Greater => self.compares(value, |left, right| left > right),
            Operator::GreaterOrEqual => self.compares(value, |left, right| left >= right),
        }
    }

    fn equals(&self, value: &Value<'_>) -> bool {
        let same_number = match (value.number(), self.integer) {
            (Some(left), Some(right)) => left == right,
            _ => float(value).zip(self.number).is_some_and(|(left, right)| left == right),
        };
        same_number || self.is_like(value)
    }

    /// Whether the text of the value is as asked.
    fn is_like(&self, value: &Value<'_>) -> bool {
        // An empty value is the empty text, and no pattern that everything passes.
        if self.text.is_empty() { value.to_string().is_empty() } else { self.matches_text(value) }
    }

    fn matches_text(&self, value: &Value<'_>) -> bool {
        match value {
            Value::Text(text) => self.patterns.matches(text),
            other => self.patterns.matches(&other.to_string()),
        }
    }

    fn compares(&self, value: &Value<'_>, compare: impl Fn(f64, f64) -> bool) -> bool {
        // Whole numbers are compared as such: 2^63 and its neighbours are the same floating-point number.
        if let (Some(left), Some(right)) = (value.number(), self.integer) {
            let order = left.cmp(&right) as i8;
            return compare(f64::from(order), 0.0);
        }
        let left = float(value).or(value.number().map(|number| number as f64));
        left.zip(self.number).is_some_and(|(left, right)| compare(left, right))
    }
}

fn float(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Float(value) => Some(f64::from(*value)),
        Value::Double(value) => Some(*value),
        _ => None,
    }
}

/// A whole number, decimal or hexadecimal; `true` and `false` are 1 and 0.
fn integer(text: &str) -> Option<i128> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Some(1),
        "false" => Some(0),
        lower => match lower.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => lower.parse().ok(),
        },
    }
}

#[cfg(test)]
mod tests {
    use tracesift_etl::schema::{Decoded, Value};

    use super::{Condition, ConditionError};

    fn accepts(condition: &str) -> bool {
        let fields = vec![
            ("Status", Value::Signed(-5)),
            ("Address", Value::Hex(0xff00)),
            ("Name", Value::Text("www.example.com".into())),
            ("Type", Value::Named(2, "Background".to_owned())),
            ("Ratio", Value::Double(0.5)),
            ("Large", Value::Unsigned(u64::MAX)),
            ("Done", Value::Bool(true)),
            ("Empty", Value::Text("".into())),
            ("Peer", Value::Struct(vec![("Ports", Value::List(vec![Value::Unsigned(80), Value::Unsigned(443)]))])),
        ];
        condition.parse::<Condition>().expect("a condition").accepts(&Decoded { fields, ..Decoded::default() })
    }

    #[test]
    fn numbers_texts_names_and_members_compare() {
        for yes in [
            "Status=-5",
            "status != 0",
            "Status<0",
            "Address==0xFF00",
            "Address>=65280",
            "Name=*.example.com",
            "Name!=*.org",
            "Name=www.*;mail.*",
            "Type=Background",
            "Type=2",
            "Ratio>0.25",
            "Ratio=0.5",
            "Large>18446744073709551614",
            "Done=true",
            "Empty=",
            "Name!=",
            "Peer.Ports=443",
            "Peer.Ports>80",
            "Peer.Ports[1]=443",
        ] {
            assert!(accepts(yes), "{yes}");
        }
        for no in [
            "Status=5",
            "Missing=1",
            "Missing!=1",
            "Address<0xff00",
            "Name=example",
            "Type=3",
            "Large>18446744073709551615",
            "Done=0",
            "Empty!=",
            "Peer.Ports=81",
            "Peer.Nothing=1",
            "Peer.Ports[0]=443",
            "Name>5",
        ] {
            assert!(!accepts(no), "{no}");
        }
    }

    #[test]
    fn what_is_no_condition_says_so() {
        for text in ["Status", "=5", "Status!5", ""] {
            assert_eq!(text.parse::<Condition>(), Err(ConditionError::Shape(text.to_owned())));
        }
        assert_eq!("Name<abc".parse::<Condition>(), Err(ConditionError::NoNumber("Name<abc".to_owned())));
    }
}
