//! Source lines of managed code.
//!
//! The table `managed_code` leads from a frame to a method of an assembly and an offset in its intermediate language (IL); the PDB of the assembly,
//! which may turn up long after the recording, from there to file and line. PDBs are asked for one by one and go when their frames are through,
//! so that memory is bounded by the largest of them.

use rustc_hash::FxHashMap;
use tracesift_symbols::portable::{DocumentId, Place, SequencePoint};
use tracesift_symbols::{PdbId, PortablePdb};
use tracesift_trace::FrameId;
use tracesift_trace::modules::file_name;
use tracesift_trace::rows::ManagedCodeRow;

/// Where a frame is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedLine<'a> {
    /// The frame.
    pub frame: FrameId,
    /// Source file, as the compiler knew it.
    pub file: &'a str,
    /// Line in it, from 1.
    pub line: u32,
}

/// Frames of one PDB that got no line from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingLines {
    /// The PDB.
    pub pdb: PdbId,
    /// Whether it was there. Then the frames are of code without lines, such as the compiler adds.
    pub found: bool,
    /// How many frames.
    pub frames: usize,
}

/// A row that can have a line.
struct Wanted {
    token: u32,
    il_offset: u32,
    frame: FrameId,
}

/// Finds the lines of frames. `is_caller` tells which frames are returned to in some stack: they are at their call. `provide` opens PDBs, each of which it is asked for once, and `each` receives the lines, in no order of frames.
/// Returns what is left without a line; rows that name no PDB or no IL offset are left out, as no PDB helps them.
pub fn lines(
    rows: impl IntoIterator<Item = ManagedCodeRow>,
    is_caller: impl Fn(FrameId) -> bool,
    mut provide: impl FnMut(&PdbId) -> Option<PortablePdb>,
    mut each: impl FnMut(ManagedLine<'_>),
) -> Vec<MissingLines> {
    let mut by_pdb: FxHashMap<PdbId, Vec<Wanted>> = FxHashMap::default();
    for row in rows {
        let offset = if is_caller(row.frame) { row.call_il_offset } else { row.il_offset };
        let (Some(offset), Some(pdb)) = (offset, pdb_id(&row)) else { continue };
        let wanted = Wanted { token: row.token.cast_unsigned(), il_offset: offset.cast_unsigned(), frame: row.frame };
        by_pdb.entry(pdb).or_default().push(wanted);
    }
    let mut by_pdb: Vec<_> = by_pdb.into_iter().collect();
    by_pdb.sort_by(|a, b| a.0.cmp(&b.0));
    let mut missing = Vec::new();
    for (id, mut wanted) in by_pdb {
        let pdb = provide(&id);
        let lines = pdb.as_ref().map_or(0, |pdb| lines_of(pdb, &mut wanted, &mut each));
        if lines < wanted.len() {
            missing.push(MissingLines { pdb: id, found: pdb.is_some(), frames: wanted.len() - lines });
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

/// The lines that one PDB knows; returns how many frames got one. A method's points are decoded once.
fn lines_of(pdb: &PortablePdb, wanted: &mut [Wanted], each: &mut impl FnMut(ManagedLine<'_>)) -> usize {
    wanted.sort_unstable_by_key(|wanted| (wanted.token, wanted.il_offset, wanted.frame));
    let mut files: FxHashMap<DocumentId, Option<String>> = FxHashMap::default();
    let mut points: Vec<SequencePoint> = Vec::new();
    let mut found = 0;
    for of_method in wanted.chunk_by(|a, b| a.token == b.token) {
        points.clear();
        let mut is_damaged = false;
        for point in pdb.points(of_method[0].token) {
            match point {
                Ok(point) => points.push(point),
                Err(_) => is_damaged = true,
            }
        }
        for Wanted { il_offset, frame, .. } in of_method {
            let behind = points.partition_point(|point| point.il_offset <= *il_offset);
            // Behind damage the last point need not be the one.
            let is_known = behind < points.len() || !is_damaged;
            let place = behind.checked_sub(1).filter(|_| is_known).and_then(|index| points[index].place);
            let Some(Place { document, line }) = place else { continue };
            let file = files.entry(document).or_insert_with(|| pdb.document(document));
            if let Some(file) = file.as_deref() {
                each(ManagedLine { frame: *frame, file, line });
                found += 1;
            }
        }
    }
    found
}
