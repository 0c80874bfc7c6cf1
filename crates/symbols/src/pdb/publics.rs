//! Public symbols: names for code that no function of a module holds, and often all that a published PDB has.

use super::SOURCE;
use super::module::Orphans;
use super::pieces::{Piece, Pieces};
use super::records::{Record, Records};
use super::sections::{Contributions, Sections};
use crate::undecorate::{c_name, undecorate};
use crate::{LocationId, TableBuilder};

/// `cvpsfCode`, `cvpsfFunction`.
const CODE: u32 = 3;

/// The public symbols of a PDB.
#[derive(Debug)]
pub(super) struct Publics<'a> {
    symbols: Vec<Public<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct Public<'a> {
    rva: u32,
    section: u16,
    code: bool,
    name: &'a [u8],
}

impl<'a> Publics<'a> {
    /// From the stream of global symbols, where they stand among others.
    pub(super) fn read(stream: &'a [u8], sections: &Sections) -> Self {
        let public = |record| match record {
            Record::Public { flags, offset, section, name } if !name.is_empty() => {
                let rva = sections.rva(section, offset)?;
                Some(Public { rva, section, code: flags & CODE != 0 || sections.is_code(section), name })
            }
            _ => None,
        };
        let mut symbols: Vec<_> = Records::new(stream).filter_map(public).collect();
        symbols.sort_by_key(|public| public.rva);
        Self { symbols }
    }

    /// Adds those at which no function begins or goes on, up to the next symbol or function, and at most as far as the code of their object file
    /// reaches.
    pub(super) fn add_where_nothing_is(
        &self,
        pieces: &mut Pieces,
        orphans: &Orphans,
        sections: &Sections,
        contributions: &Contributions,
        is_x86: bool,
        builder: &mut TableBuilder,
    ) {
        for (at, public) in self.symbols.iter().enumerate() {
            let first = at == 0 || self.symbols[at - 1].rva != public.rva;
            let after = orphans.procedures.partition_point(|procedure| procedure.start <= public.rva);
            let inside = after.checked_sub(1).is_some_and(|before| orphans.procedures[before].end > public.rva);
            if !first || !public.code || inside {
                continue;
            }
            let mut end = sections.end(public.section).unwrap_or(u32::MAX);
            if let Some(next) = self.symbols[at..].iter().find(|next| next.rva > public.rva) {
                end = end.min(next.rva);
            }
            if let Some(procedure) = orphans.procedures.get(after) {
                end = end.min(procedure.start);
            }
            if let Some((_, until)) = contributions.at(public.rva) {
                end = end.min(until);
            }
            if public.rva < end {
                add(public, end, pieces, orphans, is_x86, builder);
            }
        }
    }
}

/// Adds one symbol with the lines of its code.
fn add(
    public: &Public<'_>,
    end: u32,
    pieces: &mut Pieces,
    orphans: &Orphans,
    is_x86: bool,
    builder: &mut TableBuilder,
) {
    let name = String::from_utf8_lossy(public.name);
    let name = if is_x86 { c_name(&name) } else { &name };
    let undecorated = undecorate(name);
    let function = builder.function(&undecorated.name, undecorated.arguments.as_deref(), SOURCE);
    let location: LocationId = builder.location(None, function, None, 0);
    pieces.push(Piece { start: public.rva, end, location });
    let first = orphans.lines.partition_point(|line| line.end <= public.rva);
    for line in orphans.lines[first..].iter().take_while(|line| line.start < end) {
        let location = builder.location(None, function, line.file, line.line);
        pieces.push(Piece { start: line.start.max(public.rva), end: line.end.min(end), location });
    }
}
