//! Functions that a library gives to programs.

use std::fmt::Debug;
use std::io::{Read, Seek};

use super::code::Code;
use super::file::ElfFile;
use super::symbols::Symbols;
use crate::Error;

/// Offsets in the file at which functions begin that a library gives to programs, in the order of `names`; `None` for a name that it
/// does not have.
///
/// # Errors
/// The file cannot be read, or is no ELF file.
pub fn exported<const N: usize>(file: impl Read + Seek + Debug, names: [&str; N]) -> Result<[Option<u64>; N], Error> {
    let mut file = ElfFile::open(file)?;
    let symbols = Symbols::read(&mut file, &[".dynsym"])?;
    let Some(code) = Code::new(&file.segments, &file.sections) else { return Ok([None; N]) };
    Ok(names.map(|name| {
        let functions = symbols.symbols.iter().filter(|symbol| !symbol.is_label);
        let found = functions.filter(|symbol| symbols.name(symbol) == name.as_bytes());
        let address = found.map(|symbol| symbol.address).next()?;
        code.offsets(address, address.checked_add(1)?).map(|(offset, _)| offset)
    }))
}
