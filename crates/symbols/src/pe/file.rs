//! An image's bytes by their place in the file and in memory.

use std::io::{Read, Seek, SeekFrom};

use crate::Error;
use crate::fields::Fields;

/// A section: where in the file lies what is at which address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    /// First address, relative to the image.
    pub(super) rva: u32,
    /// Bytes in memory.
    pub(super) size: u32,
    pub(super) raw_offset: u32,
    pub(super) raw_size: u32,
    /// Whether it holds code.
    pub(super) executable: bool,
}

impl Section {
    /// From a section header of 40 bytes.
    pub(super) fn read(header: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(header);
        fields.skip(8)?;
        let (size, rva, raw_size, raw_offset) = (fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?);
        fields.skip(12)?;
        let flags = fields.u32()?;
        // IMAGE_SCN_CNT_CODE, IMAGE_SCN_MEM_EXECUTE. Linkers of old left the size in memory out.
        let executable = flags & 0x2000_0020 != 0;
        Some(Self { rva, size: if size == 0 { raw_size } else { size }, raw_offset, raw_size, executable })
    }

    pub(super) fn holds(&self, rva: u32) -> bool {
        rva.checked_sub(self.rva).is_some_and(|offset| offset < self.size)
    }
}

/// A file that is read at places, never beyond its end.
#[derive(Debug)]
pub(super) struct File<R> {
    file: R,
    length: u64,
    pub(super) sections: Vec<Section>,
}

impl<R: Read + Seek> File<R> {
    pub(super) fn new(mut file: R) -> Result<Self, Error> {
        let length = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, length, sections: Vec::new() })
    }

    /// All of `count` bytes at an offset.
    pub(super) fn bytes(&mut self, offset: u64, count: usize) -> Result<Vec<u8>, Error> {
        let left = self.length.saturating_sub(offset);
        if u64::try_from(count).map_or(true, |count| count > left) {
            return Err(Error::Malformed(format!("{count} bytes at {offset:#x} reach beyond the end")));
        }
        let mut bytes = vec![0; count];
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// As much of `count` bytes at an offset as there is.
    pub(super) fn head(&mut self, offset: u64, count: usize) -> Result<Vec<u8>, Error> {
        let left = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        self.bytes(offset.min(self.length), count.min(left))
    }

    /// Where in the file an address lies, and how many bytes of its section follow there.
    pub(super) fn place(&self, rva: u32) -> Option<(u64, usize)> {
        self.sections.iter().find_map(|section| {
            let offset = rva.checked_sub(section.rva)?;
            let left = section.raw_size.checked_sub(offset).filter(|left| *left > 0)?;
            Some((u64::from(section.raw_offset) + u64::from(offset), usize::try_from(left).ok()?))
        })
    }

    /// As much of `count` bytes at an address as its section has in the file.
    pub(super) fn at(&mut self, rva: u32, count: usize) -> Result<Vec<u8>, Error> {
        let place = self.place(rva);
        let (offset, left) = place.ok_or_else(|| Error::Malformed(format!("no section holds {rva:#x}")))?;
        self.head(offset, count.min(left))
    }
}
