//! Windows images: what they are known by, which PDB belongs to them, what they export.
//!
//! From Microsoft's "PE Format". Only the headers and the directories in question are read, each at its place in the file.

mod debug;
mod exports;
mod file;

use std::io::{Read, Seek};

use crate::fields::Fields;
use crate::identity::{ImageId, PdbId};
use crate::{Error, Table};
use file::{File, Section};

/// `IMAGE_FILE_MACHINE_AMD64`.
pub const MACHINE_AMD64: u16 = 0x8664;
/// `IMAGE_FILE_MACHINE_ARM64`.
pub const MACHINE_ARM64: u16 = 0xaa64;
/// `IMAGE_FILE_MACHINE_I386`.
pub const MACHINE_I386: u16 = 0x14c;

const OTHER_FORMAT: Error = Error::OtherFormat("a Windows image");

/// A place of the image's memory: one of its data directories.
#[derive(Clone, Copy, Debug, Default)]
struct Directory {
    rva: u32,
    size: u32,
}

/// A PDB that an image names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePdb {
    /// What it is known by.
    pub id: PdbId,
    /// Whether it is a portable PDB: of managed code, by its own format.
    pub portable: bool,
}

/// An opened Windows image.
#[derive(Debug)]
pub struct Image<R> {
    file: File<R>,
    machine: u16,
    time_date_stamp: u32,
    base: u64,
    size: u32,
    directories: [Directory; 16],
    debug: debug::Debug,
}

/// Places of directories in the optional header.
const EXPORT: usize = 0;
const EXCEPTION: usize = 3;
const DEBUG: usize = 6;
const COM_DESCRIPTOR: usize = 14;

impl<R: Read + Seek> Image<R> {
    /// Reads the headers and the debug directory.
    ///
    /// # Errors
    /// [`Error::OtherFormat`] when it is no Windows image, [`Error::OtherBinary`] when its time stamp or size is not what is wanted (the
    /// name is not compared), [`Error::Malformed`] when its headers do not fit the file.
    pub fn read(file: R, wanted: Option<&ImageId>) -> Result<Self, Error> {
        let mut file = File::new(file)?;
        let head = file.head(0, 0x40)?;
        let mut fields = Fields::new(&head);
        if fields.array() != Some(*b"MZ") {
            return Err(OTHER_FORMAT);
        }
        fields.skip(0x3a).ok_or(OTHER_FORMAT)?;
        let start = u64::from(fields.u32().ok_or(OTHER_FORMAT)?);
        // Signature, file header, optional header with all directories; then the sections.
        let head = file.head(start, 24 + 240)?;
        let headers = Headers::read(&head)?;
        if let Some(wanted) = wanted
            && (wanted.time_date_stamp, wanted.size) != (headers.time_date_stamp, headers.size)
        {
            return Err(Error::OtherBinary { wanted: wanted.digits(), found: headers.id().digits() });
        }
        let sections = file.bytes(start + 24 + u64::from(headers.optional_size), usize::from(headers.sections) * 40)?;
        file.sections = sections.chunks_exact(40).filter_map(Section::read).collect();
        let debug = debug::read(&mut file, headers.directories[DEBUG])?;
        let Headers { machine, time_date_stamp, base, size, directories, .. } = headers;
        Ok(Self { file, machine, time_date_stamp, base, size, directories, debug })
    }

    /// The processor's number, as [`MACHINE_AMD64`].
    #[must_use]
    pub fn machine(&self) -> u16 {
        self.machine
    }

    /// The address that the image would like to lie at in memory: tools that disassemble it count from there.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Bytes that it takes in memory.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Time stamp and size under a name, which the image does not know.
    #[must_use]
    pub fn id(&self, name: &str) -> ImageId {
        ImageId { name: name.to_owned(), time_date_stamp: self.time_date_stamp, size: self.size }
    }

    /// The PDBs that it names, the usual one first. Code of .NET that was compiled ahead may have two: a portable one of the source, and one
    /// of the machine code.
    #[must_use]
    pub fn pdbs(&self) -> &[ImagePdb] {
        &self.debug.pdbs
    }

    /// Whether it holds managed code.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        self.directories[COM_DESCRIPTOR].rva != 0
    }

    /// The portable PDB inside the image, if there is one, unpacked.
    ///
    /// # Errors
    /// [`Error::OtherFormat`] or [`Error::Malformed`] when what should be one cannot be unpacked.
    pub fn embedded_portable_pdb(&mut self) -> Result<Option<Vec<u8>>, Error> {
        self.debug.embedded.map(|place| debug::unpack(&mut self.file, place)).transpose()
    }

    /// The exported functions, under the source `export`: for images whose PDB is not at hand. A function reaches to the next one that is
    /// exported, or that the image's unwind information knows: what is not exported gets no name, instead of its neighbour's.
    ///
    /// # Errors
    /// [`Error::Empty`] when it exports no code, [`Error::Malformed`] when the export table contradicts itself.
    pub fn exports(&mut self, identity: &str) -> Result<Table, Error> {
        exports::table(self, identity)
    }
}

/// What stands in the file header and the optional header.
struct Headers {
    machine: u16,
    sections: u16,
    time_date_stamp: u32,
    optional_size: u16,
    base: u64,
    size: u32,
    directories: [Directory; 16],
}

impl Headers {
    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let mut fields = Fields::new(bytes);
        if fields.array() != Some(*b"PE\0\0") {
            return Err(OTHER_FORMAT);
        }
        Self::fields(&mut fields).ok_or_else(|| Error::Malformed("its headers are cut short".to_owned()))
    }

    fn fields(fields: &mut Fields<'_>) -> Option<Self> {
        let machine = fields.u16()?;
        let sections = fields.u16()?;
        let time_date_stamp = fields.u32()?;
        fields.skip(8)?;
        let optional_size = fields.u16()?;
        fields.skip(2)?;
        let mut optional = Fields::new(&fields.rest()[..fields.rest().len().min(optional_size.into())]);
        let wide = optional.u16()? == 0x20b;
        let base = if wide {
            optional.skip(22)?;
            optional.u64()?
        } else {
            optional.skip(26)?;
            optional.u32()?.into()
        };
        optional.skip(24)?;
        let size = optional.u32()?;
        // From here on four fields are of the size of a pointer.
        optional.skip(if wide { 44 } else { 28 } + 4)?;
        let mut directories = [Directory::default(); 16];
        let count = optional.u32()?;
        for directory in directories.iter_mut().take(count.try_into().unwrap_or(usize::MAX)) {
            let (Some(rva), Some(size)) = (optional.u32(), optional.u32()) else { break };
            *directory = Directory { rva, size };
        }
        Some(Self { machine, sections, time_date_stamp, optional_size, base, size, directories })
    }

    fn id(&self) -> ImageId {
        ImageId { name: String::new(), time_date_stamp: self.time_date_stamp, size: self.size }
    }
}
