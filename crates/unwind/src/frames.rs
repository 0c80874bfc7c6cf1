//! A section of call frame information, with an index of its entries by address.

use gimli::{
    BaseAddresses, CieOrFde, CommonInformationEntry, DebugFrame, EhFrame, EndianSlice, Error, FrameDescriptionEntry,
    LittleEndian, UnwindContext, UnwindOffset, UnwindSection,
};

use crate::architecture::Architecture;
use crate::rule::Rule;

/// Bytes of a common entry; real ones have some dozens. It is parsed for each entry that refers to it.
const MAX_COMMON: u32 = 4 << 10;
/// Bytes of an entry; its instructions are carried out to find a row.
const MAX_ENTRY: usize = 64 << 10;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Which of the two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `.eh_frame` (Linux Standard Base, "Exception Frames").
    EhFrame,
    /// `.debug_frame` (DWARF 5, section 6.4).
    DebugFrame,
}

/// The section.
#[derive(Debug)]
pub(crate) struct Frames {
    kind: Kind,
    architecture: Architecture,
    data: Box<[u8]>,
    bases: BaseAddresses,
    /// Entries by their first address. The file's own index (`.eh_frame_hdr`) would have to be believed.
    index: Box<[Indexed]>,
}

#[derive(Clone, Copy, Debug)]
struct Indexed {
    start: u64,
    offset: u32,
}

/// What the section says of an address.
#[derive(Debug)]
pub(crate) enum Row {
    /// How to get to the caller.
    Known(Rule),
    /// Nothing.
    Absent,
    /// Something that makes no sense.
    Damaged,
}

impl Frames {
    /// Indexes a section.
    pub(crate) fn new(kind: Kind, architecture: Architecture, data: Box<[u8]>, bases: BaseAddresses) -> Self {
        let mut frames = Self { kind, architecture, data, bases, index: Box::default() };
        frames.index = match kind {
            Kind::EhFrame => index(&frames.eh_frame(), &frames.data, &frames.bases),
            Kind::DebugFrame => index(&frames.debug_frame(), &frames.data, &frames.bases),
        };
        frames
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.data.len() + size_of_val(&*self.index)
    }

    /// The content, which expressions are part of.
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    /// The row for an address of the file, and what it cost to find it in bytes of instructions.
    pub(crate) fn row(&self, address: u64, context: &mut UnwindContext<usize>) -> (Row, usize) {
        let below = self.index.partition_point(|entry| entry.start <= address);
        let Some(entry) = below.checked_sub(1).and_then(|last| self.index.get(last)) else { return (Row::Absent, 1) };
        let offset = entry.offset as usize;
        match self.kind {
            Kind::EhFrame => row(&self.eh_frame(), &self.data, &self.bases, offset, address, context),
            Kind::DebugFrame => row(&self.debug_frame(), &self.data, &self.bases, offset, address, context),
        }
    }

    fn eh_frame(&self) -> EhFrame<Slice<'_>> {
        let mut section = EhFrame::new(&self.data, LittleEndian);
        section.set_address_size(8);
        section.set_vendor(self.architecture.vendor());
        section
    }

    fn debug_frame(&self) -> DebugFrame<Slice<'_>> {
        let mut section = DebugFrame::new(&self.data, LittleEndian);
        section.set_address_size(8);
        section.set_vendor(self.architecture.vendor());
        section
    }
}

/// The common entry at an offset, if it is of a believable length.
fn common<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    data: &[u8],
    bases: &BaseAddresses,
    offset: S::Offset,
) -> Result<CommonInformationEntry<Slice<'a>>, Error> {
    let start = UnwindOffset::into(offset);
    let length = data.get(start..).and_then(|rest| rest.first_chunk::<4>()).map(|bytes| u32::from_le_bytes(*bytes));
    if length.is_none_or(|length| length > MAX_COMMON) {
        return Err(Error::NoUnwindInfoForAddress);
    }
    section.cie_from_offset(bases, offset)
}

fn index<'a, S: UnwindSection<Slice<'a>>>(section: &S, data: &[u8], bases: &BaseAddresses) -> Box<[Indexed]> {
    let mut index = Vec::new();
    let mut entries = section.entries(bases);
    let mut last: Option<CommonInformationEntry<Slice<'a>>> = None;
    // What is damaged ends it; what was found until then is as good as any.
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let entry = partial.parse(|section, bases, offset| match &last {
            Some(common) if common.offset() == UnwindOffset::into(offset) => Ok(common.clone()),
            _ => common(section, data, bases, offset).inspect(|common| last = Some(common.clone())),
        });
        if let Ok(entry) = entry
            && entry.len() > 0
            && let Ok(offset) = u32::try_from(entry.offset())
        {
            index.push(Indexed { start: entry.initial_address(), offset });
        }
    }
    index.sort_by_key(|entry| entry.start);
    index.into_boxed_slice()
}

fn row<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    data: &[u8],
    bases: &BaseAddresses,
    offset: usize,
    address: u64,
    context: &mut UnwindContext<usize>,
) -> (Row, usize) {
    let entry: Result<FrameDescriptionEntry<Slice<'a>>, Error> =
        section.fde_from_offset(bases, S::Offset::from(offset), |section, bases, offset| {
            common(section, data, bases, offset)
        });
    let Ok(entry) = entry else { return (Row::Damaged, 1) };
    if !entry.contains(address) {
        return (Row::Absent, 1);
    }
    let cost = entry.entry_len().saturating_add(entry.cie().entry_len());
    if cost > MAX_ENTRY {
        return (Row::Damaged, 1);
    }
    let row = match entry.unwind_info_for_address(section, bases, context, address) {
        Ok(row) => Rule::new(row, entry.cie().return_address_register(), entry.is_signal_trampoline()),
        Err(_) => None,
    };
    (row.map_or(Row::Damaged, Row::Known), cost)
}
