//! Numbers in text files.

/// A number of hex digits, with or without `0x`.
pub(crate) fn hex_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    // from_str_radix would take a sign.
    Some(digits)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
}
