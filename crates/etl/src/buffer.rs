//! A buffer: what its 72-byte header says, and whether that can be true.

use crate::bytes::{i64_at, u16_at, u32_at};
use crate::format::{BUFFER_HEADER_BYTES, MAX_BUFFER, buffer_flag, buffer_header};
use crate::frame::{OneRecord, frame_one};
use crate::{lznt1, xpress};

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferKind {
    /// Records.
    Generic,
    /// Records of a rundown.
    Rundown,
    /// Context switches in a packed form that current recorders do not write; cannot be decoded.
    PackedSwitches,
    /// Reference times, no records.
    ReferenceTime,
    /// Records; the first describes the session.
    Header,
    /// Records.
    Batched,
    /// Nothing: marks a CPU without records.
    EmptyMarker,
    /// Records for a debugger.
    DebugInfo,
    /// Another number.
    Unknown(u16),
}

impl BufferKind {
    /// The kind with this number.
    #[must_use]
    pub const fn from_number(number: u16) -> Self {
        match number {
            0 => Self::Generic,
            1 => Self::Rundown,
            2 => Self::PackedSwitches,
            3 => Self::ReferenceTime,
            4 => Self::Header,
            5 => Self::Batched,
            6 => Self::EmptyMarker,
            7 => Self::DebugInfo,
            other => Self::Unknown(other),
        }
    }

    /// Whether the buffer holds records.
    #[must_use]
    pub const fn has_records(self) -> bool {
        matches!(self, Self::Generic | Self::Rundown | Self::Header | Self::Batched | Self::DebugInfo)
    }
}

/// How the buffers of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Compression {
    /// Format 2.
    Lznt1,
    /// Format 3, the one that is in use.
    #[default]
    Xpress,
    /// Another format; 4 is XPRESS with Huffman codes.
    Unsupported(u16),
}

impl Compression {
    /// The format with this number; `Xpress` for numbers that are none.
    #[must_use]
    pub const fn from_number(number: u16) -> Self {
        match number {
            2 => Self::Lznt1,
            0 | 1 | 3 => Self::Xpress,
            other => Self::Unsupported(other),
        }
    }

    /// Decompresses `limit` bytes into `output`, which may be longer. `None` when the method is not supported.
    pub(crate) fn decompress(self, input: &[u8], output: &mut [u8], limit: usize) -> Option<xpress::Decoded> {
        match self {
            Self::Xpress => Some(xpress::decompress_to(input, output, limit)),
            Self::Lznt1 => output.get_mut(..limit).map(|output| lznt1::decompress(input, output)),
            Self::Unsupported(_) => None,
        }
    }
}

/// Where a buffer lies and what its header says; the content is not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRef {
    /// Offset in the file.
    pub offset: u64,
    /// Number of the flush in the session.
    pub sequence: i64,
    /// Raw tick of the first record; `None` when the buffer has no records.
    pub first_time: Option<i64>,
    /// Bytes that the buffer occupies in the file, header included.
    pub size: u32,
    /// Bytes up to the next buffer that was found; larger than `size` only before a damaged region.
    pub extent: u32,
    /// End of the valid data, header included, after decompression.
    pub valid_end: u32,
    /// CPU of the records.
    pub cpu: u16,
    /// Bits of [`buffer_flag`].
    pub flags: u16,
    /// What it holds.
    pub kind: BufferKind,
    /// Whether the buffer lies wholly in the file and its header needed no correction.
    pub sound: bool,
}

impl BufferRef {
    /// Whether the content is compressed.
    #[must_use]
    pub const fn is_compressed(&self) -> bool {
        self.flags & buffer_flag::COMPRESSED != 0
    }

    /// Reads a buffer header. The numbers are taken as they are, apart from the end of the valid data, for which a second
    /// field stands in when the first is of no use.
    pub(crate) fn read(head: &[u8], offset: u64) -> Option<Self> {
        let size = u32_at(head, buffer_header::SIZE)?;
        let flags = u16_at(head, buffer_header::FLAGS)?;
        let header = BUFFER_HEADER_BYTES as u32;
        let valid_end = match u32_at(head, buffer_header::OFFSET)? {
            end if end < header => u32_at(head, buffer_header::SAVED_OFFSET)?,
            end => end,
        };
        let processor = u16_at(head, buffer_header::PROCESSOR)?;
        // Before Windows 8 the second byte is an alignment.
        let cpu = if flags & buffer_flag::PROCESSOR_INDEX == 0 { processor & 0x00ff } else { processor & 0x07ff };
        Some(Self {
            offset,
            sequence: i64_at(head, buffer_header::SEQUENCE)?,
            first_time: None,
            size,
            extent: size,
            valid_end,
            cpu,
            flags,
            kind: BufferKind::from_number(u16_at(head, buffer_header::KIND)?),
            sound: true,
        })
    }

    /// Whether the size can be that of a buffer.
    pub(crate) const fn has_possible_size(&self) -> bool {
        self.size >= BUFFER_HEADER_BYTES as u32 && self.size <= MAX_BUFFER
    }

    /// Whether the header can be true and the data fits.
    pub(crate) const fn is_plausible(&self) -> bool {
        self.has_possible_size()
            && self.valid_end >= BUFFER_HEADER_BYTES as u32
            && self.valid_end <= MAX_BUFFER
            && (self.is_compressed() || self.valid_end <= self.size)
            && !matches!(self.kind, BufferKind::Unknown(_))
    }

    /// Bytes of the record area after decompression.
    pub(crate) const fn area_bytes(&self) -> usize {
        (self.valid_end as usize).saturating_sub(BUFFER_HEADER_BYTES)
    }
}

/// What the first bytes of a record area show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstRecord {
    /// No records are expected, or the area begins with filler.
    None,
    /// A record that can be true.
    Plausible(OneRecord),
    /// Something else.
    Bad,
}

/// Bytes of a buffer that [`first_record`] needs, header included.
pub(crate) const PROBE_BYTES: usize = 192;

/// Looks at the first record of a buffer whose first [`PROBE_BYTES`] bytes (or all that are there) are in `probe`.
pub(crate) fn first_record(buffer: &BufferRef, compression: Compression, probe: &[u8]) -> FirstRecord {
    if !buffer.kind.has_records() || buffer.area_bytes() == 0 {
        return FirstRecord::None;
    }
    let stored = probe.get(BUFFER_HEADER_BYTES..).unwrap_or_default();
    let mut decompressed = [0u8; 48];
    let area = if buffer.is_compressed() {
        let limit = decompressed.len().min(buffer.area_bytes());
        match compression.decompress(stored, &mut decompressed, limit) {
            Some(decoded) => decompressed.get(..decoded.produced).unwrap_or_default(),
            None => return FirstRecord::None,
        }
    } else {
        stored.get(..buffer.area_bytes().min(stored.len())).unwrap_or_default()
    };
    match u32_at(area, 0) {
        Some(0 | u32::MAX) => FirstRecord::None,
        _ => match frame_one(area) {
            Some(record) if record.size <= buffer.area_bytes() => FirstRecord::Plausible(record),
            _ => FirstRecord::Bad,
        },
    }
}
