//! Little-endian fields, and records made of them.

/// Bytes of `perf_event_header`.
const HEADER: usize = 8;

/// Bytes that grow field by field.
#[derive(Debug, Default)]
pub(crate) struct Fields(pub(crate) Vec<u8>);

impl Fields {
    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn i32(&mut self, value: i32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u64s(&mut self, values: &[u64]) -> &mut Self {
        values.iter().for_each(|value| {
            self.u64(*value);
        });
        self
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// A text in a field of `length` bytes: cut so that a NUL is left.
    pub(crate) fn text(&mut self, text: &str, length: usize) -> &mut Self {
        let end = self.0.len() + length;
        self.raw(text.as_bytes().get(..length.saturating_sub(1)).unwrap_or(text.as_bytes()));
        self.0.resize(end, 0);
        self
    }

    /// A text with NULs up to the next multiple of eight bytes, at least one.
    pub(crate) fn padded(&mut self, text: &str) -> &mut Self {
        self.text(text, (text.len() + 1).next_multiple_of(8))
    }

    /// `perf_header_string`: a length that includes the padding, then the text.
    pub(crate) fn header_string(&mut self, text: &str) -> &mut Self {
        let length = (text.len() + 1).next_multiple_of(64);
        self.u32(length as u32).text(text, length)
    }

    /// A record: its header, and the fields that `body` adds. One that is too long for its size field keeps what fits.
    pub(crate) fn record(&mut self, kind: u32, misc: u16, body: impl FnOnce(&mut Self)) -> &mut Self {
        let start = self.0.len();
        self.u32(kind).u16(misc).u16(0);
        body(self);
        self.0.truncate(start + usize::from(u16::MAX));
        let size = (self.0.len() - start) as u16;
        if let Some(place) = self.0.get_mut(start + HEADER - 2..start + HEADER) {
            place.copy_from_slice(&size.to_le_bytes());
        }
        self
    }
}
