//! Extended items of an event: a bounded chain between the header and the payload.

use crate::bytes::{u8_at, u16_at, u32_at, u64_at};
use crate::guid::Guid;

/// Type of an extended item; unknown ones keep their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemKind(pub u16);

impl ItemKind {
    /// GUID of the activity from which that of the event was started.
    pub const RELATED_ACTIVITY: Self = Self(1);
    /// Security identifier of the user.
    pub const SID: Self = Self(2);
    /// u32: terminal session.
    pub const TERMINAL_SESSION: Self = Self(3);
    /// u32 instance, u32 parent instance, GUID of the parent's class.
    pub const INSTANCE: Self = Self(4);
    /// u64 match id, then 4-byte frames.
    pub const STACK_32: Self = Self(5);
    /// u64 match id, then 8-byte frames; also for 32-bit processes on a 64-bit system.
    pub const STACK_64: Self = Self(6);
    /// u64: index of a precise-sampling record.
    pub const PEBS_INDEX: Self = Self(7);
    /// u64 each: hardware counters.
    pub const COUNTERS: Self = Self(8);
    /// u64: key of a protected process.
    pub const PSM_KEY: Self = Self(9);
    /// u64: unique key of the event.
    pub const EVENT_KEY: Self = Self(10);
    /// TraceLogging description of the event.
    pub const SCHEMA: Self = Self(11);
    /// Name and traits of the provider.
    pub const PROVIDER_TRAITS: Self = Self(12);
    /// u64: unique key of the process.
    pub const PROCESS_START_KEY: Self = Self(13);
    /// GUID with which the provider was enabled.
    pub const CONTROL_GUID: Self = Self(14);
    /// u64: difference of clocks.
    pub const CLOCK_DELTA: Self = Self(15);
    /// GUID of the container, as text.
    pub const CONTAINER: Self = Self(16);
    /// u64 match id, u32 stack key.
    pub const STACK_KEY_32: Self = Self(17);
    /// u64 match id, u64 stack key.
    pub const STACK_KEY_64: Self = Self(18);
}

/// One extended item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendedItem<'a> {
    /// Type.
    pub kind: ItemKind,
    /// Content, without the item's header and padding.
    pub data: &'a [u8],
}

impl<'a> ExtendedItem<'a> {
    /// The stack in this item; `None` for other items.
    #[must_use]
    pub fn stack(&self) -> Option<ItemStack<'a>> {
        let frame_bytes = match self.kind {
            ItemKind::STACK_32 => 4,
            ItemKind::STACK_64 => 8,
            _ => return None,
        };
        Some(ItemStack { match_id: u64_at(self.data, 0)?, frames: self.data.get(8..)?, frame_bytes })
    }

    /// Match id and key of a stack that is defined by a later StackWalk record; `None` for other items.
    #[must_use]
    pub fn stack_key(&self) -> Option<(u64, u64)> {
        let match_id = u64_at(self.data, 0)?;
        match self.kind {
            ItemKind::STACK_KEY_32 => Some((match_id, u64::from(u32_at(self.data, 8)?))),
            ItemKind::STACK_KEY_64 => Some((match_id, u64_at(self.data, 8)?)),
            _ => None,
        }
    }

    /// Name of the event in a TraceLogging description; `None` for other items.
    #[must_use]
    pub fn event_name(&self) -> Option<&'a [u8]> {
        if self.kind != ItemKind::SCHEMA {
            return None;
        }
        let total = usize::from(u16_at(self.data, 0)?);
        let schema = self.data.get(..total).unwrap_or(self.data);
        // Tag bytes precede the name; bit 7 says that another follows.
        let mut at = 2;
        while u8_at(schema, at)? & 0x80 != 0 {
            at += 1;
        }
        zero_terminated(schema.get(at + 1..)?)
    }

    /// Name and traits of the provider; `None` for other items.
    #[must_use]
    pub fn provider_traits(&self) -> Option<ProviderTraits<'a>> {
        if self.kind != ItemKind::PROVIDER_TRAITS {
            return None;
        }
        let total = usize::from(u16_at(self.data, 0)?);
        let traits = self.data.get(..total).unwrap_or(self.data);
        let name = zero_terminated(traits.get(2..)?)?;
        Some(ProviderTraits { name, traits: traits.get(2 + name.len() + 1..).unwrap_or_default() })
    }
}

fn zero_terminated(bytes: &[u8]) -> Option<&[u8]> {
    bytes.split(|byte| *byte == 0).next()
}

/// A stack in an extended item, leaf first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemStack<'a> {
    /// 0: the stack is complete. Else it is the kernel half, and the user half comes in a later event with the same id.
    pub match_id: u64,
    frames: &'a [u8],
    frame_bytes: usize,
}

impl ItemStack<'_> {
    /// Number of frames.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.frames.len() / self.frame_bytes
    }

    /// Whether there are no frames.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The frames' addresses, leaf first.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = u64> {
        self.frames.chunks_exact(self.frame_bytes).map(|frame| {
            let mut word = [0; 8];
            word[..frame.len()].copy_from_slice(frame);
            u64::from_le_bytes(word)
        })
    }
}

/// What an event says of its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderTraits<'a> {
    /// Name, UTF-8.
    pub name: &'a [u8],
    traits: &'a [u8],
}

impl ProviderTraits<'_> {
    /// GUID of the group that the provider belongs to.
    #[must_use]
    pub fn group(&self) -> Option<Guid> {
        let mut rest = self.traits;
        while let Some(size) = u16_at(rest, 0).map(usize::from).filter(|size| *size >= 3) {
            if u8_at(rest, 2) == Some(1) {
                return Guid::read(rest.get(..size)?, 3);
            }
            rest = rest.get(size..)?;
        }
        None
    }
}

/// The chain of extended items of one event.
///
/// It ends at an item that is not linked to a next one, whose size is not a multiple of 8 or below 8, or that does not fit
/// into the record.
#[derive(Clone, Debug)]
pub struct ExtendedItems<'a> {
    rest: &'a [u8],
    linked: bool,
}

impl<'a> ExtendedItems<'a> {
    pub(crate) const fn new(rest: &'a [u8]) -> Self {
        Self { rest, linked: true }
    }

    pub(crate) const fn none() -> Self {
        Self { rest: &[], linked: false }
    }

    /// Bytes of all items, that is the offset of the payload behind them.
    #[inline]
    pub(crate) fn total_bytes(mut self) -> usize {
        let before = self.rest.len();
        while self.next().is_some() {}
        before - self.rest.len()
    }
}

impl<'a> Iterator for ExtendedItems<'a> {
    type Item = ExtendedItem<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.linked {
            return None;
        }
        self.linked = false;
        let head: &[u8; 8] = self.rest.first_chunk()?;
        let [size, kind, link, data] = [0, 2, 4, 6].map(|at| u16::from_le_bytes([head[at], head[at + 1]]));
        let (size, data) = (usize::from(size), usize::from(data));
        if size < 8 || size % 8 != 0 || data > size - 8 || size > self.rest.len() {
            return None;
        }
        let (item, rest) = self.rest.split_at(size);
        self.rest = rest;
        self.linked = link & 1 != 0;
        Some(ExtendedItem { kind: ItemKind(kind), data: item.get(8..8 + data)? })
    }
}

#[cfg(test)]
mod tests {
    use super::{ExtendedItems, ItemKind};

    fn item(kind: u16, linked: bool, data: &[u8]) -> Vec<u8> {
        let size = (8 + data.len()).next_multiple_of(8);
        let mut bytes = Vec::new();
        for word in [size as u16, kind, u16::from(linked), data.len() as u16] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(data);
        bytes.resize(size, 0);
        bytes
    }

    #[test]
    fn the_chain_ends_with_the_link_and_the_payload_follows() {
        let mut bytes = item(6, true, &[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x80]);
        bytes.extend(item(12, true, b"\x08\0Name\0"));
        bytes.extend(item(11, false, b"\x09\0\x81\x01Tick\0"));
        let items = bytes.len();
        bytes.extend_from_slice(&[7, 0, 0, 0, 0, 0, 0, 0]);
        let chain = ExtendedItems::new(&bytes);
        let kinds: Vec<_> = chain.clone().map(|item| item.kind).collect();
        assert_eq!(kinds, [ItemKind::STACK_64, ItemKind::PROVIDER_TRAITS, ItemKind::SCHEMA]);
        let frames: Vec<u64> =
            chain.clone().find_map(|item| item.stack()).map(|stack| stack.frames().collect()).unwrap_or_default();
        assert_eq!(frames, [0x8000_0000_0000_0001]);
        assert_eq!(chain.clone().find_map(|item| item.event_name()), Some(&b"Tick"[..]));
        assert_eq!(chain.clone().find_map(|item| item.provider_traits()).map(|traits| traits.name), Some(&b"Name"[..]));
        assert_eq!(chain.total_bytes(), items);
    }

    #[test]
    fn a_bad_size_stops_the_chain() {
        for size in [0u16, 4, 12, 64] {
            let mut bytes = item(1, true, &[0; 16]);
            let mut bad = item(1, false, &[0; 16]);
            bad[..2].copy_from_slice(&size.to_le_bytes());
            bytes.extend(bad);
            assert_eq!(ExtendedItems::new(&bytes).count(), 1);
            assert_eq!(ExtendedItems::new(&bytes).total_bytes(), 24);
        }
    }
}
