//! Quantities as people write them: `10ms`, `1.5s`, `5min`, `64KiB`, `90%`.
//!
//! Parsing is exact (no floating point on the way) and never depends on the locale: the decimal separator is a point.
//! KB, MB, GB and TB are powers of 1000; KiB, MiB, GiB and TiB powers of 1024.

use std::time::Duration;

/// What a bare number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

impl TimeUnit {
    const fn nanoseconds(self) -> i128 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
        }
    }
}

/// A text that is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// There is no number at the start.
    #[error("`{0}` does not start with a number")]
    Number(String),
    /// There is no unit where one must stand.
    #[error("`{text}` has no unit; use {known}")]
    NoUnit {
        /// The whole text.
        text: String,
        /// The units that exist.
        known: &'static str,
    },
    /// The unit is not one of the dimension.
    #[error("`{unit}` in `{text}` is not a unit of {dimension}; use {known}")]
    Unit {
        /// The whole text.
        text: String,
        /// The unit in it.
        unit: String,
        /// `time` or `size`.
        dimension: &'static str,
        /// The units that exist.
        known: &'static str,
    },
    /// More than 64 bits can hold.
    #[error("`{0}` is too large")]
    Range(String),
    /// More than all, or less than nothing.
    #[error("`{0}` is no share; write a number from 0% to 100%")]
    Share(String),
    /// A length of time before zero.
    #[error("`{0}` is less than nothing")]
    Negative(String),
}

const TIME_UNITS: &str = "h, min, s, ms, us or ns";
const SIZE_UNITS: &str = "B, KB, MB, GB, TB, KiB, MiB, GiB or TiB";

/// Nanoseconds of a time such as `3.2s`, `10ms`, `250us`, `-5`; a bare number is in `default` units.
pub fn parse_time(text: &str, default: TimeUnit) -> Result<i64, QuantityError> {
    let (number, unit) = split(text)?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" => default.nanoseconds(),
        "h" | "hour" | "hours" => 3_600_000_000_000,
        "m" | "min" | "minute" | "minutes" => 60_000_000_000,
        "s" | "sec" | "second" | "seconds" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" | "µs" | "μs" => 1_000,
        "ns" => 1,
        _ => return Err(unknown_unit(text, unit, "time", TIME_UNITS)),
    };
    scale(text, number, factor)
}

/// Nanoseconds of a time; a bare number is in seconds.
pub fn seconds(text: &str) -> Result<i64, QuantityError> {
    parse_time(text, TimeUnit::Seconds)
}

/// Nanoseconds of a time; a bare number is in milliseconds.
pub fn milliseconds(text: &str) -> Result<i64, QuantityError> {
    parse_time(text, TimeUnit::Milliseconds)
}

/// Nanoseconds of a time; a bare number is in microseconds.
pub fn microseconds(text: &str) -> Result<i64, QuantityError> {
    parse_time(text, TimeUnit::Microseconds)
}

/// Bytes of a size such as `64KiB` or `1.5GB`; a bare number is in bytes.
pub fn parse_size(text: &str) -> Result<i64, QuantityError> {
    let (number, unit) = split(text)?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "byte" | "bytes" => 1,
        other => bytes_of_unit(other).ok_or_else(|| unknown_unit(text, unit, "size", SIZE_UNITS))?,
    };
    scale(text, number, factor.into())
}

/// A length of time such as `1.5s` or `5min`; a bare number is none.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    require_unit(text, TIME_UNITS)?;
    let ns = parse_time(text, TimeUnit::Seconds)?;
    u64::try_from(ns).map(Duration::from_nanos).map_err(|_| QuantityError::Negative(text.to_owned()))
}

/// Bytes of a size such as `64KiB`; a bare number is none.
pub fn parse_bytes(text: &str) -> Result<u64, QuantityError> {
    require_unit(text, SIZE_UNITS)?;
    u64::try_from(parse_size(text)?).map_err(|_| QuantityError::Negative(text.to_owned()))
}

/// Whole per cent of `90%`.
pub fn parse_percent(text: &str) -> Result<u8, QuantityError> {
    require_unit(text, "%")?;
    let share = parse_share(text)?.millionths;
    let percent = u8::try_from(share / 10_000).ok().filter(|_| share % 10_000 == 0);
    percent.ok_or_else(|| QuantityError::Share(text.to_owned()))
}

fn require_unit(text: &str, known: &'static str) -> Result<(), QuantityError> {
    let (_, unit) = split(text)?;
    if unit.is_empty() { Err(QuantityError::NoUnit { text: text.to_owned(), known }) } else { Ok(()) }
}

/// Bytes of a unit in small letters: `b`, `kb`, `mib` …
fn bytes_of_unit(unit: &str) -> Option<u64> {
    Some(match unit {
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return None,
    })
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// Millionths of the whole.
    pub millionths: i64,
}

impl Share {
    /// The smallest figure that is such a part of `whole`.
    #[must_use]
    pub fn of(self, whole: i64) -> i64 {
        let part = i128::from(whole) * i128::from(self.millionths);
        let rounded_up = -(-part).div_euclid(1_000_000);
        i64::try_from(rounded_up).unwrap_or(if rounded_up < 0 { i64::MIN } else { i64::MAX })
    }
}

/// A share such as `1%` or `0.5`; a bare number is in percent.
pub fn parse_share(text: &str) -> Result<Share, QuantityError> {
    let (number, unit) = split(text)?;
    let millionths = match unit {
        "" | "%" => scale(text, number, 10_000)?,
        _ => return Err(unknown_unit(text, unit, "share", "%")),
    };
    if (0..=1_000_000).contains(&millionths) {
        Ok(Share { millionths })
    } else {
        Err(QuantityError::Share(text.to_owned()))
    }
}

fn unknown_unit(text: &str, unit: &str, dimension: &'static str, known: &'static str) -> QuantityError {
    QuantityError::Unit { text: text.to_owned(), unit: unit.to_owned(), dimension, known }
}

fn split(text: &str) -> Result<(&str, &str), QuantityError> {
    let text = text.trim();
    let signed = usize::from(text.starts_with(['-', '+']));
    let digits = text.get(signed..).unwrap_or_default();
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len()) + signed;
    let (number, unit) = text.split_at(end);
    if !number.contains(|c: char| c.is_ascii_digit()) || number.matches('.').count() > 1 {
        return Err(QuantityError::Number(text.to_owned()));
    }
    Ok((number, unit.trim()))
}

/// `number × factor`, digits beyond the smallest unit cut off.
fn scale(text: &str, number: &str, factor: i128) -> Result<i64, QuantityError> {
    let too_large = || QuantityError::Range(text.to_owned());
    let negative = number.starts_with('-');
    let (whole, fraction) = number.trim_start_matches(['-', '+']).split_once('.').unwrap_or((number, ""));
    let whole = whole.trim_start_matches(['-', '+']);
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
    // 12 digits behind the point resolve a byte in a terabyte and more than a nanosecond in a second.
    let fraction: String = fraction.chars().take(12).collect();
    let parts: i128 = if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| too_large())? };
    let digits = u32::try_from(fraction.len()).unwrap_or(12);
    let magnitude = whole
        .checked_mul(factor)
        .and_then(|value| value.checked_add(parts * factor / 10_i128.pow(digits)))
        .ok_or_else(too_large)?;
    i64::try_from(if negative { -magnitude } else { magnitude }).map_err(|_| too_large())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        let share = |text| parse_share(text).map(|share| share.of(1000));
        assert_eq!(share("1%"), Ok(10));
        assert_eq!(share("0.51"), Ok(6), "nothing smaller is half a percent");
        assert_eq!((share("0"), share("100 %")), (Ok(0), Ok(1000)));
        assert!(share("101").is_err() && share("-1%").is_err() && share("1ms").is_err());
        assert_eq!(parse_share("100%").map(|share| share.of(i64::MAX)), Ok(i64::MAX));
    }

    #[test]
    fn times() {
        for (text, ns) in [
            ("3.2s", 3_200_000_000),
            ("3.2", 3_200_000_000),
            ("10ms", 10_000_000),
            ("250US", 250_000),
            ("7 ns", 7),
            ("1.5min", 90_000_000_000),
            ("2h", 7_200_000_000_000),
            ("-0.5s", -500_000_000),
            ("+1 second", 1_000_000_000),
            (".5", 500_000_000),
            ("0.0000000019s", 1),
        ] {
            assert_eq!(parse_time(text, TimeUnit::Seconds), Ok(ns), "{text}");
        }
        assert_eq!(parse_time("115", TimeUnit::Milliseconds), Ok(115_000_000));
    }

    #[test]
    fn quantities_with_a_unit() {
        assert_eq!(parse_bytes("40GB"), Ok(40_000_000_000));
        assert_eq!(parse_bytes("64 MiB"), Ok(64 << 20));
        assert_eq!(parse_bytes("1.5KiB"), Ok(1_536));
        assert!(matches!(parse_bytes("5"), Err(QuantityError::NoUnit { .. })));
        assert!(matches!(parse_bytes("99999999999TB"), Err(QuantityError::Range(_))));
        assert_eq!(parse_duration("5min"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(parse_duration("2h"), Ok(Duration::from_secs(7_200)));
        assert!(matches!(parse_duration("-1s"), Err(QuantityError::Negative(_))));
        assert!(matches!(parse_duration("5 years"), Err(QuantityError::Unit { .. })));
        assert_eq!(parse_percent("90%"), Ok(90));
        assert!(parse_percent("101%").is_err() && parse_percent("90").is_err() && parse_percent("0.5%").is_err());
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [("1", 1), ("1KB", 1_000), ("1KiB", 1_024), ("1.5 mib", 1_572_864), ("2GB", 2_000_000_000)]
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity() {
        for text in ["", "s", "-", ".", "1.2.3", "ms5"] {
            assert!(matches!(parse_time(text, TimeUnit::Seconds), Err(QuantityError::Number(_))), "{text}");
        }
        assert!(matches!(parse_time("5 MB", TimeUnit::Seconds), Err(QuantityError::Unit { .. })));
        assert!(matches!(parse_size("5 ms"), Err(QuantityError::Unit { .. })));
        for text in ["9223372037s", "99999999999999999999999999999999999999999999"] {
            assert!(matches!(parse_time(text, TimeUnit::Seconds), Err(QuantityError::Range(_))), "{text}");
        }
    }
}
