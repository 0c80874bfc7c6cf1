//! Class Memory: memory that processes reserve, commit and give back.

use super::reader::Reader;
use super::{Payload, PayloadError};

/// Memory 98 (`VirtualAlloc`) and 99 (`VirtualFree`): a process gets pages or addresses, or gives them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualMemory {
    /// First address.
    pub base: u64,
    /// Bytes. 0 of a release: the whole region that begins at `base`.
    pub length: u64,
    /// Process whose memory it is.
    pub process_id: u32,
    /// Bits of [`virtual_memory_flags`].
    pub flags: u32,
}

/// Bits of [`VirtualMemory::flags`].
pub mod virtual_memory_flags {
    /// Pages are committed.
    pub const COMMIT: u32 = 0x1000;
    /// Addresses are reserved.
    pub const RESERVE: u32 = 0x2000;
    /// Pages are given back; their addresses stay reserved.
    pub const DECOMMIT: u32 = 0x4000;
    /// Addresses are given back, with all of their pages.
    pub const RELEASE: u32 = 0x8000;
}

impl VirtualMemory {
    /// Opcode: memory is reserved or committed.
    pub const ALLOCATE: u8 = 98;
    /// Opcode: memory is given back.
    pub const FREE: u8 = 99;
}

impl<'a> Payload<'a> for VirtualMemory {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            base: reader.pointer("base address")?,
            length: reader.pointer("length")?,
            process_id: reader.u32("process id")?,
            flags: reader.u32("flags")?,
        })
    }
}

/// Memory 128 and 129: a region that a process has, at the rundown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualRegion {
    /// The region; its flags tell how it was allocated.
    pub memory: VirtualMemory,
    /// Bytes of it that are committed.
    pub committed: u64,
}

impl VirtualRegion {
    /// Opcode: at the start of the recording.
    pub const DC_START: u8 = 128;
    /// Opcode: at its end.
    pub const DC_END: u8 = 129;
}

impl<'a> Payload<'a> for VirtualRegion {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self { memory: VirtualMemory::read(reader, version)?, committed: reader.pointer("committed size")? })
    }
}

/// Memory 127 (`VirtualRotate`) and 134 (`MemReset`): what pages hold changes, and no page is allocated or given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualChange {
    /// First address.
    pub base: u64,
    /// Bytes.
    pub length: u64,
    /// Of 134: 0 the pages may be thrown away, 1 they are needed again, 2 they are needed and are gone.
    pub flags: u32,
}

impl VirtualChange {
    /// Opcode: pages change places with those of a driver.
    pub const ROTATE: u8 = 127;
    /// Opcode: the contents of pages are no longer needed, or needed again.
    pub const RESET: u8 = 134;
}

impl<'a> Payload<'a> for VirtualChange {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            base: reader.pointer("base address")?,
            length: reader.pointer("length")?,
            flags: reader.u32("flags")?,
        })
    }
}
