//! What a walk leaves out whose user only asks who was there: of most threads' samples one says as much as all of them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::ahead::Ahead;
use super::records::Records;
use super::rest::{HEAD_START, Rest};
use super::stop::Stop;
use super::walk::Walk;
use crate::damage::DamageLog;
use crate::kind::Kind;
use crate::metadata::Metadata;
use crate::record::{Record, is_of_a_guest};

/// Of so many samples one is handed out all the same, so that who follows hears how far the walk is.
const SIGN_OF_LIFE: u64 = 4096;

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

/// A walk for who only asks who was there: leaves out samples of threads that earlier samples told of, and of the others hands out
/// nothing that stands behind thread, time, id and CPU, so that their [`Record::sample`] is an error. Samples of events that are
/// needed whole are all handed out as they are. The second half of a long recording is looked over by another thread meanwhile.
pub struct Outline {
    records: Records,
    choice: Choice,
    part: Part,
    /// Offset of the record at which the part changes.
    turn: u64,
    current: Current,
}

/// Which part of the recording the walk is in.
enum Part {
    /// So near to the start that nothing else has begun.
    Start,
    /// The first half, while another thread is in the second.
    FirstHalf(Rest),
    /// The second half.
    SecondHalf(Box<Ahead<Outline>>),
    /// Nobody else is on the way.
    Alone,
}

#[derive(Clone, Copy)]
enum Current {
    None,
    /// The record of the walk, with so many bytes of its body.
    Here(usize),
    /// The record of the second half's walk.
    There,
}

impl Outline {
    pub(super) fn new(records: Records, whole: fn(&Metadata, usize) -> bool) -> Self {
        let turn = records.position().saturating_add(HEAD_START);
        Self { records, choice: Choice::new(whole), part: Part::Start, turn, current: Current::None }
    }

    /// Of records that nobody else looks over.
    pub(super) fn alone(records: Records, choice: Choice) -> Self {
        Self { records, choice, part: Part::Alone, turn: u64::MAX, current: Current::None }
    }

    pub(super) fn left_out(&self) -> &LeftOut {
        &self.choice.left_out
    }

    /// Changes the part at a record that stands at the turn or behind; whether that record is the second half's now.
    fn turn(&mut self) -> bool {
        self.turn = u64::MAX;
        let Some(record) = self.records.current() else { return false };
        match std::mem::replace(&mut self.part, Part::Alone) {
            Part::Start => {
                if let Some(rest) = Rest::begin(&self.records, Choice::new(self.choice.whole)) {
                    self.turn = rest.start();
                    self.part = Part::FirstHalf(rest);
                }
                false
            }
            Part::FirstHalf(rest) => {
                let Some(walk) = rest.proved(&record, self.records.metadata()) else { return false };
                self.part = Part::SecondHalf(walk);
                true
            }
            Part::SecondHalf(_) | Part::Alone => false,
        }
    }

    /// Moves to the next record of the second half; what that walk has not read at its end is read here.
    fn advance_there(&mut self) -> bool {
        if let Part::SecondHalf(walk) = &mut self.part
            && walk.advance()
        {
            return true;
        }
        if let Part::SecondHalf(walk) = std::mem::replace(&mut self.part, Part::Alone) {
            let Outline { records, choice, .. } = walk.finish();
            self.records.go_on_behind(records);
            self.choice.left_out.add(&choice.left_out);
        }
        false
    }
}

impl Walk for Outline {
    fn advance(&mut self) -> bool {
        self.current = Current::None;
        loop {
            if matches!(self.part, Part::SecondHalf(_)) && self.advance_there() {
                self.current = Current::There;
                return true;
            }
            if !self.records.advance() {
                return false;
            }
            if self.records.position() >= self.turn && self.turn() {
                continue;
            }
            let Some(record) = self.records.current() else { return false };
            if let Some(length) = self.choice.needed(&record, self.records.metadata()) {
                self.current = Current::Here(length);
                return true;
            }
        }
    }

    fn current(&self) -> Option<Record<'_>> {
        match (self.current, &self.part) {
            (Current::Here(length), _) => Some(self.records.current()?.shortened(length)),
            (Current::There, Part::SecondHalf(walk)) => walk.current(),
            (Current::There | Current::None, _) => None,
        }
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
        match &self.part {
            Part::SecondHalf(walk) => walk.position().max(self.records.position()),
            _ => self.records.position(),
        }
    }
}

/// Chooses the samples that are left out.
pub(super) struct Choice {
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

impl Choice {
    pub(super) fn new(whole: fn(&Metadata, usize) -> bool) -> Self {
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
        if self.is_news(record, time) || self.looked_at.is_multiple_of(SIGN_OF_LIFE) {
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
