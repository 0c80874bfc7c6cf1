//! The parts of an ELF file that unwinding needs: its identity, its segments, and its sections by name
//! (System V ABI, chapters 4 and 5).

use std::io;

use object::LittleEndian;
use object::elf;
use object::pod::{self, Pod};
use thiserror::Error;

use crate::architecture::Architecture;
use crate::source::Source;

/// Sections and segments that are looked at.
const MAX_HEADERS: usize = 1 << 16;
/// Bytes of section names; the longest are in files with a section per function.
const MAX_NAMES: usize = 16 << 20;
/// Bytes of one segment of notes.
const MAX_NOTES: usize = 64 << 10;

/// Why a file is not usable.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ElfError {
    /// It cannot be read, or ends before what it speaks of.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// No ELF file.
    #[error("it is no ELF file")]
    NotElf,
    /// An ELF file of another processor or word size.
    #[error("it is for another kind of processor")]
    OtherArchitecture,
    /// What it says of itself cannot be.
    #[error("its {0} are damaged")]
    Damaged(&'static str),
}

/// A mapped part of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) executable: bool,
}

/// A section with content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) address: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) compressed: bool,
}

/// The head of an ELF file, which is all that is read until its identity was found right.
#[derive(Debug)]
pub struct Elf {
    header: elf::FileHeader64<LittleEndian>,
    architecture: Architecture,
    pub(crate) segments: Vec<Segment>,
    build_id: Option<Vec<u8>>,
}

impl Elf {
    /// Reads headers and notes.
    ///
    /// # Errors
    ///
    /// It is no little-endian 64-bit ELF file of a known [`Architecture`], or damaged.
    pub fn read(source: &mut impl Source) -> Result<Self, ElfError> {
        let bytes = source.read(0, size_of::<elf::FileHeader64<LittleEndian>>()).map_err(|_| ElfError::NotElf)?;
        let header = *one::<elf::FileHeader64<LittleEndian>>(&bytes).ok_or(ElfError::NotElf)?;
        if header.e_ident.magic != elf::ELFMAG {
            return Err(ElfError::NotElf);
        }
        if header.e_ident.class != elf::ELFCLASS64 || header.e_ident.data != elf::ELFDATA2LSB {
            return Err(ElfError::OtherArchitecture);
        }
        let architecture = match header.e_machine.get(LittleEndian) {
            elf::EM_X86_64 => Architecture::X86_64,
            elf::EM_AARCH64 => Architecture::Aarch64,
            _ => return Err(ElfError::OtherArchitecture),
        };
        let count = usize::from(header.e_phnum.get(LittleEndian));
        let headers: Vec<elf::ProgramHeader64<LittleEndian>> =
            table(source, header.e_phoff.get(LittleEndian), count, "segments")?;
        let mut found = Self { header, architecture, segments: Vec::new(), build_id: None };
        for header in &headers {
            let (offset, size) = (header.p_offset.get(LittleEndian), header.p_filesz.get(LittleEndian));
            match header.p_type.get(LittleEndian) {
                elf::PT_LOAD => found.segments.push(Segment {
                    offset,
                    size,
                    address: header.p_vaddr.get(LittleEndian),
                    executable: header.p_flags.get(LittleEndian).0 & elf::PF_X.0 != 0,
                }),
                elf::PT_NOTE if found.build_id.is_none() => {
                    let length = usize::try_from(size).unwrap_or(usize::MAX).min(MAX_NOTES);
                    let align = header.p_align.get(LittleEndian);
                    found.build_id = build_id(&source.read(offset, length)?, if align == 8 { 8 } else { 4 });
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// What tells the file from all others; `None` if it was linked without.
    #[must_use]
    pub fn build_id(&self) -> Option<&[u8]> {
        self.build_id.as_deref()
    }

    /// Whose code it is.
    #[must_use]
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The sections of these names, each where there is one with content.
    pub(crate) fn sections<const N: usize>(
        &self,
        source: &mut impl Source,
        names: [&[u8]; N],
    ) -> Result<[Option<Section>; N], ElfError> {
        let count = usize::from(self.header.e_shnum.get(LittleEndian));
        let headers: Vec<elf::SectionHeader64<LittleEndian>> =
            table(source, self.header.e_shoff.get(LittleEndian), count, "sections")?;
        let mut found = [None; N];
        let index = usize::from(self.header.e_shstrndx.get(LittleEndian).0);
        let Some(strings) = headers.get(index) else { return Ok(found) };
        let length = usize::try_from(strings.sh_size.get(LittleEndian)).unwrap_or(usize::MAX);
        if length > MAX_NAMES {
            return Err(ElfError::Damaged("section names"));
        }
        let strings = source.read(strings.sh_offset.get(LittleEndian), length)?;
        for header in headers.iter().filter(|header| header.sh_type.get(LittleEndian) != elf::SHT_NOBITS) {
            let start = usize::try_from(header.sh_name.get(LittleEndian)).unwrap_or(usize::MAX);
            let Some(rest) = strings.get(start..) else { continue };
            let is = |name: &&[u8]| rest.strip_prefix(*name).is_some_and(|rest| rest.first() == Some(&0));
            if let Some(slot) = names.iter().position(is).and_then(|index| found.get_mut(index)) {
                *slot = Some(Section {
                    address: header.sh_addr.get(LittleEndian),
                    offset: header.sh_offset.get(LittleEndian),
                    size: header.sh_size.get(LittleEndian),
                    compressed: header.sh_flags.get(LittleEndian).0 & elf::SHF_COMPRESSED.0 != 0,
                });
            }
        }
        Ok(found)
    }
}

fn one<T: Pod>(bytes: &[u8]) -> Option<&T> {
    pod::from_bytes(bytes).ok().map(|(value, _)| value)
}

/// A table of headers.
fn table<T: Pod>(source: &mut impl Source, offset: u64, count: usize, what: &'static str) -> Result<Vec<T>, ElfError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let length = count.min(MAX_HEADERS).saturating_mul(size_of::<T>());
    let bytes = source.read(offset, length)?;
    let (headers, _) = pod::slice_from_bytes::<T>(&bytes, count).map_err(|()| ElfError::Damaged(what))?;
    Ok(headers.to_vec())
}

/// The build id among notes.
fn build_id(mut notes: &[u8], align: usize) -> Option<Vec<u8>> {
    /// Digests have 16 or 20 bytes; what a user gives the linker may be longer.
    const LONGEST: usize = 64;
    loop {
        let header = one::<elf::NoteHeader64<LittleEndian>>(notes)?;
        let length = |length: u32| usize::try_from(length).ok();
        let name = length(header.n_namesz.get(LittleEndian))?;
        let content = length(header.n_descsz.get(LittleEndian))?;
        let kind = header.n_type.get(LittleEndian);
        let start = 12_usize.checked_add(name)?.checked_next_multiple_of(align)?;
        let end = start.checked_add(content)?;
        if kind == elf::NT_GNU_BUILD_ID && notes.get(12..)?.starts_with(b"GNU\0") && name == 4 && content <= LONGEST {
            return notes.get(start..end).filter(|id| !id.is_empty()).map(<[u8]>::to_vec);
        }
        notes = notes.get(end.checked_next_multiple_of(align)?..)?;
    }
}
