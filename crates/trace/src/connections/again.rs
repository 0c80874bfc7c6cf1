//! Data that was transferred before, by its sequence number.

use rustc_hash::FxHashMap;

use super::Transfer;
use crate::rows::network_io_kinds as kinds;

/// The same number this long after the first one is a number that is used again, ns: numbers of received data wrap around.
const SAME: i64 = 3_000_000_000;

/// Places of one connection and direction. Beyond that old ones are forgotten.
pub(super) const MAX_OF_ONE: usize = 1 << 14;
/// Places of all connections.
pub(super) const MAX_OF_ALL: usize = 1 << 21;

/// Data of one direction whose repetition would be known.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// By sequence number: the last time for sent data, the first one for received data, and the size.
    data: FxHashMap<u32, (i64, i64)>,
    /// The sequence number behind all data.
    end: Option<u32>,
    /// Data whose repetition an event of its own has announced.
    announced: Option<u32>,
    /// Change of the number of places that nobody was told of yet.
    change: isize,
}

/// How many places a connection may take, where all together have taken so many.
pub(super) fn budget(remembered: usize) -> usize {
    if remembered < MAX_OF_ALL { MAX_OF_ONE } else { 0 }
}

/// Whether a sequence number lies before another one.
fn is_before(sequence: u32, other: u32) -> bool {
    sequence.wrapping_sub(other).cast_signed() < 0
}

impl Seen {
    /// Data was transferred. Gives the time at which it was transferred before, unless an event has announced the repetition.
    pub(super) fn data(&mut self, time: i64, sequence: u32, transfer: &Transfer, budget: usize) -> Option<i64> {
        // Packets without data, and probes of one byte, repeat numbers without a loss.
        if transfer.size <= 1 {
            return None;
        }
        let is_sent = transfer.kind == kinds::SENT;
        let behind = sequence.wrapping_add(u32::try_from(transfer.size).unwrap_or(u32::MAX));
        let is_new = self.end.is_none_or(|end| !is_before(sequence, end));
        if self.end.is_none_or(|end| is_before(end, behind)) {
            self.end = Some(behind);
        }
        let before = if is_new { None } else { self.data.get(&sequence).map(|(before, _)| *before) };
        let before = before.filter(|before| is_sent || time.saturating_sub(*before) < SAME);
        let was_announced = self.announced == Some(sequence);
        if was_announced {
            self.announced = None;
        }
        // Received data is compared with its first appearance, sent data with its last one.
        if is_sent || before.is_none() {
            self.remember(sequence, (time, transfer.size), transfer.unacknowledged, budget);
        }
        before.filter(|_| !was_announced)
    }

    /// An event tells that data is sent again: when it was sent before, and its size.
    pub(super) fn announced(&mut self, sequence: u32) -> Option<(i64, i64)> {
        self.announced = Some(sequence);
        self.data.get(&sequence).copied()
    }

    fn remember(&mut self, sequence: u32, data: (i64, i64), unacknowledged: Option<u32>, budget: usize) {
        let before = self.data.len();
        if before >= budget {
            match unacknowledged {
                Some(first) => self.data.retain(|sequence, _| !is_before(*sequence, first)),
                None => self.data.retain(|_, (time, _)| data.0.saturating_sub(*time) < SAME),
            }
            if self.data.len() > budget / 2 {
                self.data.clear();
            }
        }
        if budget > 0 {
            self.data.insert(sequence, data);
        }
        self.change += self.data.len().cast_signed() - before.cast_signed();
    }

    /// Places that it has taken (or given back) since it was asked last.
    pub(super) fn take_change(&mut self) -> isize {
        std::mem::take(&mut self.change)
    }

    pub(super) fn len(&self) -> usize {
        self.data.len()
    }
}
