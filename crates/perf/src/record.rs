//! One record: what is known without reading its body, and its body.

use std::ops::Range;

use linux_perf_event_reader::CpuMode;

use crate::error::Malformed;
use crate::event::Events;
use crate::kind::Kind;
use crate::layout::Layout;
use crate::payload::{Payload, Sample, Words};
use crate::read::ChainNumber;

/// Bytes of `perf_event_header`.
pub(crate) const HEADER_LENGTH: usize = 8;
/// A time that is not there: what perf makes up itself says 0 or all ones.
pub(crate) const NO_TIME: u64 = u64::MAX;

/// What is known of a record from its header and its common fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) misc: u16,
    pub(crate) size: u16,
    pub(crate) nested: bool,
    pub(crate) event: Option<u32>,
    /// The event whose layout the record has: that of another one where all are alike.
    pub(crate) layout: Option<u32>,
    /// [`NO_TIME`] where there is none.
    pub(crate) time: u64,
    pub(crate) offset: u64,
}

impl Head {
    /// Of a record that perf itself wrote, which belongs to no event.
    pub(crate) fn of_user(kind: Kind, misc: u16, size: u16, offset: u64) -> Self {
        Self { kind, misc, size, nested: false, event: None, layout: None, time: NO_TIME, offset }
    }
}

/// The call chain of a sample whose words stand elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain<'a> {
    pub(crate) number: ChainNumber,
    pub(crate) words: Words<'a>,
}

/// Whether a record speaks of a virtual machine inside the recorded one, whose processes and addresses are others.
#[must_use]
pub fn is_of_a_guest(mode: CpuMode) -> bool {
    matches!(mode, CpuMode::GuestKernel | CpuMode::GuestUser)
}

/// A record of a recording. It borrows from its reader and costs no allocation.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub(crate) head: &'a Head,
    pub(crate) body: &'a [u8],
    pub(crate) layout: &'a Layout,
    /// The call chain, where it was taken out of the body.
    chain: Option<Chain<'a>>,
}

impl<'a> Record<'a> {
    #[inline]
    pub(crate) fn new(head: &'a Head, body: &'a [u8], events: &'a Events) -> Self {
        Self { head, body, layout: events.layout(head.layout), chain: None }
    }

    #[inline]
    pub(crate) fn with_chain(self, chain: Chain<'a>) -> Self {
        Self { chain: Some(chain), ..self }
    }

    /// With so many bytes of the body.
    #[inline]
    pub(crate) fn shortened(self, length: usize) -> Self {
        Self { body: self.body.get(..length).unwrap_or(self.body), ..self }
    }

    /// Where the words of its call chain stand in the body of a sample.
    #[inline]
    pub(crate) fn chain_place(&self) -> Option<Range<usize>> {
        if self.is_sample() { Sample::chain_place(self.body, self.layout) } else { None }
    }

    /// The number of a sample's call chain, where the walk numbers them: samples with equal numbers have equal call chains.
    #[must_use]
    #[inline]
    pub fn chain_number(&self) -> Option<ChainNumber> {
        self.chain.map(|chain| chain.number)
    }

    /// What the record is.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> Kind {
        self.head.kind
    }

    /// The `misc` bits of the header; their meaning depends on the kind.
    #[must_use]
    pub fn misc(&self) -> u16 {
        self.head.misc
    }

    /// In which mode the CPU was.
    #[must_use]
    pub fn cpu_mode(&self) -> CpuMode {
        CpuMode::from_misc(self.head.misc)
    }

    /// Bytes of the record with its header.
    #[must_use]
    pub fn size(&self) -> u16 {
        self.head.size
    }

    /// Where it stands in the file or stream; inside compressed data, where the record stands that ended in it.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.head.offset
    }

    /// Whether it came out of compressed data.
    #[must_use]
    pub fn was_compressed(&self) -> bool {
        self.head.nested
    }

    /// The index of its event in [`Events`]; `None` for what belongs to none, and where ids do not tell.
    #[must_use]
    #[inline]
    pub fn event(&self) -> Option<usize> {
        self.head.event.map(|index| index as usize)
    }

    /// When it happened, in ns of the recording's clock; `None` for what perf itself made up, and where times were not recorded.
    #[must_use]
    #[inline]
    pub fn time(&self) -> Option<u64> {
        (self.head.time != NO_TIME).then_some(self.head.time)
    }

    /// Process and thread that the record belongs to (−1, −1 for none). Not every kind says in its own fields.
    #[must_use]
    #[inline]
    pub fn thread(&self) -> Option<(i32, i32)> {
        if self.is_user() { None } else { self.layout.thread(self.body, self.is_sample()) }
    }

    /// The CPU on which it was written.
    #[must_use]
    #[inline]
    pub fn cpu(&self) -> Option<u32> {
        if self.is_user() { None } else { self.layout.cpu(self.body, self.is_sample()) }
    }

    /// The id of the event on its CPU or thread.
    #[must_use]
    pub fn id(&self) -> Option<u64> {
        if self.is_user() { None } else { self.layout.id(self.body, self.is_sample()) }
    }

    /// The id of the very counter; differs from [`Self::id`] with inherited events.
    #[must_use]
    pub fn stream_id(&self) -> Option<u64> {
        if self.is_user() { None } else { self.layout.stream_id(self.body, self.is_sample()) }
    }

    /// The bytes behind the header, with the trailing `sample_id`; without the words of a call chain that has a number.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// The body without the trailing `sample_id`: the fields of the kind alone.
    #[must_use]
    pub fn fields(&self) -> &'a [u8] {
        if self.is_user() || self.is_sample() {
            return self.body;
        }
        let length = self.body.len().saturating_sub(self.layout.tail_length());
        self.body.get(..length).unwrap_or_default()
    }

    /// How its event's records are laid out.
    #[must_use]
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// The fields of a sample.
    ///
    /// # Errors
    /// When the record is too short for its event's format.
    #[inline]
    pub fn sample(&self) -> Result<Sample<'a>, Malformed> {
        Sample::parse(self.body, self.layout, self.chain.map(|chain| chain.words))
    }

    /// The fields of a record of any kind.
    ///
    /// # Errors
    /// When the record is too short for them.
    pub fn payload(&self) -> Result<Payload<'a>, Malformed> {
        Payload::parse(self)
    }

    fn is_sample(&self) -> bool {
        self.head.kind == Kind::Sample
    }

    fn is_user(&self) -> bool {
        self.head.layout.is_none()
    }
}
