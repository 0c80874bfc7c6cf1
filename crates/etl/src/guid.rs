//! The 16-byte identifier of providers, event classes and activities.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;
use uuid::fmt::{Braced, Hyphenated};

/// A GUID in its storage order: a little-endian `u32`, two little-endian `u16` and eight bytes.
///
/// ```
/// use tracesift_etl::Guid;
/// let thread = Guid::from_u128(0x3d6fa8d1_fe05_11d0_9dda_00c04fd7ba7c);
/// assert_eq!(thread.to_string(), "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c");
/// assert_eq!("{3D6FA8D1-FE05-11D0-9DDA-00C04FD7BA7C}".parse(), Ok(thread));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Guid([u8; 16]);

impl Guid {
    /// All bytes zero: stands for "none" wherever a GUID is optional in a record.
    pub const ZERO: Self = Self([0; 16]);

    /// Takes the bytes as they stand in a file.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Takes the digits as they are printed: `0x3d6fa8d1_fe05_11d0_9dda_00c04fd7ba7c`.
    #[must_use]
    pub const fn from_u128(printed: u128) -> Self {
        Self(Uuid::from_u128(printed).to_bytes_le())
    }

    /// The digits as they are printed; the reverse of [`Guid::from_u128`].
    #[must_use]
    pub const fn to_u128(self) -> u128 {
        Uuid::from_bytes_le(self.0).as_u128()
    }

    /// The bytes as they stand in a file.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// Reads the GUID at `offset`; `None` when it does not lie wholly inside `bytes`.
    #[must_use]
    pub fn read(bytes: &[u8], offset: usize) -> Option<Self> {
        bytes.get(offset..)?.first_chunk::<16>().map(|b| Self(*b))
    }

    /// Whether all bytes are zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        u128::from_le_bytes(self.0) == 0
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Uuid::from_bytes_le(self.0), f)
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a GUID.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a GUID: 32 hex digits in groups of 8-4-4-4-12 are expected")]
pub struct ParseGuidError(String);

impl FromStr for Guid {
    type Err = ParseGuidError;

    /// Accepts both cases of the digits, with or without braces.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = text.parse().map(Hyphenated::into_uuid);
        let read = plain.or_else(|_| text.parse().map(Braced::into_uuid));
        read.map(|guid| Self(guid.to_bytes_le())).map_err(|_| ParseGuidError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Guid;

    #[test]
    fn the_first_three_parts_are_little_endian_in_storage() {
        let bytes = [0xd0, 0xa8, 0x6f, 0x3d, 5, 0xfe, 0xd0, 0x11, 0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c];
        let guid = Guid::from_bytes(bytes);
        assert_eq!(guid.to_string(), "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c");
        assert_eq!(Guid::from_u128(guid.to_u128()).to_bytes(), bytes);
    }

    #[test]
    fn refuses_what_is_no_guid() {
        for text in [
            "",
            "{",
            "{3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c",
            "3d6fa8d0fe0511d09dda00c04fd7ba7c",
            "3d6fa8d0-fe05-11d0-9dda",
            "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c-",
            "+d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c",
        ] {
            assert!(text.parse::<Guid>().is_err(), "{text}");
        }
    }
}
