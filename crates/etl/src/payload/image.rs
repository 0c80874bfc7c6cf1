//! Class Image: which image files are mapped where.

use super::pointer_size::parse_either;
use super::reader::Reader;
use super::text::WideStr;
use super::{Payload, PayloadError};

/// Image 2 (unload), 3 and 4 (rundown at start and end of the session), 10 (load, also written with the hook of class
/// Process); versions 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    /// Address at which it is mapped.
    pub base: u64,
    /// Size of the mapping, bytes.
    pub size: u64,
    /// The process, 0 for kernel modules in rundown, 4 for drivers loaded during the session. From version 1 on; before, it is
    /// that of the header.
    pub process_id: Option<u32>,
    /// Checksum of the PE header. From version 2 on.
    pub checksum: Option<u32>,
    /// Time stamp of the PE header: with the size the identity of the image. From version 2 on.
    pub time_date_stamp: Option<u32>,
    /// How well the image is signed. From version 3 on.
    pub signature_level: Option<u8>,
    /// Kind of the signature. From version 3 on.
    pub signature_type: Option<u8>,
    /// Nothing known; 0 before version 3.
    pub reserved0: u16,
    /// Preferred address. From version 2 on.
    pub default_base: Option<u64>,
    /// Nothing known; 0 before version 2.
    pub reserved: [u32; 4],
    /// Path as the kernel knows it (`\Device\HarddiskVolume3\…`, `\SystemRoot\…`), or a bare file name.
    pub file_name: WideStr<'a>,
}

/// Images are mapped in whole pages.
const PAGE_SIZE: u64 = 0x1000;

impl<'a> Image<'a> {
    /// Opcode: the image is unmapped.
    pub const UNLOAD: u8 = 2;
    /// Opcode: the image is mapped when the session starts.
    pub const DC_START: u8 = 3;
    /// Opcode: the image is mapped when the session ends.
    pub const DC_END: u8 = 4;
    /// Opcode: the image is mapped.
    pub const LOAD: u8 = 10;

    /// Decodes a payload whose FULL header may state the wrong pointer size: where a reading with 4-byte pointers does
    /// not end exactly at the payload's end and one with 8-byte pointers does, that is taken.
    ///
    /// Every reading of version 0 ends in a string and so at the end; there the size must also be one of whole pages.
    ///
    /// # Errors
    /// As [`Payload::parse`].
    pub fn parse_either(payload: &'a [u8], version: u8, pointer_size: u8) -> Result<Self, PayloadError> {
        parse_either(payload, version, pointer_size, |image: &Self| {
            image.size != 0 && image.size.is_multiple_of(PAGE_SIZE)
        })
    }
}

impl<'a> Payload<'a> for Image<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let mut image = Self {
            base: reader.pointer("image base")?,
            size: if version == 0 { u64::from(reader.u32("image size")?) } else { reader.pointer("image size")? },
            process_id: None,
            checksum: None,
            time_date_stamp: None,
            signature_level: None,
            signature_type: None,
            reserved0: 0,
            default_base: None,
            reserved: [0; 4],
            file_name: WideStr::default(),
        };
        if version >= 1 {
            image.process_id = Some(reader.u32("process id")?);
        }
        if version >= 2 {
            image.checksum = Some(reader.u32("image checksum")?);
            image.time_date_stamp = Some(reader.u32("image time stamp")?);
            let [level, kind, low, high] = *reader.block("image signature")?;
            if version >= 3 {
                image.signature_level = Some(level);
                image.signature_type = Some(kind);
                image.reserved0 = u16::from_le_bytes([low, high]);
            }
            image.default_base = Some(reader.pointer("preferred image base")?);
            for reserved in &mut image.reserved {
                *reserved = reader.u32("reserved field")?;
            }
        }
        image.file_name = reader.wide("image file name")?;
        Ok(image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version_0(base: &[u8]) -> Vec<u8> {
        let mut payload = base.to_vec();
        payload.extend(0x0012_7000_u32.to_le_bytes());
        payload.extend(r"C:\ntdll.dll".encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        payload
    }

    #[test]
    fn version_0_with_the_wrong_pointer_size_is_told_by_its_size() {
        for base in [0x0000_0000_76E1_0000_u64, 0x0000_07FE_F000_0000, 0xFFFF_F800_0160_0000] {
            let payload = version_0(&base.to_le_bytes());
            let image = Image::parse_either(&payload, 0, 4).unwrap();
            assert_eq!((image.base, image.size), (base, 0x0012_7000));
            assert_eq!(image.file_name, r"C:\ntdll.dll");
        }
        let payload = version_0(&0x76E1_0000_u32.to_le_bytes());
        let image = Image::parse_either(&payload, 0, 4).unwrap();
        assert_eq!((image.base, image.process_id), (0x76E1_0000, None));
        assert_eq!(image.file_name, r"C:\ntdll.dll");
    }
}
