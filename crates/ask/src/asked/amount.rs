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

    /// The mean of so many windows, of which this is the sum. The mean of counts can have a fraction, and is a number then.
    #[must_use]
    pub(crate) fn over(self, windows: f64) -> Self {
        let mean = self.number() / windows;
        match self {
            Self::Count(_) if mean.fract() != 0.0 => Self::Number(mean),
            _ => self.with(mean),
        }
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

/// A mean or a median of amounts of one kind. It is exact: a ratio of two of them is not that of rounded numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Average {
    number: f64,
    /// One of the amounts, which has the unit.
    kind: Amount,
}

impl Average {
    /// That of these amounts. Nothing tells the unit of no amounts.
    pub(crate) fn of(amounts: &[Amount], number: f64) -> Option<Self> {
        // Means of counts over several windows can be numbers beside counts.
        let count = amounts.iter().find(|amount| matches!(amount, Amount::Count(_)));
        Some(Self { number, kind: *count.or(amounts.first())? })
    }

    /// The number alone; that of counts can have a fraction.
    #[must_use]
    pub fn number(self) -> f64 {
        self.number
    }

    /// The unit of the number, as [`Amount::unit`] names it.
    #[must_use]
    pub fn unit(self) -> &'static str {
        self.kind.unit()
    }
}

impl fmt::Display for Average {
    /// As people read it: `0.5`, `1,204`, `7,447.0 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Amount::Count(_) => f.write_str(&grouped(&with_fraction(self.number))),
            kind => kind.with(self.number).fmt(f),
        }
    }
}

/// A number with a fraction where it has one: a digit, of a number below 1 two digits that are not 0.
fn with_fraction(number: f64) -> String {
    const MOST_DIGITS: i32 = 6;
    if number.fract() == 0.0 {
        return format!("{number:.0}");
    }
    if number.abs() >= 1.0 {
        return format!("{number:.1}");
    }
    let digits = (1 - number.abs().log10().floor() as i32).clamp(1, MOST_DIGITS);
    let text = format!("{number:.0$}", usize::try_from(digits).unwrap_or(1));
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
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
    use super::{Amount, Average};

    #[test]
    fn figures_as_people_read_them() {
        assert_eq!(Amount::Time(7_447_049_000).to_string(), "7,447.0 ms");
        assert_eq!(Amount::Time(-1_500_000).to_string(), "-1.5 ms");
        assert_eq!(Amount::Count(1_234_567).to_string(), "1,234,567");
        assert_eq!(Amount::Number(74.96).to_string(), "75.0");
        assert_eq!(Amount::Bytes(3 << 20).to_string(), "3,072 KiB");
    }

    #[test]
    fn means_of_counts_keep_their_fraction() {
        let text = |number: f64| Average::of(&[Amount::Count(1)], number).expect("an amount").to_string();
        let texts = [0.0, 20.0, 20.2, 0.5, -0.5, 5.0 / 6.0, 0.04, 0.999, 1e-9, 1_234.56].map(text);
        assert_eq!(texts, ["0", "20", "20.2", "0.5", "-0.5", "0.83", "0.04", "1.0", "0.0", "1,234.6"]);
        let of = |kind: Amount, number: f64| Average::of(&[kind], number).expect("an amount");
        assert_eq!(of(Amount::Time(1), 1_500_000.5).to_string(), "1.5 ms");
        assert_eq!(
            (of(Amount::Bytes(1), 2_047.9).to_string().as_str(), of(Amount::Bytes(1), 0.5).number()),
            ("2 KiB", 0.5)
        );
        assert!(Average::of(&[], 1.0).is_none());
    }

    #[test]
    fn the_mean_of_windows_is_rounded_where_a_fraction_has_no_meaning() {
        assert_eq!(Amount::Count(3).over(2.0), Amount::Number(1.5));
        assert_eq!(Amount::Count(4).over(2.0), Amount::Count(2));
        assert_eq!(Amount::Time(3).over(2.0), Amount::Time(2));
        // One run has a mean with a fraction, and the other one has none.
        let average = Average::of(&[Amount::Number(1.5), Amount::Count(2)], 1.75).expect("amounts");
        assert_eq!((average.unit(), average.to_string().as_str()), ("integer", "1.8"));
    }
}
