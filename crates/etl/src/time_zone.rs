//! The recorder's time zone, as the session's header states it.

use crate::bytes::{u16_at, u32_at};
use crate::time::{Civil, FILETIME_PER_SECOND, day_of_date};

/// Bytes of a stored time zone.
pub(crate) const TIME_ZONE_BYTES: usize = 172;

/// A time zone with its change between standard and daylight time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeZone {
    /// Minutes to add to local time to get UTC, before the seasonal correction.
    pub bias: i32,
    /// Name during standard time.
    pub standard_name: String,
    /// When standard time begins; `None` in zones without a change.
    pub standard_start: Option<Change>,
    /// Minutes to add to `bias` during standard time, nearly always 0.
    pub standard_bias: i32,
    /// Name during daylight time.
    pub daylight_name: String,
    /// When daylight time begins; `None` in zones without a change.
    pub daylight_start: Option<Change>,
    /// Minutes to add to `bias` during daylight time, nearly always −60.
    pub daylight_bias: i32,
}

/// The moment of the year at which a season begins, in the local time that ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Year, or 0 for a rule that holds every year.
    pub year: u16,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the week, 0 is Sunday; only for rules that hold every year.
    pub weekday: u8,
    /// Occurrence of that weekday in the month, 5 is the last; or the day of the month where a year is given.
    pub day: u8,
    /// Hour.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
}

impl TimeZone {
    /// Reads a `TIME_ZONE_INFORMATION`.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..TIME_ZONE_BYTES)?;
        let name = |at: usize| crate::bytes::utf16_at(bytes.get(..at + 64).unwrap_or_default(), at).0;
        let minutes = |at| u32_at(bytes, at).map(u32::cast_signed);
        Some(Self {
            bias: minutes(0)?,
            standard_name: name(4),
            standard_start: Change::read(bytes, 68),
            standard_bias: minutes(84)?,
            daylight_name: name(88),
            daylight_start: Change::read(bytes, 152),
            daylight_bias: minutes(168)?,
        })
    }

    /// Minutes to add to local time to get UTC, at a UTC time.
    #[must_use]
    pub fn bias_at(&self, filetime: i64) -> i32 {
        let standard = self.bias.saturating_add(self.standard_bias);
        let daylight = self.bias.saturating_add(self.daylight_bias);
        let (Some(daylight_start), Some(standard_start)) = (self.daylight_start, self.standard_start) else {
            return standard;
        };
        // Each change is stated in the local time that ends with it.
        let year = Civil::from_filetime(to_local(filetime, standard)).year;
        let begins = to_local(daylight_start.filetime_in(year), standard.saturating_neg());
        let ends = to_local(standard_start.filetime_in(year), daylight.saturating_neg());
        let in_daylight = if begins <= ends {
            (begins..ends).contains(&filetime)
        } else {
            // South of the equator daylight time spans the turn of the year.
            !(ends..begins).contains(&filetime)
        };
        if in_daylight { daylight } else { standard }
    }
}

fn to_local(filetime: i64, bias: i32) -> i64 {
    filetime.saturating_sub(i64::from(bias) * 60 * FILETIME_PER_SECOND)
}

impl Change {
    /// Reads a `SYSTEMTIME`; `None` when its month is 0, which says that there is no change.
    fn read(bytes: &[u8], at: usize) -> Option<Self> {
        let field = |index: usize| u16_at(bytes, at + 2 * index);
        let small = |index: usize, most: u16| field(index).filter(|value| *value <= most).map(|value| value as u8);
        let month = small(1, 12).filter(|month| *month > 0)?;
        Some(Self {
            year: field(0)?,
            month,
            weekday: small(2, 6)?,
            day: small(3, 31)?,
            hour: small(4, 23)?,
            minute: small(5, 59)?,
        })
    }

    fn filetime_in(self, year: i64) -> i64 {
        let (year, day) = if self.year > 0 {
            (i64::from(self.year), i64::from(self.day.max(1)) - 1)
        } else {
            // 1601-01-01 was a Monday.
            let first = (day_of_date(year, self.month, 1) + 1).rem_euclid(7);
            let mut day = (i64::from(self.weekday) - first).rem_euclid(7) + 7 * (i64::from(self.day.clamp(1, 5)) - 1);
            let (next_year, next_month) = if self.month == 12 { (year + 1, 1) } else { (year, self.month + 1) };
            let days_in_month = day_of_date(next_year, next_month, 1) - day_of_date(year, self.month, 1);
            while day >= days_in_month {
                day -= 7;
            }
            (year, day)
        };
        let midnight =
            Civil { year, month: self.month, day: 1, hour: self.hour, minute: self.minute, second: 0, fraction: 0 };
        midnight.to_filetime().saturating_add(day * 86_400 * FILETIME_PER_SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, TimeZone};
    use crate::time::Civil;

    fn utc(year: i64, month: u8, day: u8, hour: u8) -> i64 {
        Civil { year, month, day, hour, minute: 0, second: 0, fraction: 0 }.to_filetime()
    }

    #[test]
    fn central_europe_changes_on_the_last_sundays() {
        let change = |month, hour| Some(Change { year: 0, month, weekday: 0, day: 5, hour, minute: 0 });
        let zone = TimeZone {
            bias: -60,
            daylight_bias: -60,
            daylight_start: change(3, 2),
            standard_start: change(10, 3),
            ..TimeZone::default()
        };
        assert_eq!(zone.bias_at(utc(2020, 3, 29, 0)), -60);
        assert_eq!(zone.bias_at(utc(2020, 3, 29, 1)), -120);
        assert_eq!(zone.bias_at(utc(2020, 10, 25, 0)), -120);
        assert_eq!(zone.bias_at(utc(2020, 10, 25, 1)), -60);
    }

    #[test]
    fn daylight_time_can_span_the_turn_of_the_year() {
        let change = |month, hour| Some(Change { year: 0, month, weekday: 0, day: 1, hour, minute: 0 });
        let zone = TimeZone {
            bias: -600,
            daylight_bias: -60,
            daylight_start: change(10, 2),
            standard_start: change(4, 3),
            ..TimeZone::default()
        };
        assert_eq!(zone.bias_at(utc(2021, 1, 15, 0)), -660);
        assert_eq!(zone.bias_at(utc(2021, 7, 15, 0)), -600);
        assert_eq!(zone.bias_at(utc(2021, 12, 15, 0)), -660);
    }

    #[test]
    fn a_zone_without_change_keeps_its_bias() {
        assert_eq!(TimeZone { bias: 480, ..TimeZone::default() }.bias_at(utc(2021, 7, 1, 0)), 480);
    }
}
