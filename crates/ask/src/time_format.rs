//! Instants as text: seconds since time zero, the recorder's local time, UTC, or the reader's local time.
//!
//! Dates are always `yyyy-MM-dd HH:mm:ss.fff`, whatever the locale.

use chrono::{DateTime, FixedOffset, Local, TimeDelta, Utc};
use clap::ValueEnum;

/// Seconds from 1601, the origin of FILETIME, to 1970.
const FILETIME_TO_UNIX_SECONDS: i64 = 11_644_473_600;

/// Time zero of a recording on the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zero {
    /// 100 ns since 1601 (FILETIME); 0 when the recording does not say.
    pub filetime: i64,
    /// Minutes to add to the recorder's local time to get UTC.
    pub utc_offset_minutes: i32,
}

impl Zero {
    /// The instant `ns` after time zero; `None` when the recording does not say or the calendar does not reach that far.
    #[must_use]
    pub fn instant(&self, ns: i64) -> Option<DateTime<Utc>> {
        if self.filetime == 0 {
            return None;
        }
        let seconds = self.filetime.div_euclid(10_000_000).checked_sub(FILETIME_TO_UNIX_SECONDS)?;
        let nanoseconds = u32::try_from(self.filetime.rem_euclid(10_000_000) * 100).ok()?;
        DateTime::from_timestamp(seconds, nanoseconds)?.checked_add_signed(TimeDelta::nanoseconds(ns))
    }

    /// The instant as ISO 8601 in UTC, down to 100 ns: `2020-07-29T00:07:00.6236167Z`.
    #[must_use]
    pub fn iso_utc(&self, ns: i64) -> Option<String> {
        self.instant(ns).map(|instant| {
            let tenths = instant.timestamp_subsec_nanos() / 100;
            format!("{}.{tenths:07}Z", instant.format("%Y-%m-%dT%H:%M:%S"))
        })
    }
}

/// How a table shows times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TimeFormat {
    /// Seconds since the session's start
    #[default]
    #[value(name = "s")]
    Seconds,
    /// The recorder's local time with date
    Local,
    /// The recorder's local time
    #[value(alias = "localtime")]
    LocalTime,
    /// UTC with date
    Utc,
    /// UTC
    #[value(alias = "utctime")]
    UtcTime,
    /// The reader's local time with date
    Here,
    /// The reader's local time
    #[value(alias = "heretime")]
    HereTime,
}

/// Format and precision of instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeStyle {
    /// The format.
    pub format: TimeFormat,
    /// Digits of the second's fraction, 0 to 9.
    pub digits: u8,
}

impl Default for TimeStyle {
    fn default() -> Self {
        Self { format: TimeFormat::Seconds, digits: 3 }
    }
}

impl TimeStyle {
    /// An instant as text. Without a calendar date the seconds are shown.
    #[must_use]
    pub fn show(&self, ns: i64, zero: Option<Zero>) -> String {
        let Some((zero, utc)) = zero.and_then(|zero| Some((zero, zero.instant(ns)?))) else {
            return seconds(ns, self.digits);
        };
        // FixedOffset counts seconds to the east; a recorder says minutes to the west.
        let recorder = FixedOffset::west_opt(zero.utc_offset_minutes.saturating_mul(60));
        match (self.format, recorder) {
            (TimeFormat::Seconds, _) => seconds(ns, self.digits),
            (TimeFormat::Local, Some(offset)) => self.clock(&utc.with_timezone(&offset), true),
            (TimeFormat::LocalTime, Some(offset)) => self.clock(&utc.with_timezone(&offset), false),
            (TimeFormat::Utc | TimeFormat::Local, _) => self.clock(&utc, true),
            (TimeFormat::UtcTime | TimeFormat::LocalTime, _) => self.clock(&utc, false),
            (TimeFormat::Here, _) => self.clock(&utc.with_timezone(&Local), true),
            (TimeFormat::HereTime, _) => self.clock(&utc.with_timezone(&Local), false),
        }
    }

    fn clock<Z>(&self, instant: &DateTime<Z>, date: bool) -> String
    where
        Z: chrono::TimeZone,
        Z::Offset: std::fmt::Display,
    {
        let whole = instant.format(if date { "%Y-%m-%d %H:%M:%S" } else { "%H:%M:%S" });
        let digits = usize::from(self.digits.min(9));
        if digits == 0 {
            return whole.to_string();
        }
        // Cut, not rounded: a rounded instant could lie after the end of the recording.
        let nanoseconds = format!("{:09}", instant.timestamp_subsec_nanos());
        format!("{whole}.{}", nanoseconds.get(..digits).unwrap_or(&nanoseconds))
    }
}

/// Nanoseconds as seconds with a fixed number of digits, rounded half away from zero.
#[must_use]
pub fn seconds(ns: i64, digits: u8) -> String {
    decimal(ns, 9, digits)
}

/// Nanoseconds as milliseconds in a text, rounded as in columns: a reader finds the same figure in both.
#[must_use]
pub fn milliseconds(ns: i64) -> String {
    decimal(ns, 6, 1)
}

/// `value / 10^shift` with a fixed number of digits, rounded half away from zero, exact.
#[must_use]
pub fn decimal(value: i64, shift: u8, digits: u8) -> String {
    let digits = digits.min(shift);
    let step = 10_i128.pow(u32::from(shift - digits));
    let magnitude = (i128::from(value).abs() + step / 2) / step;
    let one = 10_i128.pow(u32::from(digits));
    let sign = if value < 0 && magnitude != 0 { "-" } else { "" };
    if digits == 0 {
        return format!("{sign}{magnitude}");
    }
    format!("{sign}{}.{:0width$}", magnitude / one, magnitude % one, width = usize::from(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2020-07-29T00:07:00.6236167Z, recorded in a zone two hours east of Greenwich.
    const ZERO: Zero = Zero { filetime: 132_404_548_206_236_167, utc_offset_minutes: -120 };

    #[test]
    fn formats() {
        assert_eq!(ZERO.iso_utc(0).as_deref(), Some("2020-07-29T00:07:00.6236167Z"));
        let show = |format, digits| TimeStyle { format, digits }.show(1_000_000_000, Some(ZERO));
        assert_eq!(show(TimeFormat::Seconds, 3), "1.000");
        assert_eq!(show(TimeFormat::Utc, 3), "2020-07-29 00:07:01.623");
        assert_eq!(show(TimeFormat::Local, 6), "2020-07-29 02:07:01.623616");
        assert_eq!(show(TimeFormat::LocalTime, 0), "02:07:01");
        assert_eq!(TimeStyle { format: TimeFormat::Utc, digits: 1 }.show(-1, None), "0.0");
    }

    #[test]
    fn hostile_zero_times_fall_back_to_seconds() {
        for filetime in [i64::MIN, i64::MAX] {
            let zero = Zero { filetime, utc_offset_minutes: i32::MIN };
            let text = TimeStyle { format: TimeFormat::Local, digits: 9 }.show(i64::MIN, Some(zero));
            assert!(!text.is_empty());
        }
    }

    #[test]
    fn decimals_round_half_away_from_zero() {
        assert_eq!(decimal(1_500_000, 6, 0), "2");
        assert_eq!(decimal(-1_500_000, 6, 0), "-2");
        assert_eq!(decimal(-400_000, 6, 0), "0");
        assert_eq!(decimal(1_234_567, 6, 3), "1.235");
        assert_eq!(seconds(i64::MIN, 3), "-9223372036.855");
        assert_eq!([31_755_232, 130_786_612, 14_573_215].map(milliseconds), ["31.8", "130.8", "14.6"]);
    }
}
