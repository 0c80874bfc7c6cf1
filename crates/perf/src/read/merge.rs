//! Puts records in the order of their times.
//!
//! perf reads the buffers of the CPUs in rounds, so a file is a sequence of parts that are in order
//! and overlap. After each round perf writes `FINISHED_ROUND`. It promises that no later record is
//! older than the newest record at the end of the round *before*. Records up to that time are
//! sorted and returned, as perf itself does (`ordered_events__flush` in
//! tools/perf/util/ordered-events.c).
//!
//! perf before Linux 4 wrote no rounds without tracepoints, and a forged file may break the
//! promise. The waiting records therefore have a limit of memory. At the limit, the older half is
//! returned. A recording below the limit is sorted as a whole. In a larger recording, only a record
//! that is late by half the limit comes after its turn; the limit is many times the buffers that
//! perf reads in one round. A late record is returned at once and counted. Nothing is written to
//! disk.

use std::sync::Arc;

use super::ahead::{Ahead, Lead};
use super::chains::{ChainNumber, ChainNumbers, NewChains};
use super::queue::{Queue, Waiting};
use super::records::Records;
use super::second_half::TwoHalves;
use super::skip_known_threads::LeftOut;
use super::stop::Stop;
use super::walk::Walk;
use crate::damage::{DamageLog, kind};
use crate::kind::Kind;
use crate::metadata::Metadata;
use crate::payload::Words;
use crate::record::{Chain, NO_TIME, Record};

/// Limits of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeOptions {
    /// Limit of the bytes of waiting records.
    pub memory_limit: usize,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self { memory_limit: 128 << 20 }
    }
}

/// The lead of a merged walk. Little is handed over, and the user learns the position every few
/// MiB.
const LEAD: Lead = Lead { waiting: 4, far: 8 << 20 };

/// Walks over the records in the order of their times. Records without a time are records that perf
/// itself wrote; they come in the order of the file.
pub struct Merged<W: Walk = Records> {
    records: W,
    queue: Queue,
    current: Current,
    /// The newest time so far, and at the end of the round before.
    newest: u64,
    round: u64,
    handed_out: u64,
    ended: bool,
    /// The numbers of call chains, for walks that have them.
    chains: Option<ChainNumbers>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Current {
    None,
    /// The current record of the walk.
    Direct,
    /// The first of the queue.
    Queued,
}

impl<W: Walk> Merged<W> {
    /// Puts records in order.
    #[must_use]
    pub fn new(records: W, options: MergeOptions) -> Self {
        let queue = Queue::new(options.memory_limit);
        let current = Current::None;
        Self { records, queue, current, newest: 0, round: 0, handed_out: 0, ended: false, chains: None }
    }

    /// Continues on a thread of its own.
    #[must_use]
    pub fn ahead(self) -> Ahead<Self> {
        Ahead::new(self, LEAD)
    }

    /// What is known of the recording so far.
    #[must_use]
    pub fn metadata(&self) -> &Arc<Metadata> {
        self.records.metadata()
    }

    /// What could not be read so far.
    #[must_use]
    pub fn damage(&self) -> &DamageLog {
        self.records.damage()
    }

    /// Why the walk ended before its data, if it did.
    #[must_use]
    pub fn stop(&self) -> Option<&Stop> {
        self.records.stop()
    }

    /// Bytes of the file or stream that were walked over, for progress.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.records.position()
    }

    /// The next record.
    #[expect(clippy::should_implement_trait, reason = "the record borrows from the reader")]
    #[inline]
    pub fn next(&mut self) -> Option<Record<'_>> {
        self.advance();
        self.current()
    }

    /// Moves to the next record; see [`Merged::current`].
    #[inline]
    pub fn advance(&mut self) -> bool {
        if self.current == Current::Queued {
            self.queue.pop();
        }
        if let Some(time) = self.queue.first_time()
            && time >= self.handed_out
        {
            self.handed_out = time;
            self.current = Current::Queued;
            return true;
        }
        self.read_on()
    }

    /// Moves to the next record where it is late or not in the queue yet.
    fn read_on(&mut self) -> bool {
        self.current = Current::None;
        loop {
            if let Some(Waiting { head, .. }) = self.queue.peek() {
                let (time, offset) = (head.time, head.offset);
                if time < self.handed_out {
                    let newest = self.handed_out;
                    self.records.damage_mut().add(kind::LATE_RECORD, offset, || format!("{} ns late", newest - time));
                }
                self.handed_out = self.handed_out.max(time);
                self.current = Current::Queued;
                return true;
            }
            if self.ended {
                return false;
            }
            if !self.records.advance() {
                self.ended = true;
                self.queue.release_until(NO_TIME);
                continue;
            }
            if self.take() {
                self.current = Current::Direct;
                return true;
            }
        }
    }

    /// Takes the current record of the walk. Returns whether the record is returned at once.
    fn take(&mut self) -> bool {
        let Some(record) = self.records.current() else { return false };
        match record.time() {
            None => {
                if record.kind() == Kind::FinishedRound {
                    self.queue.release_until(self.round);
                    self.round = self.newest;
                }
                true
            }
            Some(time) => {
                self.newest = self.newest.max(time);
                let body = record.body;
                let numbered = self.chains.as_mut().and_then(|chains| {
                    let place = record.chain_place()?;
                    let number = chains.number(body.get(place.clone())?)?;
                    Some(([body.get(..place.start)?, body.get(place.end..)?], number))
                });
                match numbered {
                    Some((parts, number)) => self.queue.push(record.head, parts, Some(number)),
                    None => self.queue.push(record.head, [body, &[]], None),
                }
                if self.queue.is_full() {
                    self.queue.release_half();
                }
                false
            }
        }
    }

    /// The record that [`Merged::advance`] moved to.
    #[must_use]
    #[inline]
    pub fn current(&self) -> Option<Record<'_>> {
        let (record, chain) = self.current_without_chain()?;
        let words = |number| self.chains.as_ref()?.get(number);
        let Some(number) = chain else { return Some(record) };
        let words = Words::new(words(number).unwrap_or_default(), record.layout.endian);
        Some(record.with_chain(Chain { number, words }))
    }
}

impl<W: Walk> Walk for Merged<W> {
    #[inline]
    fn advance(&mut self) -> bool {
        Merged::advance(self)
    }

    #[inline]
    fn current(&self) -> Option<Record<'_>> {
        Merged::current(self)
    }

    fn metadata(&self) -> &Arc<Metadata> {
        Merged::metadata(self)
    }

    fn damage(&self) -> &DamageLog {
        Merged::damage(self)
    }

    fn damage_mut(&mut self) -> &mut DamageLog {
        self.records.damage_mut()
    }

    fn stop(&self) -> Option<&Stop> {
        Merged::stop(self)
    }

    fn position(&self) -> u64 {
        Merged::position(self)
    }

    fn number_chains(&mut self) {
        self.chains.get_or_insert_default();
    }

    fn take_new_chains(&mut self, empty: &mut NewChains) {
        let Some(chains) = &mut self.chains else { return };
        chains.take_new(empty);
        if !self.queue.has_numbered() {
            chains.make_room();
        }
    }

    #[inline]
    fn new_chain_bytes(&self) -> usize {
        self.chains.as_ref().map_or(0, ChainNumbers::new_bytes)
    }

    #[inline]
    fn current_without_chain(&self) -> Option<(Record<'_>, Option<ChainNumber>)> {
        match self.current {
            Current::None => None,
            Current::Direct => Some((self.records.current()?, None)),
            Current::Queued => {
                let Waiting { head, body, chain } = self.queue.peek()?;
                Some((Record::new(head, body, &self.records.metadata().events), chain))
            }
        }
    }
}

impl Merged {
    /// Leaves out samples of threads that earlier samples told of, but for those of events that are needed `whole`. What comes
    /// too late is not recognised among the samples that are left out.
    #[must_use]
    pub fn skip_known_threads(self, whole: fn(&Metadata, usize) -> bool) -> Merged<TwoHalves> {
        let Self { records, queue, current, newest, round, handed_out, ended, chains } = self;
        Merged { records: TwoHalves::new(records, whole), queue, current, newest, round, handed_out, ended, chains }
    }
}

impl Merged<TwoHalves> {
    /// The samples that were left out so far.
    #[must_use]
    pub fn left_out(&self) -> &LeftOut {
        self.records.left_out()
    }
}
