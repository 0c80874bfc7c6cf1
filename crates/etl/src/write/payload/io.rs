//! Disks, files and hard faults.

use super::Bytes;
use crate::write::Hook;

/// A disk request on its way to the driver, version 3.
#[derive(Clone, Copy, Debug)]
pub struct DiskInit {
    /// Address of the request packet.
    pub irp: u64,
    /// Thread that asked.
    pub tid: u32,
}

impl DiskInit {
    /// Read.
    pub const READ: Hook = Hook::new(1, 12, 3);
    /// Write.
    pub const WRITE: Hook = Hook::new(1, 13, 3);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.pointer(self.irp);
        out.u32(self.tid);
    }
}

/// A completed disk read or write, version 3.
#[derive(Clone, Copy, Debug)]
pub struct DiskTransfer {
    /// Disk number.
    pub disk: u32,
    /// Flags of the request packet; bits 17 to 19 are the priority.
    pub irp_flags: u32,
    /// Bytes.
    pub size: u32,
    /// Byte offset on the disk.
    pub offset: u64,
    /// File key; see [`FileName`].
    pub file_key: u64,
    /// Address of the request packet.
    pub irp: u64,
    /// Ticks from initiation to completion.
    pub response_ticks: u64,
    /// Thread that asked.
    pub tid: u32,
}

impl DiskTransfer {
    /// Read.
    pub const READ: Hook = Hook::new(1, 10, 3);
    /// Write.
    pub const WRITE: Hook = Hook::new(1, 11, 3);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u32(self.disk);
        out.u32(self.irp_flags);
        out.u32(self.size);
        out.u32(0);
        out.u64(self.offset);
        out.pointer(self.file_key);
        out.pointer(self.irp);
        out.u64(self.response_ticks);
        out.u32(self.tid);
    }
}

/// The path behind a file key.
#[derive(Clone, Copy, Debug)]
pub struct FileName<'a> {
    /// File key.
    pub key: u64,
    /// NT path.
    pub path: &'a str,
}

impl FileName<'_> {
    /// The key comes into use.
    pub const CREATE: Hook = Hook::new(4, 32, 2);
    /// The key goes out of use.
    pub const DELETE: Hook = Hook::new(4, 35, 2);
    /// In use at the end of the session.
    pub const RUNDOWN: Hook = Hook::new(4, 36, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.pointer(self.key);
        out.utf16(self.path);
    }
}

/// A read or write of a file, version 3.
#[derive(Clone, Copy, Debug)]
pub struct FileTransfer {
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Address of the request packet.
    pub irp: u64,
    /// Address of the file object.
    pub file_object: u64,
    /// File key; see [`FileName`].
    pub file_key: u64,
    /// Thread that asked.
    pub tid: u32,
    /// Bytes.
    pub size: u32,
    /// Flags of the request packet.
    pub irp_flags: u32,
}

impl FileTransfer {
    /// Read.
    pub const READ: Hook = Hook::new(4, 67, 3);
    /// Write.
    pub const WRITE: Hook = Hook::new(4, 68, 3);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u64(self.offset);
        out.pointer(self.irp);
        out.pointer(self.file_object);
        out.pointer(self.file_key);
        out.u32(self.tid);
        out.u32(self.size);
        out.u32(self.irp_flags);
        out.u32(0);
    }
}

/// A page read in from a file.
#[derive(Clone, Copy, Debug)]
pub struct HardFault {
    /// Time of the fault, raw ticks; the record's own time is its end.
    pub start: i64,
    /// Offset in the file.
    pub offset: u64,
    /// Faulting address.
    pub address: u64,
    /// File key.
    pub file_key: u64,
    /// Faulting thread.
    pub tid: u32,
    /// Bytes.
    pub size: u32,
}

impl HardFault {
    /// Hard fault.
    pub const HOOK: Hook = Hook::new(2, 32, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.i64(self.start);
        out.u64(self.offset);
        out.pointer(self.address);
        out.pointer(self.file_key);
        out.u32(self.tid);
        out.u32(self.size);
    }
}
