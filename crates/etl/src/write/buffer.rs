//! The 72-byte header in front of every buffer (WMI_BUFFER_HEADER).

use super::session::CpuNumbering;
use crate::format::{BUFFER_HEADER_BYTES, buffer_flag, buffer_header};

/// Buffer types that are written.
pub(super) mod kind {
    pub(in super::super) const GENERIC: u16 = 0;
    pub(in super::super) const HEADER: u16 = 4;
}

/// State of a flushed buffer. In the header buffer of a compressed file the same number says XPRESS.
const STATE_FLUSH: u32 = 3;
/// What stands behind a CPU number of one byte.
const BYTE_NUMBERING_ALIGNMENT: u8 = 8;

/// The fields of a buffer header that carry meaning in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferHeader {
    /// Bytes of the buffer in the file, this header included.
    pub(super) size: u32,
    /// End of valid data, from the start of the (decompressed) buffer.
    pub(super) end: u32,
    /// Flush time.
    pub(super) time: i64,
    /// Flush counter of the session; 0 is the header buffer.
    pub(super) sequence: u64,
    /// CPU of its records.
    pub(super) cpu: u16,
    /// Bits of [`buffer_flag`].
    pub(super) flags: u16,
    /// See [`kind`].
    pub(super) kind: u16,
}

impl BufferHeader {
    pub(super) fn encode(&self, numbering: CpuNumbering) -> [u8; BUFFER_HEADER_BYTES] {
        let mut out = [0; BUFFER_HEADER_BYTES];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(buffer_header::SIZE, &self.size.to_le_bytes());
        // Windows 7 leaves the saved offset of the header buffer at 0.
        let unset = numbering == CpuNumbering::Byte && self.kind == kind::HEADER;
        put(buffer_header::SAVED_OFFSET, &if unset { 0 } else { self.end }.to_le_bytes());
        put(buffer_header::CURRENT_OFFSET, &self.end.to_le_bytes());
        put(buffer_header::TIME_STAMP, &self.time.to_le_bytes());
        put(buffer_header::SEQUENCE, &self.sequence.to_le_bytes());
        let mut flags = self.flags;
        match numbering {
            CpuNumbering::Index => {
                put(buffer_header::PROCESSOR, &self.cpu.to_le_bytes());
                // Header buffers of merged files do not have the flag.
                flags |= if self.kind == kind::HEADER { 0 } else { buffer_flag::PROCESSOR_INDEX };
            }
            CpuNumbering::Byte => put(buffer_header::PROCESSOR, &[self.cpu as u8, BYTE_NUMBERING_ALIGNMENT]),
        }
        put(buffer_header::STATE, &STATE_FLUSH.to_le_bytes());
        put(buffer_header::OFFSET, &self.end.to_le_bytes());
        put(buffer_header::FLAGS, &flags.to_le_bytes());
        put(buffer_header::KIND, &self.kind.to_le_bytes());
        out
    }
}
