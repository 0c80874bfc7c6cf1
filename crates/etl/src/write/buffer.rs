//! The 72-byte header in front of every buffer (WMI_BUFFER_HEADER).

use super::session::CpuNumbering;

/// Bytes of a buffer header.
pub(super) const HEADER_BYTES: usize = 72;

/// Bits of the buffer flag.
pub(super) mod flag {
    pub(in super::super) const FLUSH_MARKER: u16 = 0x1;
    pub(in super::super) const PROC_INDEX: u16 = 0x20;
    pub(in super::super) const COMPRESSED: u16 = 0x40;
}

/// Buffer types that are written.
pub(super) mod kind {
    pub(in super::super) const GENERIC: u16 = 0;
    pub(in super::super) const HEADER: u16 = 4;
}

/// State of a flushed buffer. In the header buffer of a compressed file the same number says XPRESS.
const STATE_FLUSH: u32 = 3;

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
    /// See [`flag`].
    pub(super) flags: u16,
    /// See [`kind`].
    pub(super) kind: u16,
}

impl BufferHeader {
    pub(super) fn encode(&self, numbering: CpuNumbering) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0x00, &self.size.to_le_bytes());
        // Windows 7 leaves the saved offset of the header buffer at 0.
        let stale = numbering == CpuNumbering::Byte && self.kind == kind::HEADER;
        put(0x04, &if stale { 0 } else { self.end }.to_le_bytes());
        put(0x08, &self.end.to_le_bytes());
        put(0x10, &self.time.to_le_bytes());
        put(0x18, &self.sequence.to_le_bytes());
        match numbering {
            CpuNumbering::Index => put(0x28, &self.cpu.to_le_bytes()),
            CpuNumbering::Byte => put(0x28, &[self.cpu as u8, 8]),
        }
        put(0x2C, &STATE_FLUSH.to_le_bytes());
        put(0x30, &self.end.to_le_bytes());
        let index = if numbering == CpuNumbering::Index && self.kind != kind::HEADER { flag::PROC_INDEX } else { 0 };
        put(0x34, &(self.flags | index).to_le_bytes());
        put(0x36, &self.kind.to_le_bytes());
        out
    }
}
