//! Instants as people write them: `3.2s`, `14:02:10`, `2022-04-04 14:02Z`; and ranges of them, `--time a..b`.
//!
//! Seconds mean the same in every recording. A time of day does not, so a range is brought to each recording's own clock when that is open.

use std::fmt;
use std::str::FromStr;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};

use crate::time_format::{Zero, seconds};
use tracesift_grammar::{QuantityError, TimeUnit, parse_time};
use tracesift_grammar::{TimeRange, TimeRangeError};

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

/// An instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instant {
    /// Nanoseconds since time zero.
    Since(i64),
    /// A time of day.
    Clock {
        /// The day; without one that of the recording.
        date: Option<NaiveDate>,
        /// The time.
        time: NaiveTime,
        /// Whether it is UTC; else the recorder's local time.
        utc: bool,
    },
}

/// A text that is no instant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstantError {
    /// It looks like a time of day, and is none.
    #[error("`{0}` is no time of day; write 14:02, 14:02:10.5, 2022-04-04 14:02:10, with Z behind it for UTC")]
    Clock(String),
    /// It is no quantity of time.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
}

impl FromStr for Instant {
    type Err = InstantError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if !text.contains(':') {
            return Ok(Self::Since(parse_time(text, TimeUnit::Seconds)?));
        }
        let wrong = || InstantError::Clock(text.to_owned());
        let (clock, utc) = match text.strip_suffix(['Z', 'z']).or_else(|| text.strip_suffix("UTC")) {
            Some(clock) => (clock.trim_end(), true),
            None => (text, false),
        };
        let (date, time) = match clock.split_once(['T', ' ']) {
            Some((date, time)) => (Some(date.parse().map_err(|_| wrong())?), time.trim()),
            None => (None, clock),
        };
        let time = ["%H:%M:%S%.f", "%H:%M"].iter().find_map(|format| NaiveTime::parse_from_str(time, format).ok());
        Ok(Self::Clock { date, time: time.ok_or_else(wrong)?, utc })
    }
}

impl Instant {
    /// Nanoseconds since the session's start. `None` where the recording has no calendar, or the calendar does not reach that far.
    /// A time of day without a date is taken on the day on which it lies inside of the recording, else on the day of its start.
    #[must_use]
    pub fn in_session(self, zero: Zero, end: i64) -> Option<i64> {
        let (date, time, utc) = match self {
            Self::Since(ns) => return Some(ns),
            Self::Clock { date, time, utc } => (date, time, utc),
        };
        let west = if utc { 0 } else { zero.utc_offset_minutes };
        let start = zero.instant(0)?.naive_utc();
        let since = |clock: NaiveDateTime| {
            let utc = clock.checked_add_signed(TimeDelta::minutes(west.into()))?;
            (utc - start).num_nanoseconds()
        };
        if let Some(date) = date {
            return since(date.and_time(time));
        }
        let first = start.checked_sub_signed(TimeDelta::minutes(west.into()))?.date();
        let days = [Some(first), first.succ_opt(), first.pred_opt()];
        let mut times = days.into_iter().flatten().filter_map(|day| since(day.and_time(time)));
        times.clone().find(|ns| (0..=end).contains(ns)).or_else(|| times.next())
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Since(ns) => {
                let seconds = seconds(*ns, 9);
                write!(f, "{} s", seconds.trim_end_matches('0').trim_end_matches('.'))
            }
            Self::Clock { date, time, utc } => {
                if let Some(date) = date {
                    write!(f, "{date} ")?;
                }
                write!(f, "{time}{}", if *utc { "Z" } else { "" })
            }
        }
    }
}

/// `[start, end)`; a missing end is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSpec {
    /// First instant inside.
    pub start: Option<Instant>,
    /// First instant outside.
    pub end: Option<Instant>,
}

/// A text that is no range of instants.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeSpecError {
    /// Its shape or its order is wrong.
    #[error(transparent)]
    Range(#[from] TimeRangeError),
    /// One of its ends is no instant.
    #[error(transparent)]
    Instant(#[from] InstantError),
}

impl FromStr for TimeSpec {
    type Err = TimeSpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (start, end) = text.split_once("..").ok_or_else(|| TimeRangeError::Shape(text.to_owned()))?;
        let edge = |text: &str| if text.trim().is_empty() { Ok(None) } else { text.parse().map(Some) };
        let spec = Self { start: edge(start)?, end: edge(end)? };
        match (spec.start, spec.end) {
            (Some(Instant::Since(start)), Some(Instant::Since(end))) if start >= end => {
                Err(TimeRangeError::Empty(text.to_owned()).into())
            }
            _ => Ok(spec),
        }
    }
}

/// The reason why a time of day means nothing in a recording.
#[must_use]
pub fn no_calendar(name: &str) -> String {
    format!("{name} does not say when it was recorded, so a time of day means nothing in it: give seconds")
}

impl TimeSpec {
    /// Whether one of its ends is a time of day.
    #[must_use]
    pub fn needs_calendar(self) -> bool {
        [self.start, self.end].iter().flatten().any(|instant| matches!(instant, Instant::Clock { .. }))
    }

    /// Whether both ends are open.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    /// The range on a recording's clock, where seconds count from `origin` (ns since the session's start). `None` where the recording has no
    /// calendar and an end is a time of day.
    #[must_use]
    pub fn resolve(&self, zero: Zero, end: i64, origin: i64) -> Option<TimeRange> {
        let edge = |instant: Option<Instant>| match instant {
            None => Some(None),
            Some(Instant::Since(ns)) => Some(Some(ns.saturating_add(origin))),
            Some(clock) => clock.in_session(zero, end).map(Some),
        };
        let (mut start, mut end_of_range) = (edge(self.start)?, edge(self.end)?);
        // Without dates a range from late to early goes over midnight: the edge that lies in the recording counts.
        let without_date = |instant| matches!(instant, Some(Instant::Clock { date: None, .. }));
        if let (Some(from), Some(to)) = (start, end_of_range)
            && to <= from
        {
            let inside = |ns: i64| (0..=end).contains(&ns);
            if without_date(self.end) && (inside(from) || !without_date(self.start)) {
                end_of_range = Some(to.saturating_add(DAY));
            } else if without_date(self.start) {
                start = Some(from.saturating_sub(DAY));
            }
        }
        Some(TimeRange { start, end: end_of_range })
    }
}

impl fmt::Display for TimeSpec {
    /// Nothing where both ends are open.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_everything() {
            return Ok(());
        }
        let edge = |edge: Option<Instant>| edge.map(|instant| instant.to_string()).unwrap_or_default();
        write!(f, "{}..{}", edge(self.start), edge(self.end))
    }
}

impl From<TimeRange> for TimeSpec {
    fn from(range: TimeRange) -> Self {
        Self { start: range.start.map(Instant::Since), end: range.end.map(Instant::Since) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Instant, TimeSpec};
    use crate::time_format::Zero;

    /// 2022-04-04 23:59:50 of a recorder two hours east of Greenwich.
    const LATE: Zero = Zero { filetime: 132_935_831_900_000_000, utc_offset_minutes: -120 };
    const S: i64 = 1_000_000_000;

    fn session(text: &str) -> Option<i64> {
        text.parse::<Instant>().unwrap().in_session(LATE, 60 * S).map(|ns| ns / S)
    }

    #[test]
    fn seconds_local_time_and_utc() {
        assert_eq!(LATE.iso_utc(0).as_deref(), Some("2022-04-04T21:59:50.0000000Z"));
        for (text, expected) in [
            ("3.2s", 3),
            ("1500ms", 1),
            ("23:59:55", 5),
            ("00:00:10", 20),
            ("2022-04-05 00:00:10", 20),
            ("2022-04-05T00:00:10", 20),
            ("2022-04-04 21:59:52.5Z", 2),
            ("21:59:52Z", 2),
            ("22:00 UTC", 10),
        ] {
            assert_eq!(session(text), Some(expected), "{text}");
        }
        for wrong in ["25:00", "14:61", "2022-13-01 10:00", "today 10:00", "abc"] {
            assert!(wrong.parse::<Instant>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranges_are_those_of_the_recording() {
        let range = |text: &str| text.parse::<TimeSpec>().unwrap().resolve(LATE, 60 * S, 5 * S).unwrap();
        // Seconds count from the origin, a time of day does not.
        assert_eq!(range("1..2").bounds(), (6 * S, 7 * S));
        assert_eq!(range("23:59:55..00:00:00").bounds(), (5 * S, 10 * S));
        // The recording goes from 23:59:50 to 00:00:50.
        assert_eq!(range("23:59:55..00:05").bounds(), (5 * S, 310 * S));
        assert_eq!(range("23:50..00:00:05").bounds(), (-590 * S, 15 * S));
        assert!("..".parse::<TimeSpec>().unwrap().is_everything());
        assert!("5..4".parse::<TimeSpec>().is_err() && "5".parse::<TimeSpec>().is_err());
    }
}
