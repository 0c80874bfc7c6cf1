//! A portable PDB inside of its assembly: an entry of type 17 in the debug directory.

use std::io::Read;

use flate2::read::DeflateDecoder;

use super::PortablePdb;
use super::metadata::malformed;
use crate::error::Error;
use crate::identity::Guid;

/// What the data of such an entry begin with.
pub const EMBEDDED_MAGIC: [u8; 4] = *b"MPDB";
/// Largest PDB that is inflated, bytes. That of the largest assemblies has some ten million.
const LARGEST: u32 = 256 << 20;

/// Reads the raw data of a debug-directory entry of type 17.
///
/// # Errors
/// As [`PortablePdb::read`].
pub fn read_embedded(data: &[u8], wanted: Option<Guid>) -> Result<PortablePdb, Error> {
    PortablePdb::read(unpack(data)?, wanted)
}

/// The bytes of the PDB: behind magic and size it is deflated.
pub(crate) fn unpack(data: &[u8]) -> Result<Vec<u8>, Error> {
    let data = data.strip_prefix(&EMBEDDED_MAGIC).ok_or(Error::OtherFormat("an embedded portable PDB"))?;
    let (size, deflated) = data.split_first_chunk().ok_or_else(|| malformed("size of the embedded PDB"))?;
    let size = u32::from_le_bytes(*size);
    if size > LARGEST {
        return Err(malformed("an embedded PDB of more than 256 MiB"));
    }
    let mut bytes = Vec::new();
    // One byte more tells that there is more. Nothing is set aside for a size that is only said.
    let read = DeflateDecoder::new(deflated).take(u64::from(size) + 1).read_to_end(&mut bytes);
    if read.is_err() || u32::try_from(bytes.len()).ok() != Some(size) {
        return Err(malformed("the compressed data of the embedded PDB"));
    }
    Ok(bytes)
}
