//! How far the second pass looks ahead for stacks, and the halves that come later.
//!
//! What the second pass has met and not used yet waits in memory: with two seconds that are a million halves of a busy machine, and each
//! look-up waits for memory. Most halves come within microseconds. So the look-ahead begins short, and is doubled when many halves are
//! later than it.

use rustc_hash::FxHashMap;
use tracesift_etl::Record;
use tracesift_etl::payload::{Stack, StackReference, is_kernel_address};
use tracesift_trace::Clock;
use tracesift_trace::stack_keys::Half;

/// How far the second pass looks ahead, ns: at least, and at most.
const LEAST_LEAD_NS: i64 = 1_000_000;
const MOST_LEAD_NS: i64 = 2_000_000_000;

/// Late halves, and frames of those that are not by key, from which on the second pass rather looks further ahead: some MiB.
const MANY_HALVES: usize = 1 << 17;
const MANY_FRAMES: usize = 1 << 18;

/// Every so many-th record's time tells how dense the records are.
pub(crate) const PACE: usize = 1 << 17;

/// Late halves kept at most, and frames of those that are not by key.
const MAX_HALVES: usize = 1 << 20;
const MAX_FRAMES: usize = 4 << 20;

/// The frames of a late half.
#[derive(Clone, Debug)]
pub(crate) enum LateFrames {
    /// By key, in the stack record at this position of the stream of stack records.
    Key {
        /// The key.
        key: u64,
        /// See [`tracesift_trace::stack_keys`].
        position: u64,
    },
    /// A range of [`LateStacks::frames`].
    Inline(std::ops::Range<usize>),
}

/// What of a stack is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LatePart {
    /// One half.
    Half(Half),
    /// Both, in one record.
    Whole,
}

/// A late half, or a late stack.
#[derive(Clone, Debug)]
pub(crate) struct LateStack {
    pub(crate) part: LatePart,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) cpu: u16,
    pub(crate) event_ticks: i64,
    /// Oldest event of this stay in kernel mode that waits for its user half.
    pub(crate) first_event_ticks: i64,
    pub(crate) ticks: i64,
    pub(crate) frames: LateFrames,
}

/// Finds and keeps them.
pub(crate) struct LateStacks {
    /// How far the second pass looks ahead, ticks; at least, and at most.
    lead: i64,
    least: i64,
    most: i64,
    /// Halves and stacks of events that are later than the least look-ahead, by how many times it has to be doubled to reach them.
    delays: [i64; 64],
    /// Times of every so many-th record.
    pace: Vec<i64>,
    /// Oldest kernel half per thread since its last return to user mode.
    waiting: FxHashMap<u32, i64>,
    pub(crate) halves: Vec<LateStack>,
    pub(crate) frames: Vec<u64>,
    /// Late halves that were left out because there were too many.
    pub(crate) dropped: i64,
}

impl LateStacks {
    pub(crate) fn new(clock: Clock) -> Self {
        let ticks = |ns| clock.ticks(ns).saturating_sub(clock.zero);
        let (lead, most) = (ticks(LEAST_LEAD_NS), ticks(MOST_LEAD_NS));
        Self {
            lead,
            least: lead,
            most,
            delays: [0; 64],
            pace: Vec::new(),
            waiting: FxHashMap::default(),
            halves: Vec::new(),
            frames: Vec::new(),
            dropped: 0,
        }
    }

    /// To be told of every [`PACE`]-th record's time.
    pub(crate) fn pace(&mut self, ticks: i64) {
        self.pace.push(ticks);
    }

    /// Ends the search. What is looked ahead lies in memory: where `records` come within the look-ahead it is made shorter, and halves
    /// are left out that were forgotten because it was long enough for them.
    pub(crate) fn settle(&mut self, records: usize) {
        let paces = (records / PACE).max(1);
        let spans = self.pace.iter().zip(self.pace.iter().skip(paces)).map(|(from, to)| to.saturating_sub(*from));
        let bound = spans.min().unwrap_or(i64::MAX);
        if self.lead <= bound || self.lead <= self.least {
            return;
        }
        let mut reached = self.doublings(self.lead);
        while self.lead > bound && reached > 0 {
            reached -= 1;
            self.lead = self.least << reached;
        }
        let late: i64 = self.delays.iter().skip(reached + 1).sum();
        self.dropped = late.saturating_sub(i64::try_from(self.halves.len()).unwrap_or(i64::MAX)).max(self.dropped);
    }

    /// How many times the least look-ahead has to be doubled to reach so far.
    fn doublings(&self, delay: i64) -> usize {
        let times = delay.saturating_sub(1).max(0) / self.least.max(1);
        (i64::BITS - times.leading_zeros()) as usize
    }

    /// How far the second pass is to look ahead, ticks.
    pub(crate) const fn lead(&self) -> i64 {
        self.lead
    }

    /// The stack of an event came so many ticks later, and is not kept if it is late: the look-ahead has to reach it.
    pub(crate) fn delayed(&mut self, delay: i64) {
        self.count_delay(delay);
        while delay > self.lead && self.lead < self.most {
            self.lengthen();
        }
    }

    /// A reference to a half by key.
    pub(crate) fn keyed(&mut self, record: &Record<'_>, position: u64, half: Half, reference: &StackReference) {
        let event = reference.event_timestamp.cast_signed();
        let (pid, tid) = (reference.process_id, reference.thread_id);
        if let Some(first_event_ticks) = self.late(record, half, event, tid) {
            let frames = LateFrames::Key { key: reference.stack_key, position };
            let (cpu, ticks, event_ticks) = (record.cpu(), record.time(), event);
            let part = LatePart::Half(half);
            self.push(LateStack { part, pid, tid, cpu, event_ticks, first_event_ticks, ticks, frames });
        }
    }

    /// A half, or a whole stack, with its frames.
    pub(crate) fn inline(&mut self, record: &Record<'_>, stack: &Stack<'_>) {
        let event = stack.event_timestamp.cast_signed();
        let (pid, tid) = (stack.process_id, stack.thread_id);
        let kernel = |address: Option<u64>| address.is_some_and(|at| is_kernel_address(at, record.pointer_size()));
        let (leaf, root) = (kernel(stack.frames.iter().next()), kernel(stack.frames.last()));
        let half = if leaf { Half::Kernel } else { Half::User };
        let (part, first) = if leaf && !root {
            // Nothing is to come, and nothing waits for it.
            (LatePart::Whole, self.is_late(record, event).then_some(event))
        } else {
            (LatePart::Half(half), self.late(record, half, event, tid))
        };
        let Some(first_event_ticks) = first else { return };
        if self.frames.len() + stack.frames.len() > MAX_FRAMES {
            self.dropped += 1;
            return;
        }
        let start = self.frames.len();
        self.frames.extend(stack.frames.iter());
        let frames = LateFrames::Inline(start..self.frames.len());
        let (cpu, ticks, event_ticks) = (record.cpu(), record.time(), event);
        self.push(LateStack { part, pid, tid, cpu, event_ticks, first_event_ticks, ticks, frames });
    }

    /// A life of this tid is over: nothing of it waits any more.
    pub(crate) fn thread_ended(&mut self, tid: u32) {
        self.waiting.remove(&tid);
    }

    /// For a late half: the oldest event that it serves.
    fn late(&mut self, record: &Record<'_>, half: Half, event: i64, tid: u32) -> Option<i64> {
        let first = match half {
            Half::Kernel => {
                let first = self.waiting.entry(tid).or_insert(event);
                *first = event.min(*first);
                event
            }
            Half::User => self.waiting.remove(&tid).map_or(event, |first| first.min(event)),
        };
        self.is_late(record, first).then_some(first)
    }

    /// Whether the second pass does not look so far ahead from an event.
    fn is_late(&mut self, record: &Record<'_>, event: i64) -> bool {
        let delay = record.time().saturating_sub(event);
        self.count_delay(delay);
        delay > self.lead
    }

    fn count_delay(&mut self, delay: i64) {
        if delay > self.least {
            let doublings = self.doublings(delay);
            self.delays[doublings.min(63)] += 1;
        }
    }

    fn push(&mut self, half: LateStack) {
        if self.halves.len() >= MAX_HALVES {
            self.dropped += 1;
            return;
        }
        self.halves.push(half);
        while (self.halves.len() > MANY_HALVES || self.frames.len() > MANY_FRAMES) && self.lead < self.most {
            self.lengthen();
        }
    }

    /// Looks twice as far ahead, and forgets the halves that are not late any more.
    fn lengthen(&mut self) {
        self.lead = self.lead.saturating_mul(2).min(self.most);
        let lead = self.lead;
        self.halves.retain(|half| half.ticks.saturating_sub(half.first_event_ticks) > lead);
        let mut kept = 0;
        for half in &mut self.halves {
            if let LateFrames::Inline(range) = &mut half.frames {
                let length = range.len();
                self.frames.copy_within(range.clone(), kept);
                *range = kept..kept + length;
                kept += length;
            }
        }
        self.frames.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::{LateStacks, PACE};
    use tracesift_trace::Clock;

    /// Ticks are microseconds: the look-ahead is 1,000 at least.
    fn late_stacks() -> LateStacks {
        LateStacks::new(Clock::new(0, 1_000_000))
    }

    #[test]
    fn many_records_within_the_look_ahead_make_it_shorter() {
        let mut late = late_stacks();
        late.delayed(30_000);
        assert_eq!(late.lead(), 32_000);
        // Delays of 1.5 ms, 3 ms and 20 ms; none was kept, as the look-ahead reached them.
        for delay in [1_500, 3_000, 20_000] {
            let doublings = late.doublings(delay);
            late.delays[doublings] += 1;
        }
        // Two million records within 10 ms, of which half a million may be looked ahead.
        (0..17).for_each(|time| late.pace(time * 625));
        late.settle(4 * PACE);
        assert_eq!(late.lead(), 2_000);
        // Two halves, and the stack of the event.
        assert_eq!(late.dropped, 3);
    }

    #[test]
    fn few_records_leave_the_look_ahead_as_it_is() {
        let mut late = late_stacks();
        late.delayed(30_000);
        (0..17).for_each(|time| late.pace(time * 50_000));
        late.settle(4 * PACE);
        assert_eq!((late.lead(), late.dropped), (32_000, 0));
    }
}
