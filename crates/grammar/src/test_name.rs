//! Test, duration, machine and time out of a file name.
//!
//! Automated tests name their recordings so that a directory listing is already a result table. Two styles exist:
//!
//! * `Load_2382ms_RN1884-386C_SRV_TestStatus-Passed_20220425-215857`: test, duration, machine (which may contain `_`),
//!   tier, outcome and the local time at which recording stopped;
//! * `Load_3117msFO9DE01T0162PC.20200717-124447` (also with `-` before the date, or without date): test, duration and
//!   machine; the date tells recordings of one test apart.
//!
//! The test is what stands before the first `_`. Everything else is no test name; such a recording is known by its file
//! name and its modification time.

use std::fmt;
use std::str::FromStr;

/// What a file name says about the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestName {
    /// Test case.
    pub test: String,
    /// What the test measured, ms.
    pub duration_ms: u64,
    /// Machine on which it was recorded.
    pub machine: String,
    /// Role of that machine in the test; absent in the old style.
    pub tier: Option<Tier>,
    /// Outcome of the test; absent in the old style.
    pub status: Option<Status>,
    /// When recording stopped, recorder's local time; absent in the old style, where the file's modification time counts.
    pub performed_at: Option<LocalTime>,
    /// Date at the end of an old-style name.
    pub specific_modify_date: Option<LocalTime>,
}

/// Role of a machine in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// `CLT`: the front end.
    Client,
    /// `SRV`: the back end.
    Server,
    /// `SINGLE`: front and back end on one machine.
    Single,
}

/// Outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The test passed.
    Passed,
    /// The test failed.
    Failed,
    /// The recorder was not told.
    Unknown,
}

/// A local date and time, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTime {
    /// Year, four digits.
    pub year: u16,
    /// Month, from 1.
    pub month: u8,
    /// Day of the month, from 1.
    pub day: u8,
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
}

impl TestName {
    /// Reads the name of a recording: a file name without its endings. `None`: not named like a test.
    pub fn parse(name: &str) -> Option<TestName> {
        let (test, rest) = name.split_once('_')?;
        if test.is_empty() {
            return None;
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let duration_ms = rest[..digits].parse().ok()?;
        let rest = &rest[digits..];
        let rest = rest.get(..2).filter(|unit| unit.eq_ignore_ascii_case("ms")).map(|_| &rest[2..])?;
        match rest.strip_prefix('_') {
            Some(rest) => Self::new_style(test, duration_ms, rest),
            None => Self::old_style(test, duration_ms, rest),
        }
    }

    /// When the test ran as far as the name tells, in either style.
    pub fn time(&self) -> Option<LocalTime> {
        self.performed_at.or(self.specific_modify_date)
    }

    /// `Machine_SRV_TestStatus-Passed_20220425-215857`, read from its end because a machine name may contain `_`.
    fn new_style(test: &str, duration_ms: u64, rest: &str) -> Option<TestName> {
        let mut fields = rest.rsplitn(4, '_');
        let performed_at = fields.next()?.parse().ok()?;
        let status = Status::parse(fields.next()?)?;
        let tier = Tier::parse(fields.next()?)?;
        let machine = fields.next().filter(|machine| !machine.is_empty())?;
        Some(TestName {
            test: test.to_owned(),
            duration_ms,
            machine: machine.to_owned(),
            tier: Some(tier),
            status: Some(status),
            performed_at: Some(performed_at),
            specific_modify_date: None,
        })
    }

    /// `Machine`, `Machine.20200717-124447` or `Machine-20200717-124447`; a machine name may contain `-` but no dot.
    fn old_style(test: &str, duration_ms: u64, rest: &str) -> Option<TestName> {
        let (machine, date) = match rest.split_once('.') {
            Some((machine, after)) => (machine, after.get(..LocalTime::LENGTH)),
            None => match rest.len().checked_sub(LocalTime::LENGTH + 1) {
                Some(at) if rest.as_bytes()[at] == b'-' && rest[at + 1..].parse::<LocalTime>().is_ok() => {
                    (&rest[..at], Some(&rest[at + 1..]))
                }
                _ => (rest, None),
            },
        };
        if machine.is_empty() {
            return None;
        }
        Some(TestName {
            test: test.to_owned(),
            duration_ms,
            machine: machine.to_owned(),
            tier: None,
            status: None,
            performed_at: None,
            specific_modify_date: date.and_then(|date| date.parse().ok()),
        })
    }
}

impl Tier {
    fn parse(text: &str) -> Option<Tier> {
        [Tier::Client, Tier::Server, Tier::Single].into_iter().find(|tier| text == tier.as_str())
    }

    /// As in file names: `CLT`, `SRV`, `SINGLE`.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Client => "CLT",
            Tier::Server => "SRV",
            Tier::Single => "SINGLE",
        }
    }
}

impl Status {
    fn parse(text: &str) -> Option<Status> {
        let text = text.strip_prefix("TestStatus-")?;
        [Status::Passed, Status::Failed, Status::Unknown].into_iter().find(|status| text == status.as_str())
    }

    /// As in file names after `TestStatus-`.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Passed => "Passed",
            Status::Failed => "Failed",
            Status::Unknown => "Unknown",
        }
    }
}

/// The text is not `yyyyMMdd-HHmmss`, or no such date exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a date and time in the form yyyyMMdd-HHmmss")]
pub struct NotATime;

impl LocalTime {
    /// Characters of `yyyyMMdd-HHmmss`.
    const LENGTH: usize = 15;

    fn exists(&self) -> bool {
        let leap = self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        let days = match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        self.year > 0 && (1..=days).contains(&self.day) && self.hour < 24 && self.minute < 60 && self.second < 60
    }
}

impl FromStr for LocalTime {
    type Err = NotATime;

    /// Reads `yyyyMMdd-HHmmss`.
    fn from_str(text: &str) -> Result<Self, NotATime> {
        let bytes = text.as_bytes();
        if bytes.len() != Self::LENGTH || bytes[8] != b'-' {
            return Err(NotATime);
        }
        let number = |from: usize, to: usize| {
            bytes[from..to].iter().try_fold(0u16, |value, digit| {
                digit.is_ascii_digit().then(|| value * 10 + u16::from(digit - b'0')).ok_or(NotATime)
            })
        };
        let two_digits = |at: usize| number(at, at + 2).map(|value| value as u8);
        let time = LocalTime {
            year: number(0, 4)?,
            month: two_digits(4)?,
            day: two_digits(6)?,
            hour: two_digits(9)?,
            minute: two_digits(11)?,
            second: two_digits(13)?,
        };
        time.exists().then_some(time).ok_or(NotATime)
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LocalTime { year, month, day, hour, minute, second } = self;
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}
