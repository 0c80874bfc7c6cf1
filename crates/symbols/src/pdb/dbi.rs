//! The stream of debug information (DBI): modules, contributions to sections, numbers of other streams.

use crate::Error;
use crate::fields::{Fields, u16_at, u32_at};
use crate::pe::MACHINE_I386;

/// No stream.
const NONE: u16 = u16::MAX;
const HEADER: usize = 64;

/// What the stream says.
#[derive(Debug, Default)]
pub(super) struct DebugInfo {
    /// How often the program was linked, as its image says.
    pub(super) age: u32,
    /// The stream of public and global symbols.
    pub(super) symbol_records: u16,
    /// Whether the program is of 32 bits, where C decorates its names.
    pub(super) is_x86: bool,
    modules: Vec<u8>,
    contributions: Vec<u8>,
    streams: Vec<u8>,
}

/// An object file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Module<'a> {
    /// As contributions count it.
    pub(super) number: u16,
    pub(super) name: &'a [u8],
    pub(super) stream: u16,
    /// Sizes of the parts of its stream: symbols, lines in the old and lines in the present format.
    pub(super) symbols: u32,
    pub(super) old_lines: u32,
    pub(super) lines: u32,
}

/// A stretch of a section that came from one object file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contribution {
    pub(super) section: u16,
    pub(super) offset: u32,
    pub(super) size: u32,
    pub(super) module: u16,
}

/// Streams whose numbers stand in the optional header, by their places.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extra {
    OmapToSource = 3,
    SectionHeaders = 5,
    OriginalSectionHeaders = 10,
}

impl DebugInfo {
    pub(super) fn read(stream: Vec<u8>) -> Result<Self, Error> {
        let damaged = || Error::Malformed("its stream of debug information is cut short".to_owned());
        let field = |offset: usize| u32_at(&stream, offset).ok_or_else(damaged);
        let age = field(8)?;
        let symbol_records = u16_at(&stream, 20).ok_or_else(damaged)?;
        let is_x86 = u16_at(&stream, 58) == Some(MACHINE_I386);
        // Modules, contributions, map of sections, source files, type servers, edit and continue, numbers of streams: the header has
        // the sizes, the last two the other way round.
        let mut place = HEADER;
        let mut part = |offset: usize| {
            let size = usize::try_from(field(offset)?).map_err(|_| damaged())?;
            let start = place;
            place = place.checked_add(size).ok_or_else(damaged)?;
            stream.get(start..place).ok_or_else(damaged)
        };
        let (modules, contributions) = (part(24)?.to_vec(), part(28)?.to_vec());
        for skipped in [32, 36, 40, 52] {
            part(skipped)?;
        }
        let streams = part(48)?.to_vec();
        Ok(Self { age, symbol_records, is_x86, modules, contributions, streams })
    }

    /// The number of an extra stream.
    pub(super) fn extra(&self, extra: Extra) -> Option<u16> {
        u16_at(&self.streams, extra as usize * 2).filter(|stream| *stream != NONE)
    }

    /// The modules that have symbols or lines.
    pub(super) fn modules(&self) -> impl Iterator<Item = Module<'_>> {
        let mut fields = Fields::new(&self.modules);
        let mut numbers = 0..=u16::MAX;
        let next = move || {
            let start = fields.rest().len();
            fields.skip(34)?;
            let stream = fields.u16()?;
            let (symbols, old_lines, lines) = (fields.u32()?, fields.u32()?, fields.u32()?);
            fields.skip(16)?;
            let name = fields.text()?;
            fields.text()?;
            let used = start - fields.rest().len();
            // Padding, which the last one may lack.
            fields.skip(used.next_multiple_of(4) - used).unwrap_or_default();
            Some(Module { number: numbers.next()?, name, stream, symbols, old_lines, lines })
        };
        std::iter::from_fn(next).filter(|module| module.stream != NONE)
    }

    /// The contributions to sections.
    pub(super) fn contributions(&self) -> impl Iterator<Item = Contribution> {
        let mut fields = Fields::new(&self.contributions);
        // The second version has four bytes more each.
        let size = if fields.u32() == Some(0xeffe_0000 + 20_140_516) { 32 } else { 28 };
        fields.rest().chunks_exact(size).filter_map(|bytes| {
            let (section, module) = (u16_at(bytes, 0)?, u16_at(bytes, 16)?);
            Some(Contribution { section, offset: u32_at(bytes, 4)?, size: u32_at(bytes, 8)?, module })
        })
    }
}
