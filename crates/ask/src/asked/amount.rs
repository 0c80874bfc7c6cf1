//! A number with its unit.

use std::fmt;

use crate::answer::Kind;
use crate::time_format::decimal;

/// A figure with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// ns.
    Time(i64),
    /// A number of things.
    Count(i64),
    /// Bytes.
    Bytes(i64),
    /// Another number.
    Number(f64),
}

impl Amount {
    /// The number alone.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Time(number) | Self::Count(number) | Self::Bytes(number) => number as f64,
            Self::Number(number) => number,
        }
    }

    /// The unit of the number.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Time(_) => "ns",
            Self::Count(_) => "integer",
            Self::Bytes(_) => "bytes",
            Self::Number(_) => "number",
        }
    }

    /// Another number of the same unit.
    #[must_use]
    pub(crate) fn with(self, number: f64) -> Self {
        match self {
            Self::Time(_) => Self::Time(number.round() as i64),
            Self::Count(_) => Self::Count(number.round() as i64),
            Self::Bytes(_) => Self::Bytes(number.round() as i64),
            Self::Number(_) => Self::Number(number),
        }
    }

    /// What is left of it without a part of it. `None` in place of the part: nothing.
    #[must_use]
    pub(crate) fn less(self, part: Option<Self>) -> Self {
        self.with(self.number() - part.map_or(0.0, Self::number))
    }

    pub(crate) fn of(kind: Kind, number: f64) -> Self {
        match kind {
            Kind::Seconds | Kind::Milliseconds | Kind::Microseconds | Kind::Time => Self::Time(number as i64),
            Kind::Bytes => Self::Bytes(number as i64),
            Kind::Id | Kind::Count => Self::Count(number as i64),
            _ => Self::Number(number),
        }
    }
}

impl fmt::Display for Amount {
    /// As people read it: `7,447.0 ms`, `3,072 KiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(ns) => write!(f, "{} ms", grouped(&decimal(*ns, 6, 1))),
            Self::Count(number) => f.write_str(&grouped(&number.to_string())),
            Self::Bytes(bytes) => write!(f, "{} KiB", grouped(&(bytes / 1024).to_string())),
            Self::Number(number) => f.write_str(&grouped(&format!("{number:.1}"))),
        }
    }
}

/// A number with commas between thousands.
fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let whole = digits.split('.').next().unwrap_or(digits);
    let mut text = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text.push_str(digits.get(whole.len()..).unwrap_or_default());
    text
}

#[cfg(test)]
mod tests {
    use super::Amount;

    #[test]
    fn figures_as_people_read_them() {
        assert_eq!(Amount::Time(7_447_049_000).to_string(), "7,447.0 ms");
        assert_eq!(Amount::Time(-1_500_000).to_string(), "-1.5 ms");
        assert_eq!(Amount::Count(1_234_567).to_string(), "1,234,567");
        assert_eq!(Amount::Number(74.96).to_string(), "75.0");
        assert_eq!(Amount::Bytes(3 << 20).to_string(), "3,072 KiB");
    }
}
