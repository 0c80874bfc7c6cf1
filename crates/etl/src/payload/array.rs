//! Arrays as they stand in payloads: borrowed bytes, decoded element by element.

use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

/// Pointer-sized integers in a row: the frames of a stack, affinity masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Addresses<'a> {
    /// A multiple of the pointer size.
    bytes: &'a [u8],
    pointer_size: u8,
}

impl<'a> Addresses<'a> {
    /// The whole addresses in `bytes`; `pointer_size` is 4, or 8 for anything else.
    pub fn new(bytes: &'a [u8], pointer_size: u8) -> Self {
        let pointer_size = if pointer_size == 4 { 4 } else { 8 };
        let whole = bytes.len() - bytes.len() % usize::from(pointer_size);
        Self { bytes: &bytes[..whole], pointer_size }
    }

    /// Number of addresses.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len() / usize::from(self.pointer_size)
    }

    /// Are there none?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes as stored: equal bytes of equal pointer size are equal addresses, which is all that an interner needs.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes per address, 4 or 8.
    #[inline]
    pub fn pointer_size(&self) -> u8 {
        self.pointer_size
    }

    /// The address at a position.
    pub fn get(&self, index: usize) -> Option<u64> {
        self.iter().nth(index)
    }

    /// The last address: of a stack, the one nearest its root.
    #[inline]
    pub fn last(&self) -> Option<u64> {
        self.iter().next_back()
    }

    /// The addresses.
    #[inline]
    pub fn iter(&self) -> AddressesIter<'a> {
        AddressesIter { bytes: self.bytes, pointer_size: self.pointer_size }
    }
}

impl fmt::Debug for Addresses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        for address in self {
            list.entry(&format_args!("{address:#x}"));
        }
        list.finish()
    }
}

impl<'a> IntoIterator for &Addresses<'a> {
    type Item = u64;
    type IntoIter = AddressesIter<'a>;

    #[inline]
    fn into_iter(self) -> AddressesIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for Addresses<'a> {
    type Item = u64;
    type IntoIter = AddressesIter<'a>;

    #[inline]
    fn into_iter(self) -> AddressesIter<'a> {
        self.iter()
    }
}

/// Iterator over [`Addresses`].
#[derive(Clone, Debug)]
pub struct AddressesIter<'a> {
    bytes: &'a [u8],
    pointer_size: u8,
}

impl Iterator for AddressesIter<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.pointer_size == 4 {
            let (address, rest) = self.bytes.split_first_chunk::<4>()?;
            self.bytes = rest;
            Some(u64::from(u32::from_le_bytes(*address)))
        } else {
            let (address, rest) = self.bytes.split_first_chunk::<8>()?;
            self.bytes = rest;
            Some(u64::from_le_bytes(*address))
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let length = self.bytes.len() / usize::from(self.pointer_size);
        (length, Some(length))
    }

    #[inline]
    fn nth(&mut self, index: usize) -> Option<u64> {
        let skipped = index.saturating_mul(usize::from(self.pointer_size));
        self.bytes = self.bytes.get(skipped..).unwrap_or_default();
        self.next()
    }
}

impl DoubleEndedIterator for AddressesIter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<u64> {
        if self.pointer_size == 4 {
            let (rest, address) = self.bytes.split_last_chunk::<4>()?;
            self.bytes = rest;
            Some(u64::from(u32::from_le_bytes(*address)))
        } else {
            let (rest, address) = self.bytes.split_last_chunk::<8>()?;
            self.bytes = rest;
            Some(u64::from_le_bytes(*address))
        }
    }
}

impl ExactSizeIterator for AddressesIter<'_> {}
impl FusedIterator for AddressesIter<'_> {}

/// An element of fixed size.
pub trait Item: Sized {
    /// Size in the payload, bytes. Not 0.
    const SIZE: usize;

    /// Decodes one element from exactly `SIZE` bytes; `None` for fewer.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

impl Item for u32 {
    const SIZE: usize = 4;

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(|bytes| Self::from_le_bytes(*bytes))
    }
}

impl Item for u64 {
    const SIZE: usize = 8;

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(|bytes| Self::from_le_bytes(*bytes))
    }
}

/// Elements of fixed size in a row.
pub struct Items<'a, T> {
    bytes: &'a [u8],
    item: PhantomData<T>,
}

impl<'a, T: Item> Items<'a, T> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, item: PhantomData }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / T::SIZE
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The elements.
    pub fn iter(&self) -> ItemsIter<'a, T> {
        ItemsIter { chunks: self.bytes.chunks_exact(T::SIZE), item: PhantomData }
    }
}

// Not derived: a derive would ask the same of `T`, of which there is none inside.
impl<T> Clone for Items<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Items<'_, T> {}

impl<T> PartialEq for Items<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<T> Eq for Items<'_, T> {}

impl<T: Item + fmt::Debug> fmt::Debug for Items<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Item> IntoIterator for &Items<'a, T> {
    type Item = T;
    type IntoIter = ItemsIter<'a, T>;

    fn into_iter(self) -> ItemsIter<'a, T> {
        self.iter()
    }
}

/// Iterator over [`Items`].
#[derive(Clone, Debug)]
pub struct ItemsIter<'a, T> {
    chunks: std::slice::ChunksExact<'a, u8>,
    item: PhantomData<T>,
}

impl<T: Item> Iterator for ItemsIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.chunks.next().and_then(T::decode)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.chunks.size_hint()
    }
}

impl<T: Item> ExactSizeIterator for ItemsIter<'_, T> {}
impl<T: Item> FusedIterator for ItemsIter<'_, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_sizes() {
        let bytes: Vec<u8> = (1..=17).collect();
        let narrow = Addresses::new(&bytes, 4);
        assert_eq!(narrow.iter().collect::<Vec<_>>(), [0x0403_0201, 0x0807_0605, 0x0C0B_0A09, 0x100F_0E0D]);
        let wide = Addresses::new(&bytes, 8);
        assert_eq!(wide.len(), 2);
        assert_eq!(wide.iter().rev().collect::<Vec<_>>(), [0x100F_0E0D_0C0B_0A09, 0x0807_0605_0403_0201]);
        assert_eq!((wide.get(1), wide.get(2), wide.get(usize::MAX)), (Some(0x100F_0E0D_0C0B_0A09), None, None));
        assert_eq!(wide.last(), wide.get(1));
        assert_eq!(format!("{narrow:?}"), "[0x4030201, 0x8070605, 0xc0b0a09, 0x100f0e0d]");
    }
}
