//! Images in memory, and their identities as the merge tool injects them.
//!
//! The injected records of an image carry the time stamp, base and process of its image record and stand before it, in
//! the order file version, info, managed RSDS, RSDS.

use super::Bytes;
use crate::guid::Guid;
use crate::write::Hook;

/// Class of the injected identities; they have FULL headers.
pub const IMAGE_ID_CLASS: Guid = Guid::from_u128(0xb3e6_75d7_2554_4f18_830b_2762_7325_60de);

/// An image mapped into a process, version 3.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// Base address.
    pub base: u64,
    /// Bytes in memory.
    pub size: u64,
    /// Process; 0 for kernel modules.
    pub pid: u32,
    /// Checksum of the PE header.
    pub checksum: u32,
    /// Time stamp of the PE header.
    pub time_date_stamp: u32,
    /// NT path.
    pub path: &'a str,
}

impl Image<'_> {
    /// Loaded; the kernel logs it in the process group.
    pub const LOAD: Hook = Hook::new(3, 10, 3);
    /// Unloaded.
    pub const UNLOAD: Hook = Hook::new(20, 2, 3);
    /// Loaded when the session started.
    pub const DC_START: Hook = Hook::new(20, 3, 3);
    /// Loaded when the session ended.
    pub const DC_END: Hook = Hook::new(20, 4, 3);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.pointer(self.base);
        out.pointer(self.size);
        out.u32(self.pid);
        out.u32(self.checksum);
        out.u32(self.time_date_stamp);
        out.u32(0); // signature level and type
        out.pointer(self.base); // default base
        out.zeros(16);
        out.utf16(self.path);
    }
}

/// Size and time stamp of an image: opcode 0, version 2.
#[derive(Clone, Copy, Debug)]
pub struct ImageInfo<'a> {
    /// Base address.
    pub base: u64,
    /// Bytes in memory.
    pub size: u64,
    /// Process.
    pub pid: u32,
    /// Time stamp of the PE header.
    pub time_date_stamp: u32,
    /// File name from the version resource.
    pub original_file_name: &'a str,
}

impl ImageInfo<'_> {
    /// Opcode and version of the FULL header.
    pub const KIND: (u8, u16) = (0, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.pointer(self.base);
        out.pointer(self.size);
        out.u32(self.pid);
        out.u32(self.time_date_stamp);
        out.utf16(self.original_file_name);
    }
}

/// Identity of the PDB of an image: opcode 36, version 2.
#[derive(Clone, Copy, Debug)]
pub struct Rsds<'a> {
    /// Base address.
    pub base: u64,
    /// Process.
    pub pid: u32,
    /// Signature.
    pub guid: Guid,
    /// Age.
    pub age: u32,
    /// Name of the PDB.
    pub pdb_name: &'a str,
}

impl Rsds<'_> {
    /// Opcode and version of the FULL header.
    pub const KIND: (u8, u16) = (36, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.pointer(self.base);
        out.u32(self.pid);
        out.guid(self.guid);
        out.u32(self.age);
        out.text(self.pdb_name);
    }
}

/// Identity of the managed PDB of a precompiled image: opcode 37, otherwise as [`Rsds`].
#[derive(Clone, Copy, Debug)]
pub struct ManagedRsds<'a>(pub Rsds<'a>);

impl ManagedRsds<'_> {
    /// Opcode and version of the FULL header.
    pub const KIND: (u8, u16) = (37, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        self.0.encode(out);
    }
}

/// Version resource of an image: opcode 64; once per distinct file name, time stamp and size.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileVersion<'a> {
    /// Bytes in memory.
    pub size: u32,
    /// Time stamp of the PE header.
    pub time_date_stamp: u32,
    /// File name from the version resource.
    pub original_file_name: &'a str,
    /// Description.
    pub description: &'a str,
    /// File version as text.
    pub file_version: &'a str,
    /// File version as four numbers.
    pub binary_file_version: &'a str,
    /// Product.
    pub product_name: &'a str,
    /// Company.
    pub company: &'a str,
    /// Product version as text.
    pub product_version: &'a str,
}

impl FileVersion<'_> {
    /// Opcode and version of the FULL header.
    pub const KIND: (u8, u16) = (64, 0);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u32(self.size);
        out.u32(self.time_date_stamp);
        for text in [
            self.original_file_name,
            self.description,
            self.file_version,
            self.binary_file_version,
            "English (United States)",
            self.product_name,
            self.company,
            self.product_version,
            "", // file id
            "", // program id
        ] {
            out.utf16(text);
        }
    }
}
