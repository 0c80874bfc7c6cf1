//! Times as .NET writes them: in units of 100 ns, with the recorder's offset to UTC.

use std::fmt;

use chrono::{DateTime, FixedOffset, NaiveDateTime};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// 100 ns from the first day of year 1 to that of 1601, where FILETIMEs begin.
const TO_1601: i64 = 504_911_232_000_000_000;
/// 100 ns from the first day of year 1 to that of 1970.
const TO_1970: i64 = 621_355_968_000_000_000;
/// Units of 100 ns per second.
const PER_SECOND: i64 = 10_000_000;
/// The first 100 ns of the year 9999: .NET's last moment lies in it and stands for no end.
const YEAR_9999: i64 = 3_155_063_616_000_000_000;

/// A moment with the offset of the clock on the wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Units of 100 ns since the first day of year 1, UTC.
    ticks: i64,
    /// Minutes by which the local time is ahead of UTC.
    ahead: i32,
}

impl Moment {
    /// The moment with which .NET says that it knows none: the start of year 1.
    pub const NONE: Self = Self { ticks: 0, ahead: 0 };

    /// Reads `2021-11-14T21:11:54.4752345+01:00`; without an offset it is UTC.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (time, offset): (NaiveDateTime, i32) = match DateTime::<FixedOffset>::parse_from_rfc3339(text) {
            Ok(time) => (time.naive_utc(), time.offset().local_minus_utc()),
            Err(_) => (text.parse().ok()?, 0),
        };
        let utc = time.and_utc();
        let ticks =
            utc.timestamp().checked_mul(PER_SECOND)?.checked_add(i64::from(utc.timestamp_subsec_nanos()) / 100)?;
        let ticks = ticks.checked_add(TO_1970).filter(|ticks| *ticks >= 0)?;
        Some(Self { ticks, ahead: offset / 60 })
    }

    /// Units of 100 ns since the first day of year 1, UTC: what tells moments apart.
    #[must_use]
    pub fn ticks(self) -> i64 {
        self.ticks
    }

    /// Whether it stands for a time: neither of .NET's first day nor of its last year.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.ticks >= 24 * 3600 * PER_SECOND && self.ticks < YEAR_9999
    }

    /// As FILETIME, 100 ns since 1601.
    #[must_use]
    pub fn filetime(self) -> i64 {
        self.ticks - TO_1601
    }

    /// Minutes to add to the local time to get UTC.
    #[must_use]
    pub fn utc_offset_minutes(self) -> i32 {
        -self.ahead
    }

    /// Nanoseconds from `zero` to here.
    #[must_use]
    pub fn ns_since(self, zero: Self) -> i64 {
        (self.ticks - zero.ticks).saturating_mul(100)
    }

    /// `2020-07-29T00:07:00.6236167Z`.
    #[must_use]
    pub fn utc_text(self) -> String {
        let seconds = (self.ticks - TO_1970).div_euclid(PER_SECOND);
        let rest = (self.ticks - TO_1970).rem_euclid(PER_SECOND);
        let time = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
        format!("{}.{rest:07}Z", time.format("%Y-%m-%dT%H:%M:%S"))
    }
}

struct MomentVisitor;

impl Visitor<'_> for MomentVisitor {
    type Value = Moment;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a time such as \"2021-11-14T21:11:54.4752345+01:00\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Moment, E> {
        Moment::parse(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(MomentVisitor)
    }
}

/// A length of time as .NET's `TimeSpan` has it: `[-][d.]hh:mm:ss[.fffffff]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// Nanoseconds.
    pub ns: i64,
}

impl Length {
    /// Reads one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
        let (hours, rest) = text.split_once(':')?;
        let (minutes, seconds) = rest.split_once(':')?;
        let (days, hours) = hours.split_once('.').unwrap_or(("0", hours));
        let number = |text: &str, below: i64| {
            let digits = !text.is_empty() && text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|number: &i64| digits && *number < below)
        };
        let whole = ((number(days, 100_000_000)? * 24 + number(hours, 24)?) * 60 + number(minutes, 60)?) * 60;
        let ns = seconds_as_ns(seconds).filter(|ns| *ns < 60_000_000_000)?;
        whole.checked_mul(1_000_000_000)?.checked_add(ns).map(|ns| Self { ns: sign * ns })
    }
}

struct LengthVisitor;

impl Visitor<'_> for LengthVisitor {
    type Value = Length;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a length of time such as \"00:00:36.9360986\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Length, E> {
        Length::parse(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(LengthVisitor)
    }
}

/// `38.0158` as nanoseconds, exactly; digits behind the ninth are cut. `None` for what is no plain number of seconds.
#[must_use]
pub(crate) fn seconds_as_ns(text: &str) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let fraction = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    let fraction = fraction.fold(0, |ns, digit| ns * 10 + i64::from(digit - b'0'));
    let ns = whole.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction)?;
    Some(sign * ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let start = Moment::parse("2021-11-14T21:11:54.4752345+01:00").expect("a moment");
        assert_eq!(start.utc_text(), "2021-11-14T20:11:54.4752345Z");
        assert_eq!(start.utc_offset_minutes(), -60);
        // Trailing zeros are sometimes written and sometimes not.
        let short = Moment::parse("2021-11-14T21:12:28.769142+01:00").expect("a moment");
        assert_eq!(Moment::parse("2021-11-14T21:12:28.7691420+01:00"), Some(short));
        assert_eq!(short.ns_since(start), 34_293_907_500);
        assert_eq!(Moment::parse("0001-01-01T00:00:00+00:00"), Some(Moment::NONE));
        assert_eq!(Moment::parse("0001-01-01T00:00:00"), Some(Moment::NONE));
        assert!(start.is_known() && !Moment::NONE.is_known());
        assert!(!Moment::parse("9999-12-31T23:59:59.9999999+00:00").expect("a moment").is_known());
        // The FILETIME of 1970.
        assert_eq!(Moment::parse("1970-01-01T00:00:00Z").expect("a moment").filetime(), 116_444_736_000_000_000);
        for text in ["", "2021", "0001-01-01T00:00:00+10:00", "2021-13-01T00:00:00Z", "+262142-01-01T00:00:00"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }

    #[test]
    fn lengths() {
        for (text, ns) in [
            ("00:00:00", 0),
            ("00:00:36.9360986", 36_936_098_600),
            ("1.02:03:04.5", 93_784_500_000_000),
            ("-00:00:01", -1_000_000_000),
        ] {
            assert_eq!(Length::parse(text), Some(Length { ns }), "{text}");
        }
        for text in ["", "1", "00:00", "25:00:00", "00:60:00", "00:00:60", "99999999999.00:00:00", "a:b:c", "+1:2:3"] {
            assert_eq!(Length::parse(text), None, "{text}");
        }
    }

    #[test]
    fn seconds() {
        assert_eq!(seconds_as_ns("38.0158"), Some(38_015_800_000));
        assert_eq!(seconds_as_ns("-0.0001"), Some(-100_000));
        assert_eq!(seconds_as_ns("7"), Some(7_000_000_000));
        for text in ["", ".", "1.", ".5", "1e3", "NaN", "1,5", "99999999999999999999", "+1"] {
            assert_eq!(seconds_as_ns(text), None, "{text}");
        }
    }
}
