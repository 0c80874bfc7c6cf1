//! Addresses of a binary as its linker gave them, beside the offsets in the file that tables have.

use std::fmt::Debug;
use std::io::{Read, Seek};

use super::code::Code;
use super::file::ElfFile;
use crate::Error;

/// Where the code of a binary lies.
#[derive(Clone, Debug, Default)]
pub struct Places {
    code: Code,
    /// Offsets at which the symbols of functions begin, in order.
    starts: Vec<u64>,
}

impl Places {
    /// Of the binary, or of a file with debug information that was split from it.
    ///
    /// # Errors
    /// It cannot be read, is no ELF file, or does not say where its code lies.
    pub fn read(file: impl Read + Seek + Debug) -> Result<Self, Error> {
        let mut file = ElfFile::open(file)?;
        let code = Code::new(&file.segments, &file.sections).ok_or_else(|| {
            Error::Malformed("it does not say where the code lies in the binary that it was split from".to_owned())
        })?;
        // They only make exact what the table of names says of a function's begin.
        let symbols = super::symbols(&mut file, None).unwrap_or_default();
        let functions = symbols.iter().flat_map(|symbols| &symbols.symbols).filter(|symbol| !symbol.is_label);
        let mut starts: Vec<u64> = functions.filter_map(|symbol| offset(&code, symbol.address)).collect();
        starts.sort_unstable();
        starts.dedup();
        Ok(Self { code, starts })
    }

    /// The offset in the file of the code at an address, as `nm`, `objdump` and `addr2line` have it; `None` where there is no code.
    #[must_use]
    pub fn offset(&self, address: u64) -> Option<u64> {
        offset(&self.code, address)
    }

    /// Where the last function begins that begins at or below an offset in the file.
    #[must_use]
    pub fn start(&self, offset: u64) -> Option<u64> {
        let after = self.starts.partition_point(|start| *start <= offset);
        after.checked_sub(1).map(|last| self.starts[last])
    }
}

fn offset(code: &Code, address: u64) -> Option<u64> {
    code.offsets(address, address.checked_add(1)?).map(|(offset, _)| offset)
}
