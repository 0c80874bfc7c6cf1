//! Values of counters (`read_format`): in samples and in `READ` records.

use linux_perf_event_reader::ReadFormat;

use super::words::Words;
use crate::cursor::Cursor;
use crate::error::Malformed;

/// `PERF_FORMAT_LOST`, newer than the library that names the other bits.
pub(crate) const FORMAT_LOST: u64 = 1 << 4;

/// Values of one counter, or of all counters of a group.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// ns for which the event was enabled.
    pub time_enabled: Option<u64>,
    /// ns for which it really counted; less when counters were shared.
    pub time_running: Option<u64>,
    /// The value of a counter alone, which stands before the times.
    alone: Option<u64>,
    has_id: bool,
    has_lost: bool,
    words: Words<'a>,
}

/// The value of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The count since it was opened.
    pub value: u64,
    /// The id of the event.
    pub id: Option<u64>,
    /// Samples lost.
    pub lost: Option<u64>,
}

impl<'a> Values<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>, format: ReadFormat) -> Result<Self, Malformed> {
        let has_id = format.contains(ReadFormat::ID);
        let has_lost = format.bits() & FORMAT_LOST != 0;
        let group = format.contains(ReadFormat::GROUP);
        let first = at.u64("counters")?;
        let enabled = format.contains(ReadFormat::TOTAL_TIME_ENABLED);
        let time_enabled = if enabled { Some(at.u64("time enabled")?) } else { None };
        let running = format.contains(ReadFormat::TOTAL_TIME_RUNNING);
        let time_running = if running { Some(at.u64("time running")?) } else { None };
        let extra = u64::from(has_id) + u64::from(has_lost);
        let length = if group { first.saturating_mul((1 + extra) * 8) } else { extra * 8 };
        let words = Words::new(at.take_u64(length, "counters")?, at.endian());
        Ok(Self { time_enabled, time_running, alone: (!group).then_some(first), has_id, has_lost, words })
    }

    /// Whether they are of a group, even if that has one member only.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.alone.is_none()
    }

    /// The counters, in the order of the group.
    pub fn counters(&self) -> impl Iterator<Item = Counter> + use<'a> {
        let Self { alone, has_id, has_lost, words, .. } = *self;
        let mut next = 0;
        let mut alone = alone;
        let grouped = alone.is_none();
        std::iter::from_fn(move || {
            let mut word = || {
                let word = words.get(next);
                next += usize::from(word.is_some());
                word
            };
            let value = if grouped { word()? } else { alone.take()? };
            let id = if has_id { word() } else { None };
            let lost = if has_lost { word() } else { None };
            Some(Counter { value, id, lost })
        })
    }
}
