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

/// A time in milliseconds: `12,345.6 ms`, `1.234 ms`.
fn milliseconds(nanoseconds: u64) -> String {
    let (whole, part) = (nanoseconds / 1_000_000, nanoseconds % 1_000_000);
    match whole {
        _ if nanoseconds == 0 => "0 ms".to_owned(),
        0..10 => format!("{whole}.{:03} ms", part / 1_000),
        10..1_000 => format!("{whole}.{:01} ms", part / 100_000),
        _ => format!("{} ms", grouped(whole)),
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
