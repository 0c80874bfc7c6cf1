//! Halves of stacks that come later than the second pass looks ahead.

use rustc_hash::FxHashMap;
use tracesift_etl::Record;
use tracesift_etl::payload::{Stack, StackReference, is_kernel_address};
use tracesift_trace::Clock;
use tracesift_trace::stack_keys::Half;

/// How far the second pass looks ahead for stacks, ns.
pub(crate) const LEAD_NS: i64 = 2_000_000_000;

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

/// A late half.
#[derive(Clone, Debug)]
pub(crate) struct LateStack {
    pub(crate) half: Half,
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
    lead: i64,
    /// Oldest kernel half per thread since its last return to user mode.
    waiting: FxHashMap<u32, i64>,
    pub(crate) halves: Vec<LateStack>,
    pub(crate) frames: Vec<u64>,
    /// Late halves that were left out because there were too many.
    pub(crate) dropped: i64,
}

impl LateStacks {
    pub(crate) fn new(clock: Clock) -> Self {
        let lead = clock.ticks(LEAD_NS).saturating_sub(clock.zero);
        Self { lead, waiting: FxHashMap::default(), halves: Vec::new(), frames: Vec::new(), dropped: 0 }
    }

    /// A reference to a half by key.
    pub(crate) fn keyed(&mut self, record: &Record<'_>, position: u64, half: Half, reference: &StackReference) {
        let event = reference.event_timestamp.cast_signed();
        let (pid, tid) = (reference.process_id, reference.thread_id);
        if let Some(first_event_ticks) = self.late(record, half, event, tid) {
            let frames = LateFrames::Key { key: reference.stack_key, position };
            let (cpu, ticks, event_ticks) = (record.cpu(), record.time(), event);
            self.push(LateStack { half, pid, tid, cpu, event_ticks, first_event_ticks, ticks, frames });
        }
    }

    /// A half, or a whole stack, with its frames.
    pub(crate) fn inline(&mut self, record: &Record<'_>, stack: &Stack<'_>) {
        let event = stack.event_timestamp.cast_signed();
        let (pid, tid) = (stack.process_id, stack.thread_id);
        let kernel = |address: Option<u64>| address.is_some_and(|at| is_kernel_address(at, record.pointer_size()));
        let (leaf, root) = (kernel(stack.frames.iter().next()), kernel(stack.frames.last()));
        if leaf && !root && record.time().saturating_sub(event) <= self.lead {
            // Whole: nothing is to come.
            return;
        }
        let half = if leaf { Half::Kernel } else { Half::User };
        if let Some(first_event_ticks) = self.late(record, half, event, tid) {
            if self.frames.len() + stack.frames.len() > MAX_FRAMES {
                self.dropped += 1;
                return;
            }
            let start = self.frames.len();
            self.frames.extend(stack.frames.iter());
            let frames = LateFrames::Inline(start..self.frames.len());
            let (cpu, ticks, event_ticks) = (record.cpu(), record.time(), event);
            self.push(LateStack { half, pid, tid, cpu, event_ticks, first_event_ticks, ticks, frames });
        }
    }

    /// A life of this tid is over: nothing of it waits any more.
    pub(crate) fn thread_ended(&mut self, tid: u32) {
        self.waiting.remove(&tid);
    }

    /// For a late half: the oldest event that it serves.
    fn late(&mut self, record: &Record<'_>, half: Half, event: i64, tid: u32) -> Option<i64> {
        let first = match half {
            Half::Kernel => {
                self.waiting.entry(tid).or_insert(event);
                event
            }
            Half::User => self.waiting.remove(&tid).map_or(event, |first| first.min(event)),
        };
        (record.time().saturating_sub(first) > self.lead).then_some(first)
    }

    fn push(&mut self, half: LateStack) {
        if self.halves.len() >= MAX_HALVES {
            self.dropped += 1;
            return;
        }
        self.halves.push(half);
    }
}
