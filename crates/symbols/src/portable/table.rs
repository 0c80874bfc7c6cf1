//! Lines of managed code as a table, so that the cache keeps them as it keeps names of machine code.
//!
//! A table knows addresses. An IL offset of a method becomes one by its method: row number of the method times a power of two that is larger
//! than every offset, plus the offset. Which power that is stands at address 0, where no method is.

use std::collections::HashMap;

use super::{DocumentId, METHOD_DEFINITION, PortablePdb, SequencePoint};
use crate::error::Error;
use crate::table::{FileId, Table, TableBuilder};

/// Source of the names, and name of every function: methods are named by those who know their tokens.
const SOURCE: &str = "portable-pdb";
/// Addresses in a table have so many bits.
const ADDRESS_BITS: u32 = 32;

/// The lines of all methods. `identity` is kept in the table.
///
/// # Errors
/// [`Error::Empty`] when no method has lines.
pub fn table(pdb: &PortablePdb, identity: &str) -> Result<Table, Error> {
    let methods = methods(pdb);
    let Some(longest) = methods.iter().map(|(_, points)| points.last().map_or(0, |point| point.il_offset)).max() else {
        return Err(Error::Empty);
    };
    // Code goes on behind the last point of its method.
    let bits = (u32::BITS - longest.leading_zeros() + 1).clamp(1, ADDRESS_BITS - 1);
    let mut builder = TableBuilder::new();
    let function = builder.function("", None, SOURCE);
    let size = builder.location(None, function, None, bits);
    builder.add(0, 1, size);
    let mut files: HashMap<DocumentId, Option<FileId>> = HashMap::new();
    for (row, points) in methods {
        let start = u64::from(row) << bits;
        let end = start + (1 << bits);
        for (index, point) in points.iter().enumerate() {
            // Code that the compiler hid has no line, and ends that of the one before.
            let Some(place) = point.place else { continue };
            let mut file = || pdb.document(place.document).map(|path| builder.file(&path));
            let file = *files.entry(place.document).or_insert_with(&mut file);
            let location = builder.location(None, function, file, place.line);
            let next = points.get(index + 1).map_or(end, |next| start + u64::from(next.il_offset));
            builder.add(start + u64::from(point.il_offset), next, location);
        }
    }
    Ok(builder.finish(identity))
}

/// The methods with lines, by row number. A forged PDB can give the same points to any number of methods; no more are read than the file
/// has bytes.
fn methods(pdb: &PortablePdb) -> Vec<(u32, Vec<SequencePoint>)> {
    let mut left = pdb.bytes.len();
    let mut methods = Vec::new();
    for row in 1..=pdb.methods() {
        let mut points: Vec<SequencePoint> = Vec::new();
        for point in pdb.points(METHOD_DEFINITION << 24 | row).take(left) {
            let Ok(point) = point else {
                // Nobody knows how far the one before reaches.
                points.iter_mut().next_back().into_iter().for_each(|last| last.place = None);
                break;
            };
            points.push(point);
        }
        left -= points.len();
        if !points.is_empty() {
            methods.push((row, points));
        }
        if left == 0 {
            break;
        }
    }
    methods
}

/// The address in such a table of an IL offset of a method; `None` where the table is another one, or the token no method's.
#[must_use]
pub fn address(table: &Table, method_token: u32, il_offset: u32) -> Option<u64> {
    let bits = table.frames(0).next()?.line.filter(|bits| (1..ADDRESS_BITS).contains(bits))?;
    let row = Some(method_token & 0xff_ffff).filter(|row| *row > 0 && method_token >> 24 == METHOD_DEFINITION)?;
    Some(u64::from(row) << bits | u64::from(il_offset.min((1 << bits) - 1)))
}
