//! All formats, for the search.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use crate::breakpad::SymbolFile;
use crate::fetch::{Names, Readers, Reading};
use crate::identity::PdbId;
use crate::search::{Identity, Source};
use crate::{Error, PortablePdb, elf, pdb, pe, portable};

/// Bytes of a portable PDB at most, which is read into memory as a whole. The largest known take some MiB.
const MAX_PORTABLE: u64 = 256 << 20;

/// A text has the addresses that code has in memory; those that are looked up are offsets in the file. Linkers put most code at a distance
/// from its offset that only the file's program headers tell: without them names would be those of other code.
const TEXT_OF_ELF: Error =
    Error::OtherFormat("usable for an ELF file: where in the file its addresses lie, the text does not say");

/// Reads symbol files of every format that this crate knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct FormatReaders;

impl Readers for FormatReaders {
    fn read(&self, reading: &Reading<'_>) -> Result<Names, Error> {
        let table = match (reading.source, reading.identity) {
            (Source::Pdb, Identity::Pdb(id)) => read_pdb(reading, id)?,
            (Source::Image, identity) => image(reading.file, identity)?.exports(reading.key)?,
            (Source::Embedded, Identity::Pdb(id)) => return embedded(reading, id),
            (Source::Breakpad, Identity::Pdb(id)) => {
                SymbolFile::read(at_start(reading.file)?, Some(id))?.table(reading.key)?
            }
            (Source::Breakpad, Identity::Build(id)) => {
                SymbolFile::read(at_start(reading.file)?, Some(&id.as_breakpad()))?;
                return Err(TEXT_OF_ELF);
            }
            (Source::Debug | Source::Elf, Identity::Build(id)) => {
                if let Some(needs) = shared_file(reading)? {
                    return Ok(needs);
                }
                let companions = elf::Companions { image: None, supplementary: reading.shared };
                elf::read(at_start(reading.file)?, companions, Some(id))?
            }
            (source, identity) => {
                return Err(Error::Malformed(format!("a {} is not known by {identity}", source.word())));
            }
        };
        Ok(Names::Table(table))
    }

    fn pdb_of(&self, file: &File, identity: &Identity) -> Result<Option<PdbId>, Error> {
        let image = image(file, identity)?;
        let native = image.pdbs().iter().find(|pdb| !pdb.portable);
        Ok(native.map(|pdb| pdb.id.clone()))
    }
}

/// A PDB of either kind: which one it is its first bytes say.
fn read_pdb(reading: &Reading<'_>, id: &PdbId) -> Result<crate::Table, Error> {
    let mut head = [0; 4];
    let mut file = at_start(reading.file)?;
    if file.read_exact(&mut head).is_ok() && PortablePdb::is_one(&head) {
        if reading.length > MAX_PORTABLE {
            return Err(Error::Malformed(format!("{} bytes are too many for a portable PDB", reading.length)));
        }
        let mut bytes = Vec::new();
        at_start(reading.file)?.take(MAX_PORTABLE).read_to_end(&mut bytes)?;
        return portable::table(&PortablePdb::read(bytes, Some(id.guid))?, reading.key);
    }
    pdb::Pdb::read(at_start(reading.file)?, Some(id))?.table(reading.key)
}

/// The portable PDB inside of an image.
fn embedded(reading: &Reading<'_>, id: &PdbId) -> Result<Names, Error> {
    let Some(bytes) = image(reading.file, reading.identity)?.embedded_portable_pdb()? else {
        return Ok(Names::Nothing);
    };
    Ok(Names::Table(portable::table(&PortablePdb::read(bytes, Some(id.guid))?, reading.key)?))
}

/// An image, if it is the wanted one.
fn image<'a>(file: &'a File, identity: &Identity) -> Result<pe::Image<&'a File>, Error> {
    match identity {
        Identity::Image(id) => pe::Image::read(at_start(file)?, Some(id)),
        Identity::Pdb(id) => {
            let image = pe::Image::read(at_start(file)?, None)?;
            let is_it = |known: &pe::ImagePdb| (known.id.guid, known.id.age) == (id.guid, id.age);
            if !image.pdbs().iter().any(is_it) {
                let found = image.pdbs().first().map_or("an image without a PDB".to_owned(), |pdb| pdb.id.digits());
                return Err(Error::OtherBinary { wanted: id.digits(), found });
            }
            Ok(image)
        }
        Identity::Build(id) => Err(Error::OtherBinary { wanted: id.to_string(), found: "a Windows image".to_owned() }),
    }
}

/// The file that an ELF file shares with others, where it is needed and was not looked for yet.
fn shared_file(reading: &Reading<'_>) -> Result<Option<Names>, Error> {
    if !reading.may_need {
        return Ok(None);
    }
    let link = elf::debug_alt_link(at_start(reading.file)?)?;
    Ok(link.map(|link| Names::Needs { build_id: link.build_id, path: link.path }))
}

fn at_start(mut file: &File) -> io::Result<&File> {
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}
