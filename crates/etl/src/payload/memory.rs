//! Class PageFault: pages that a thread touched and that were not in its memory.

use super::reader::Reader;
use super::{Payload, PayloadError};

/// PageFault 32 (HardFault): a page was read in from a file; the record's time is the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardFault {
    /// Time of the fault, in the session's clock.
    pub initial_time: u64,
    /// Offset in the file, bytes.
    pub read_offset: u64,
    /// The address that was not there.
    pub virtual_address: u64,
    /// Key of the file, as the file-name records have it.
    pub file_key: u64,
    /// The thread that ran into it.
    pub thread_id: u32,
    /// Bytes read.
    pub byte_count: u32,
}

impl HardFault {
    /// Opcode.
    pub const OPCODE: u8 = 32;
}

impl<'a> Payload<'a> for HardFault {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            initial_time: reader.u64("fault time")?,
            read_offset: reader.u64("file offset")?,
            virtual_address: reader.pointer("faulting address")?,
            file_key: reader.pointer("file key")?,
            thread_id: reader.u32("thread id")?,
            byte_count: reader.u32("byte count")?,
        })
    }
}

/// PageFault 10 to 15: a thread touched a page that was not mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFault {
    /// The address that was touched.
    pub virtual_address: u64,
    /// The instruction that touched it.
    pub program_counter: u64,
}

impl PageFault {
    /// Opcode: the page was in memory, on the list of modified or standby pages.
    pub const TRANSITION: u8 = 10;
    /// Opcode: the page is new and has zeros.
    pub const DEMAND_ZERO: u8 = 11;
    /// Opcode: the page was shared until this write.
    pub const COPY_ON_WRITE: u8 = 12;
    /// Opcode: a guard page.
    pub const GUARD_PAGE: u8 = 13;
    /// Opcode: the page is read from a file; [`HardFault`] tells of it, too.
    pub const HARD: u8 = 14;
    /// Opcode: the thread must not touch the address.
    pub const ACCESS_VIOLATION: u8 = 15;
    /// All of them.
    pub const OPCODES: std::ops::RangeInclusive<u8> = Self::TRANSITION..=Self::ACCESS_VIOLATION;
}

impl<'a> Payload<'a> for PageFault {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            virtual_address: reader.pointer("touched address")?,
            program_counter: reader.pointer("program counter")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_fault_has_two_addresses_of_both_sizes() {
        let bytes: Vec<u8> = (0..16).collect();
        let (wide, narrow) = (PageFault::parse(&bytes, 2, 8).unwrap(), PageFault::parse(&bytes, 2, 4).unwrap());
        assert_eq!(wide.virtual_address, 0x0706_0504_0302_0100);
        assert_eq!(wide.program_counter, 0x0F0E_0D0C_0B0A_0908);
        assert_eq!(narrow, PageFault { virtual_address: 0x0302_0100, program_counter: 0x0706_0504 });
        assert!((0..8).all(|end| PageFault::parse(&bytes[..end], 2, 4).is_err()));
    }
}
