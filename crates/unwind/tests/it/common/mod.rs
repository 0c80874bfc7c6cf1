//! ELF files and stacks, written byte by byte.

#![allow(dead_code, reason = "each test uses another part")]

use tracesift_unwind::{Elf, Image, ImageAt, ImageError, Missing, Space};

/// Where the sections lie in the file, which is mapped as it is.
const EH_FRAME: usize = 0x1000;

/// Call frame information: a common entry and entries that refer to it.
#[derive(Debug, Default)]
pub(crate) struct EhFrame {
    bytes: Vec<u8>,
}

impl EhFrame {
    /// Begins with a common entry: `augmentation` and its data, and the first instructions.
    pub(crate) fn new(augmentation: &[u8], data: &[u8], return_address: u8, instructions: &[u8]) -> Self {
        let mut content = vec![1];
        content.extend(augmentation);
        // Code and data alignment 1 and -8.
        content.extend([0, 1, 0x78, return_address]);
        if augmentation.starts_with(b"z") {
            content.push(u8::try_from(data.len()).unwrap());
        }
        content.extend(data);
        content.extend(instructions);
        let mut frames = Self::default();
        frames.entry(0, &content);
        frames
    }

    fn entry(&mut self, id: u32, content: &[u8]) {
        let mut content = content.to_vec();
        while !(content.len() + 4).is_multiple_of(8) {
            content.push(0);
        }
        self.bytes.extend(u32::try_from(content.len() + 4).unwrap().to_le_bytes());
        self.bytes.extend(id.to_le_bytes());
        self.bytes.extend(content);
    }

    /// An entry for a function, with absolute addresses. `augmented`: the common entry's augmentation begins with `z`.
    pub(crate) fn function(mut self, start: u64, length: u64, augmented: bool, instructions: &[u8]) -> Self {
        let id = u32::try_from(self.bytes.len() + 4).unwrap();
        let mut content = [start.to_le_bytes(), length.to_le_bytes()].concat();
        if augmented {
            content.push(0);
        }
        content.extend(instructions);
        self.entry(id, &content);
        self
    }

    pub(crate) fn bytes(mut self) -> Vec<u8> {
        self.bytes.extend([0; 4]);
        self.bytes
    }
}

/// An ELF file for a `machine` (`EM_*`) with one executable segment from 0 on and a section of the given name.
pub(crate) fn elf(machine: u16, section: &str, content: &[u8]) -> Vec<u8> {
    let mut names = vec![0];
    names.extend(section.as_bytes());
    let strings_name = names.len() + 1;
    names.extend(b"\0.shstrtab\0");
    let names_at = EH_FRAME + content.len();
    let headers_at = (names_at + names.len()).next_multiple_of(8);
    let note: Vec<u8> = [&[4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0][..], b"GNU\0", &[0xde, 0xad, 0xbe, 0xef]].concat();
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    let word = |value: usize| (value as u64).to_le_bytes();
    for half in [3, machine] {
        file.extend(half.to_le_bytes());
    }
    file.extend(1_u32.to_le_bytes());
    file.extend([word(0), word(64), word(headers_at)].concat());
    file.extend(0_u32.to_le_bytes());
    for half in [64_u16, 56, 2, 64, 3, 2] {
        file.extend(half.to_le_bytes());
    }
    let mut segment = |kind: u32, flags: u32, offset: usize, size: usize| {
        file.extend([kind.to_le_bytes(), flags.to_le_bytes()].concat());
        file.extend([word(offset), word(offset), word(offset), word(size), word(size), word(4)].concat());
    };
    segment(1, 5, 0, 1 << 20);
    segment(4, 4, 0x200, note.len());
    file.resize(0x200, 0);
    file.extend(&note);
    file.resize(EH_FRAME, 0);
    file.extend(content);
    file.extend(&names);
    file.resize(headers_at + 64, 0);
    let mut header = |name: usize, kind: u32, address: usize, offset: usize, size: usize| {
        file.extend([u32::try_from(name).unwrap().to_le_bytes(), kind.to_le_bytes()].concat());
        file.extend([word(0), word(address), word(offset), word(size), word(0), word(1), word(0)].concat());
    };
    header(1, 1, EH_FRAME, EH_FRAME, content.len());
    header(strings_name, 3, 0, names_at, names.len());
    file
}

/// Reads an image of such a file.
pub(crate) fn image(mut file: &[u8]) -> Result<Image, ImageError> {
    let elf = Elf::read(&mut file)?;
    Image::read(elf, &mut file, 1 << 20)
}

/// A process with one image, or an image that cannot be had.
#[derive(Debug)]
pub(crate) struct OneImage {
    pub(crate) image: Option<Image>,
    pub(crate) base: u64,
}

impl Space for OneImage {
    type Reason = &'static str;

    fn image_at(&mut self, address: u64) -> Result<ImageAt<'_>, Missing<&'static str>> {
        let offset = address.checked_sub(self.base).filter(|offset| *offset < 1 << 20).ok_or(Missing::NoImage)?;
        let image = self.image.as_ref().ok_or(Missing::Unusable("not here"))?;
        Ok(ImageAt { image, key: 0, address: image.address_of(offset).ok_or(Missing::NoImage)? })
    }
}

/// Words as they lie in memory.
pub(crate) fn memory(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
