//! Class DiskIo: operations of physical disks. Times are in the session's clock.

use super::reader::Reader;
use super::{Payload, PayloadError};

/// Bits of the IRP flags of a disk operation.
pub mod irp_flags {
    /// Past the file cache.
    pub const NO_CACHE: u32 = 0x1;
    /// For the memory manager.
    pub const PAGING_IO: u32 = 0x2;
    /// The caller waits inside the call.
    pub const SYNCHRONOUS_API: u32 = 0x4;
    /// Part of a larger request.
    pub const ASSOCIATED: u32 = 0x8;
    /// Through a system buffer.
    pub const BUFFERED_IO: u32 = 0x10;
    /// The system buffer is freed at the end.
    pub const DEALLOCATE_BUFFER: u32 = 0x20;
    /// Synchronous paging, or an input operation.
    pub const SYNCHRONOUS_PAGING_IO: u32 = 0x40;
    /// A create.
    pub const CREATE: u32 = 0x80;
    /// A read.
    pub const READ: u32 = 0x100;
    /// A write.
    pub const WRITE: u32 = 0x200;
    /// A close.
    pub const CLOSE: u32 = 0x400;
    /// Completion is deferred.
    pub const DEFER_COMPLETION: u32 = 0x800;
    /// A query for a name.
    pub const OBJECT_QUERY_NAME: u32 = 0x1000;
    /// The device queue is held.
    pub const HOLD_DEVICE_QUEUE: u32 = 0x2000;
}

/// Priority of an operation from its IRP flags: 0 not set, 1 very low, 2 low, 3 normal, 4 high, 5 critical.
pub fn io_priority(irp_flags: u32) -> u8 {
    // Three bits; 6 and 7 are not in use.
    ((irp_flags >> 17) & 7) as u8
}

/// DiskIo 10 (read) and 11 (write): the operation completed; versions 0 to 3.
///
/// The header's thread is whichever ran the completion. Who asked is `issuing_thread_id`, before version 3 the thread of
/// the [`DiskInit`] with the same IRP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskTransfer {
    /// Disk number.
    pub disk: u32,
    /// See [`irp_flags`] and [`io_priority`].
    pub irp_flags: u32,
    /// Bytes.
    pub size: u32,
    /// Byte offset on the disk.
    pub byte_offset: u64,
    /// Key of the file, as the file-name records have it.
    pub file_key: u64,
    /// Address of the request, which pairs with the [`DiskInit`]. From version 2 on.
    pub irp: Option<u64>,
    /// How long it took. From version 1 on.
    pub response_time: Option<u64>,
    /// The thread that asked for it. From version 3 on.
    pub issuing_thread_id: Option<u32>,
}

impl DiskTransfer {
    /// Opcode: a read.
    pub const READ: u8 = 10;
    /// Opcode: a write.
    pub const WRITE: u8 = 11;
}

impl<'a> Payload<'a> for DiskTransfer {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let disk = reader.u32("disk number")?;
        let irp_flags = reader.u32("IRP flags")?;
        let size = reader.u32("transfer size")?;
        reader.skip(4, "reserved field")?;
        Ok(Self {
            disk,
            irp_flags,
            size,
            byte_offset: reader.u64("byte offset")?,
            file_key: reader.pointer("file key")?,
            irp: if version >= 2 { Some(reader.pointer("IRP")?) } else { None },
            response_time: if version >= 1 { Some(reader.u64("response time")?) } else { None },
            issuing_thread_id: issuing_thread(reader, version),
        })
    }
}

/// DiskIo 12 (read), 13 (write), 15 (flush): the operation is handed to the disk's driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskInit {
    /// Address of the request, which pairs with the completion.
    pub irp: u64,
    /// The thread that asked for it. From version 3 on; before, it is that of the header.
    pub issuing_thread_id: Option<u32>,
}

impl DiskInit {
    /// Opcode: a read.
    pub const READ: u8 = 12;
    /// Opcode: a write.
    pub const WRITE: u8 = 13;
    /// Opcode: a flush.
    pub const FLUSH: u8 = 15;
}

impl<'a> Payload<'a> for DiskInit {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self { irp: reader.pointer("IRP")?, issuing_thread_id: issuing_thread(reader, version) })
    }
}

/// DiskIo 14: a flush of the disk's cache completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskFlush {
    /// Disk number.
    pub disk: u32,
    /// See [`irp_flags`] and [`io_priority`].
    pub irp_flags: u32,
    /// How long it took.
    pub response_time: u64,
    /// Address of the request, which pairs with the [`DiskInit`].
    pub irp: u64,
    /// The thread that asked for it. From version 3 on.
    pub issuing_thread_id: Option<u32>,
}

impl DiskFlush {
    /// Opcode.
    pub const OPCODE: u8 = 14;
}

impl<'a> Payload<'a> for DiskFlush {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            disk: reader.u32("disk number")?,
            irp_flags: reader.u32("IRP flags")?,
            response_time: reader.u64("response time")?,
            irp: reader.pointer("IRP")?,
            issuing_thread_id: issuing_thread(reader, version),
        })
    }
}

/// SplitIo 32: a volume of several disks sends a part of a request to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitIo {
    /// Address of the request for the whole.
    pub parent: u64,
    /// Address of the request for the part, which pairs with [`DiskInit`] and completion.
    pub child: u64,
}

impl SplitIo {
    /// Opcode.
    pub const OPCODE: u8 = 32;
}

impl<'a> Payload<'a> for SplitIo {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { parent: reader.pointer("parent IRP")?, child: reader.pointer("child IRP")? })
    }
}

fn issuing_thread(reader: &mut Reader<'_>, version: u8) -> Option<u32> {
    if version >= 3 { reader.optional(|r| r.u32("issuing thread")) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_appends_or_inserts() {
        let bytes: Vec<u8> = (0..52).collect();
        let lengths = [(0, 32), (1, 40), (2, 48), (3, 52)];
        for (version, length) in lengths {
            let (transfer, rest) = DiskTransfer::parse_with_rest(&bytes, version, 8).unwrap();
            assert_eq!(rest.len(), 52 - length);
            assert_eq!(transfer.file_key, 0x1F1E_1D1C_1B1A_1918);
            assert_eq!(transfer.irp.is_some(), version >= 2);
        }
        let second = DiskTransfer::parse(&bytes, 1, 8).unwrap();
        assert_eq!(second.response_time, Some(0x2726_2524_2322_2120));
        let fourth = DiskTransfer::parse(&bytes, 3, 8).unwrap();
        assert_eq!(fourth.response_time, Some(0x2F2E_2D2C_2B2A_2928));
        assert_eq!(fourth.issuing_thread_id, Some(0x3332_3130));
    }

    #[test]
    fn a_part_names_the_whole_in_both_pointer_sizes() {
        let bytes: Vec<u8> = (0..16).collect();
        let (wide, narrow) = (SplitIo::parse(&bytes, 2, 8).unwrap(), SplitIo::parse(&bytes, 2, 4).unwrap());
        assert_eq!(wide, SplitIo { parent: 0x0706_0504_0302_0100, child: 0x0F0E_0D0C_0B0A_0908 });
        assert_eq!(narrow, SplitIo { parent: 0x0302_0100, child: 0x0706_0504 });
        assert!((0..16).all(|end| SplitIo::parse(&bytes[..end], 2, 8).is_err()));
    }

    #[test]
    fn priority_is_in_the_irp_flags() {
        assert_eq!(io_priority(0x0006_0043), 3);
        assert_eq!(io_priority(irp_flags::READ | irp_flags::NO_CACHE), 0);
        assert_eq!(io_priority(0x000A_0000), 5);
    }
}
