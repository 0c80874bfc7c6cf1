//! Source lines of managed code.
//!
//! The table `managed_code` leads from a frame to a method of an assembly and an offset in its
//! intermediate language (IL). The PDB of the assembly leads from there to file and line. The PDB
//! may be found long after the recording.

use std::collections::BTreeMap;

use tracesift_symbols::{PdbId, Table, portable};
use tracesift_trace::FrameId;
use tracesift_trace::modules::file_name;
use tracesift_trace::rows::ManagedCodeRow;

use super::source::Assembly;

/// The place of a frame in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedLine<'a> {
    /// The frame.
    pub frame: FrameId,
    /// Source file, as the compiler knew it.
    pub file: &'a str,
    /// Line in it, from 1.
    pub line: u32,
}

/// The frames of one PDB that have no line in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingLines {
    /// The PDB.
    pub pdb: PdbId,
    /// Whether the PDB was found. If so, the code has no line, such as code that the compiler adds.
    pub found: bool,
    /// Number of frames.
    pub frames: usize,
}

/// A row that can have a line.
#[derive(Clone, Copy)]
struct Wanted {
    token: u32,
    il_offset: u32,
    frame: FrameId,
}

/// Finds the lines of frames. `is_caller` tells which frames are return addresses; their line is
/// the line of the call. `find` returns the table of each assembly
/// ([`tracesift_symbols::portable::table`]). `each` receives the lines, in no particular order.
/// Returns the frames that have no line. Rows without a PDB or an IL offset are not among them,
/// since no PDB would help.
pub fn lines(
    rows: impl IntoIterator<Item = ManagedCodeRow>,
    is_caller: impl Fn(FrameId) -> bool,
    find: impl FnOnce(&[Assembly]) -> Vec<Option<Table>>,
    mut each: impl FnMut(ManagedLine<'_>),
) -> Vec<MissingLines> {
    let mut by_pdb: BTreeMap<PdbId, (String, Vec<Wanted>)> = BTreeMap::new();
    for row in rows {
        let offset = if is_caller(row.frame) { row.call_il_offset } else { row.il_offset };
        let (Some(offset), Some(pdb)) = (offset, pdb_id(&row)) else { continue };
        let wanted = Wanted { token: row.token.cast_unsigned(), il_offset: offset.cast_unsigned(), frame: row.frame };
        // The same assembly may lie in several places.
        by_pdb.entry(pdb).or_insert_with(|| (row.path, Vec::new())).1.push(wanted);
    }
    if by_pdb.is_empty() {
        return Vec::new();
    }
    let (assemblies, wanted): (Vec<Assembly>, Vec<Vec<Wanted>>) =
        by_pdb.into_iter().map(|(pdb, (path, wanted))| (Assembly { pdb, path }, wanted)).unzip();
    let mut tables = find(&assemblies).into_iter();
    let mut missing = Vec::new();
    for (Assembly { pdb, .. }, wanted) in assemblies.into_iter().zip(wanted) {
        let table = tables.next().flatten();
        let lines = table.as_ref().map_or(0, |table| lines_of(table, &wanted, &mut each));
        if lines < wanted.len() {
            missing.push(MissingLines { pdb, found: table.is_some(), frames: wanted.len() - lines });
        }
    }
    missing
}

/// The PDB of a row, by its file name.
fn pdb_id(row: &ManagedCodeRow) -> Option<PdbId> {
    let guid = row.pdb_guid.as_deref()?.parse().ok()?;
    let name = file_name(row.pdb_name.as_deref().unwrap_or_default()).to_owned();
    Some(PdbId { name, guid, age: row.pdb_age.unwrap_or(0).cast_unsigned() })
}

/// The lines of the frames of one PDB. Returns the number of frames with a line.
fn lines_of(table: &Table, wanted: &[Wanted], each: &mut impl FnMut(ManagedLine<'_>)) -> usize {
    let mut found = 0;
    for &Wanted { token, il_offset, frame } in wanted {
        let address = portable::address(table, token, il_offset);
        let place = address.and_then(|address| table.frames(address).next());
        if let Some((file, line)) = place.and_then(|place| place.file.zip(place.line)) {
            each(ManagedLine { frame, file, line });
            found += 1;
        }
    }
    found
}
