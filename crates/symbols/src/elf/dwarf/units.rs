//! The units of debug information, found by their place and opened once.

use std::sync::{Arc, OnceLock};

use foldhash::fast::FixedState;
use gimli::{
    Abbreviations, AttributeValue, DebugAbbrevOffset, DebugAddrBase, DebugInfoOffset, DebugLineOffset,
    DebugLocListsBase, DebugRngListsBase, DebugStrOffsetsBase, Dwarf, Reader as _, Section as _, Unit, UnitHeader,
    UnitOffset, UnitType,
};
use hashbrown::HashMap;

use super::Bytes;
use super::work::Work;

type Shared<T> = OnceLock<Option<T>>;

/// The units of a file, and of the one that it shares entries with.
pub(super) struct Units<'a, 'data> {
    pub(super) main: FileUnits<'a, 'data>,
    pub(super) supplementary: Option<FileUnits<'a, 'data>>,
    pub(super) work: &'a Work,
}

impl<'a, 'data> Units<'a, 'data> {
    pub(super) fn new(dwarf: &'a Dwarf<Bytes<'data>>, work: &'a Work) -> Self {
        let supplementary = dwarf.sup().map(|dwarf| FileUnits::new(dwarf, work));
        Self { main: FileUnits::new(dwarf, work), supplementary, work }
    }
}

/// The units of one file, in the order of their places.
pub(super) struct FileUnits<'a, 'data> {
    dwarf: &'a Dwarf<Bytes<'data>>,
    headers: Vec<UnitHeader<Bytes<'data>>>,
    units: Vec<Shared<Unit<Bytes<'data>>>>,
    /// By their place: units often share them.
    abbreviations: HashMap<usize, Shared<Arc<Abbreviations>>, FixedState>,
    work: &'a Work,
}

impl<'a, 'data> FileUnits<'a, 'data> {
    fn new(dwarf: &'a Dwarf<Bytes<'data>>, work: &'a Work) -> Self {
        let mut headers = Vec::new();
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            // Types have no code.
            if !matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. }) {
                headers.push(header);
            }
        }
        let abbreviations = headers.iter().map(|header| (header.debug_abbrev_offset().0, OnceLock::new())).collect();
        let units = headers.iter().map(|_| OnceLock::new()).collect();
        Self { dwarf, headers, units, abbreviations, work }
    }

    pub(super) fn dwarf(&self) -> &'a Dwarf<Bytes<'data>> {
        self.dwarf
    }

    pub(super) fn len(&self) -> usize {
        self.headers.len()
    }

    /// Bytes of a unit's entries.
    pub(super) fn length(&self, number: usize) -> usize {
        self.headers.get(number).map_or(0, UnitHeader::unit_length)
    }

    /// A unit by its number; `None` where it is damaged.
    pub(super) fn unit(&self, number: usize) -> Option<&Unit<Bytes<'data>>> {
        self.units.get(number)?.get_or_init(|| self.open(self.headers.get(number)?)).as_ref()
    }

    /// The unit that an entry of the file lies in, and the entry's place there.
    pub(super) fn find(&self, offset: DebugInfoOffset) -> Option<(usize, UnitOffset)> {
        let begins = |header: &UnitHeader<Bytes<'_>>| header.debug_info_offset().is_some_and(|begin| begin <= offset);
        let number = self.headers.partition_point(begins).checked_sub(1)?;
        Some((number, offset.to_unit_offset(self.headers.get(number)?)?))
    }

    fn abbreviations(&self, offset: DebugAbbrevOffset) -> Option<Arc<Abbreviations>> {
        let read = || {
            let length = abbreviations_length(self.dwarf.debug_abbrev.reader().slice().get(offset.0..)?)?;
            self.work.spend(length).ok()?;
            self.dwarf.debug_abbrev.abbreviations(offset).ok().map(Arc::new)
        };
        self.abbreviations.get(&offset.0)?.get_or_init(read).clone()
    }

    /// Opens a unit as gimli does, but without its lines: most units are opened for their names alone.
    fn open(&self, header: &UnitHeader<Bytes<'data>>) -> Option<Unit<Bytes<'data>>> {
        let abbreviations = self.abbreviations(header.debug_abbrev_offset())?;
        let (encoding, file_type) = (header.encoding(), self.dwarf.file_type);
        let mut unit = Unit {
            header: *header,
            abbreviations,
            name: None,
            comp_dir: None,
            low_pc: 0,
            str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(encoding, file_type),
            addr_base: DebugAddrBase(0),
            loclists_base: DebugLocListsBase::default_for_encoding_and_file(encoding, file_type),
            rnglists_base: DebugRngListsBase::default_for_encoding_and_file(encoding, file_type),
            line_program: None,
            dwo_id: None,
        };
        let abbreviations = Arc::clone(&unit.abbreviations);
        let mut entries = unit.header.entries_raw(&abbreviations, None).ok()?;
        let specs = entries.read_abbreviation().ok()??.attributes();
        self.work.spend(specs.len()).ok()?;
        let (mut name, mut directory, mut low_pc) = (None, None, None);
        for spec in specs {
            let attribute = entries.read_attribute(*spec).ok()?;
            match (attribute.name(), attribute.value()) {
                (gimli::DW_AT_name, value) => name = Some(value),
                (gimli::DW_AT_comp_dir, value) => directory = Some(value),
                (gimli::DW_AT_low_pc, value) => low_pc = Some(value),
                (_, AttributeValue::DebugStrOffsetsBase(base)) => unit.str_offsets_base = base,
                (_, AttributeValue::DebugAddrBase(base)) => unit.addr_base = base,
                (_, AttributeValue::DebugRngListsBase(base)) => unit.rnglists_base = base,
                _ => {}
            }
        }
        // Only now is it known where these are to be looked for.
        unit.name = name.and_then(|value| self.dwarf.attr_string(&unit, value).ok());
        unit.comp_dir = directory.and_then(|value| self.dwarf.attr_string(&unit, value).ok());
        unit.low_pc = low_pc.and_then(|value| self.dwarf.attr_address(&unit, value).ok().flatten()).unwrap_or(0);
        Some(unit)
    }
}

/// Where a unit's lines are described.
pub(super) fn line_program(unit: &Unit<Bytes<'_>>) -> Option<DebugLineOffset> {
    let mut entries = unit.entries_raw(None).ok()?;
    let specs = entries.read_abbreviation().ok()??.attributes();
    let attributes = specs.iter().map_while(|spec| entries.read_attribute(*spec).ok());
    let values = attributes.filter(|attribute| attribute.name() == gimli::DW_AT_stmt_list);
    values.map(|attribute| attribute.value()).find_map(|value| match value {
        AttributeValue::DebugLineRef(offset) => Some(offset),
        _ => None,
    })
}

/// The bytes that abbreviations take, up to the 0 that ends them.
fn abbreviations_length(section: &[u8]) -> Option<usize> {
    let mut rest = gimli::EndianSlice::new(section, gimli::LittleEndian);
    while rest.read_uleb128().ok()? != 0 {
        let (_tag, _children) = (rest.read_uleb128().ok()?, rest.read_u8().ok()?);
        loop {
            let (name, form) = (rest.read_uleb128().ok()?, rest.read_uleb128().ok()?);
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                rest.read_sleb128().ok()?;
            }
            if (name, form) == (0, 0) {
                break;
            }
        }
    }
    section.len().checked_sub(rest.len())
}
