//! Where the common fields of an event's records stand: at fixed offsets from the start of a sample's body, and in the
//! trailing `sample_id` of every other record, from its end (include/uapi/linux/perf_event.h, `perf_event_sample_format`).

use linux_perf_event_reader::{BranchSampleFormat, Endianness, ReadFormat, SampleFormat};

use crate::attr::Attr;

/// A field that is not there.
const NONE: u8 = u8::MAX;

/// How to read the records of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(crate) endian: Endianness,
    pub(crate) sample_format: SampleFormat,
    pub(crate) read_format: ReadFormat,
    pub(crate) branch_format: BranchSampleFormat,
    pub(crate) user_registers: u64,
    pub(crate) interrupt_registers: u64,
    /// Whether the recorder asked for build ids in mappings, for any of its events: perf asks for one and tells itself of what
    /// was mapped before.
    pub(crate) build_ids: bool,
    head: Places,
    tail: Places,
    tail_length: u8,
    head_length: u8,
}

/// Offsets of the common fields: from the start in a sample, from the end in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Places {
    thread: u8,
    time: u8,
    id: u8,
    stream_id: u8,
    cpu: u8,
}

impl Places {
    const NOWHERE: Self = Self { thread: NONE, time: NONE, id: NONE, stream_id: NONE, cpu: NONE };
}

impl Layout {
    pub(crate) fn new(attr: &Attr, endian: Endianness) -> Self {
        let format = attr.sample_format;
        let (head, head_length) = head(format);
        let (tail, tail_length) = if attr.sample_id_all() { tail(format) } else { (Places::NOWHERE, 0) };
        Self {
            endian,
            sample_format: format,
            read_format: attr.read_format,
            branch_format: attr.branch_format,
            user_registers: attr.user_registers,
            interrupt_registers: attr.interrupt_registers,
            build_ids: false,
            head,
            tail,
            tail_length,
            head_length,
        }
    }

    /// Of records that belong to no event: nothing but their own fields.
    pub(crate) fn none(endian: Endianness) -> Self {
        Self {
            endian,
            sample_format: SampleFormat::empty(),
            read_format: ReadFormat::empty(),
            branch_format: BranchSampleFormat::empty(),
            user_registers: 0,
            interrupt_registers: 0,
            build_ids: false,
            head: Places::NOWHERE,
            tail: Places::NOWHERE,
            tail_length: 0,
            head_length: 0,
        }
    }

    /// What samples carry.
    #[must_use]
    pub fn sample_format(&self) -> SampleFormat {
        self.sample_format
    }

    /// Bytes of the trailing `sample_id`.
    pub(crate) fn tail_length(&self) -> usize {
        self.tail_length.into()
    }

    /// Bytes of a sample up to the last of the common fields.
    pub(crate) fn head_length(&self) -> usize {
        self.head_length.into()
    }

    /// Bytes of a sample up to the values of counters, or up to the call chain where there are none; `None` without call chains.
    #[inline]
    pub(crate) fn fixed_before_chain(&self) -> Option<usize> {
        let format = self.sample_format;
        let period = if format.contains(SampleFormat::PERIOD) { 8 } else { 0 };
        format.contains(SampleFormat::CALLCHAIN).then_some(self.head_length() + period)
    }

    /// Whether a body is long enough for the common fields.
    #[inline]
    pub(crate) fn fits(&self, body: &[u8], sample: bool) -> bool {
        body.len() >= usize::from(if sample { self.head_length } else { self.tail_length })
    }

    /// Whether the ids of both kinds of records stand at the same places.
    pub(crate) fn same_id_places(&self, other: &Self) -> bool {
        self.head.id == other.head.id && self.tail.id == other.tail.id
    }

    #[inline]
    fn word<'a>(&self, body: &'a [u8], sample: bool, place: impl Fn(&Places) -> u8) -> Option<&'a [u8; 8]> {
        let at = if sample {
            match place(&self.head) {
                NONE => return None,
                at => usize::from(at),
            }
        } else {
            match place(&self.tail) {
                NONE => return None,
                at => body.len().checked_sub(at.into())?,
            }
        };
        body.get(at..)?.first_chunk()
    }

    fn u64(&self, bytes: [u8; 8]) -> u64 {
        match self.endian {
            Endianness::LittleEndian => u64::from_le_bytes(bytes),
            Endianness::BigEndian => u64::from_be_bytes(bytes),
        }
    }

    fn u32(&self, bytes: [u8; 4]) -> u32 {
        match self.endian {
            Endianness::LittleEndian => u32::from_le_bytes(bytes),
            Endianness::BigEndian => u32::from_be_bytes(bytes),
        }
    }

    #[inline]
    pub(crate) fn time(&self, body: &[u8], sample: bool) -> Option<u64> {
        self.word(body, sample, |places| places.time).map(|bytes| self.u64(*bytes))
    }

    #[inline]
    pub(crate) fn id(&self, body: &[u8], sample: bool) -> Option<u64> {
        self.word(body, sample, |places| places.id).map(|bytes| self.u64(*bytes))
    }

    pub(crate) fn stream_id(&self, body: &[u8], sample: bool) -> Option<u64> {
        self.word(body, sample, |places| places.stream_id).map(|bytes| self.u64(*bytes))
    }

    /// Process and thread.
    pub(crate) fn thread(&self, body: &[u8], sample: bool) -> Option<(i32, i32)> {
        let [a, b, c, d, e, f, g, h] = *self.word(body, sample, |places| places.thread)?;
        Some((self.u32([a, b, c, d]).cast_signed(), self.u32([e, f, g, h]).cast_signed()))
    }

    pub(crate) fn cpu(&self, body: &[u8], sample: bool) -> Option<u32> {
        let [a, b, c, d, ..] = *self.word(body, sample, |places| places.cpu)?;
        Some(self.u32([a, b, c, d]))
    }
}

/// In samples: identifier, instruction pointer, process and thread, time, address, id, stream, CPU.
fn head(format: SampleFormat) -> (Places, u8) {
    let mut places = Places::NOWHERE;
    let mut at = 0;
    let mut place = |flag| {
        let here = if format.contains(flag) { at } else { NONE };
        at += if format.contains(flag) { 8 } else { 0 };
        here
    };
    let identifier = place(SampleFormat::IDENTIFIER);
    place(SampleFormat::IP);
    places.thread = place(SampleFormat::TID);
    places.time = place(SampleFormat::TIME);
    place(SampleFormat::ADDR);
    let id = place(SampleFormat::ID);
    places.id = if identifier == NONE { id } else { identifier };
    places.stream_id = place(SampleFormat::STREAM_ID);
    places.cpu = place(SampleFormat::CPU);
    (places, at)
}

/// In others: process and thread, time, id, stream, CPU, identifier; counted from the end.
fn tail(format: SampleFormat) -> (Places, u8) {
    let mut places = Places::NOWHERE;
    let mut at = 0;
    let mut place = |flag| {
        at += if format.contains(flag) { 8 } else { 0 };
        if format.contains(flag) { at } else { NONE }
    };
    let identifier = place(SampleFormat::IDENTIFIER);
    places.cpu = place(SampleFormat::CPU);
    places.stream_id = place(SampleFormat::STREAM_ID);
    let id = place(SampleFormat::ID);
    places.id = if identifier == NONE { id } else { identifier };
    places.time = place(SampleFormat::TIME);
    places.thread = place(SampleFormat::TID);
    (places, at)
}
