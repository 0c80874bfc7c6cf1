//! Class ImageId: what the merge tool found in the image files themselves. Always with FULL headers.
//!
//! A record belongs to the image record with the same time, base and process that *follows* it; a [`FileVersion`] belongs to
//! every image whose [`ImageInfo`] has the same original name, time stamp and size.

use super::reader::Reader;
use super::text::{AnsiStr, WideStr};
use super::{Payload, PayloadError};
use crate::guid::Guid;

/// Any record of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageId<'a> {
    /// Opcode 0.
    Info(ImageInfo<'a>),
    /// Opcode 32.
    NoDebugInfo(NoDebugInfo),
    /// Opcode 34.
    DbgFile(DbgFile<'a>),
    /// Opcode 36: the PDB of native code.
    Pdb(PdbId<'a>),
    /// Opcode 37: the managed PDB of a precompiled image.
    ManagedPdb(PdbId<'a>),
    /// Opcode 38.
    PortablePdb(PortablePdb),
    /// Opcode 39.
    PortablePdbId(PortablePdbId),
    /// Opcode 40.
    Deterministic(Deterministic),
    /// Opcode 41.
    Failure(ImageFailure<'a>),
    /// Opcode 64.
    FileVersion(FileVersion<'a>),
}

impl<'a> ImageId<'a> {
    /// Opcode of [`ImageInfo`].
    pub const INFO: u8 = 0;
    /// Opcode of [`NoDebugInfo`].
    pub const NO_DEBUG_INFO: u8 = 32;
    /// Opcode of [`DbgFile`].
    pub const DBG_FILE: u8 = 34;
    /// Opcode of [`PdbId`] for native code.
    pub const PDB: u8 = 36;
    /// Opcode of [`PdbId`] for managed code.
    pub const MANAGED_PDB: u8 = 37;
    /// Opcode of [`PortablePdb`].
    pub const PORTABLE_PDB: u8 = 38;
    /// Opcode of [`PortablePdbId`].
    pub const PORTABLE_PDB_ID: u8 = 39;
    /// Opcode of [`Deterministic`].
    pub const DETERMINISTIC: u8 = 40;
    /// Opcode of [`ImageFailure`].
    pub const FAILURE: u8 = 41;
    /// Opcode of [`FileVersion`].
    pub const FILE_VERSION: u8 = 64;

    /// Decodes a record of the class by its opcode.
    ///
    /// # Errors
    /// As [`Payload::parse`]; and an opcode outside of those above.
    pub fn parse(payload: &'a [u8], opcode: u8, version: u8, pointer_size: u8) -> Result<Self, PayloadError> {
        let reader = &mut Reader::new(payload, pointer_size);
        Ok(match opcode {
            Self::INFO => Self::Info(reader.nested(version)?),
            Self::NO_DEBUG_INFO => Self::NoDebugInfo(reader.nested(version)?),
            Self::DBG_FILE => Self::DbgFile(reader.nested(version)?),
            Self::PDB => Self::Pdb(reader.nested(version)?),
            Self::MANAGED_PDB => Self::ManagedPdb(reader.nested(version)?),
            Self::PORTABLE_PDB => Self::PortablePdb(reader.nested(version)?),
            Self::PORTABLE_PDB_ID => Self::PortablePdbId(reader.nested(version)?),
            Self::DETERMINISTIC => Self::Deterministic(reader.nested(version)?),
            Self::FAILURE => Self::Failure(reader.nested(version)?),
            Self::FILE_VERSION => Self::FileVersion(reader.nested(version)?),
            _ => return Err(PayloadError::UnknownOpcode { what: "ImageId", opcode }),
        })
    }
}

/// ImageId 0: header fields of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageInfo<'a> {
    /// Address at which it is mapped.
    pub image_base: u64,
    /// Size of the mapping, bytes.
    pub image_size: u64,
    /// The process.
    pub process_id: u32,
    /// Time stamp of the PE header.
    pub time_date_stamp: u32,
    /// Original file name from the version resource; empty when there is none.
    pub original_file_name: WideStr<'a>,
}

impl<'a> Payload<'a> for ImageInfo<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            image_base: reader.pointer("image base")?,
            image_size: reader.pointer("image size")?,
            process_id: reader.u32("process id")?,
            time_date_stamp: reader.u32("image time stamp")?,
            original_file_name: reader.wide("original file name")?,
        })
    }
}

/// ImageId 32: the image names no debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoDebugInfo {
    /// Address at which it is mapped.
    pub image_base: u64,
    /// The process.
    pub process_id: u32,
}

impl<'a> Payload<'a> for NoDebugInfo {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { image_base: reader.pointer("image base")?, process_id: reader.u32("process id")? })
    }
}

/// ImageId 34: the debug information lies in a `.dbg` file, known by the image's own identity.
///
/// The names of the three numbers were read off real records, which are PE header fields in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DbgFile<'a> {
    /// Address at which it is mapped.
    pub image_base: u64,
    /// The process.
    pub process_id: u32,
    /// Checksum of the PE header.
    pub checksum: u32,
    /// Time stamp of the PE header.
    pub time_date_stamp: u32,
    /// Size of the image, bytes.
    pub image_size: u32,
    /// File name.
    pub file_name: WideStr<'a>,
}

impl<'a> Payload<'a> for DbgFile<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            image_base: reader.pointer("image base")?,
            process_id: reader.u32("process id")?,
            checksum: reader.u32("image checksum")?,
            time_date_stamp: reader.u32("image time stamp")?,
            image_size: reader.u32("image size")?,
            file_name: reader.wide("file name")?,
        })
    }
}

/// ImageId 36 and 37: identity of the PDB (CodeView RSDS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PdbId<'a> {
    /// Address at which the image is mapped.
    pub image_base: u64,
    /// The process.
    pub process_id: u32,
    /// GUID of the PDB.
    pub guid: Guid,
    /// Age of the PDB.
    pub age: u32,
    /// Path of the PDB on the machine that built it, or its name.
    pub pdb_file_name: AnsiStr<'a>,
}

impl<'a> Payload<'a> for PdbId<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            image_base: reader.pointer("image base")?,
            process_id: reader.u32("process id")?,
            guid: reader.guid("PDB GUID")?,
            age: reader.u32("PDB age")?,
            pdb_file_name: reader.ansi("PDB file name")?,
        })
    }
}

/// ImageId 38: the image has a portable PDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortablePdb {
    /// Address at which the image is mapped.
    pub image_base: u64,
    /// The process.
    pub process_id: u32,
    /// Time stamp of the debug directory entry.
    pub time_date_stamp: u32,
    /// Major version of the format.
    pub major: u16,
    /// Minor version of the format.
    pub minor: u16,
}

impl<'a> Payload<'a> for PortablePdb {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            image_base: reader.pointer("image base")?,
            process_id: reader.u32("process id")?,
            time_date_stamp: reader.u32("debug time stamp")?,
            major: reader.u16("major version")?,
            minor: reader.u16("minor version")?,
        })
    }
}

/// ImageId 39: identity of an embedded or portable PDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortablePdbId {
    /// Address at which the image is mapped.
    pub image_base: u64,
    /// The process.
    pub process_id: u32,
    /// Major version of the format.
    pub major: u16,
    /// Minor version of the format.
    pub minor: u16,
    /// GUID of the PDB.
    pub guid: Guid,
    /// Age of the PDB.
    pub age: u32,
}

impl<'a> Payload<'a> for PortablePdbId {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            image_base: reader.pointer("image base")?,
            process_id: reader.u32("process id")?,
            major: reader.u16("major version")?,
            minor: reader.u16("minor version")?,
            guid: reader.guid("PDB GUID")?,
            age: reader.u32("PDB age")?,
        })
    }
}

/// ImageId 40: the image comes from a deterministic build; its time stamp is a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deterministic {
    /// Address at which the image is mapped.
    pub image_base: u64,
    /// The process.
    pub process_id: u32,
}

impl<'a> Payload<'a> for Deterministic {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { image_base: reader.pointer("image base")?, process_id: reader.u32("process id")? })
    }
}

/// ImageId 41: why the merge tool could not read an image file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageFailure<'a> {
    /// Path and reason in words.
    pub text: WideStr<'a>,
}

impl<'a> Payload<'a> for ImageFailure<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { text: reader.wide("failure text")? })
    }
}

/// ImageId 64: the version resource of an image file. Written once per image file; it has no base and no process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileVersion<'a> {
    /// Size of the image, bytes.
    pub image_size: u32,
    /// Time stamp of the PE header.
    pub time_date_stamp: u32,
    /// Original file name.
    pub original_file_name: WideStr<'a>,
    /// File description.
    pub file_description: WideStr<'a>,
    /// File version, free text.
    pub file_version: WideStr<'a>,
    /// File version, four numbers.
    pub binary_file_version: WideStr<'a>,
    /// Language of the version resource.
    pub version_language: WideStr<'a>,
    /// Product name.
    pub product_name: WideStr<'a>,
    /// Company name.
    pub company_name: WideStr<'a>,
    /// Product version.
    pub product_version: WideStr<'a>,
    /// Identity of the file for compatibility databases.
    pub file_id: WideStr<'a>,
    /// Identity of the program for compatibility databases.
    pub program_id: WideStr<'a>,
}

impl<'a> Payload<'a> for FileVersion<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            image_size: reader.u32("image size")?,
            time_date_stamp: reader.u32("image time stamp")?,
            original_file_name: reader.wide("original file name")?,
            file_description: reader.wide("file description")?,
            file_version: reader.wide("file version")?,
            binary_file_version: reader.wide("binary file version")?,
            version_language: reader.wide("version language")?,
            product_name: reader.wide("product name")?,
            company_name: reader.wide("company name")?,
            product_version: reader.wide("product version")?,
            file_id: reader.wide("file id")?,
            program_id: reader.wide("program id")?,
        })
    }
}
