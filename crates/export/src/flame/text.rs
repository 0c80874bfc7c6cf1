//! Figures as people read them, the same in every locale.

use crate::profile::{Measure, Unit};

/// A weight in its unit: `12,345.6 ms`, `1.234 MiB`, `1,234 page faults`.
pub(super) fn figure(weight: u64, measure: Measure) -> String {
    match measure.unit {
        Unit::Nanoseconds => milliseconds(weight),
        Unit::Bytes => bytes(weight),
        Unit::Count => format!("{} {}", grouped(weight), measure.counted),
    }
}

/// A size in the unit that leaves one to three digits before the point: `512 bytes`, `1.234 MiB`.
fn bytes(size: u64) -> String {
    let exponent = size.checked_ilog2().unwrap_or(0) / 10;
    match ["bytes", "KiB", "MiB", "GiB", "TiB"].get(exponent as usize) {
        Some(&"bytes") => format!("{size} bytes"),
        unit => {
            let exponent = if unit.is_some() { exponent } else { 4 };
            format!("{:.3} {}", size as f64 / 2_f64.powi(10 * exponent as i32), unit.unwrap_or(&"TiB"))
        }
    }
}

/// A time in milliseconds, rounded as in tables: `12,346 ms`, `12.3 ms`, `1.234 ms`.
fn milliseconds(nanoseconds: u64) -> String {
    let rounded = |step: u64| nanoseconds.saturating_add(step / 2) / step;
    match nanoseconds {
        0 => "0 ms".to_owned(),
        // Bounds are where rounding leads to one digit more before the point.
        1..9_999_500 => format!("{}.{:03} ms", rounded(1_000) / 1_000, rounded(1_000) % 1_000),
        9_999_500..999_950_000 => format!("{}.{} ms", rounded(100_000) / 10, rounded(100_000) % 10),
        _ => format!("{} ms", grouped(rounded(1_000_000))),
    }
}

/// A number with its thousands divided: `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share of the whole: `12.3 %`, `0.04 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        0.0 => "0 %".to_owned(),
        10.0.. => format!("{percent:.1} %"),
        0.1.. => format!("{percent:.2} %"),
        _ => format!("{percent:.3} %"),
    }
}

/// A part of the whole; 0 where the whole is nothing.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Plural by number: `1 frame`, `1,234 frames`.
pub(super) fn count(number: usize, one: &str) -> String {
    format!("{} {one}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame's time in a table and in its title is one figure.
    #[test]
    fn times_are_rounded() {
        let texts = [0, 400, 1_234_567, 9_999_500, 14_573_215, 999_949_999, 999_950_000, 12_345_678_901, u64::MAX];
        let texts = texts.map(milliseconds);
        assert_eq!(
            texts[..8],
            ["0 ms", "0.000 ms", "1.235 ms", "10.0 ms", "14.6 ms", "999.9 ms", "1,000 ms", "12,346 ms"]
        );
        assert!(texts[8].starts_with("18,446,744,073,709"), "{}", texts[8]);
    }
}
