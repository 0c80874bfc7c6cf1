//! As much of Protocol Buffers as it takes to write: varints and fields with a length. The two formats here use a few dozen fields, which
//! stand beside their writers; code made from their schemas would be a hundred times as long.

/// A message while it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    bytes: Vec<u8>,
}

/// How a field is stored.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    Length = 2,
}

impl Message {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// A field with a number or an enum. Zero is written, too: some fields tell it from absence.
    pub(crate) fn number(&mut self, field: u32, value: u64) -> &mut Self {
        self.tag(field, Wire::Varint);
        self.varint(value);
        self
    }

    /// A field of type `int32` or `int64`.
    pub(crate) fn signed(&mut self, field: u32, value: i64) -> &mut Self {
        // Negative numbers have the bits of the same number in 64 bits.
        self.number(field, value as u64)
    }

    /// A field with a text.
    pub(crate) fn text(&mut self, field: u32, value: &str) -> &mut Self {
        self.with_length(field, value.as_bytes())
    }

    /// A field with a message.
    pub(crate) fn message(&mut self, field: u32, value: &Self) -> &mut Self {
        self.with_length(field, &value.bytes)
    }

    /// A repeated field of numbers, in its packed form.
    pub(crate) fn packed(&mut self, field: u32, values: impl Iterator<Item = u64> + Clone) -> &mut Self {
        self.tag(field, Wire::Length);
        self.varint(values.clone().map(varint_length).sum::<usize>() as u64);
        for value in values {
            self.varint(value);
        }
        self
    }

    fn with_length(&mut self, field: u32, value: &[u8]) -> &mut Self {
        self.tag(field, Wire::Length);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
        self
    }

    fn tag(&mut self, field: u32, wire: Wire) {
        self.varint(u64::from(field) << 3 | wire as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

/// How many bytes a number takes.
fn varint_length(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}
