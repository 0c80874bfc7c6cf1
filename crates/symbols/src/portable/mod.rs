//! Portable PDBs: the lines of managed code.
//!
//! A portable PDB says nothing about native code. It knows the methods of an assembly by their metadata tokens, and says which line an offset
//! in their intermediate language (IL) belongs to. Where the runtime put that IL, a recording of the runtime's events knows.
//!
//! Format: `docs/design/specs/PortablePdb-Metadata.md` in dotnet/runtime, on top of ECMA-335 II.24.

mod embedded;
mod metadata;
mod sequence_points;
mod source_link;
mod table;
mod tables;

use crate::error::Error;
use crate::identity::Guid;
use metadata::Metadata;
use tables::Tables;

pub(crate) use embedded::unpack;
pub use embedded::{EMBEDDED_MAGIC, read_embedded};
pub use sequence_points::{SequencePoint, SequencePoints};
pub use source_link::SourceLink;
pub use table::{address, table};

/// Tables of method tokens: the high byte of a token.
const METHOD_DEFINITION: u32 = 0x06;
/// Longest path of a document that is put together, bytes; Windows ends paths at 32,767 characters.
const LONGEST_NAME: usize = 64 << 10;

/// Number of a document in its PDB, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId(pub u32);

/// Where in the source code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file; see [`PortablePdb::document`].
    pub document: DocumentId,
    /// Line in it, from 1.
    pub line: u32,
}

/// A portable PDB in memory. What is asked for is decoded then.
#[derive(Debug)]
pub struct PortablePdb {
    bytes: Vec<u8>,
    guid: Guid,
    stamp: u32,
    metadata: Metadata,
    tables: Tables,
}

impl PortablePdb {
    /// Whether a file begins as one.
    #[must_use]
    pub fn is_one(head: &[u8]) -> bool {
        head.starts_with(&metadata::MAGIC)
    }

    /// Reads a PDB. `wanted` is the GUID that the assembly knows it by.
    ///
    /// # Errors
    /// [`Error::OtherFormat`] when it is none, [`Error::OtherBinary`] when it is that of another build, before anything else of it is read,
    /// [`Error::Malformed`] when it is damaged.
    pub fn read(bytes: Vec<u8>, wanted: Option<Guid>) -> Result<Self, Error> {
        let metadata = Metadata::read(&bytes)?;
        let (guid, stamp) = metadata.id(&bytes)?;
        if let Some(wanted) = wanted.filter(|wanted| *wanted != guid) {
            return Err(Error::OtherBinary { wanted: wanted.to_string(), found: guid.to_string() });
        }
        let tables = Tables::read(&bytes, &metadata)?;
        Ok(Self { bytes, guid, stamp, metadata, tables })
    }

    /// Its GUID, as the CodeView entry of the assembly's debug directory has it.
    #[must_use]
    pub fn guid(&self) -> Guid {
        self.guid
    }

    /// The rest of its id: the time stamp of that entry, or a part of a hash in its place.
    #[must_use]
    pub fn stamp(&self) -> u32 {
        self.stamp
    }

    /// Its documents by number.
    pub fn documents(&self) -> impl Iterator<Item = DocumentId> + use<> {
        (1..=self.tables.documents()).map(DocumentId)
    }

    /// Path of a document as the compiler knew it; `None` where there is none or it is damaged.
    #[must_use]
    pub fn document(&self, id: DocumentId) -> Option<String> {
        let name = self.tables.document_name(&self.bytes, id.0)?;
        let mut blob = self.metadata.blob(&self.bytes, name)?;
        let separator = blob.utf8_char()?;
        let mut path = Vec::new();
        let mut first = true;
        while !blob.is_empty() {
            if !std::mem::take(&mut first) {
                path.extend_from_slice(separator);
            }
            let part = self.metadata.blob(&self.bytes, blob.compressed()?)?;
            path.extend_from_slice(part.rest());
            if path.len() > LONGEST_NAME {
                return None;
            }
        }
        Some(String::from_utf8(path).unwrap_or_else(|path| String::from_utf8_lossy(path.as_bytes()).into_owned()))
    }

    /// How many methods the assembly has: their tokens are `0x0600_0001` and up.
    #[must_use]
    pub fn methods(&self) -> u32 {
        self.tables.methods()
    }

    /// The sequence points of a method, in the order of their IL offsets; none for what has no lines.
    #[must_use]
    pub fn points(&self, method_token: u32) -> SequencePoints<'_> {
        let found = (method_token >> 24 == METHOD_DEFINITION)
            .then(|| self.tables.method(&self.bytes, method_token & 0xff_ffff))
            .flatten()
            .filter(|(_, points)| *points != 0)
            .and_then(|(document, points)| Some((document, self.metadata.blob(&self.bytes, points)?)));
        match found {
            Some((document, blob)) => SequencePoints::new(document, blob),
            None => SequencePoints::none(),
        }
    }

    /// Where the IL at an offset of a method comes from. `None` for code that the compiler hid: it belongs to no line. Nor is there a place in
    /// front of the first sequence point, or where the method's points are damaged.
    #[must_use]
    pub fn place(&self, method_token: u32, il_offset: u32) -> Option<Place> {
        let mut last = None;
        for point in self.points(method_token) {
            let point = point.ok()?;
            if point.il_offset > il_offset {
                break;
            }
            last = Some(point);
        }
        last?.place
    }

    /// Where the documents can be fetched from, if the PDB says so.
    #[must_use]
    pub fn source_link(&self) -> Option<SourceLink> {
        let value = self.tables.module_information(&self.bytes, &self.metadata, source_link::KIND)?;
        SourceLink::parse(self.metadata.blob(&self.bytes, value)?.rest())
    }
}
