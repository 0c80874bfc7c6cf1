//! Numbers of the container format: buffer header, markers, session modes.

/// Bytes of a buffer's header; the first record follows it.
pub const BUFFER_HEADER_BYTES: usize = 72;
/// Smallest size of a buffer that a session can have.
pub const MIN_SESSION_BUFFER: u32 = 512;
/// Largest size of a buffer, also after decompression.
pub const MAX_BUFFER: u32 = 16 << 20;

/// Offsets inside the buffer header (`WMI_BUFFER_HEADER`).
pub mod buffer_header {
    /// u32: bytes that the buffer occupies in the file.
    pub const SIZE: usize = 0x00;
    /// u32: end of the valid data, of the decompressed data where the buffer is compressed.
    pub const SAVED_OFFSET: usize = 0x04;
    /// u32: write cursor in memory; of no meaning in a file.
    pub const CURRENT_OFFSET: usize = 0x08;
    /// u64: flush time.
    pub const TIME_STAMP: usize = 0x10;
    /// i64: number of the flush in the session; 0 is the header buffer.
    pub const SEQUENCE: usize = 0x18;
    /// u16: CPU, see [`super::buffer_flag::PROCESSOR_INDEX`].
    pub const PROCESSOR: usize = 0x28;
    /// u16: slot of the session.
    pub const LOGGER_ID: usize = 0x2a;
    /// u32: state; in the header buffer of a compressed file its low 16 bits are the compression format.
    pub const STATE: usize = 0x2c;
    /// u32: end of the valid data; the one to trust.
    pub const OFFSET: usize = 0x30;
    /// u16: bits of [`super::buffer_flag`].
    pub const FLAGS: usize = 0x34;
    /// u16: number of a [`crate::BufferKind`].
    pub const KIND: usize = 0x36;
}

/// Bits of a buffer's flags.
pub mod buffer_flag {
    /// The header buffer, and the last buffer of a flush cycle.
    pub const FLUSH_MARKER: u16 = 0x0001;
    /// Events were lost before or around this buffer.
    pub const EVENTS_LOST: u16 = 0x0002;
    /// At least one preceding buffer was lost.
    pub const BUFFER_LOST: u16 = 0x0004;
    /// The real-time backup file is damaged.
    pub const BACKUP_CORRUPT: u16 = 0x0008;
    /// The buffer came from a real-time backup file.
    pub const BACKUP: u16 = 0x0010;
    /// The CPU is a u16 (Windows 8 and later); else one byte, and the byte after it is an alignment.
    pub const PROCESSOR_INDEX: u16 = 0x0020;
    /// What follows the buffer header is compressed.
    pub const COMPRESSED: u16 = 0x0040;
    /// All bits with a known meaning.
    pub const ALL: u16 = 0x007f;
}

/// Bits of `LogFileMode`.
pub mod file_mode {
    /// Written once from start to end.
    pub const SEQUENTIAL: u32 = 0x0000_0001;
    /// Old buffers are overwritten when the file is full.
    pub const CIRCULAR: u32 = 0x0000_0002;
    /// Appended to an older file.
    pub const APPEND: u32 = 0x0000_0004;
    /// The session goes on in a new file when one is full; each says when the session began.
    pub const NEW_FILE: u32 = 0x0000_0008;
    /// The file had its full size from the start; what was never written is zero.
    pub const PREALLOCATE: u32 = 0x0000_0020;
    /// Written by a process of its own, without the kernel.
    pub const PRIVATE_LOGGER: u32 = 0x0000_0800;
    /// `MaximumFileSize` is in KB.
    pub const KBYTES: u32 = 0x0000_2000;
    /// Written by the merge or relog tool.
    pub const RELOG: u32 = 0x0001_0000;
    /// Buffers are compressed.
    pub const COMPRESSED: u32 = 0x0400_0000;
    /// Buffers are not bound to CPUs.
    pub const NO_PER_PROCESSOR_BUFFERING: u32 = 0x1000_0000;
}

/// Flag byte of a record with a header type: the marker's byte 3.
pub const MARKER_RECORD: u8 = 0xc0;
/// Flag byte of a WPP message: the marker's byte 3.
pub const MARKER_MESSAGE: u8 = 0x90;

/// Bits in the version word of kernel-class headers.
pub mod version_word {
    /// Eight bytes of PEBS index follow the header.
    pub const PEBS_INDEX: u16 = 0x8000;
    /// Number of hardware counters (eight bytes each) that follow the header, times 256.
    pub const COUNTERS: u16 = 0x0700;
}

/// Bits in the flags of an event header.
pub mod event_flag {
    /// Extended items follow the header.
    pub const EXTENDED_INFO: u16 = 0x0001;
    /// Written by a private session.
    pub const PRIVATE_SESSION: u16 = 0x0002;
    /// The payload is one zero-terminated UTF-16 text.
    pub const STRING_ONLY: u16 = 0x0004;
}
