//! Source files and lines of a module: the subsections that compilers of today write (C13).

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::sections::Sections;
use crate::fields::{Fields, u32_at};
use crate::{FileId, TableBuilder};

const LINES: u32 = 0xf2;
const CHECKSUMS: u32 = 0xf4;
const INLINEES: u32 = 0xf6;
/// A line's number takes 24 bits.
const LINE: u32 = 0xff_ffff;
/// Numbers that stand for code without a line, which debuggers step over or into.
const NO_LINES: [u32; 2] = [0xf0_0f00, 0xfe_efee];

/// The texts of a PDB: names of source files among them.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<u8>);

impl Names {
    pub(super) fn read(mut stream: Vec<u8>) -> Self {
        let length = usize::try_from(u32_at(&stream, 8).unwrap_or(0)).unwrap_or(usize::MAX);
        stream.truncate(length.saturating_add(12));
        stream.drain(..stream.len().min(12));
        Self(stream)
    }

    pub(super) fn at(&self, place: u32) -> Option<&[u8]> {
        Fields::new(self.0.get(usize::try_from(place).ok()?..)?).text()
    }
}

/// Source files by their place in [`Names`].
#[derive(Debug, Default)]
pub(super) struct Files(HashMap<u32, Option<FileId>, FixedState>);

impl Files {
    fn get(&mut self, place: u32, names: &Names, builder: &mut TableBuilder) -> Option<FileId> {
        *self.0.entry(place).or_insert_with(|| {
            let name = names.at(place).filter(|name| !name.is_empty())?;
            Some(builder.file(&String::from_utf8_lossy(name)))
        })
    }
}

/// The code of `start..end`, by addresses relative to the image, comes from a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) file: Option<FileId>,
    /// From 1; 0 where the code has none.
    pub(super) line: u32,
    /// Whether a function holds it.
    pub(super) used: bool,
}

/// Where a function that was inlined begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inlinee {
    /// As the list of files counts it.
    pub(super) file: u32,
    pub(super) line: u32,
}

/// The files and lines of one module; kept for its buffers.
#[derive(Debug, Default)]
pub(super) struct ModuleLines {
    /// In order, and each up to the next one at most.
    pub(super) lines: Vec<Line>,
    pub(super) inlinees: HashMap<u32, Inlinee, FixedState>,
    checksums: Vec<u8>,
}

impl ModuleLines {
    /// Reads a module's subsections instead of what was here before.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        sections: &Sections,
        files: &mut Files,
        names: &Names,
        builder: &mut TableBuilder,
    ) {
        self.lines.clear();
        self.inlinees.clear();
        self.checksums.clear();
        subsections(bytes, CHECKSUMS).for_each(|content| self.checksums.extend_from_slice(content));
        for content in subsections(bytes, INLINEES) {
            self.read_inlinees(Fields::new(content));
        }
        for content in subsections(bytes, LINES) {
            let first = self.lines.len();
            let end = self.read_lines(Fields::new(content), sections, files, names, builder);
            close(&mut self.lines[first..], end);
        }
        self.lines.retain(|line| line.start < line.end);
        // Nearly always they are in order.
        self.lines.sort_by_key(|line| line.start);
        for at in 1..self.lines.len() {
            let start = self.lines[at].start;
            let before = &mut self.lines[at - 1];
            before.end = before.end.min(start);
        }
    }

    /// A file by its place in the list of files with their checksums.
    pub(super) fn file(
        &self,
        place: u32,
        files: &mut Files,
        names: &Names,
        builder: &mut TableBuilder,
    ) -> Option<FileId> {
        files.get(u32_at(&self.checksums, usize::try_from(place).ok()?)?, names, builder)
    }

    fn read_inlinees(&mut self, mut fields: Fields<'_>) -> Option<()> {
        // In the second form further files follow each entry.
        let extended = fields.u32()? == 1;
        loop {
            let function = fields.u32()?;
            let inlinee = Inlinee { file: fields.u32()?, line: fields.u32()? };
            self.inlinees.insert(function, inlinee);
            if extended {
                let count = usize::try_from(fields.u32()?).ok()?;
                fields.skip(count.checked_mul(4)?)?;
            }
        }
    }

    /// Reads the lines of a stretch of code, which stand file by file, and gives its end.
    fn read_lines(
        &mut self,
        mut fields: Fields<'_>,
        sections: &Sections,
        files: &mut Files,
        names: &Names,
        builder: &mut TableBuilder,
    ) -> u32 {
        let (Some(offset), Some(section), Some(_), Some(length)) =
            (fields.u32(), fields.u16(), fields.u16(), fields.u32())
        else {
            return 0;
        };
        let Some(base) = sections.rva(section, offset) else { return 0 };
        while let (Some(file), Some(count), Some(size)) = (fields.u32(), fields.u32(), fields.u32()) {
            let size = usize::try_from(size).unwrap_or(usize::MAX).saturating_sub(12);
            // Columns, if there are any, follow the lines.
            let Some(block) = fields.bytes(size.min(fields.rest().len())) else { break };
            let file = self.file(file, files, names, builder);
            let (numbers, _) = block.as_chunks::<8>();
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            self.lines.extend(numbers.iter().take(count).map(|[a, b, c, d, e, f, g, h]| {
                let start = base.saturating_add(u32::from_le_bytes([*a, *b, *c, *d]));
                let line = u32::from_le_bytes([*e, *f, *g, *h]) & LINE;
                let line = if NO_LINES.contains(&line) { 0 } else { line };
                Line { start, end: start, file, line, used: false }
            }));
        }
        base.saturating_add(length)
    }
}

/// The subsections of one kind in a module's stream.
pub(super) fn subsections(bytes: &[u8], wanted: u32) -> impl Iterator<Item = &[u8]> {
    let mut fields = Fields::new(bytes);
    let next = move || {
        let (kind, length) = (fields.u32()?, usize::try_from(fields.u32()?).ok()?);
        let content = fields.bytes(length)?;
        // Padding, which the last one may lack.
        fields.skip(length.next_multiple_of(4) - length).unwrap_or_default();
        Some((kind, content))
    };
    std::iter::from_fn(next).filter_map(move |(kind, content)| (kind == wanted).then_some(content))
}

/// Brings the lines of a stretch of code in order; each ends where the next one begins, the last one with the stretch. Of lines at one
/// address the last one counts: the others have no code.
fn close(lines: &mut [Line], end: u32) {
    lines.sort_by_key(|line| line.start);
    let mut next = end;
    for line in lines.iter_mut().rev() {
        line.end = next.min(end);
        next = line.start;
    }
}
