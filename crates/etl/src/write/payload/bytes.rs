//! The byte builder that payloads are written with.

use crate::guid::Guid;
use crate::write::PointerSize;

/// Grows a payload field by field, packed and little-endian.
#[derive(Clone, Debug, Default)]
pub struct Bytes {
    bytes: Vec<u8>,
    pointer_size: PointerSize,
}

impl Bytes {
    /// An empty payload whose pointers have `pointer_size`.
    #[must_use]
    pub fn new(pointer_size: PointerSize) -> Self {
        Self { bytes: Vec::new(), pointer_size }
    }

    /// Bytes of a pointer.
    #[must_use]
    pub fn pointer_size(&self) -> PointerSize {
        self.pointer_size
    }

    /// The payload so far.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// The payload.
    #[must_use]
    pub fn into_vec(self) -> Vec<u8> {
        self.bytes
    }

    /// Starts anew and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// So many zero bytes.
    pub fn zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    /// Zero bytes up to `length` bytes in all.
    pub fn pad_to(&mut self, length: usize) {
        self.bytes.resize(length.max(self.bytes.len()), 0);
    }

    /// 8 bits.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// 16 bits.
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// 32 bits.
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// 32 bits, signed.
    pub fn i32(&mut self, value: i32) {
        self.bytes(&value.to_le_bytes());
    }

    /// 64 bits.
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// 64 bits, signed.
    pub fn i64(&mut self, value: i64) {
        self.bytes(&value.to_le_bytes());
    }

    /// An address or size in pointer size; the upper half is cut where pointers have 4 bytes.
    pub fn pointer(&mut self, value: u64) {
        let bytes = value.to_le_bytes();
        self.bytes(&bytes[..self.pointer_size.bytes()]);
    }

    /// 16 bytes.
    pub fn guid(&mut self, guid: Guid) {
        self.bytes(&guid.to_bytes());
    }

    /// NUL-terminated UTF-16.
    pub fn utf16(&mut self, text: &str) {
        for unit in text.encode_utf16() {
            self.u16(unit);
        }
        self.u16(0);
    }

    /// UTF-16 in a field of `units` code units, filled with NUL; what does not fit beside one NUL is cut.
    pub fn fixed_utf16(&mut self, text: &str, units: usize) {
        let end = self.bytes.len() + 2 * units;
        for unit in text.encode_utf16().take(units.saturating_sub(1)) {
            self.u16(unit);
        }
        self.pad_to(end);
    }

    /// NUL-terminated 8-bit text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.u8(0);
    }
}
