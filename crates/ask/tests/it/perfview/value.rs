//! When a value is the same as PerfView's text for it.

use tracesift_etl::schema::Value;

/// A value, with what it can be compared by.
pub(crate) struct Shown {
    pub(crate) text: String,
    number: Option<i128>,
    float: Option<f64>,
    is_time: bool,
}

impl Shown {
    pub(crate) fn of(value: &Value<'_>) -> Self {
        let float = match value {
            Value::Float(value) => Some(f64::from(*value)),
            Value::Double(value) => Some(*value),
            _ => None,
        };
        let is_time = matches!(value, Value::FileTime(_) | Value::SystemTime(_));
        Self { text: value.to_string(), number: value.number(), float, is_time }
    }

    /// The number, where it is one.
    pub(crate) fn number(&self) -> Option<i128> {
        self.number
    }

    /// Whether PerfView's text says the same. It groups digits, cuts texts at 20 characters, writes flags with commas, times in the
    /// local time of whoever ran it, and unsigned numbers as signed ones.
    pub(crate) fn agrees_with(&self, theirs: &str) -> bool {
        let theirs = theirs.trim();
        if self.is_time {
            return same_time(&self.text, theirs);
        }
        let plain = self.text.replace(['\r', '\n'], " ");
        let same_text = |ours: &str| match theirs.strip_suffix("...") {
            Some(start) => ours.trim_start().starts_with(start),
            None => ours.trim().eq_ignore_ascii_case(theirs),
        };
        same_text(&plain) || same_text(&plain.replace('|', ", ")) || self.same_number(theirs)
    }

    fn same_number(&self, theirs: &str) -> bool {
        let digits = theirs.replace(',', "");
        if let (Some(ours), Ok(theirs)) = (self.float, digits.parse::<f64>()) {
            return (ours - theirs).abs() <= 0.0005_f64.max(ours.abs() * 1e-6);
        }
        let theirs = match digits.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => digits.parse().ok(),
        };
        if let (Some(ours), Some(start)) = (self.number, digits.strip_suffix("...")) {
            // Cut, so only its beginning can be compared.
            return [ours, ours - (1_i128 << 64)].iter().any(|number| number.to_string().starts_with(start));
        }
        let (Some(ours), Some(theirs)) = (self.number, theirs) else { return false };
        ours == theirs || [8, 16, 32, 64].iter().any(|bits| theirs < 0 && ours == theirs + (1_i128 << bits))
    }
}

/// `2021-09-09T21:59:42.0512345Z` and `21/09/09 14:59:42.05...`: the same minute of the hour and second, up to a whole number of
/// quarter hours apart.
fn same_time(ours: &str, theirs: &str) -> bool {
    let digits = |text: &str| -> Vec<u32> {
        text.split(|c: char| !c.is_ascii_digit())
            .filter(|part| !part.is_empty())
            .filter_map(|part| part.parse().ok())
            .collect()
    };
    let (ours, theirs) = (digits(ours), digits(theirs));
    let ([_, _, _, _, our_minute, our_second, ..], [_, _, _, _, their_minute, their_second, ..]) =
        (ours.as_slice(), theirs.as_slice())
    else {
        return false;
    };
    our_minute % 15 == their_minute % 15 && our_second == their_second
}
