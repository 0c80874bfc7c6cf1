//! A time range of a recording, `--time 3.2s..7.9s`: half open, so that neighbouring ranges share nothing.

use std::str::FromStr;

use crate::quantity::{QuantityError, TimeUnit, parse_time};

/// `[start, end)` in nanoseconds since time zero; a missing end is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// First instant inside.
    pub start: Option<i64>,
    /// First instant outside.
    pub end: Option<i64>,
}

impl TimeRange {
    /// Whether both ends are open.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    /// Whether an instant, for example a sample, lies inside.
    #[must_use]
    pub fn contains(&self, time: i64) -> bool {
        self.start.is_none_or(|start| time >= start) && self.end.is_none_or(|end| time < end)
    }

    /// Whether a life from `start` to `end` has a part inside; `None` is a life beyond that edge of the recording.
    #[must_use]
    pub fn overlaps(&self, start: Option<i64>, end: Option<i64>) -> bool {
        let starts_in_time = self.end.is_none_or(|range_end| start.is_none_or(|start| start < range_end));
        let ends_in_time = self.start.is_none_or(|range_start| end.is_none_or(|end| end >= range_start));
        starts_in_time && ends_in_time
    }

    /// Both ends, the open ones as far away as a time can be.
    #[must_use]
    pub fn bounds(&self) -> (i64, i64) {
        (self.start.unwrap_or(i64::MIN), self.end.unwrap_or(i64::MAX))
    }
}

/// A text that is no time range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeRangeError {
    /// There is no `..` in it.
    #[error("`{0}` is no time range; write it as 3.2s..7.9s, 3.2s.. or ..7.9s")]
    Shape(String),
    /// One of its ends is no time.
    #[error(transparent)]
    Time(#[from] QuantityError),
    /// It ends before it starts.
    #[error("the time range `{0}` is empty: its end must come after its start")]
    Empty(String),
}

impl FromStr for TimeRange {
    type Err = TimeRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (start, end) = text.split_once("..").ok_or_else(|| TimeRangeError::Shape(text.to_owned()))?;
        let edge = |text: &str| -> Result<Option<i64>, QuantityError> {
            let text = text.trim();
            if text.is_empty() { Ok(None) } else { parse_time(text, TimeUnit::Seconds).map(Some) }
        };
        let range = Self { start: edge(start)?, end: edge(end)? };
        match range {
            Self { start: Some(start), end: Some(end) } if start >= end => Err(TimeRangeError::Empty(text.to_owned())),
            _ => Ok(range),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        let range: TimeRange = "3.2s..7900ms".parse().unwrap();
        assert_eq!(range.bounds(), (3_200_000_000, 7_900_000_000));
        assert!(range.contains(3_200_000_000) && !range.contains(7_900_000_000));
        assert_eq!("2..".parse(), Ok(TimeRange { start: Some(2_000_000_000), end: None }));
        assert_eq!("..-1".parse(), Ok(TimeRange { start: None, end: Some(-1_000_000_000) }));
        assert!("..".parse::<TimeRange>().unwrap().is_everything());
        assert!(matches!("3".parse::<TimeRange>(), Err(TimeRangeError::Shape(_))));
        assert!(matches!("3..3".parse::<TimeRange>(), Err(TimeRangeError::Empty(_))));
        assert!(matches!("a..b".parse::<TimeRange>(), Err(TimeRangeError::Time(_))));
    }

    #[test]
    fn lives() {
        let range: TimeRange = "2..3".parse().unwrap();
        let s = |seconds: i64| Some(seconds * 1_000_000_000);
        assert!(range.overlaps(None, None) && range.overlaps(s(1), s(2)) && range.overlaps(s(2), None));
        assert!(!range.overlaps(s(3), None) && !range.overlaps(None, s(1)));
    }
}
