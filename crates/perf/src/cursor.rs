//! Reads numbers and texts of either byte order from a slice, never beyond its end.

use linux_perf_event_reader::Endianness;

use crate::error::Malformed;

/// A position in bytes of a recording.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    endian: Endianness,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], endian: Endianness) -> Self {
        Self { bytes, endian }
    }

    pub(crate) fn endian(&self) -> Endianness {
        self.endian
    }

    /// What was not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    #[inline]
    pub(crate) fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Malformed { missing: what })?;
        self.bytes = rest;
        Ok(taken)
    }

    /// As [`Self::take`] with a length that comes from the recording.
    pub(crate) fn take_u64(&mut self, count: u64, what: &'static str) -> Result<&'a [u8], Malformed> {
        self.take(usize::try_from(count).map_err(|_| Malformed { missing: what })?, what)
    }

    #[inline]
    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or(Malformed { missing: what })?;
        self.bytes = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, Malformed> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, Malformed> {
        let bytes = self.array(what)?;
        Ok(match self.endian {
            Endianness::LittleEndian => u16::from_le_bytes(bytes),
            Endianness::BigEndian => u16::from_be_bytes(bytes),
        })
    }

    #[inline]
    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        let bytes = self.array(what)?;
        Ok(match self.endian {
            Endianness::LittleEndian => u32::from_le_bytes(bytes),
            Endianness::BigEndian => u32::from_be_bytes(bytes),
        })
    }

    #[inline]
    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, Malformed> {
        let bytes = self.array(what)?;
        Ok(match self.endian {
            Endianness::LittleEndian => u64::from_le_bytes(bytes),
            Endianness::BigEndian => u64::from_be_bytes(bytes),
        })
    }

    /// Process and thread ids are signed: the kernel's own mappings belong to process −1.
    #[inline]
    pub(crate) fn i32(&mut self, what: &'static str) -> Result<i32, Malformed> {
        self.u32(what).map(u32::cast_signed)
    }

    /// A text that ends at its NUL, or with the bytes.
    pub(crate) fn c_str(&mut self) -> &'a [u8] {
        let text = until_nul(self.bytes);
        self.bytes = self.bytes.get(text.len() + 1..).unwrap_or_default();
        text
    }

    /// `perf_header_string`: a length that includes the padding, then the text.
    pub(crate) fn header_string(&mut self, what: &'static str) -> Result<&'a [u8], Malformed> {
        let length = self.u32(what)?;
        Ok(until_nul(self.take_u64(length.into(), what)?))
    }
}

/// The bytes before the first NUL, or all.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or_default()
}

/// Text of the recorder, for people: what is no UTF-8 is replaced.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
