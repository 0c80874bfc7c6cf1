//! A bounds-checked cursor over one payload.

use super::array::{Addresses, Item, Items};
use super::sid::Sid;
use super::text::{AnsiStr, WideStr, WideStrs};
use super::{Payload, PayloadError};
use crate::guid::Guid;

/// A cursor over one payload. Every method checks what is left; `what` names the field in the error. After an error the
/// position is that of some field of what was to be read.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    payload: &'a [u8],
    offset: usize,
    /// End of what may be read. Lies before the payload's end once an optional field was found cut off.
    limit: usize,
    pointer_size: u8,
}

impl<'a> Reader<'a> {
    /// A reader at the start of a payload. `pointer_size` is that of the record: 4, or 8 for anything else.
    #[inline]
    pub fn new(payload: &'a [u8], pointer_size: u8) -> Self {
        let pointer_size = if pointer_size == 4 { 4 } else { 8 };
        Self { payload, offset: 0, limit: payload.len(), pointer_size }
    }

    /// Offset of the next field.
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Pointer size of the record, 4 or 8.
    #[inline]
    pub fn pointer_size(&self) -> u8 {
        self.pointer_size
    }

    /// Bytes that can still be read.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.limit - self.offset
    }

    /// The bytes behind the last field that was read.
    #[inline]
    pub fn unread(&self) -> &'a [u8] {
        &self.payload[self.offset..]
    }

    /// Everything that is left.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.payload[self.offset..self.limit];
        self.offset = self.limit;
        rest
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// Fewer are left.
    #[inline]
    pub fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], PayloadError> {
        if count > self.remaining() {
            return Err(PayloadError::truncated(what, self.offset, count, self.remaining()));
        }
        let bytes = &self.payload[self.offset..self.offset + count];
        self.offset += count;
        Ok(bytes)
    }

    /// The next `N` bytes as an array: one check for several fields at fixed places.
    ///
    /// # Errors
    /// Fewer are left.
    #[inline]
    pub fn block<const N: usize>(&mut self, what: &'static str) -> Result<&'a [u8; N], PayloadError> {
        match self.payload[self.offset..self.limit].first_chunk::<N>() {
            Some(block) => {
                self.offset += N;
                Ok(block)
            }
            None => Err(PayloadError::truncated(what, self.offset, N, self.remaining())),
        }
    }

    /// Passes over `count` bytes that carry nothing.
    ///
    /// # Errors
    /// Fewer are left.
    #[inline]
    pub fn skip(&mut self, count: usize, what: &'static str) -> Result<(), PayloadError> {
        self.bytes(count, what).map(|_| ())
    }

    /// A trailing field that some writers do not write: `None` when it does not fit. What is left then is a cut field,
    /// so that nothing behind it is read either.
    #[inline]
    pub fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, PayloadError>) -> Option<T> {
        let start = self.offset;
        match read(self) {
            Ok(value) => Some(value),
            Err(_) => {
                self.offset = start;
                self.limit = start;
                None
            }
        }
    }

    /// Another payload structure that is stored inline.
    ///
    /// # Errors
    /// Those of the structure.
    #[inline]
    pub fn nested<T: Payload<'a>>(&mut self, version: u8) -> Result<T, PayloadError> {
        T::read(self, version)
    }

    /// An unsigned 8-bit integer.
    ///
    /// # Errors
    /// The payload ends before it.
    #[inline]
    pub fn u8(&mut self, what: &'static str) -> Result<u8, PayloadError> {
        self.block::<1>(what).map(|bytes| bytes[0])
    }

    /// A signed 8-bit integer.
    ///
    /// # Errors
    /// The payload ends before it.
    #[inline]
    pub fn i8(&mut self, what: &'static str) -> Result<i8, PayloadError> {
        self.block(what).map(|bytes| i8::from_le_bytes(*bytes))
    }

    /// An unsigned 16-bit integer.
    ///
    /// # Errors
    /// The payload ends before it.
    #[inline]
    pub fn u16(&mut self, what: &'static str) -> Result<u16, PayloadError> {
        self.block(what).map(|bytes| u16::from_le_bytes(*bytes))
    }

    /// An unsigned 32-bit integer.
    ///
    /// # Errors
    /// The payload ends before it.
    #[inline]
    pub fn u32(&mut self, what: &'static str) -> Result<u32, PayloadError> {
        self.block(what).map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// A signed 32-bit integer.
    ///
    /// # Errors
    /// The payload ends before it.
    #[inline]
    pub fn i32(&mut self, what: &'static str) -> Result<i32, PayloadError> {
        self.block(what).map(|bytes| i32::from_le_bytes(*bytes))
    }

    /// An unsigned 64-bit integer.
    ///
    /// # Errors
    /// The payload ends before it.
    #[inline]
    pub fn u64(&mut self, what: &'static str) -> Result<u64, PayloadError> {
        self.block(what).map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// A signed 64-bit integer.
    ///
    /// # Errors
    /// The payload ends before it.
    #[inline]
    pub fn i64(&mut self, what: &'static str) -> Result<i64, PayloadError> {
        self.block(what).map(|bytes| i64::from_le_bytes(*bytes))
    }

    /// A 64-bit floating-point number.
    ///
    /// # Errors
    /// The payload ends before it.
    #[inline]
    pub fn f64(&mut self, what: &'static str) -> Result<f64, PayloadError> {
        self.block(what).map(|bytes| f64::from_le_bytes(*bytes))
    }

    /// An unsigned integer of the record's pointer size.
    ///
    /// # Errors
    /// The payload ends before it.
    #[inline]
    pub fn pointer(&mut self, what: &'static str) -> Result<u64, PayloadError> {
        if self.pointer_size == 4 { self.u32(what).map(u64::from) } else { self.u64(what) }
    }

    /// A GUID.
    ///
    /// # Errors
    /// The payload ends before it.
    #[inline]
    pub fn guid(&mut self, what: &'static str) -> Result<Guid, PayloadError> {
        self.block::<16>(what).map(|bytes| Guid::from_bytes(*bytes))
    }

    /// A UTF-16 string that ends at a NUL, which is consumed, or at the payload's end.
    ///
    /// # Errors
    /// Nothing is left.
    pub fn wide(&mut self, what: &'static str) -> Result<WideStr<'a>, PayloadError> {
        let left = &self.payload[self.offset..self.limit];
        if left.is_empty() {
            return Err(PayloadError::truncated(what, self.offset, 2, 0));
        }
        let text = WideStr::until_nul(left);
        let consumed = text.as_bytes().len() + 2;
        self.offset = if consumed > left.len() { self.limit } else { self.offset + consumed };
        Ok(text)
    }

    /// A UTF-16 string in a field of `units` 16-bit units; it ends at a NUL or at the field's end.
    ///
    /// # Errors
    /// The payload ends before the field does.
    pub fn fixed_wide(&mut self, units: usize, what: &'static str) -> Result<WideStr<'a>, PayloadError> {
        self.bytes(units.saturating_mul(2), what).map(WideStr::until_nul)
    }

    /// An 8-bit string that ends at a NUL, which is consumed, or at the payload's end.
    ///
    /// # Errors
    /// Nothing is left.
    pub fn ansi(&mut self, what: &'static str) -> Result<AnsiStr<'a>, PayloadError> {
        let left = &self.payload[self.offset..self.limit];
        if left.is_empty() {
            return Err(PayloadError::truncated(what, self.offset, 1, 0));
        }
        let text = AnsiStr::until_nul(left);
        let consumed = text.as_bytes().len() + 1;
        self.offset = if consumed > left.len() { self.limit } else { self.offset + consumed };
        Ok(text)
    }

    /// `count` UTF-16 strings in a row.
    ///
    /// # Errors
    /// The payload ends before the last of them starts.
    pub fn wide_strings(&mut self, count: u32, what: &'static str) -> Result<WideStrs<'a>, PayloadError> {
        let start = self.offset;
        for _ in 0..count {
            // Each string takes at least one byte, so the loop ends with the payload whatever the count claims.
            self.wide(what)?;
        }
        Ok(WideStrs::new(&self.payload[start..self.offset], count))
    }

    /// `count` items of fixed size in a row.
    ///
    /// # Errors
    /// The payload ends before the last of them does.
    pub fn items<T: Item>(&mut self, count: u32, what: &'static str) -> Result<Items<'a, T>, PayloadError> {
        let size = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(T::SIZE);
        self.bytes(size, what).map(Items::new)
    }

    /// `count` pointer-sized integers in a row.
    ///
    /// # Errors
    /// The payload ends before the last of them does.
    pub fn addresses(&mut self, count: u32, what: &'static str) -> Result<Addresses<'a>, PayloadError> {
        let size = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(usize::from(self.pointer_size));
        self.bytes(size, what).map(|bytes| Addresses::new(bytes, self.pointer_size))
    }

    /// As many pointer-sized integers as are left; up to seven bytes behind the last whole one stay unread.
    pub fn remaining_addresses(&mut self) -> Addresses<'a> {
        let left = &self.payload[self.offset..self.limit];
        let whole = left.len() - left.len() % usize::from(self.pointer_size);
        self.offset += whole;
        Addresses::new(&left[..whole], self.pointer_size)
    }

    /// A security identifier as kernel payloads embed it: behind the image of a TOKEN_USER structure, or a zero when
    /// there is none.
    ///
    /// A leading zero means "none" and takes four bytes. Writers exist that put a zeroed TOKEN_USER before a real
    /// identifier; that is recognised by what stands behind it, where a payload without identifier has printable text.
    ///
    /// # Errors
    /// The payload ends inside it, or it is none.
    pub fn embedded_sid(&mut self, what: &'static str) -> Result<Option<Sid<'a>>, PayloadError> {
        let token_user_size = 2 * usize::from(self.pointer_size);
        let start = self.offset;
        if self.u32(what)? == 0 {
            let behind = self.payload[start..self.limit].get(token_user_size..);
            if !behind.is_some_and(Sid::is_likely_at) {
                return Ok(None);
            }
        }
        self.offset = start;
        self.skip(token_user_size, what)?;
        self.sid(what).map(Some)
    }

    /// A security identifier.
    ///
    /// # Errors
    /// The payload ends inside it, or its revision or length cannot be.
    pub fn sid(&mut self, what: &'static str) -> Result<Sid<'a>, PayloadError> {
        let left = &self.payload[self.offset..self.limit];
        let Some(&[revision, sub_authorities]) = left.first_chunk::<2>() else {
            return Err(PayloadError::truncated(what, self.offset, Sid::HEADER_SIZE, left.len()));
        };
        if revision != Sid::REVISION || sub_authorities > Sid::MAX_SUB_AUTHORITIES {
            return Err(PayloadError::BadSid { offset: self.offset, revision, sub_authorities });
        }
        self.bytes(Sid::HEADER_SIZE + 4 * usize::from(sub_authorities), what).map(Sid::new)
    }
}

/// The 16-bit integer at a place of a block. Places are constants, so that the check is done by the compiler.
#[inline(always)]
pub(super) fn u16_at<const N: usize>(block: &[u8; N], at: usize) -> u16 {
    u16::from_le_bytes([block[at], block[at + 1]])
}

/// The 32-bit integer at a place of a block. See [`u16_at`].
#[inline(always)]
pub(super) fn u32_at<const N: usize>(block: &[u8; N], at: usize) -> u32 {
    u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
}

/// The 64-bit integer at a place of a block. See [`u16_at`].
#[inline(always)]
pub(super) fn u64_at<const N: usize>(block: &[u8; N], at: usize) -> u64 {
    u64::from(u32_at(block, at)) | u64::from(u32_at(block, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_the_payload_when_the_nul_is_missing() {
        let mut reader = Reader::new(b"a\0b\0", 8);
        assert_eq!(reader.wide("name").unwrap().to_string(), "ab");
        assert_eq!(reader.remaining(), 0);
        assert!(reader.wide("name").is_err());

        // Half a character at the end belongs to the string and is dropped.
        let mut reader = Reader::new(b"a\0b", 8);
        assert_eq!(reader.wide("name").unwrap().to_string(), "a");
        assert_eq!(reader.remaining(), 0);
    }

    #[test]
    fn a_cut_optional_field_hides_what_follows() {
        let mut reader = Reader::new(&[1, 2, 3], 8);
        assert_eq!(reader.optional(|r| r.u32("first")), None);
        assert_eq!(reader.optional(|r| r.u8("second")), None);
        assert_eq!(reader.unread(), &[1, 2, 3]);
    }

    #[test]
    fn counts_are_not_trusted() {
        let reader = || Reader::new(&[0; 64], 8);
        assert!(reader().items::<u64>(u32::MAX, "times").is_err());
        assert!(reader().addresses(u32::MAX, "masks").is_err());
        assert!(reader().wide_strings(u32::MAX, "names").is_err());
        assert_eq!(reader().items::<u64>(8, "times").unwrap().len(), 8);
        assert_eq!(reader().addresses(8, "masks").unwrap().len(), 8);
        assert_eq!(reader().wide_strings(32, "names").unwrap().iter().count(), 32);
    }

    #[test]
    fn embedded_sid_forms() {
        let sid = [1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
        // None: four bytes, then text.
        let mut reader = Reader::new(b"\0\0\0\0System\0 and more text\0", 8);
        assert!(reader.embedded_sid("user").unwrap().is_none());
        assert_eq!(reader.ansi("image").unwrap().to_string(), "System");
        for pointer_size in [4, 8] {
            for first in [0_u8, 0xAA] {
                let mut payload = vec![0; 2 * usize::from(pointer_size)];
                payload[0] = first;
                payload.extend(sid);
                let mut reader = Reader::new(&payload, pointer_size);
                assert_eq!(reader.embedded_sid("user").unwrap().unwrap().to_string(), "S-1-5-18");
                assert_eq!(reader.remaining(), 0);
            }
        }
        let mut reader = Reader::new(&[0xFF; 64], 8);
        assert!(matches!(reader.embedded_sid("user"), Err(PayloadError::BadSid { offset: 16, revision: 0xFF, .. })));
    }
}
