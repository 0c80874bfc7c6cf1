//! Times: raw ticks of the recording's clock, FILETIMEs, and UTC as text.

/// FILETIME ticks (100 ns) per second.
pub const FILETIME_PER_SECOND: i64 = 10_000_000;

/// Seconds per day.
const DAY: i64 = 86_400;

/// Which clock the time stamps come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ClockKind {
    /// The performance counter (1, and 0 with a frequency).
    #[default]
    PerformanceCounter,
    /// The system time: time stamps are FILETIMEs (2, and 0 without a frequency).
    SystemTime,
    /// The CPU's cycle counter (3).
    CpuCycles,
    /// Another number.
    Unknown(u32),
}

impl ClockKind {
    /// The clock of a `TRACE_LOGFILE_HEADER`: its number (`ReservedFlags`) and frequency.
    #[must_use]
    pub const fn from_number(number: u32, performance_frequency: i64) -> Self {
        match number {
            0 if performance_frequency == 0 => Self::SystemTime,
            0 | 1 => Self::PerformanceCounter,
            2 => Self::SystemTime,
            3 => Self::CpuCycles,
            other => Self::Unknown(other),
        }
    }

    /// Name for people: `performance counter`, `system time`, `cpu cycles`, `unknown`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PerformanceCounter => "performance counter",
            Self::SystemTime => "system time",
            Self::CpuCycles => "cpu cycles",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// A point of time in the proleptic Gregorian calendar, without a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Civil {
    /// Year; FILETIMEs reach from −27627 to 30828.
    pub year: i64,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the month, from 1.
    pub day: u8,
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
    /// Fraction of the second in 100 ns.
    pub fraction: u32,
}

impl Civil {
    /// The calendar date and time of a FILETIME.
    #[must_use]
    pub fn from_filetime(filetime: i64) -> Self {
        let seconds = filetime.div_euclid(FILETIME_PER_SECOND);
        let (year, month, day) = date_of_day(seconds.div_euclid(DAY));
        let second = seconds.rem_euclid(DAY);
        Self {
            year,
            month,
            day,
            hour: (second / 3600) as u8,
            minute: (second / 60 % 60) as u8,
            second: (second % 60) as u8,
            fraction: filetime.rem_euclid(FILETIME_PER_SECOND) as u32,
        }
    }

    /// The FILETIME of this date and time, saturating.
    #[must_use]
    pub fn to_filetime(self) -> i64 {
        let days = day_of_date(self.year, self.month, self.day);
        let seconds = days
            .saturating_mul(DAY)
            .saturating_add(i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second));
        seconds.saturating_mul(FILETIME_PER_SECOND).saturating_add(i64::from(self.fraction))
    }
}

/// Days from 1601-01-01 to the first day of the 400-year cycle that begins in March 1600, negated.
const CYCLE_OFFSET: i64 = 306;
/// Days in 400 years.
const CYCLE: i64 = 146_097;

/// Date of the day that lies `day` days after 1601-01-01.
fn date_of_day(day: i64) -> (i64, u8, u8) {
    // Years are counted from March, so that the leap day is the last of its year.
    let shifted = day + CYCLE_OFFSET;
    let cycle = shifted.div_euclid(CYCLE);
    let in_cycle = shifted.rem_euclid(CYCLE);
    let year = (in_cycle - in_cycle / 1460 + in_cycle / 36_524 - in_cycle / 146_096) / 365;
    let in_year = in_cycle - (365 * year + year / 4 - year / 100);
    let from_march = (5 * in_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = 1600 + 400 * cycle + year + i64::from(month <= 2);
    (year, month as u8, (in_year - (153 * from_march + 2) / 5 + 1) as u8)
}

/// Days from 1601-01-01 to a date.
pub(crate) fn day_of_date(year: i64, month: u8, day: u8) -> i64 {
    let from_march = (i64::from(month) + 9) % 12;
    let year = year - i64::from(month <= 2) - 1600;
    let in_cycle = year.rem_euclid(400);
    let in_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
    year.div_euclid(400) * CYCLE + 365 * in_cycle + in_cycle / 4 - in_cycle / 100 + in_year - CYCLE_OFFSET
}

/// A FILETIME as UTC with seven digits: `2020-02-17T12:48:30.4203138Z`.
#[must_use]
pub fn filetime_text(filetime: i64) -> String {
    let Civil { year, month, day, hour, minute, second, fraction } = Civil::from_filetime(filetime);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:07}Z")
}

pub(crate) fn saturate(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::{Civil, date_of_day, day_of_date, filetime_text};

    #[test]
    fn known_times() {
        assert_eq!(filetime_text(0), "1601-01-01T00:00:00.0000000Z");
        assert_eq!(filetime_text(132_264_173_104_203_138), "2020-02-17T12:48:30.4203138Z");
        assert_eq!(filetime_text(116_444_736_000_000_000), "1970-01-01T00:00:00.0000000Z");
        assert_eq!(filetime_text(-1), "1600-12-31T23:59:59.9999999Z");
        assert_eq!(filetime_text(i64::MAX), "30828-09-14T02:48:05.4775807Z");
    }

    #[test]
    fn every_day_of_a_cycle_comes_back() {
        let mut previous = (0, 0, 0);
        for day in -1000..150_000 {
            let date = date_of_day(day);
            assert!(date > previous);
            assert_eq!(day_of_date(date.0, date.1, date.2), day);
            previous = date;
        }
    }

    #[test]
    fn civil_times_come_back() {
        for filetime in [0, 1, -1, 132_264_173_104_203_138, i64::MAX, -864_000_000_001] {
            assert_eq!(Civil::from_filetime(filetime).to_filetime(), filetime);
        }
    }
}
