//! Security identifiers.

use std::fmt;

/// A Windows security identifier, shown as `S-1-5-18`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sid<'a> {
    /// Revision, number of sub-authorities, 6 bytes of big-endian authority, then the sub-authorities.
    bytes: &'a [u8],
}

impl<'a> Sid<'a> {
    pub(super) const HEADER_SIZE: usize = 8;
    pub(super) const REVISION: u8 = 1;
    pub(super) const MAX_SUB_AUTHORITIES: u8 = 15;

    /// `bytes` must be as long as the number of sub-authorities says.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Can there be an identifier at the start of these bytes? Asked where text may stand instead.
    pub(super) fn is_likely_at(bytes: &[u8]) -> bool {
        matches!(bytes.first_chunk(), Some([Self::REVISION, count, 0, 0, 0, 0, 0, _])
            if *count <= Self::MAX_SUB_AUTHORITIES && bytes.len() >= Self::HEADER_SIZE + 4 * usize::from(*count))
    }

    /// The identifier as stored, the form that Windows functions take.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The identifier authority; 5 is NT.
    pub fn authority(&self) -> u64 {
        self.bytes.iter().skip(2).take(6).fold(0, |authority, byte| authority << 8 | u64::from(*byte))
    }

    /// The sub-authorities; the last one is the relative identifier.
    pub fn sub_authorities(&self) -> impl Iterator<Item = u32> + 'a {
        let values = self.bytes.get(Self::HEADER_SIZE..).unwrap_or_default();
        values.as_chunks::<4>().0.iter().map(|value| u32::from_le_bytes(*value))
    }
}

impl fmt::Display for Sid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = self.authority();
        // The documented text form: authorities that need more than 32 bits are written in hexadecimal.
        if authority > u64::from(u32::MAX) {
            write!(f, "S-{}-0x{authority:012x}", Self::REVISION)?;
        } else {
            write!(f, "S-{}-{authority}", Self::REVISION)?;
        }
        self.sub_authorities().try_for_each(|value| write!(f, "-{value}"))
    }
}

impl fmt::Debug for Sid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form() {
        let local_service = [1, 1, 0, 0, 0, 0, 0, 5, 19, 0, 0, 0];
        assert_eq!(Sid::new(&local_service).to_string(), "S-1-5-19");
        let large_authority = [1, 1, 0x12, 0x34, 0, 0, 0, 1, 7, 0, 0, 0];
        assert_eq!(Sid::new(&large_authority).to_string(), "S-1-0x123400000001-7");
    }
}
