//! Program databases: the symbol files of Microsoft's linkers, and of LLVM's for Windows.
//!
//! After "The PDB File Format" of LLVM's documentation and Microsoft's `microsoft-pdb` sources. A PDB is a container of streams (`msf`):
//! one per module (object file) with its functions and lines, some for the whole program. A parse reads every stream it needs once, and
//! makes of all of it one table at once, since the PDB is never opened again; at any time one module's stream is in memory, beside
//! types and names.

mod annotations;
mod dbi;
mod imports;
mod lines;
mod module;
mod msf;
mod omap;
mod pieces;
mod publics;
mod records;
mod sections;
mod types;

use std::io::{Read, Seek};

use crate::fields::Fields;
use crate::identity::{Guid, PdbId};
use crate::{Error, Table, TableBuilder};
use dbi::DebugInfo;
use imports::{Imports, lines_of};
use msf::Msf;
use omap::Omap;
use publics::Publics;
use sections::{Contributions, Sections};
use types::Types;

const TYPES: u32 = 2;
const DEBUG_INFO: u32 = 3;
const IDS: u32 = 4;
/// Of all names of this source.
const SOURCE: &str = "pdb";

/// An opened PDB.
#[derive(Debug)]
pub struct Pdb<R> {
    msf: Msf<R>,
    information: Information,
    debug: DebugInfo,
}

impl<R: Read + Seek> Pdb<R> {
    /// Reads what the PDB is.
    ///
    /// Of the wanted identity GUID and age are compared. The age is that of the debug information (the DBI stream), which the linker wrote into
    /// the image and by which symbol servers file a PDB; tools that change a PDB afterwards count up the one in the PDB's header only. As both
    /// count links that kept the GUID, either one is accepted.
    ///
    /// # Errors
    /// [`Error::OtherFormat`] when it is no PDB (a portable one is another format), [`Error::OtherBinary`] when it is another one than
    /// wanted, [`Error::Malformed`] when its container is damaged.
    pub fn read(file: R, wanted: Option<&PdbId>) -> Result<Self, Error> {
        let mut msf = Msf::read(file)?;
        let information = Information::read(&msf.stream(1)?)?;
        let debug = msf.stream(DEBUG_INFO)?;
        let debug = if debug.is_empty() { DebugInfo::default() } else { DebugInfo::read(debug)? };
        let pdb = Self { msf, information, debug };
        if let Some(wanted) = wanted {
            let ages = [pdb.age(), pdb.information.age];
            if wanted.guid != pdb.guid() || !ages.contains(&wanted.age) {
                let found = PdbId { name: String::new(), guid: pdb.guid(), age: pdb.age() };
                return Err(Error::OtherBinary { wanted: wanted.digits(), found: found.digits() });
            }
        }
        Ok(pdb)
    }

    /// GUID of the link.
    #[must_use]
    pub fn guid(&self) -> Guid {
        self.information.guid
    }

    /// The age that belongs to the image.
    #[must_use]
    pub fn age(&self) -> u32 {
        if self.debug.age == 0 { self.information.age } else { self.debug.age }
    }

    /// All names, by addresses relative to the image. `identity` is kept in the table.
    ///
    /// # Errors
    /// [`Error::Empty`] when nothing has a name, [`Error::Malformed`] when streams of the whole program are damaged; a damaged module costs
    /// itself only.
    pub fn table(mut self, identity: &str) -> Result<Table, Error> {
        let sections = Sections::read(&mut self.msf, &self.debug)?;
        let contributions = Contributions::read(&self.debug, &sections);
        let omap = Omap::read(&mut self.msf, &self.debug)?;
        let names = match self.information.names {
            Some(stream) => lines::Names::read(self.msf.stream(stream)?),
            None => lines::Names::default(),
        };
        let types = Types::new(self.msf.stream(TYPES)?, self.msf.stream(IDS)?);
        let mut builder = TableBuilder::new();
        let mut program = module::Program::new(&sections, &contributions, &names, &types);
        let mut imports = Imports::default();
        for module in self.debug.modules() {
            // A stream that cannot be read is the loss of one module.
            let Ok(stream) = self.msf.stream(module.stream.into()) else { continue };
            imports.read(lines_of(&module, &stream), &names, &self.debug, &mut self.msf);
            program.add(&module, &stream, &imports, &mut builder);
        }
        let (mut pieces, orphans) = program.finish();
        let symbols = self.msf.stream(self.debug.symbol_records.into())?;
        Publics::read(&symbols, &sections).add_where_nothing_is(
            &mut pieces,
            &orphans,
            &sections,
            &contributions,
            self.debug.is_x86,
            &mut builder,
        );
        let pieces = match omap {
            Some(omap) => omap.convert(&pieces)?,
            None => pieces,
        };
        pieces.give_to(&mut builder);
        if builder.is_empty() { Err(Error::Empty) } else { Ok(builder.finish(identity)) }
    }
}

/// The stream that names the PDB and its other streams.
#[derive(Debug)]
struct Information {
    guid: Guid,
    age: u32,
    /// The stream of names: source files among them.
    names: Option<u32>,
}

impl Information {
    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let mut fields = Fields::new(bytes);
        let information = (|| {
            fields.skip(8)?;
            let age = fields.u32()?;
            let guid = Guid::from_bytes(fields.array()?);
            Some(Self { guid, age, names: named_stream(fields, b"/names") })
        })();
        information.ok_or_else(|| Error::Malformed("its header is cut short".to_owned()))
    }
}

/// The number of a stream that has a name: texts, then a hash table with pairs of a text's place and a stream, in ascending slots.
fn named_stream(mut fields: Fields<'_>, wanted: &[u8]) -> Option<u32> {
    let length = fields.u32()?;
    let texts = fields.bytes(length.try_into().ok()?)?;
    let count = fields.u32()?;
    fields.skip(4)?;
    // Which slots are used, and which were: two sets of bits.
    for _ in 0..2 {
        let words = usize::try_from(fields.u32()?).ok()?;
        fields.skip(words.checked_mul(4)?)?;
    }
    for _ in 0..count {
        let (text, stream) = (fields.u32()?, fields.u32()?);
        let text = texts.get(usize::try_from(text).ok()?..)?;
        if Fields::new(text).text() == Some(wanted) {
            return Some(stream);
        }
    }
    None
}
