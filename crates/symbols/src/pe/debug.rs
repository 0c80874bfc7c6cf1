//! The debug directory: which PDB belongs to an image, and a portable PDB inside it.

use std::io::{Read, Seek};

use super::file::File;
use super::{Directory, ImagePdb};
use crate::Error;
use crate::fields::Fields;
use crate::identity::{Guid, PdbId};
use crate::portable;

/// `IMAGE_DEBUG_TYPE_CODEVIEW`.
const CODE_VIEW: u32 = 2;
/// `IMAGE_DEBUG_TYPE_EMBEDDED_PORTABLE_PDB`.
const EMBEDDED: u32 = 17;
/// `MinorVersion` of a CodeView entry that stands for a portable PDB.
const PORTABLE: u16 = 0x504d;
/// An entry's bytes; images have a handful.
const ENTRY: usize = 28;
const MAX_ENTRIES: usize = 64;
/// A record is a signature, GUID, age and a path.
const MAX_RECORD: usize = 24 + (32 << 10);

/// What the debug directory says.
#[derive(Debug, Default)]
pub(super) struct Debug {
    pub(super) pdbs: Vec<ImagePdb>,
    pub(super) embedded: Option<Place>,
}

/// Bytes in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    offset: u64,
    size: usize,
}

pub(super) fn read<R: Read + Seek>(file: &mut File<R>, directory: Directory) -> Result<Debug, Error> {
    let mut debug = Debug::default();
    let size = usize::try_from(directory.size).unwrap_or(usize::MAX).min(MAX_ENTRIES * ENTRY);
    if directory.rva == 0 || file.place(directory.rva).is_none() {
        return Ok(debug);
    }
    for entry in file.at(directory.rva, size)?.chunks_exact(ENTRY) {
        let Some((minor, kind, place)) = entry_of(file, entry) else { continue };
        match kind {
            CODE_VIEW => {
                let record = file.head(place.offset, place.size.min(MAX_RECORD))?;
                debug.pdbs.extend(code_view(&record).map(|id| ImagePdb { id, portable: minor == PORTABLE }));
            }
            EMBEDDED if debug.embedded.is_none() => debug.embedded = Some(place),
            _ => {}
        }
    }
    Ok(debug)
}

fn entry_of<R: Read + Seek>(file: &File<R>, entry: &[u8]) -> Option<(u16, u32, Place)> {
    let mut fields = Fields::new(entry);
    fields.skip(10)?;
    let (minor, kind, size) = (fields.u16()?, fields.u32()?, fields.u32()?);
    let (rva, offset) = (fields.u32()?, fields.u32()?);
    // Files that were written from memory leave the place in the file out.
    let offset = if offset == 0 { file.place(rva)?.0 } else { offset.into() };
    Some((minor, kind, Place { offset, size: size.try_into().ok()? }))
}

/// A CodeView record of the kind that PDBs of today have: `RSDS`, GUID, age, path.
fn code_view(record: &[u8]) -> Option<PdbId> {
    let mut fields = Fields::new(record);
    (fields.array()? == *b"RSDS").then_some(())?;
    let guid = Guid::from_bytes(fields.array()?);
    let age = fields.u32()?;
    let rest = fields.rest();
    let path = String::from_utf8_lossy(fields.text().unwrap_or(rest));
    // Images are linked on Linux, too.
    let name = path.rsplit(['\\', '/']).next().unwrap_or_default();
    Some(PdbId { name: name.to_owned(), guid, age })
}

/// An embedded portable PDB.
pub(super) fn unpack<R: Read + Seek>(file: &mut File<R>, place: Place) -> Result<Vec<u8>, Error> {
    portable::unpack(&file.bytes(place.offset, place.size)?)
}
