//! Sizes and times as people write them: `40GB`, `512MiB`, `5min`, `30s`.

use std::time::Duration;

use tracesift_ask::units::bytes_of_unit;

/// Bytes of `40GB`, with units as questions have them.
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    number.checked_mul(bytes_of_unit(&unit)?)
}

/// The time that `5min` is.
#[must_use]
pub fn time(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let milliseconds: u64 = match unit.as_str() {
        "ms" => 1,
        "s" | "sec" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.checked_mul(milliseconds)?))
}

/// Per cent of `90%`.
#[must_use]
pub fn percent(text: &str) -> Option<u8> {
    text.trim().strip_suffix('%')?.trim_end().parse().ok().filter(|percent| *percent <= 100)
}

fn split(text: &str) -> Option<(u64, String)> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim().to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_times_and_shares() {
        assert_eq!(size("40GB"), Some(40_000_000_000));
        assert_eq!(size("64 MiB"), Some(64 << 20));
        assert_eq!(size("5"), None, "a bare number has no unit");
        assert_eq!(size("99999999999TB"), None);
        assert_eq!(time("5min"), Some(Duration::from_secs(300)));
        assert_eq!(time("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(time("5 years"), None);
        assert_eq!(percent("90%"), Some(90));
        assert_eq!(percent("101%"), None);
    }
}
