//! The second half of a recording, which another thread scans at the same time.
//!
//! Nothing in a file says where a record begins but the record before. So the place of a record near the middle is guessed from
//! the bytes there. The guess is proved when the walk over the first half arrives at that very place; else that walk goes on as
//! if there were no second one.

use std::sync::Arc;

use super::ahead::{Ahead, Lead};
use super::records::{Records, explains, header};
use super::skip_known_threads::{LeftOut, SkipKnownThreads};
use super::stop::Stop;
use super::walk::Walk;
use crate::damage::DamageLog;
use crate::kind::Kind;
use crate::metadata::{Metadata, Mode};
use crate::record::{HEADER_LENGTH, Record};
use crate::source::{ReadAt, read_section};

/// Bytes that are scanned before another thread begins: what a recorder tells of events stands at the start.
const BEFORE_SPLIT: u64 = 1 << 20;
/// Fewer bytes are not worth a thread.
const LEAST: u64 = 4 << 20;
/// Bytes among which a record is looked for.
const LOOK: usize = 512 << 10;
/// So many records in a row are taken for some.
const IN_A_ROW: usize = 32;
/// Few samples are left, so that batches seldom are full. A thread that nobody waits for any more ends with the batch that it
/// fills.
const LEAD: Lead = Lead { waiting: 64, far: 64 << 20 };

/// A walk that leaves out samples of known threads. Another thread scans the second half of a long recording meanwhile.
pub struct TwoHalves {
    first: SkipKnownThreads,
    stage: Stage,
    /// Offset of the record at which the stage changes.
    turn: u64,
    current: Current,
}

/// How far the walk is.
enum Stage {
    /// So near to the start that nothing else has begun.
    Start,
    /// In the first half, while another thread is in the second.
    FirstHalf(SecondHalf),
    /// In the second half.
    SecondHalf(Box<Ahead<SkipKnownThreads>>),
    /// No other thread is on the way.
    Alone,
}

#[derive(Clone, Copy)]
enum Current {
    None,
    /// The record of the first walk.
    First,
    /// The record of the second half's walk.
    Second,
}

impl TwoHalves {
    /// `whole` tells the events whose samples are needed whole.
    pub(super) fn new(records: Records, whole: fn(&Metadata, usize) -> bool) -> Self {
        let turn = records.position().saturating_add(BEFORE_SPLIT);
        Self { first: SkipKnownThreads::new(records, whole), stage: Stage::Start, turn, current: Current::None }
    }

    pub(super) fn left_out(&self) -> &LeftOut {
        self.first.left_out()
    }

    /// Changes the stage at a record that stands at the turn or behind; whether that record is the second half's now.
    fn turn(&mut self) -> bool {
        self.turn = u64::MAX;
        let records = self.first.records();
        let Some(record) = records.current() else { return false };
        match std::mem::replace(&mut self.stage, Stage::Alone) {
            Stage::Start => {
                if let Some(second) = SecondHalf::begin(&self.first) {
                    self.turn = second.start;
                    self.stage = Stage::FirstHalf(second);
                }
                false
            }
            Stage::FirstHalf(second) => {
                let Some(walk) = second.proved(&record, records.metadata()) else { return false };
                self.stage = Stage::SecondHalf(walk);
                true
            }
            Stage::SecondHalf(_) | Stage::Alone => false,
        }
    }

    /// Moves to the next record of the second half; what that walk has not read at its end is read here.
    fn advance_second(&mut self) -> bool {
        if let Stage::SecondHalf(walk) = &mut self.stage
            && walk.advance()
        {
            return true;
        }
        if let Stage::SecondHalf(walk) = std::mem::replace(&mut self.stage, Stage::Alone) {
            self.first.go_on_behind(walk.finish());
        }
        false
    }
}

impl Walk for TwoHalves {
    fn advance(&mut self) -> bool {
        self.current = Current::None;
        loop {
            if matches!(self.stage, Stage::SecondHalf(_)) && self.advance_second() {
                self.current = Current::Second;
                return true;
            }
            if !self.first.step() {
                return false;
            }
            if self.first.position() >= self.turn && self.turn() {
                continue;
            }
            if self.first.keep() {
                self.current = Current::First;
                return true;
            }
        }
    }

    fn current(&self) -> Option<Record<'_>> {
        match (self.current, &self.stage) {
            (Current::First, _) => self.first.current(),
            (Current::Second, Stage::SecondHalf(walk)) => walk.current(),
            (Current::Second | Current::None, _) => None,
        }
    }

    fn metadata(&self) -> &Arc<Metadata> {
        self.first.metadata()
    }

    fn damage(&self) -> &DamageLog {
        self.first.damage()
    }

    fn damage_mut(&mut self) -> &mut DamageLog {
        self.first.damage_mut()
    }

    fn stop(&self) -> Option<&Stop> {
        self.first.stop()
    }

    fn position(&self) -> u64 {
        match &self.stage {
            Stage::SecondHalf(walk) => walk.position().max(self.first.position()),
            _ => self.first.position(),
        }
    }
}

/// The walk over the second half, on its way.
struct SecondHalf {
    /// Where its first record stands.
    start: u64,
    /// What was known of the recording when it began.
    metadata: Arc<Metadata>,
    walk: Box<Ahead<SkipKnownThreads>>,
}

impl SecondHalf {
    /// Begins in the middle of what is left. `None` where nothing looks like a record there, or there is too little.
    fn begin(first: &SkipKnownThreads) -> Option<Self> {
        let further = first.records().further_on(find)?;
        let (start, metadata) = (further.position(), Arc::clone(further.metadata()));
        let walk = Box::new(Ahead::new(first.over(further), LEAD));
        Some(Self { start, metadata, walk })
    }

    /// The walk, if it began with this record of the first one and knew all that is known there.
    fn proved(self, record: &Record<'_>, metadata: &Arc<Metadata>) -> Option<Box<Ahead<SkipKnownThreads>>> {
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
