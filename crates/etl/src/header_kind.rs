//! The types of headers that records have.

use crate::format::{MARKER_MESSAGE, MARKER_RECORD};

/// Header type of a record; the number is the bitness of the code that wrote it, not of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum HeaderKind {
    /// Kernel-class, 32 bytes, 4-byte pointers.
    System32 = 0,
    /// Kernel-class, 32 bytes, 8-byte pointers.
    System64 = 1,
    /// Kernel-class without CPU times, 24 bytes, 4-byte pointers.
    Compact32 = 2,
    /// Kernel-class without CPU times, 24 bytes, 8-byte pointers.
    Compact64 = 3,
    /// Kernel-class without thread, 16 bytes, 4-byte pointers.
    PerfInfo32 = 4,
    /// Kernel-class without thread, 16 bytes, 8-byte pointers.
    PerfInfo64 = 5,
    /// Classic event with a class GUID, 48 bytes, 4-byte pointers.
    Full32 = 6,
    /// Classic event with a class GUID, 48 bytes, 8-byte pointers.
    Full64 = 7,
    /// Classic event with instance ids, 72 bytes, 4-byte pointers.
    Instance32 = 8,
    /// Classic event with instance ids, 72 bytes, 8-byte pointers.
    Instance64 = 9,
    /// Event of a manifest, TraceLogging or EventSource provider, 80 bytes, 4-byte pointers.
    Event32 = 10,
    /// Event of a manifest, TraceLogging or EventSource provider, 80 bytes, 8-byte pointers.
    Event64 = 11,
    /// WPP message, 8 bytes and options.
    Message = 12,
}

impl HeaderKind {
    /// Kinds are numbered below that.
    pub(crate) const NUMBERS: usize = 16;

    const ALL: [Self; Self::NUMBERS] = [
        Self::System32,
        Self::System64,
        Self::Compact32,
        Self::Compact64,
        Self::PerfInfo32,
        Self::PerfInfo64,
        Self::Full32,
        Self::Full64,
        Self::Instance32,
        Self::Instance64,
        Self::Event32,
        Self::Event64,
        Self::Message,
        Self::Message,
        Self::Message,
        Self::Message,
    ];

    /// The kind with this number (its low four bits).
    #[inline]
    pub(crate) const fn from_number(number: u64) -> Self {
        Self::ALL[(number & 15) as usize]
    }

    /// The kind that a marker (a record's first four bytes) states; `None` for reserved and unknown ones.
    #[must_use]
    pub const fn from_marker(marker: u32) -> Option<Self> {
        let [_, _, header_type, flags] = marker.to_le_bytes();
        if flags == MARKER_MESSAGE {
            return Some(Self::Message);
        }
        if flags != MARKER_RECORD {
            return None;
        }
        Some(match header_type {
            0x01 => Self::System32,
            0x02 => Self::System64,
            0x03 => Self::Compact32,
            0x04 => Self::Compact64,
            0x0a => Self::Full32,
            0x0b => Self::Instance32,
            0x10 => Self::PerfInfo32,
            0x11 => Self::PerfInfo64,
            0x12 => Self::Event32,
            0x13 => Self::Event64,
            0x14 => Self::Full64,
            0x15 => Self::Instance64,
            _ => return None,
        })
    }

    /// Bytes of the fixed header; counters, extended items and a message's options follow it.
    #[must_use]
    pub const fn header_bytes(self) -> usize {
        match self {
            Self::System32 | Self::System64 => 32,
            Self::Compact32 | Self::Compact64 => 24,
            Self::PerfInfo32 | Self::PerfInfo64 => 16,
            Self::Full32 | Self::Full64 => 48,
            Self::Instance32 | Self::Instance64 => 72,
            Self::Event32 | Self::Event64 => 80,
            Self::Message => 8,
        }
    }

    /// Whether the record has a kernel hook instead of a GUID.
    #[must_use]
    pub const fn is_kernel(self) -> bool {
        (self as u8) < Self::Full32 as u8
    }

    /// Whether the record has an event header (provider, id, extended items).
    #[must_use]
    pub const fn is_event(self) -> bool {
        matches!(self, Self::Event32 | Self::Event64)
    }

    /// Whether the record has a class GUID.
    #[must_use]
    pub const fn is_classic(self) -> bool {
        matches!(self, Self::Full32 | Self::Full64 | Self::Instance32 | Self::Instance64)
    }

    /// Name as the format's documentation has it: `System64`, `PerfInfo64`, `Full64`, `Event64` …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System32 => "System32",
            Self::System64 => "System64",
            Self::Compact32 => "Compact32",
            Self::Compact64 => "Compact64",
            Self::PerfInfo32 => "PerfInfo32",
            Self::PerfInfo64 => "PerfInfo64",
            Self::Full32 => "Full32",
            Self::Full64 => "Full64",
            Self::Instance32 => "Instance32",
            Self::Instance64 => "Instance64",
            Self::Event32 => "Event32",
            Self::Event64 => "Event64",
            Self::Message => "Message",
        }
    }
}
