//! The names of one file that somebody has in hand: of a symbol file its own, of an image those of the symbol file that belongs to it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::breakpad::SymbolFile;
use crate::fetch::{Observer, Symbols};
use crate::readers::FormatReaders;
use crate::search::Image;
use crate::{Error, PortablePdb, Table, elf, pdb, pe};

/// Names, and what to know of them.
#[derive(Clone, Debug)]
pub struct FileNames {
    /// Names by address: relative to the image's base, of ELF files offsets in the file.
    pub table: Table,
    /// Why they are not better.
    pub note: Option<String>,
    addresses: Addresses,
}

/// How the addresses that other tools print for the file become those of the table.
#[derive(Clone, Debug)]
enum Addresses {
    /// They are the same.
    Same,
    /// Of an image: relative to its base, or from the base that its linker chose.
    Image { base: u64, size: u64 },
    /// Of an ELF file: as its linker gave them.
    Elf(elf::Places),
}

impl FileNames {
    fn new(table: Table) -> Self {
        Self { table, note: None, addresses: Addresses::Same }
    }

    /// The table's address for one that other tools print: of an ELF file as `nm`, `objdump` and `addr2line` do, of an image relative to its
    /// base, or, where that would lie behind its end, with the base that it would like to have. `None` where an ELF file has no code.
    #[must_use]
    pub fn place(&self, address: u64) -> Option<u64> {
        match &self.addresses {
            Addresses::Same => Some(address),
            Addresses::Image { base, size } => {
                let relative = address.checked_sub(*base).filter(|relative| address >= *size && relative < size);
                Some(relative.unwrap_or(address))
            }
            Addresses::Elf(places) => places.offset(address),
        }
    }

    /// Where the code begins that is of the same function as the code at an address of the table, without a gap.
    #[must_use]
    pub fn start(&self, place: u64) -> Option<u64> {
        let start = self.table.start(place)?;
        match &self.addresses {
            // Functions of the same name may follow each other.
            Addresses::Elf(places) => Some(places.start(place).map_or(start, |symbol| symbol.max(start))),
            Addresses::Same | Addresses::Image { .. } => Some(start),
        }
    }

    /// Whether addresses of the table and those that other tools print are not the same.
    #[must_use]
    pub fn has_addresses_of_its_own(&self) -> bool {
        matches!(self.addresses, Addresses::Elf(_))
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pdb,
    PortablePdb,
    Image,
    Elf,
    Breakpad,
}

impl Kind {
    /// By its first bytes.
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [b'M', b'i', b'c', b'r', ..] => Some(Self::Pdb),
            [b'M', b'O', b'D', b'U', ..] => Some(Self::Breakpad),
            [b'M', b'Z', ..] => Some(Self::Image),
            [0x7f, b'E', b'L', b'F', ..] => Some(Self::Elf),
            _ => PortablePdb::is_one(head).then_some(Self::PortablePdb),
        }
    }
}

impl Symbols {
    /// The names of an image, a PDB, an ELF or a Breakpad file. The symbol file of an image is looked for; without it the names are those that the
    /// image has itself.
    ///
    /// # Errors
    /// When it is none of these, or damaged, or has no names.
    pub fn of_file(&self, path: &Path, observer: &dyn Observer, cancel: &AtomicBool) -> Result<FileNames, Error> {
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&mut file).take(8).read_to_end(&mut head)?;
        file.seek(SeekFrom::Start(0))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let resolve = |image: Image| {
            let found = self.resolve(&[image], &FormatReaders, observer, cancel);
            found.into_iter().find_map(|found| found.table)
        };
        match Kind::of(&head) {
            Some(Kind::Pdb) => pdb::Pdb::read(file, None)?.table(&name).map(FileNames::new),
            Some(Kind::Breakpad) => SymbolFile::read(file, None)?.table(&name).map(FileNames::new),
            Some(Kind::Image) => {
                let mut image = pe::Image::read(file, None)?;
                let addresses = Addresses::Image { base: image.base(), size: image.size().into() };
                let pdb = image.pdbs().iter().find(|pdb| !pdb.portable).map(|pdb| pdb.id.clone());
                let wanted =
                    pdb.as_ref().map(|pdb| Image { name: name.clone(), pdb: Some(pdb.clone()), ..Image::default() });
                if let Some(table) = wanted.and_then(resolve) {
                    return Ok(FileNames { table, note: None, addresses });
                }
                let note = match pdb {
                    Some(pdb) => format!("{} {} was not found: what the image exports is all", pdb.name, pdb.digits()),
                    None => "the image names no PDB: what it exports is all".to_owned(),
                };
                Ok(FileNames { table: image.exports(&name)?, note: Some(note), addresses })
            }
            Some(Kind::Elf) => {
                let build_id = elf::build_id(&file)?;
                let at = std::path::absolute(path)?.to_str().map(str::to_owned);
                let wanted = build_id.map(|id| Image { name, path: at, build_id: Some(id), ..Image::default() });
                let table = match wanted.and_then(resolve) {
                    Some(table) => table,
                    None => elf::read(&file, elf::Companions::default(), None)?,
                };
                Ok(FileNames { table, note: None, addresses: Addresses::Elf(elf::Places::read(&file)?) })
            }
            Some(Kind::PortablePdb) => Err(Error::OtherFormat(
                "a file with addresses; portable PDBs know lines of IL, and names stand in the image",
            )),
            None => Err(Error::OtherFormat("an image, a PDB, an ELF or a Breakpad file")),
        }
    }
}
