//! Lines, and the files that they are in.

use std::borrow::Cow;

use gimli::{DebugLineOffset, Dwarf, LineProgramHeader, Reader as _, Section as _, Unit};

use super::super::code::Code;
use super::units::line_program;
use super::work::{TooMuch, Work};
use super::{Bytes, NONE};

/// Bytes in front of a unit's lines: names of directories and files. Ten thousand files need a few hundred thousand.
const MAX_HEADER: u64 = 4 << 20;
/// Bytes of a path; systems allow no longer ones.
const MAX_PATH: usize = 4 << 10;

/// Code of one line, as offsets in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) file: u32,
    /// From 1; 0 for code that belongs to no line.
    pub(super) line: u32,
}

/// The lines of a unit.
#[derive(Debug, Default)]
pub(super) struct Lines<'data> {
    /// In order and without overlap.
    pub(super) rows: Vec<Row>,
    header: Option<LineProgramHeader<Bytes<'data>>>,
}

/// Reads the lines of a unit; those before the damage where they are damaged.
pub(super) fn read<'data>(
    dwarf: &Dwarf<Bytes<'data>>,
    unit: &Unit<Bytes<'data>>,
    code: &Code,
    work: &Work,
) -> Option<Lines<'data>> {
    let offset = line_program(unit)?;
    work.spend(header_length(dwarf, offset)?).ok()?;
    let (directory, name) = (unit.comp_dir, unit.name);
    let program = dwarf.debug_line.program(offset, unit.header.address_size(), directory, name).ok()?;
    let mut share = work.share();
    let mut rows = program.rows();
    let (mut found, mut sequence) = (Vec::new(), Vec::new());
    while let Ok(Some((_, row))) = rows.next_row() {
        if row.end_sequence() {
            place(&sequence, row.address(), code, &mut found);
            sequence.clear();
            continue;
        }
        if let Err(TooMuch) = share.keep() {
            return None;
        }
        let line = row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(0));
        sequence.push((row.address(), u32::try_from(row.file_index()).unwrap_or(NONE), line));
    }
    // Where stretches overlap, the one that begins first counts.
    found.sort_by_key(|row: &Row| row.start);
    let mut reached = 0;
    found.retain_mut(|row| {
        row.start = row.start.max(reached);
        reached = reached.max(row.end);
        row.start < row.end
    });
    Some(Lines { rows: found, header: Some(rows.header().clone()) })
}

/// The rows of a sequence that ends at `end`. Of several rows for one address the last counts.
fn place(sequence: &[(u64, u32, u32)], end: u64, code: &Code, rows: &mut Vec<Row>) {
    let Some((from, to)) = sequence
        .first()
        .and_then(|first| code.offsets(first.0, end))
        .zip(sequence.first())
        .map(|((from, to), first)| ((from, first.0), to))
    else {
        return;
    };
    let offset = |address: u64| Some(from.0.checked_add(address.checked_sub(from.1)?)?.min(to));
    let ends = sequence.iter().skip(1).map(|next| next.0).chain([end]);
    for ((address, file, line), end) in sequence.iter().zip(ends) {
        if let Some((start, end)) = offset(*address).zip(offset(end))
            && start < end
        {
            rows.push(Row { start, end, file: *file, line: *line });
        }
    }
}

/// The bytes of a header, if it is no larger than headers are: room for as many files is made before they are read.
fn header_length(dwarf: &Dwarf<Bytes<'_>>, offset: DebugLineOffset) -> Option<usize> {
    let mut reader = *dwarf.debug_line.reader();
    reader.skip(offset.0).ok()?;
    let (_, format) = reader.read_initial_length().ok()?;
    if reader.read_u16().ok()? >= 5 {
        // Sizes of addresses and segment selectors.
        reader.skip(2).ok()?;
    }
    let length = reader.read_length(format).ok()?;
    Some(length).filter(|length| *length as u64 <= MAX_HEADER)
}

impl<'data> Lines<'data> {
    /// How many files there are; their numbers are lower.
    pub(super) fn files(&self) -> usize {
        self.header.as_ref().map_or(0, |header| header.file_names().len() + usize::from(header.version() < 5))
    }

    /// The path of a file, from the directory in which the compiler ran.
    pub(super) fn path(&self, dwarf: &Dwarf<Bytes<'data>>, unit: &Unit<Bytes<'data>>, number: u32) -> Option<String> {
        let header = self.header.as_ref()?;
        let file = header.file(number.into())?;
        let mut path =
            unit.comp_dir.map_or(Cow::Borrowed(""), |text| String::from_utf8_lossy(text.slice())).into_owned();
        // Directory 0 is the one in which the compiler ran; from version 5 on it is named.
        let directory = if file.directory_index() == 0 && header.version() < 5 { None } else { file.directory(header) };
        for part in [directory, Some(file.path_name())].into_iter().flatten() {
            let part = dwarf.attr_string(unit, part).ok()?;
            push(&mut path, &String::from_utf8_lossy(part.slice()));
        }
        Some(path).filter(|path| path.len() <= MAX_PATH)
    }
}

/// Goes on from a directory; what has a root begins anew.
fn push(path: &mut String, part: &str) {
    let windows = |path: &str| path.starts_with('\\') || path.get(1..3) == Some(":\\");
    if part.starts_with('/') || part.get(1..3) == Some(":/") || windows(part) {
        path.clear();
    }
    if !path.is_empty() && !path.ends_with(['/', '\\']) {
        path.push(if windows(path) { '\\' } else { '/' });
    }
    path.push_str(part);
}
