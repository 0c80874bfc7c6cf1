//! An ELF file of either word size and byte order: headers, notes, and the contents of sections
//! (System V ABI, chapters 4 and 5).

use std::fmt::Debug;
use std::io::{self, Read, Seek, SeekFrom};

use object::elf;
use object::pod::{self, Pod};
use object::read::elf::{FileHeader, ProgramHeader as _, SectionHeader as _};
use object::{Endian as _, Endianness};

use super::compressed;
use crate::{BuildId, Error};

/// Bytes of notes in one place; a build id has a few dozen.
const MAX_NOTES: u64 = 64 << 10;
/// Bytes of a build id: digests have 16 or 20, what a user gives the linker may be longer.
const MAX_BUILD_ID: usize = 64;

/// A part of the file that is mapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) address: u64,
    pub(super) offset: u64,
    /// Bytes in the file, and in memory.
    pub(super) file_size: u64,
    pub(super) size: u64,
    pub(super) align: u64,
    pub(super) executable: bool,
    pub(super) writable: bool,
}

/// A section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    name: u32,
    pub(super) kind: elf::SectionType,
    pub(super) flags: u64,
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) link: u32,
}

impl Section {
    pub(super) fn is_code(&self) -> bool {
        let code = elf::SHF_ALLOC.0 | elf::SHF_EXECINSTR.0;
        self.flags & code == code
    }
}

/// The headers of a file, and the file.
#[derive(Debug)]
pub(super) struct ElfFile<F> {
    source: F,
    length: u64,
    pub(super) endian: Endianness,
    /// Whether it has 64-bit words.
    pub(super) wide: bool,
    pub(super) machine: elf::Machine,
    /// A program or a shared library; addresses in other files mean nothing before they are linked.
    pub(super) is_linked: bool,
    pub(super) segments: Vec<Segment>,
    pub(super) sections: Vec<Section>,
    names: Vec<u8>,
    notes: Vec<Notes>,
}

impl<F: Read + Seek + Debug> ElfFile<F> {
    /// Reads the headers.
    pub(super) fn open(mut source: F) -> Result<Self, Error> {
        const NOT_ELF: Error = Error::OtherFormat("an ELF file");
        let length = source.seek(SeekFrom::End(0))?;
        let mut ident = [0; 6];
        source.seek(SeekFrom::Start(0))?;
        match source.read_exact(&mut ident) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(NOT_ELF),
            read => read?,
        }
        let [magic @ .., class, order] = ident;
        let endian = match elf::DataEncoding(order) {
            elf::ELFDATA2LSB => Endianness::Little,
            elf::ELFDATA2MSB => Endianness::Big,
            _ => return Err(NOT_ELF),
        };
        let wide = elf::FileClass(class) == elf::ELFCLASS64;
        if magic != elf::ELFMAG || !(wide || elf::FileClass(class) == elf::ELFCLASS32) {
            return Err(NOT_ELF);
        }
        let mut file = Self {
            source,
            length,
            endian,
            wide,
            machine: elf::EM_NONE,
            is_linked: false,
            segments: Vec::new(),
            sections: Vec::new(),
            names: Vec::new(),
            notes: Vec::new(),
        };
        if wide {
            file.read_headers::<elf::FileHeader64<Endianness>>()?;
        } else {
            file.read_headers::<elf::FileHeader32<Endianness>>()?;
        }
        Ok(file)
    }

    fn read_headers<H: FileHeader<Endian = Endianness>>(&mut self) -> Result<(), Error> {
        let endian = self.endian;
        let header: H = *self.records::<H>(0, 1)?.first().ok_or(Error::OtherFormat("an ELF file"))?;
        self.machine = header.e_machine(endian);
        self.is_linked = matches!(header.e_type(endian), elf::ET_EXEC | elf::ET_DYN);
        let sections_at: u64 = header.e_shoff(endian).into();
        // What does not fit into the header stands in the first section.
        let first = match sections_at {
            0 => None,
            at => self.records::<H::SectionHeader>(at, 1)?.first().copied(),
        };
        let count = match (header.e_shnum(endian), &first) {
            (0, Some(first)) => first.sh_size(endian).into(),
            (count, _) => count.into(),
        };
        let names = match (header.e_shstrndx(endian), &first) {
            (elf::SHN_XINDEX, Some(first)) => first.sh_link(endian),
            (index, _) => index.0.into(),
        };
        let segments = match (header.e_phnum(endian), &first) {
            (u16::MAX, Some(first)) => first.sh_info(endian).into(),
            (count, _) => count.into(),
        };
        for header in self.records::<H::ProgramHeader>(header.e_phoff(endian).into(), segments)? {
            let flags = header.p_flags(endian).0;
            let (offset, file_size) = (header.p_offset(endian).into(), header.p_filesz(endian).into());
            let align = header.p_align(endian).into();
            match header.p_type(endian) {
                elf::PT_LOAD => self.segments.push(Segment {
                    address: header.p_vaddr(endian).into(),
                    offset,
                    file_size,
                    size: header.p_memsz(endian).into(),
                    align,
                    executable: flags & elf::PF_X.0 != 0,
                    writable: flags & elf::PF_W.0 != 0,
                }),
                elf::PT_NOTE => self.notes.push(Notes { offset, size: file_size, align }),
                _ => {}
            }
        }
        let count = if first.is_some() { count } else { 0 };
        let sections = self.records::<H::SectionHeader>(sections_at, count)?;
        let mut notes = Vec::new();
        for header in &sections {
            let section = Section {
                name: header.sh_name(endian),
                kind: header.sh_type(endian),
                flags: header.sh_flags(endian).0,
                address: header.sh_addr(endian).into(),
                offset: header.sh_offset(endian).into(),
                size: header.sh_size(endian).into(),
                link: header.sh_link(endian),
            };
            if section.kind == elf::SHT_NOTE {
                let align = header.sh_addralign(endian).into();
                notes.push(Notes { offset: section.offset, size: section.size, align });
            }
            self.sections.push(section);
        }
        // Files with debug information only have the segments of the file that they were split from, where the notes no longer lie.
        self.notes.splice(..0, notes);
        if let Some(names) = self.section_at(names) {
            self.names = self.bytes(names.offset, names.size)?;
        }
        Ok(())
    }

    /// The bytes from `offset` on, all of them.
    fn bytes(&mut self, offset: u64, size: u64) -> Result<Vec<u8>, Error> {
        let inside = offset.checked_add(size).is_some_and(|end| end <= self.length);
        let Some(size) = usize::try_from(size).ok().filter(|_| inside) else {
            return Err(Error::Malformed(format!("{size} bytes at {offset:#x} lie outside of the file")));
        };
        let mut bytes = vec![0; size];
        self.source.seek(SeekFrom::Start(offset))?;
        self.source.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn records<T: Pod>(&mut self, offset: u64, count: u64) -> Result<Vec<T>, Error> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let size = count.checked_mul(size_of::<T>() as u64);
        let bytes = self.bytes(offset, size.ok_or_else(|| Error::Malformed(format!("{count} headers")))?)?;
        Ok(records(&bytes).to_vec())
    }

    /// The section of a number.
    pub(super) fn section_at(&self, index: u32) -> Option<Section> {
        self.sections.get(usize::try_from(index).ok()?).copied()
    }

    /// The first section of a name that has contents in this file.
    pub(super) fn section(&self, name: &str) -> Option<Section> {
        let is = |section: &&Section| {
            let rest = usize::try_from(section.name).ok().and_then(|start| self.names.get(start..));
            let rest = rest.and_then(|rest| rest.strip_prefix(name.as_bytes()));
            rest.is_some_and(|rest| rest.first() == Some(&0)) && section.kind != elf::SHT_NOBITS
        };
        self.sections.iter().find(is).copied()
    }

    /// What stands in a section, as it stands in the file.
    pub(super) fn raw(&mut self, section: &Section) -> Result<Contents, Error> {
        if section.kind == elf::SHT_NOBITS {
            return Ok(Contents { bytes: Vec::new(), packed: false, old: false, wide: self.wide, endian: self.endian });
        }
        let bytes = self.bytes(section.offset, section.size)?;
        let packed = section.flags & elf::SHF_COMPRESSED.0 != 0;
        Ok(Contents { bytes, packed, old: false, wide: self.wide, endian: self.endian })
    }

    /// What stands in a section.
    pub(super) fn contents(&mut self, section: &Section) -> Result<Vec<u8>, Error> {
        self.raw(section)?.unpacked()
    }

    /// The contents of the section of debug information that is called `.debug_…`, or was before such sections had a mark when compressed.
    pub(super) fn debug_section(&mut self, name: &str) -> Result<Option<Contents>, Error> {
        if let Some(section) = self.section(name) {
            return self.raw(&section).map(Some);
        }
        let Some(section) = name.strip_prefix(".").and_then(|name| self.section(&format!(".z{name}"))) else {
            return Ok(None);
        };
        self.raw(&section).map(|contents| Some(Contents { old: true, ..contents }))
    }

    /// What tells the file from all others; `None` if it was linked without.
    pub(super) fn build_id(&mut self) -> Result<Option<BuildId>, Error> {
        for notes in self.notes.clone() {
            let size = notes.size.min(MAX_NOTES).min(self.length.saturating_sub(notes.offset));
            let bytes = self.bytes(notes.offset, size)?;
            if let Some(id) = build_id(&bytes, self.endian, if notes.align == 8 { 8 } else { 4 }) {
                return Ok(Some(BuildId(id.to_vec())));
            }
        }
        Ok(None)
    }
}

/// Where notes lie.
#[derive(Clone, Copy, Debug)]
struct Notes {
    offset: u64,
    size: u64,
    align: u64,
}

/// The bytes of a section, perhaps compressed.
#[derive(Debug)]
pub(super) struct Contents {
    bytes: Vec<u8>,
    packed: bool,
    /// Compressed in the way that came before the mark.
    old: bool,
    wide: bool,
    endian: Endianness,
}

impl Contents {
    pub(super) fn unpacked(self) -> Result<Vec<u8>, Error> {
        match self {
            Self { packed: true, .. } => compressed::section(&self.bytes, self.wide, self.endian),
            Self { old: true, .. } => compressed::old_section(&self.bytes),
            Self { bytes, .. } => Ok(bytes),
        }
    }
}

/// The records in a table; what is left over behind the last is no record.
pub(super) fn records<T: Pod>(bytes: &[u8]) -> &[T] {
    let count = bytes.len() / size_of::<T>().max(1);
    pod::slice_from_bytes(bytes, count).map_or(&[], |(records, _)| records)
}

/// The build id among notes.
pub(super) fn build_id(mut notes: &[u8], endian: Endianness, align: usize) -> Option<&[u8]> {
    const NAME: &[u8] = b"GNU\0";
    loop {
        let (header, rest) = notes.split_first_chunk::<12>()?;
        let number = |at: usize| header[at..].first_chunk().map(|bytes| endian.read_u32(*bytes));
        let (name, size, kind) = (number(0)?, number(4)?, number(8)?);
        let start = usize::try_from(name).ok()?.checked_next_multiple_of(align.min(4))?;
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        // Both lengths are rounded up as if counted from the note's begin.
        let next = end.checked_add(12)?.checked_next_multiple_of(align)?.checked_sub(12)?;
        if elf::NoteType(kind) == elf::NT_GNU_BUILD_ID && rest.starts_with(NAME) && name == 4 {
            return rest.get(start..end).filter(|id| !id.is_empty() && id.len() <= MAX_BUILD_ID);
        }
        notes = rest.get(next..)?;
    }
}
