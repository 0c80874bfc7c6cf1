//! Little-endian numbers out of untrusted bytes: `None` where they do not lie wholly inside.

pub(crate) fn u8_at(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}

pub(crate) fn i64_at(bytes: &[u8], at: usize) -> Option<i64> {
    bytes.get(at..)?.first_chunk().map(|b| i64::from_le_bytes(*b))
}

/// A zero-terminated UTF-16 text at `at`, and the offset behind its terminator. Ends at the end of `bytes` at the latest.
pub(crate) fn utf16_at(bytes: &[u8], at: usize) -> (String, usize) {
    let tail = bytes.get(at..).unwrap_or_default();
    let units: Vec<u16> =
        tail.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit)).take_while(|unit| *unit != 0).collect();
    (String::from_utf16_lossy(&units), at.saturating_add(2 * units.len() + 2))
}
