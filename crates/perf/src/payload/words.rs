//! Lists of 64-bit words that stay where they stand in the record.

use linux_perf_event_reader::Endianness;

/// Words of a record: addresses of a call chain, values of registers.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    words: &'a [[u8; 8]],
    endian: Endianness,
}

impl<'a> Words<'a> {
    pub(crate) fn new(bytes: &'a [u8], endian: Endianness) -> Self {
        Self { words: bytes.as_chunks().0, endian }
    }

    pub(crate) fn endian(&self) -> Endianness {
        self.endian
    }

    /// The bytes of some of them.
    pub(crate) fn bytes(&self, from: usize, count: usize) -> Option<&'a [u8]> {
        self.words.get(from..from.checked_add(count)?).map(<[_]>::as_flattened)
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// One of them.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<u64> {
        let bytes = *self.words.get(index)?;
        Some(match self.endian {
            Endianness::LittleEndian => u64::from_le_bytes(bytes),
            Endianness::BigEndian => u64::from_be_bytes(bytes),
        })
    }

    /// All, in the order of the record.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + Clone + use<'a> {
        let endian = self.endian;
        self.words.iter().map(move |&bytes| match endian {
            Endianness::LittleEndian => u64::from_le_bytes(bytes),
            Endianness::BigEndian => u64::from_be_bytes(bytes),
        })
    }
}
