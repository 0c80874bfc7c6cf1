//! One record: its header types and what they hold, read in place.

use crate::bytes::{u8_at, u16_at, u32_at, u64_at};
use crate::class::{EventClass, Group};
use crate::extended::{ExtendedItem, ExtendedItems, ItemKind};
use crate::format::{event_flag, version_word};
use crate::guid::Guid;
use crate::header_kind::HeaderKind;
use crate::message::Message;
use crate::payload::{Reader, Sid};

/// A record in place: its bytes, header first, and the facts that do not stand in them.
///
/// No accessor can fail: a field that lies outside of a damaged record reads as zero or `None`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    bytes: &'a [u8],
    time: i64,
    cpu: u16,
    part: u16,
    kind: HeaderKind,
}

impl<'a> Record<'a> {
    #[inline]
    pub(crate) const fn new(bytes: &'a [u8], kind: HeaderKind, time: i64, cpu: u16, part: u16) -> Self {
        Self { bytes, time, cpu, part, kind }
    }

    /// Takes the bytes of one record, for tests and for records that do not come from a file. `None` when the marker is
    /// unknown or the size that the record states does not fit.
    #[must_use]
    pub fn parse(bytes: &'a [u8], cpu: u16, part: u16) -> Option<Self> {
        let framed = crate::frame::frame_one(bytes)?;
        Some(Self::new(bytes.get(..framed.size)?, framed.kind, framed.time.unwrap_or(0), cpu, part))
    }

    /// All bytes, from the marker on, without the padding to the next record.
    #[must_use]
    #[inline]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Raw tick of the recording's clock. A record without a time of its own (some WPP messages) has that of the record
    /// before it.
    #[must_use]
    #[inline]
    pub const fn time(&self) -> i64 {
        self.time
    }

    /// CPU whose buffer holds the record.
    #[must_use]
    #[inline]
    pub const fn cpu(&self) -> u16 {
        self.cpu
    }

    /// Index of the file among those that are merged.
    #[must_use]
    #[inline]
    pub const fn part(&self) -> u16 {
        self.part
    }

    /// Header type.
    #[must_use]
    #[inline]
    pub const fn kind(&self) -> HeaderKind {
        self.kind
    }

    /// Bytes of a pointer in this record, 4 or 8. It differs between records of one file (32-bit processes).
    #[must_use]
    #[inline]
    pub fn pointer_size(&self) -> u8 {
        if self.kind == HeaderKind::Message {
            return self.message().map_or(8, |message| message.pointer_size());
        }
        if self.kind as u8 & 1 == 0 { 4 } else { 8 }
    }

    /// Kernel hook: class group in the high byte, opcode in the low one. `None` for records with a GUID.
    #[must_use]
    #[inline]
    pub fn hook(&self) -> Option<u16> {
        if self.kind.is_kernel() { u16_at(self.bytes, 6) } else { None }
    }

    /// Version of the payload's layout; the low byte where the header has two.
    #[must_use]
    #[inline]
    pub fn version(&self) -> u8 {
        let at = match self.kind {
            HeaderKind::Full32 | HeaderKind::Full64 | HeaderKind::Instance32 | HeaderKind::Instance64 => 6,
            HeaderKind::Event32 | HeaderKind::Event64 => 42,
            HeaderKind::Message => return 0,
            _ => 0,
        };
        u8_at(self.bytes, at).unwrap_or(0)
    }

    /// Opcode: the type of a kernel or classic event, the operation of a manifest event.
    #[must_use]
    #[inline]
    pub fn opcode(&self) -> u8 {
        let at = match self.kind {
            HeaderKind::Full32 | HeaderKind::Full64 | HeaderKind::Instance32 | HeaderKind::Instance64 => 4,
            HeaderKind::Event32 | HeaderKind::Event64 => 45,
            HeaderKind::Message => return 0,
            _ => 6,
        };
        u8_at(self.bytes, at).unwrap_or(0)
    }

    /// Level (1 critical … 5 verbose); 0 where the header has none.
    #[must_use]
    #[inline]
    pub fn level(&self) -> u8 {
        match self.kind {
            HeaderKind::Event32 | HeaderKind::Event64 => u8_at(self.bytes, 44).unwrap_or(0),
            kind if kind.is_classic() => u8_at(self.bytes, 5).unwrap_or(0),
            _ => 0,
        }
    }

    /// Process that logged the record. `None` where the header has none (`PerfInfo`) or states −1.
    #[must_use]
    #[inline]
    pub fn pid(&self) -> Option<u32> {
        self.id_at(12)
    }

    /// Thread that logged the record. `None` where the header has none (`PerfInfo`) or states −1.
    #[must_use]
    #[inline]
    pub fn tid(&self) -> Option<u32> {
        self.id_at(8)
    }

    #[inline]
    fn id_at(&self, at: usize) -> Option<u32> {
        let id = match self.kind {
            HeaderKind::PerfInfo32 | HeaderKind::PerfInfo64 => return None,
            HeaderKind::Message => {
                let message = self.message()?;
                if at == 8 { message.tid } else { message.pid }?
            }
            _ => u32_at(self.bytes, at)?,
        };
        (id != u32::MAX).then_some(id)
    }

    /// CPU time of the logging thread so far, kernel and user, in clock interrupts. `None` where the header has none.
    #[must_use]
    pub fn processor_times(&self) -> Option<(u32, u32)> {
        let at = match self.kind {
            HeaderKind::System32 | HeaderKind::System64 => 24,
            HeaderKind::Event32 | HeaderKind::Event64 => 56,
            kind if kind.is_classic() => 40,
            _ => return None,
        };
        Some((u32_at(self.bytes, at)?, u32_at(self.bytes, at + 4)?))
    }

    /// Provider of a manifest, TraceLogging or EventSource event.
    #[must_use]
    #[inline]
    pub fn provider(&self) -> Option<Guid> {
        if self.kind.is_event() { Guid::read(self.bytes, 24) } else { None }
    }

    /// GUID of the event class: that of a classic event, that of a kernel hook's group, or that of a WPP message.
    #[must_use]
    pub fn class_guid(&self) -> Option<Guid> {
        match self.kind {
            HeaderKind::Event32 | HeaderKind::Event64 => None,
            HeaderKind::Message => self.message()?.guid,
            kind if kind.is_classic() => Guid::read(self.bytes, 24),
            _ => match self.class() {
                EventClass::Kernel { group, .. } => group.guid(),
                _ => None,
            },
        }
    }

    /// Id of a manifest, TraceLogging or EventSource event.
    #[must_use]
    #[inline]
    pub fn event_id(&self) -> Option<u16> {
        if self.kind.is_event() { u16_at(self.bytes, 40) } else { None }
    }

    /// Channel of an event; 0 for other records.
    #[must_use]
    pub fn channel(&self) -> u8 {
        if self.kind.is_event() { u8_at(self.bytes, 43).unwrap_or(0) } else { 0 }
    }

    /// Task of an event; 0 for other records.
    #[must_use]
    pub fn task(&self) -> u16 {
        if self.kind.is_event() { u16_at(self.bytes, 46).unwrap_or(0) } else { 0 }
    }

    /// Keyword bits of an event; 0 for other records.
    #[must_use]
    pub fn keyword(&self) -> u64 {
        if self.kind.is_event() { u64_at(self.bytes, 48).unwrap_or(0) } else { 0 }
    }

    /// Flags of an event header ([`event_flag`]); 0 for other records.
    #[must_use]
    #[inline]
    pub fn event_flags(&self) -> u16 {
        if self.kind.is_event() { u16_at(self.bytes, 4).unwrap_or(0) } else { 0 }
    }

    /// Activity that the event belongs to; `None` for other records and for a zero id.
    #[must_use]
    pub fn activity_id(&self) -> Option<Guid> {
        if self.kind.is_event() { Guid::read(self.bytes, 64).filter(|guid| !guid.is_zero()) } else { None }
    }

    /// Activity from which that of the event was started.
    #[must_use]
    pub fn related_activity_id(&self) -> Option<Guid> {
        self.extended_items().find(|item| item.kind == ItemKind::RELATED_ACTIVITY).and_then(|i| Guid::read(i.data, 0))
    }

    /// User whom the event names in its extended items.
    #[must_use]
    pub fn user(&self) -> Option<Sid<'a>> {
        Reader::new(self.extended_item(ItemKind::SID)?.data, self.pointer_size()).sid("user").ok()
    }

    /// Instance and parent instance of a classic event with an instance header, and the parent's class.
    #[must_use]
    pub fn instance(&self) -> Option<(u32, u32, Guid)> {
        if !matches!(self.kind, HeaderKind::Instance32 | HeaderKind::Instance64) {
            return None;
        }
        Some((u32_at(self.bytes, 48)?, u32_at(self.bytes, 52)?, Guid::read(self.bytes, 56)?))
    }

    /// The header of a WPP message.
    #[must_use]
    pub fn message(&self) -> Option<Message> {
        if self.kind == HeaderKind::Message { Message::parse(self.bytes) } else { None }
    }

    /// Items between the header and the payload of an event: stacks, schema, provider traits …
    #[must_use]
    #[inline]
    pub fn extended_items(&self) -> ExtendedItems<'a> {
        if self.event_flags() & event_flag::EXTENDED_INFO == 0 {
            return ExtendedItems::none();
        }
        ExtendedItems::new(self.bytes.get(self.kind.header_bytes()..).unwrap_or_default())
    }

    /// The first extended item of `kind`.
    #[must_use]
    pub fn extended_item(&self, kind: ItemKind) -> Option<ExtendedItem<'a>> {
        self.extended_items().find(|item| item.kind == kind)
    }

    /// What the event itself wrote: all behind the header, the hardware counters and the extended items.
    #[must_use]
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        let start = match self.kind {
            HeaderKind::Event32 | HeaderKind::Event64 => {
                let header = self.kind.header_bytes();
                if self.event_flags() & event_flag::EXTENDED_INFO == 0 {
                    header
                } else {
                    header + self.extended_items().total_bytes()
                }
            }
            HeaderKind::Message => self.message().map_or(usize::MAX, |message| message.arguments_at),
            kind if kind.is_kernel() => kind.header_bytes() + self.counter_area().0,
            kind => kind.header_bytes(),
        };
        self.bytes.get(start..).unwrap_or_default()
    }

    /// Bytes of PEBS index and counters behind a kernel-class header, and how many of them precede the counters.
    #[inline]
    fn counter_area(&self) -> (usize, usize) {
        let word = u16_at(self.bytes, 0).unwrap_or(0);
        let pebs = if word & version_word::PEBS_INDEX == 0 { 0 } else { 8 };
        (pebs + 8 * usize::from((word & version_word::COUNTERS) >> 8), pebs)
    }

    /// Index of the precise-sampling (PEBS) record that belongs to a kernel record.
    #[must_use]
    pub fn pebs_index(&self) -> Option<u64> {
        if self.kind.is_kernel() && u16_at(self.bytes, 0)? & version_word::PEBS_INDEX != 0 {
            return u64_at(self.bytes, self.kind.header_bytes());
        }
        self.extended_item(ItemKind::PEBS_INDEX).and_then(|item| u64_at(item.data, 0))
    }

    /// Hardware counter values that were read with the record: from a kernel header or from an event's extended item.
    #[must_use]
    pub fn counters(&self) -> Counters<'a> {
        let bytes = if self.kind.is_kernel() {
            let (total, before) = self.counter_area();
            let header = self.kind.header_bytes();
            self.bytes.get(header + before..header + total).unwrap_or_default()
        } else {
            self.extended_item(ItemKind::COUNTERS).map_or(&[][..], |item| item.data)
        };
        Counters { words: bytes.as_chunks().0 }
    }

    /// What the record is, the same for a kernel hook and for its class GUID.
    #[must_use]
    #[inline]
    pub fn class(&self) -> EventClass {
        match self.kind {
            HeaderKind::Event32 | HeaderKind::Event64 => EventClass::Event {
                provider: self.provider().unwrap_or_default(),
                id: self.event_id().unwrap_or(0),
                version: self.version(),
            },
            HeaderKind::Message => {
                let message = self.message().unwrap_or_default();
                EventClass::Message { guid: message.guid.unwrap_or_default(), number: message.number }
            }
            kind if kind.is_kernel() => EventClass::from_hook(self.hook().unwrap_or(0), self.version()),
            _ => EventClass::from_guid(Guid::read(self.bytes, 24).unwrap_or_default(), self.opcode(), self.version()),
        }
    }

    /// Whether the record is a stack of another record.
    #[must_use]
    #[inline]
    pub fn is_stack_walk(&self) -> bool {
        self.hook().is_some_and(|hook| hook >> 8 == u16::from(Group::STACK_WALK.0))
    }
}

/// Hardware counter values, in the order in which the session configured them.
#[derive(Clone, Copy, Debug)]
pub struct Counters<'a> {
    words: &'a [[u8; 8]],
}

impl Counters<'_> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> {
        self.words.iter().map(|word| u64::from_le_bytes(*word))
    }
}
