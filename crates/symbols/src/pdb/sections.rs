//! From section and offset, as symbols have them, to addresses relative to the image.

use std::io::{Read, Seek};

use super::dbi::{Contribution, DebugInfo, Extra};
use super::msf::Msf;
use crate::Error;
use crate::fields::Fields;

/// The sections that the symbols of a PDB count: of the image as the compiler's linker wrote it.
#[derive(Debug)]
pub(super) struct Sections(Vec<Section>);

#[derive(Clone, Copy, Debug)]
struct Section {
    rva: u32,
    size: u32,
    executable: bool,
}

impl Sections {
    /// Of a rearranged image the original sections count. Some tools that rearrange leave the sections as they were and write no second
    /// list: then these are the original ones, and those of the image stand in the image only.
    pub(super) fn read<R: Read + Seek>(msf: &mut Msf<R>, debug: &DebugInfo) -> Result<Self, Error> {
        let stream = debug.extra(Extra::OriginalSectionHeaders).or_else(|| debug.extra(Extra::SectionHeaders));
        let stream = stream.ok_or(Error::Empty)?;
        let headers = msf.stream(stream.into())?;
        Ok(Self(headers.chunks_exact(40).filter_map(Section::read).collect()))
    }

    /// The address of a place; sections are counted from 1.
    pub(super) fn rva(&self, section: u16, offset: u32) -> Option<u32> {
        let section = self.get(section)?;
        section.rva.checked_add(offset)
    }

    /// Whether a section holds code.
    pub(super) fn is_code(&self, section: u16) -> bool {
        self.get(section).is_some_and(|section| section.executable)
    }

    /// The first address behind a section.
    pub(super) fn end(&self, section: u16) -> Option<u32> {
        self.get(section).map(|section| section.rva.saturating_add(section.size))
    }

    fn get(&self, section: u16) -> Option<&Section> {
        self.0.get(usize::from(section).checked_sub(1)?)
    }
}

impl Section {
    fn read(header: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(header);
        fields.skip(8)?;
        let (size, rva) = (fields.u32()?, fields.u32()?);
        fields.skip(20)?;
        // IMAGE_SCN_CNT_CODE, IMAGE_SCN_MEM_EXECUTE
        Some(Self { rva, size, executable: fields.u32()? & 0x2000_0020 != 0 })
    }
}

/// Which object file the code came from.
#[derive(Debug)]
pub(super) struct Contributions(Vec<ModuleRange>);

#[derive(Clone, Copy, Debug)]
struct ModuleRange {
    start: u32,
    end: u32,
    module: u16,
}

impl Contributions {
    pub(super) fn read(debug: &DebugInfo, sections: &Sections) -> Self {
        let range = |it: Contribution| {
            let start = sections.rva(it.section, it.offset)?;
            Some(ModuleRange { start, end: start.saturating_add(it.size), module: it.module })
        };
        let mut ranges: Vec<_> = debug.contributions().filter_map(range).collect();
        ranges.sort_by_key(|range| range.start);
        Self(ranges)
    }

    /// The module of an address, and where its code ends.
    pub(super) fn at(&self, rva: u32) -> Option<(u16, u32)> {
        let before = self.0.partition_point(|range| range.start <= rva).checked_sub(1)?;
        let ModuleRange { end, module, .. } = self.0[before];
        (rva < end).then_some((module, end))
    }
}
