//! The second half of a recording, which another thread looks over at the same time.
//!
//! Nothing in a file says where a record begins but the record before. So a place is guessed, from the looks of what stands there, and
//! the guess is proved when the first half's walk ends at the very place; else the first walk goes on as if there were no second.

use std::sync::Arc;

use super::ahead::{Ahead, Lead};
use super::outline::{Choice, Outline};
use super::records::{Records, explains, header};
use crate::kind::Kind;
use crate::metadata::{Metadata, Mode};
use crate::record::{HEADER_LENGTH, Record};
use crate::source::{ReadAt, read_section};

/// Bytes that are looked over before: what a recorder tells of events stands at the start.
pub(super) const HEAD_START: u64 = 1 << 20;
/// Fewer bytes are not worth a thread.
const LEAST: u64 = 4 << 20;
/// Bytes among which a record is looked for.
const LOOK: usize = 512 << 10;
/// So many records in a row are taken for some.
const IN_A_ROW: usize = 32;
/// Little is left of the samples of an outline, so that batches seldom are full. A thread that nobody waits for any more ends with
/// the batch that it fills.
const LEAD: Lead = Lead { waiting: 64, far: 64 << 20 };

/// A walk over the second half, on its way.
pub(super) struct Rest {
    /// Where its first record stands.
    start: u64,
    /// What was known of the recording when it began.
    metadata: Arc<Metadata>,
    walk: Box<Ahead<Outline>>,
}

impl Rest {
    /// Begins in the middle of what is left. `None` where nothing looks like a record there, or there is too little.
    pub(super) fn begin(records: &Records, choice: Choice) -> Option<Self> {
        let further = records.further_on(find)?;
        let (start, metadata) = (further.position(), Arc::clone(further.metadata()));
        let walk = Box::new(Ahead::new(Outline::alone(further, choice), LEAD));
        Some(Self { start, metadata, walk })
    }

    /// Where its first record stands.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// The second walk, if it began with this record of the first one and knew all that is known there.
    pub(super) fn proved(self, record: &Record<'_>, metadata: &Arc<Metadata>) -> Option<Box<Ahead<Outline>>> {
        let is_proved =
            record.offset() == self.start && !record.was_compressed() && Arc::ptr_eq(metadata, &self.metadata);
        is_proved.then_some(self.walk)
    }
}

/// Where a record seems to begin in the middle of what lies between.
fn find(source: &dyn ReadAt, from: u64, end: u64, metadata: &Metadata) -> Option<u64> {
    let length = end.checked_sub(from).filter(|&length| length >= LEAST && metadata.mode == Mode::File)?;
    // Sizes of records are multiples of 8.
    let middle = from + length / 2 / 8 * 8;
    let bytes = read_section(source, middle, end - middle, LOOK).ok()?;
    let place = (0..bytes.len()).step_by(8).find(|&place| is_row(bytes.get(place..).unwrap_or_default(), metadata))?;
    Some(middle + place as u64)
}

/// Whether bytes look like records.
fn is_row(mut bytes: &[u8], metadata: &Metadata) -> bool {
    (0..IN_A_ROW).all(|_| {
        let Some((number, _, size)) = header(bytes, metadata.endian) else { return false };
        let Some(body) = bytes.get(HEADER_LENGTH..size.into()) else { return false };
        bytes = bytes.get(size.into()..).unwrap_or_default();
        let is_known = match Kind::of(number) {
            Kind::Other(_) => false,
            kind if explains(kind) => false,
            Kind::Sample => metadata.events.resolve(body, true).event.is_some(),
            _ => true,
        };
        size % 8 == 0 && is_known
    })
}
