//! Debug information (DWARF, versions 2 to 5): functions, those inlined into them, and lines.
//!
//! Other readers look an address up and read what they need for that. A table needs everything, so each unit is walked once, from
//! its first entry to its last, several units at a time: what the answers for an address are is decided as those readers do, not how to find them.

mod lines;
mod scopes;
mod units;
mod work;

use gimli::{DwarfSections, EndianSlice, RunTimeEndian, SectionId};
use object::Endianness;
use rayon::prelude::*;

use super::address_ranges::flatten;
use super::code::Code;
use super::file::ElfFile;
use crate::Error;
use lines::Row;
pub(super) use scopes::{Name, Scope};
use units::Units;
use work::Work;

type Bytes<'data> = EndianSlice<'data, RunTimeEndian>;

/// The sections of a file that are read.
#[derive(Debug)]
pub(super) struct Sections {
    sections: DwarfSections<Vec<u8>>,
    endian: RunTimeEndian,
    size: u64,
}

impl Sections {
    /// `None` for a file without debug information.
    pub(super) fn read<F: std::io::Read + std::io::Seek + std::fmt::Debug>(
        file: &mut ElfFile<F>,
    ) -> Result<Option<Self>, Error> {
        const READ: [SectionId; 9] = [
            SectionId::DebugAbbrev,
            SectionId::DebugAddr,
            SectionId::DebugInfo,
            SectionId::DebugLine,
            SectionId::DebugLineStr,
            SectionId::DebugRanges,
            SectionId::DebugRngLists,
            SectionId::DebugStr,
            SectionId::DebugStrOffsets,
        ];
        let mut packed = Vec::new();
        for id in READ {
            packed.extend(file.debug_section(id.name())?.map(|contents| (id, contents)));
        }
        if !packed.iter().any(|(id, _)| *id == SectionId::DebugInfo) {
            return Ok(None);
        }
        let contents = packed.into_par_iter().map(|(id, contents)| Ok((id, contents.unpacked()?)));
        let mut contents: Vec<(SectionId, Vec<u8>)> = contents.collect::<Result<_, Error>>()?;
        let size = contents.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let take = |id: SectionId| {
            let found = contents.iter_mut().find(|section| section.0 == id);
            Ok::<_, Error>(found.map(|section| std::mem::take(&mut section.1)).unwrap_or_default())
        };
        let sections = DwarfSections::load(take)?;
        let endian = match file.endian {
            Endianness::Little => RunTimeEndian::Little,
            Endianness::Big => RunTimeEndian::Big,
        };
        Ok(Some(Self { sections, endian, size }))
    }

    /// What the sections say of all code, in the order of their units. `supplementary` are those of the file that they share entries with.
    pub(super) fn code<'data>(
        &'data self,
        supplementary: Option<&'data Self>,
        code: &Code,
    ) -> Result<Vec<UnitCode<'data>>, Error> {
        let bytes = |section: &'data Vec<u8>| EndianSlice::new(section, self.endian);
        let dwarf = self.sections.borrow_with_sup(supplementary.map(|other| &other.sections), bytes);
        let work = Work::new(self.size + supplementary.map_or(0, |other| other.size));
        let units = Units::new(&dwarf, &work);
        // Large units first, so that none is left when the others are done.
        let mut order: Vec<usize> = (0..units.main.len()).collect();
        order.sort_by_key(|number| std::cmp::Reverse(units.main.length(*number)));
        let mut found: Vec<(usize, UnitCode<'data>)> = order
            .into_par_iter()
            .with_max_len(1)
            .filter_map(|number| Some((number, unit_code(&units, number, code)?)))
            .collect();
        if work.is_exceeded() {
            return Err(Error::Malformed("debug information that refers to the same over and over".to_owned()));
        }
        found.sort_by_key(|(number, _)| *number);
        Ok(found.into_iter().map(|(_, code)| code).collect())
    }
}

/// What a unit says of its code.
#[derive(Debug)]
pub(super) struct UnitCode<'data> {
    /// Functions and calls that were inlined; those that contain others come before them.
    pub(super) scopes: Vec<Scope<'data>>,
    /// The source files that occur below, by their number.
    pub(super) files: Vec<Option<String>>,
    /// In order and without overlap.
    pub(super) ranges: Vec<LineRange>,
}

/// No scope, or no file.
pub(super) const NONE: u32 = u32::MAX;

/// A range of code.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineRange {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The innermost scope, or [`NONE`].
    pub(super) scope: u32,
    /// Number of the file, or [`NONE`].
    pub(super) file: u32,
    /// From 1, or 0.
    pub(super) line: u32,
}

/// What a unit says; `None` where it is damaged, or has no code.
fn unit_code<'data>(units: &Units<'_, 'data>, number: usize, code: &Code) -> Option<UnitCode<'data>> {
    let unit = units.main.unit(number)?;
    let (mut scopes, mut pieces) = scopes::read(units, number, code)?;
    let lines = lines::read(units.main.dwarf(), unit, code, units.work).unwrap_or_default();
    let pieces = flatten(&mut pieces);
    let mut ranges: Vec<LineRange> = Vec::with_capacity(lines.rows.len() + pieces.len());
    let mut put = |range: LineRange| {
        if let Some(last) = ranges.last_mut()
            && last.end == range.start
            && (last.scope, last.file, last.line) == (range.scope, range.file, range.line)
        {
            last.end = range.end;
        } else {
            ranges.push(range);
        }
    };
    // Both are in order and without overlap: the borders of either cut.
    let (mut rows, mut scoped) = (lines.rows.iter().copied().peekable(), pieces.iter().copied().peekable());
    let mut at = 0;
    loop {
        while rows.next_if(|row| row.end <= at).is_some() {}
        while scoped.next_if(|piece| piece.end <= at).is_some() {}
        let (row, piece) = (rows.peek(), scoped.peek());
        let start = row.map_or(u64::MAX, |row| row.start).min(piece.map_or(u64::MAX, |piece| piece.start)).max(at);
        if start == u64::MAX {
            break;
        }
        // What begins later ends this range, what has begun is part of it.
        let (mut end, mut scope, mut place) = (u64::MAX, NONE, (NONE, 0));
        if let Some(Row { start: from, end: to, file, line }) = row.copied() {
            end = end.min(if from > start { from } else { to });
            place = if from > start { place } else { (file, line) };
        }
        if let Some(piece) = piece {
            end = end.min(if piece.start > start { piece.start } else { piece.end });
            scope = if piece.start > start { scope } else { piece.of };
        }
        put(LineRange { start, end, scope, file: place.0, line: place.1 });
        at = end;
    }
    if ranges.is_empty() {
        return None;
    }
    for range in &ranges {
        if let Some(scope) = scopes.get_mut(range.scope as usize) {
            scope.used = true;
        }
    }
    for number in (0..scopes.len()).rev() {
        let parent = scopes[number].parent as usize;
        if scopes[number].used && parent < number {
            scopes[parent].used = true;
        }
    }
    let mut files = Vec::new();
    let mut want = |number: u32| {
        let index = number as usize;
        if index < lines.files() {
            if files.len() <= index {
                files.resize(index + 1, None);
            }
            if files[index].is_none() {
                files[index] = lines.path(units.main.dwarf(), unit, number);
            }
        }
    };
    ranges.iter().for_each(|range| want(range.file));
    scopes.iter().filter(|scope| scope.used).for_each(|scope| want(scope.call_file));
    Some(UnitCode { scopes, files, ranges })
}
