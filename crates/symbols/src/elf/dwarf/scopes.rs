//! Functions and the calls that were inlined into them.

use foldhash::fast::FixedState;
use gimli::{Attribute, AttributeValue, RangeListsOffset, Unit, UnitOffset, UnitRef};
use hashbrown::HashMap;

use super::super::address_ranges::Piece;
use super::super::code::Code;
use super::units::{FileUnits, Units};
use super::work::{Share, TooMuch};
use super::{Bytes, NONE};

/// An entry names another that names another; compilers need three steps.
const MAX_STEPS: usize = 16;

/// A function, or a call that was inlined.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Scope<'data> {
    /// The scope that this one was inlined into, or [`NONE`] for a function. It stands before this one.
    pub(in super::super) parent: u32,
    pub(in super::super) name: Name<'data>,
    /// Offset of the code that it begins with; of an inlined call and where there is none [`u64::MAX`].
    pub(in super::super) entry: u64,
    /// Where the call stands that was inlined: number of the file, or [`NONE`], and line, or 0.
    pub(in super::super) call_file: u32,
    pub(in super::super) call_line: u32,
    /// Whether any code is left to it or to what was inlined into it.
    pub(in super::super) used: bool,
}

/// How debug information calls a function.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Name<'data> {
    /// Empty where nothing is said.
    pub(in super::super) text: &'data [u8],
    /// Whether the linker knows it by this name. Else it is the word in the source, without namespace and template arguments: compilers
    /// leave the linker's name out where no other unit can use it.
    pub(in super::super) is_linkage: bool,
}

/// Why a unit gives no more.
enum Stop {
    Damaged,
    TooMuch,
}

impl From<gimli::Error> for Stop {
    fn from(_: gimli::Error) -> Self {
        Self::Damaged
    }
}

impl From<TooMuch> for Stop {
    fn from(TooMuch: TooMuch) -> Self {
        Self::TooMuch
    }
}

/// The scopes of a unit, and their code. Of a damaged unit what stands before the damage.
pub(super) fn read<'data>(
    units: &Units<'_, 'data>,
    number: usize,
    code: &Code,
) -> Option<(Vec<Scope<'data>>, Vec<Piece>)> {
    let unit = units.main.unit(number)?;
    let mut walk = Walk {
        units,
        unit: unit.unit_ref(units.main.dwarf()),
        number,
        code,
        share: units.work.share(),
        names: HashMap::default(),
        scopes: Vec::new(),
        pieces: Vec::new(),
    };
    match walk.run() {
        Ok(()) | Err(Stop::Damaged) => Some((walk.scopes, walk.pieces)),
        Err(Stop::TooMuch) => None,
    }
}

struct Walk<'a, 'data> {
    units: &'a Units<'a, 'data>,
    unit: UnitRef<'a, Bytes<'data>>,
    number: usize,
    code: &'a Code,
    share: Share<'a>,
    /// Names of entries that others refer to: whether of the supplementary file, number of the unit, offset in it.
    names: HashMap<(bool, usize, usize), Name<'data>, FixedState>,
    scopes: Vec<Scope<'data>>,
    pieces: Vec<Piece>,
}

/// What an entry says.
#[derive(Default)]
struct Entry<'data> {
    name: Option<&'data [u8]>,
    linkage_name: Option<&'data [u8]>,
    origin: Option<AttributeValue<Bytes<'data>>>,
    low: Option<u64>,
    high: Option<u64>,
    /// From `low` on, in place of `high`.
    size: Option<u64>,
    ranges: Option<RangeListsOffset>,
    call_file: Option<u32>,
    call_line: u32,
}

impl<'a, 'data> Walk<'a, 'data> {
    fn run(&mut self) -> Result<(), Stop> {
        let unit: &Unit<_> = self.unit.unit;
        let mut entries = unit.entries_raw(None)?;
        // The scopes around the entry at hand, with their depths.
        let mut open: Vec<(isize, u32)> = Vec::new();
        while !entries.is_empty() {
            let depth = entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            let specs = abbreviation.attributes();
            self.share.spend(specs.len() + 1)?;
            while open.pop_if(|(above, _)| *above >= depth).is_some() {}
            let parent = match abbreviation.tag() {
                gimli::DW_TAG_subprogram => NONE,
                gimli::DW_TAG_inlined_subroutine => open.last().map_or(NONE, |(_, scope)| *scope),
                _ => {
                    entries.skip_attributes(specs)?;
                    continue;
                }
            };
            let mut entry = Entry::default();
            for spec in specs {
                let attribute = entries.read_attribute_inline(*spec)?;
                self.attribute(&attribute, &mut entry);
            }
            // The description of a function that was inlined everywhere has no code, nor has what is inlined there.
            let scope = u32::try_from(self.scopes.len()).unwrap_or(NONE);
            let before = self.pieces.len();
            let has_code = self.pieces(&entry, scope)?;
            if has_code || parent != NONE {
                self.share.keep()?;
                let name = self.name(&entry)?;
                let first = self.pieces.get(before).filter(|_| parent == NONE);
                self.scopes.push(Scope {
                    parent,
                    name,
                    entry: first.map_or(u64::MAX, |piece| piece.start),
                    call_file: entry.call_file.unwrap_or(NONE),
                    call_line: entry.call_line,
                    used: false,
                });
                open.push((depth, scope));
            } else {
                open.push((depth, NONE));
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn attribute(&self, attribute: &Attribute<Bytes<'data>>, entry: &mut Entry<'data>) {
        let address = |value| match value {
            AttributeValue::Addr(address) => Some(address),
            AttributeValue::DebugAddrIndex(index) => self.unit.address(index).ok(),
            _ => None,
        };
        match attribute.name() {
            gimli::DW_AT_name => entry.name = self.text(attribute.value()),
            gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                entry.linkage_name = self.text(attribute.value());
            }
            gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => entry.origin = Some(attribute.value()),
            gimli::DW_AT_low_pc => entry.low = address(attribute.value()),
            gimli::DW_AT_high_pc => match attribute.value() {
                AttributeValue::Udata(size) => entry.size = Some(size),
                value => entry.high = address(value),
            },
            gimli::DW_AT_ranges => entry.ranges = self.unit.attr_ranges_offset(attribute.value()).ok().flatten(),
            gimli::DW_AT_call_file => {
                // Up to version 4 there is no file 0.
                let first = u64::from(self.unit.header.version() < 5);
                entry.call_file = match attribute.value() {
                    AttributeValue::FileIndex(file) if file >= first => u32::try_from(file).ok(),
                    _ => None,
                };
            }
            gimli::DW_AT_call_line => {
                entry.call_line = attribute.udata_value().and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
            }
            _ => {}
        }
    }

    fn text(&self, value: AttributeValue<Bytes<'data>>) -> Option<&'data [u8]> {
        self.unit.attr_string(value).ok().map(|text| text.slice())
    }

    /// Notes the code of a scope. Whether there is any.
    fn pieces(&mut self, entry: &Entry<'data>, scope: u32) -> Result<bool, Stop> {
        let before = self.pieces.len();
        if let Some(offset) = entry.ranges {
            let mut ranges = self.unit.ranges(offset)?;
            while let Some(raw) = ranges.next_raw()? {
                self.share.spend(1)?;
                if let Some(range) = ranges.convert_raw(raw)? {
                    self.piece(range.begin, range.end, scope)?;
                }
            }
        } else if let Some(low) = entry.low {
            let high = entry.high.or_else(|| low.checked_add(entry.size?));
            self.piece(low, high.unwrap_or(low), scope)?;
        }
        Ok(self.pieces.len() > before)
    }

    fn piece(&mut self, low: u64, high: u64, scope: u32) -> Result<(), TooMuch> {
        if let Some((start, end)) = self.code.offsets(low, high) {
            self.share.keep()?;
            self.pieces.push(Piece { start, end, of: scope });
        }
        Ok(())
    }

    /// The name that the linker knows a function by, else the one in the source; of the entry itself or of those that it refers to.
    fn name(&mut self, entry: &Entry<'data>) -> Result<Name<'data>, Stop> {
        if let Some(text) = entry.linkage_name {
            return Ok(Name { text, is_linkage: true });
        }
        let own = Name { text: entry.name.unwrap_or_default(), is_linkage: false };
        let Some(place) = entry.origin.and_then(|origin| self.place((false, self.number), origin)) else {
            return Ok(own);
        };
        let name = match self.names.get(&place) {
            Some(name) => *name,
            None => {
                let name = self.follow(place)?;
                self.names.insert(place, name);
                name
            }
        };
        Ok(if name.text.is_empty() { own } else { name })
    }

    /// The name by the entries from `place` on.
    fn follow(&mut self, mut place: (bool, usize, usize)) -> Result<Name<'data>, Stop> {
        let mut name = None;
        for _ in 0..MAX_STEPS {
            let Some((unit, file)) = self.file(place.0).and_then(|file| Some((file.unit(place.1)?, file))) else {
                break;
            };
            let mut entries = unit.entries_raw(Some(UnitOffset(place.2)))?;
            let Some(abbreviation) = entries.read_abbreviation()? else { break };
            self.share.spend(abbreviation.attributes().len() + 1)?;
            let mut origin = None;
            for spec in abbreviation.attributes() {
                let attribute = entries.read_attribute(*spec)?;
                let text = || file.dwarf().attr_string(unit, attribute.value()).ok().map(|text| text.slice());
                match attribute.name() {
                    gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                        if let Some(text) = text() {
                            return Ok(Name { text, is_linkage: true });
                        }
                    }
                    gimli::DW_AT_name => name = name.or_else(text),
                    gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => origin = Some(attribute.value()),
                    _ => {}
                }
            }
            match origin.and_then(|origin| self.place((place.0, place.1), origin)) {
                Some(next) => place = next,
                None => break,
            }
        }
        Ok(Name { text: name.unwrap_or_default(), is_linkage: false })
    }

    fn file(&self, supplementary: bool) -> Option<&'a FileUnits<'a, 'data>> {
        if supplementary { self.units.supplementary.as_ref() } else { Some(&self.units.main) }
    }

    /// Where an entry of a unit refers to.
    fn place(&self, from: (bool, usize), value: AttributeValue<Bytes<'data>>) -> Option<(bool, usize, usize)> {
        let (supplementary, offset) = match value {
            AttributeValue::UnitRef(offset) => return Some((from.0, from.1, offset.0)),
            AttributeValue::DebugInfoRef(offset) => (from.0, offset),
            AttributeValue::DebugInfoRefSup(offset) => (true, offset),
            _ => return None,
        };
        let (number, offset) = self.file(supplementary)?.find(offset)?;
        Some((supplementary, number, offset.0))
    }
}
