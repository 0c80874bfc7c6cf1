//! Class PageFault: pages that had to be read.

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
