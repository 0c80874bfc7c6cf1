//! Numbers as people read them.

/// Commas between the thousands of a decimal number.
#[must_use]
pub fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut text = String::with_capacity(number.len() + whole.len() / 3);
    text.push_str(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// Milliseconds of nanoseconds, with a tenth.
#[must_use]
pub fn ms(ns: f64) -> String {
    grouped(&format!("{:.1}", ns / 1e6))
}

/// Milliseconds of a difference in nanoseconds, with its sign.
#[must_use]
pub fn signed(ns: f64) -> String {
    let text = ms(ns.abs());
    let sign = if text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b',')) {
        ""
    } else if ns < 0.0 {
        "−"
    } else {
        "+"
    };
    format!("{sign}{text}")
}

/// A change as percent: 0.05 is `+5.0 %`.
#[must_use]
pub fn percent(ratio: f64) -> String {
    format!("{} %", signed_digits(100.0 * ratio))
}

/// An end of the interval of a change, in percent without the unit.
#[must_use]
pub fn bound(ratio: f64) -> String {
    match ratio {
        ratio if ratio == f64::INFINITY => "+∞".to_owned(),
        ratio if ratio <= -1.0 => "−∞".to_owned(),
        ratio => signed_digits(100.0 * ratio),
    }
}

fn signed_digits(percent: f64) -> String {
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{}", digits(percent.abs()))
}

/// Percent with a tenth below ten.
#[must_use]
pub fn digits(percent: f64) -> String {
    if percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

/// A probability with two digits that count.
#[must_use]
pub fn probability(p: f64) -> String {
    match p {
        p if p < 0.000_05 => "<0.0001".to_owned(),
        p if p < 0.01 => format!("{p:.4}"),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{bound, grouped, percent, probability, signed};

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!(grouped("1234567.8"), "1,234,567.8");
        assert_eq!(grouped("-123"), "-123");
        assert_eq!(
            (signed(1_500_000.0), signed(-40_000_000.0), signed(10.0)),
            ("+1.5".into(), "−40.0".into(), "0.0".into())
        );
        assert_eq!((percent(0.0541), percent(-0.5)), ("+5.4 %".into(), "−50 %".into()));
        assert_eq!((bound(f64::INFINITY), bound(-1.0)), ("+∞".into(), "−∞".into()));
        assert_eq!(
            ["0.51", "0.042", "0.0051", "<0.0001"],
            [0.51, 0.042, 0.0051, 0.00001].map(probability).each_ref().map(String::as_str)
        );
    }
}
