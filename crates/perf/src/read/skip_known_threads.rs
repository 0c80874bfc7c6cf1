//! Skips samples of threads that are known already.
//!
//! The first pass needs to know which threads exist and when they first ran. One sample per thread tells that; the others only
//! need to be counted. So the first sample of each (process, thread) pair is handed out, cut behind its thread, time, id and
//! CPU, and all others are counted in [`LeftOut`]. Samples of events that the caller needs whole are all handed out as they
//! are. For large files another thread scans the second half: see `second_half.rs`.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::records::Records;
use super::stop::Stop;
use super::walk::Walk;
use crate::damage::DamageLog;
use crate::kind::Kind;
use crate::metadata::Metadata;
use crate::record::{Record, is_of_a_guest};

/// Of so many samples one is handed out all the same, so that the caller hears how far the walk is.
const PROGRESS_EVERY: u64 = 4096;

/// Samples that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many.
    pub samples: u64,
    /// How many of each event, by its index, as far as there are any.
    pub by_event: Vec<u64>,
    /// The first and the last of their times.
    pub span: Option<(u64, u64)>,
}

/// A walk without the samples of threads that earlier samples told of. [`Record::sample`] of a sample that was cut is an error.
pub(super) struct SkipKnownThreads {
    records: Records,
    known: KnownThreads,
    /// Bytes of the current record's body that are handed out; `None` where there is no current record.
    length: Option<usize>,
}

impl SkipKnownThreads {
    /// `whole` tells the events whose samples are needed whole.
    pub(super) fn new(records: Records, whole: fn(&Metadata, usize) -> bool) -> Self {
        Self { records, known: KnownThreads::new(whole), length: None }
    }

    /// The same over other records of the recording, with nothing known yet.
    pub(super) fn over(&self, records: Records) -> Self {
        Self::new(records, self.known.whole)
    }

    /// The records with those that are left out.
    pub(super) fn records(&self) -> &Records {
        &self.records
    }

    /// The samples that were left out so far.
    pub(super) fn left_out(&self) -> &LeftOut {
        &self.known.left_out
    }

    /// Goes on where another walk, which began at the current record, has ended.
    pub(super) fn go_on_behind(&mut self, other: Self) {
        self.records.go_on_behind(other.records);
        self.known.left_out.add(&other.known.left_out);
    }

    /// Moves to the next record, whether it is left out or not.
    #[inline]
    pub(super) fn step(&mut self) -> bool {
        self.length = None;
        self.records.advance()
    }

    /// Decides on the record that [`Self::step`] moved to: whether it is handed out, or counted as left out.
    #[inline]
    pub(super) fn keep(&mut self) -> bool {
        let record = self.records.current();
        self.length = record.and_then(|record| self.known.needed(&record, self.records.metadata()));
        self.length.is_some()
    }
}

impl Walk for SkipKnownThreads {
    #[inline]
    fn advance(&mut self) -> bool {
        while self.step() {
            if self.keep() {
                return true;
            }
        }
        false
    }

    #[inline]
    fn current(&self) -> Option<Record<'_>> {
        Some(self.records.current()?.shortened(self.length?))
    }

    fn metadata(&self) -> &Arc<Metadata> {
        self.records.metadata()
    }

    fn damage(&self) -> &DamageLog {
        self.records.damage()
    }

    fn damage_mut(&mut self) -> &mut DamageLog {
        self.records.damage_mut()
    }

    fn stop(&self) -> Option<&Stop> {
        self.records.stop()
    }

    fn position(&self) -> u64 {
        self.records.position()
    }
}

/// Decides which samples are left out.
struct KnownThreads {
    /// Whether samples of this event are needed, and whole.
    whole: fn(&Metadata, usize) -> bool,
    /// The answers by event, for so much metadata.
    by_event: Vec<bool>,
    has_formats: bool,
    /// By thread: its process and the earliest time at which a sample was handed out that says so.
    threads: FxHashMap<i32, (i32, u64)>,
    looked_at: u64,
    left_out: LeftOut,
}

impl KnownThreads {
    fn new(whole: fn(&Metadata, usize) -> bool) -> Self {
        let (by_event, threads, left_out) = Default::default();
        Self { whole, by_event, has_formats: false, threads, looked_at: 0, left_out }
    }

    /// How many bytes of a record's body are handed out; `None` for a sample that is left out.
    #[inline]
    fn needed(&mut self, record: &Record<'_>, metadata: &Metadata) -> Option<usize> {
        let whole = record.body.len();
        let Some(time) = record.time().filter(|_| record.kind() == Kind::Sample) else { return Some(whole) };
        // Events come with their attributes, their names with the formats of tracepoints: both only grow.
        if self.by_event.len() != metadata.events.len() || self.has_formats != metadata.tracing.is_some() {
            self.has_formats = metadata.tracing.is_some();
            self.by_event = (0..metadata.events.len()).map(|event| (self.whole)(metadata, event)).collect();
        }
        let event = record.event();
        if event.and_then(|event| self.by_event.get(event)).copied().unwrap_or(true) {
            return Some(whole);
        }
        self.looked_at += 1;
        if self.is_news(record, time) || self.looked_at.is_multiple_of(PROGRESS_EVERY) {
            return Some(whole.min(record.layout.head_length()));
        }
        self.left_out.count(event, time);
        None
    }

    /// Whether nothing said before, or at the same time, that the thread is one of the process.
    fn is_news(&mut self, sample: &Record<'_>, time: u64) -> bool {
        let is_of_host = !is_of_a_guest(sample.cpu_mode());
        let Some((pid, tid)) = sample.thread().filter(|_| is_of_host) else { return true };
        match self.threads.get(&tid) {
            Some((process, since)) if *process == pid && *since <= time => false,
            _ => {
                self.threads.insert(tid, (pid, time));
                true
            }
        }
    }
}

impl LeftOut {
    #[inline]
    fn count(&mut self, event: Option<usize>, time: u64) {
        self.samples += 1;
        self.widen(time, time);
        if let Some(event) = event {
            self.count_of(event, 1);
        }
    }

    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        if let Some((first, last)) = other.span {
            self.widen(first, last);
        }
        for (event, &samples) in other.by_event.iter().enumerate() {
            self.count_of(event, samples);
        }
    }

    #[inline]
    fn widen(&mut self, from: u64, to: u64) {
        let (first, last) = self.span.get_or_insert((from, to));
        *first = from.min(*first);
        *last = to.max(*last);
    }

    #[inline]
    fn count_of(&mut self, event: usize, samples: u64) {
        if self.by_event.len() <= event {
            self.by_event.resize(event + 1, 0);
        }
        if let Some(count) = self.by_event.get_mut(event) {
            *count += samples;
        }
    }
}
