//! Exceptions, from the throw to the catch block, and signals.
//!
//! What a thread has under way is a stack: exceptions that nobody has caught yet, and blocks that run. An exception that is thrown inside
//! of a block is above it. A catch block belongs to the innermost exception. When a block ends, exceptions above it that nobody caught
//! are over: a later exception replaced them, or the runtime dropped them at the end of a filter.

mod held;
mod signals;

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

pub use self::signals::{Delivered, Generated, signal_codes, signal_name};

use self::held::HeldRows;
use self::signals::Signals;
use crate::ids::{FrameId, ProcessId, ThreadId};
use crate::open_lives::OpenLives;
use crate::rows::{ExceptionRow, exception_handling as handling, exception_kinds};

/// Threads with exceptions under way that are followed at most.
const MOST_THREADS: usize = 1 << 16;
/// Exceptions and blocks that one thread has under way, at most: the outermost ones make room.
const MOST_OF_THREAD: usize = 64;
/// Rows that wait for older ones, at most.
const MOST_ROWS: usize = 1 << 16;

/// What takes rows, in the order of their times.
pub type Rows<'a> = dyn FnMut(&ExceptionRow) + 'a;

/// A block of code that runs while an exception is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// It catches.
    Catch,
    /// It runs whatever happens.
    Finally,
    /// It decides whether the catch block behind it runs.
    Filter,
}

/// Who catches an exception, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catcher {
    /// Nanoseconds since time zero.
    pub time: i64,
    /// Name of the method.
    pub method: Option<String>,
    /// First instruction of the block.
    pub frame: Option<FrameId>,
}

/// What a thread has under way.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The exception with this number.
    Thrown(u64),
    Block(Block),
}

#[derive(Debug, Default)]
struct Thread {
    steps: VecDeque<Step>,
    /// A catch block has just ended.
    after_catch: bool,
}

/// Follows exceptions. Fed in the order of time.
#[derive(Debug)]
pub struct Exceptions {
    rows: HeldRows,
    threads: OpenLives<ThreadId, Thread>,
    /// Processes of which events tell of blocks.
    told: FxHashSet<Option<ProcessId>>,
    signals: Signals,
}

impl Default for Exceptions {
    fn default() -> Self {
        Self::with_most(MOST_THREADS, MOST_ROWS)
    }
}

impl Exceptions {
    fn with_most(threads: usize, rows: usize) -> Self {
        Self {
            rows: HeldRows::new(rows),
            threads: OpenLives::new(threads),
            told: FxHashSet::default(),
            signals: Signals::default(),
        }
    }

    /// A thread throws; `row` has what the event tells.
    pub fn thrown(&mut self, thread: ThreadId, row: ExceptionRow, out: &mut Rows<'_>) {
        let process = row.process;
        let number = self.rows.push(row, true);
        self.step(thread, process, Step::Thrown(number));
        self.leave(out);
    }

    /// A signal is sent to a thread of a process; `row` has what the event tells.
    pub fn signal_generated(
        &mut self,
        to: (ProcessId, ThreadId),
        signal: Generated,
        row: ExceptionRow,
        out: &mut Rows<'_>,
    ) {
        self.signals.generated(&mut self.rows, to, signal, row);
        self.leave(out);
    }

    /// A thread takes a signal; `row` is that of a signal that was not seen to be sent.
    pub fn signal_delivered(
        &mut self,
        to: (ProcessId, ThreadId),
        signal: Delivered,
        row: ExceptionRow,
        out: &mut Rows<'_>,
    ) {
        self.signals.delivered(&mut self.rows, to, signal, row);
        self.leave(out);
    }

    /// Rows leave that nothing more becomes known of, and those that are too many.
    fn leave(&mut self, out: &mut Rows<'_>) {
        if let Some(oldest) = self.rows.too_many() {
            self.give_up(oldest);
        }
        self.rows.leave(out);
    }

    /// A block begins to catch. `false`: nobody knows an exception for it.
    pub fn caught(
        &mut self,
        (process, thread): (Option<ProcessId>, ThreadId),
        catcher: Catcher,
        out: &mut Rows<'_>,
    ) -> bool {
        self.told.insert(process);
        let known = self.threads.get_mut(&thread).and_then(|known| {
            let place = innermost(&known.steps)?;
            let steps: Vec<Step> = known.steps.drain(place..).collect();
            steps.first().copied()
        });
        let number = if let Some(Step::Thrown(number)) = known { Some(number) } else { None };
        if let Some(row) = number.and_then(|number| self.rows.open(number)) {
            row.handling = handling::CAUGHT;
            row.caught = Some(catcher.time.max(row.time));
            row.caught_by = catcher.method;
            row.caught_frame = catcher.frame;
        }
        number.into_iter().for_each(|number| self.rows.close(number));
        self.step(thread, process, Step::Block(Block::Catch));
        self.rows.leave(out);
        number.is_some()
    }

    /// A catch block whose end is not recorded begins.
    pub fn caught_for_good(&mut self, by: (Option<ProcessId>, ThreadId), catcher: Catcher, out: &mut Rows<'_>) -> bool {
        let is_known = self.caught(by, catcher, out);
        self.end(by, Block::Catch, out);
        is_known
    }

    /// A finally block or a filter begins.
    pub fn begin(&mut self, (process, thread): (Option<ProcessId>, ThreadId), block: Block) {
        self.told.insert(process);
        if block == Block::Filter
            && let Some(Step::Thrown(number)) = self.threads.get(&thread).and_then(|known| known.steps.back())
            && let Some(row) = self.rows.open(*number)
        {
            row.handling = handling::FILTERED;
        }
        self.step(thread, process, Step::Block(block));
    }

    /// A block ends.
    pub fn end(&mut self, (process, thread): (Option<ProcessId>, ThreadId), block: Block, out: &mut Rows<'_>) {
        self.told.insert(process);
        let Some(known) = self.threads.get_mut(&thread) else { return };
        let is_it = |step: &Step| matches!(step, Step::Block(other) if *other == block);
        let Some(place) = known.steps.iter().rposition(is_it) else { return };
        let over: Vec<Step> = known.steps.drain(place..).collect();
        known.after_catch = block == Block::Catch;
        if known.steps.is_empty() {
            self.threads.remove(&thread);
        }
        self.close(&over);
        self.rows.leave(out);
    }

    /// The runtime is done with an exception. Where no catch block has just ended, code outside of the runtime caught it.
    pub fn done(&mut self, (process, thread): (Option<ProcessId>, ThreadId), out: &mut Rows<'_>) {
        self.told.insert(process);
        let Some(known) = self.threads.get_mut(&thread) else { return };
        let is_told = std::mem::take(&mut known.after_catch);
        let Some(Step::Thrown(number)) = known.steps.back().copied().filter(|_| !is_told) else { return };
        known.steps.pop_back();
        if known.steps.is_empty() {
            self.threads.remove(&thread);
        }
        if let Some(row) = self.rows.open(number) {
            row.handling = handling::CAUGHT;
        }
        self.rows.close(number);
        self.rows.leave(out);
    }

    /// A process ended; `by_exception`: an exception that nobody caught ended it, which is the last one that nobody was seen to catch.
    pub fn process_ended(&mut self, process: ProcessId, by_exception: bool, out: &mut Rows<'_>) {
        let steps: Vec<Step> = self.threads.remove_owner(process).into_iter().flat_map(|thread| thread.steps).collect();
        let numbers =
            steps.iter().filter_map(|step| if let Step::Thrown(number) = step { Some(*number) } else { None });
        let last = numbers.max().filter(|_| by_exception);
        if let Some(row) = last.and_then(|last| self.rows.open(last)) {
            row.handling = handling::UNHANDLED;
        }
        last.into_iter().for_each(|last| self.rows.close(last));
        self.close(&steps);
        self.rows.leave(out);
    }

    /// Events were lost: who catches what is under way is not known.
    pub fn lost(&mut self, out: &mut Rows<'_>) {
        while self.threads.oldest().is_some() {}
        self.signals.lost();
        for number in self.rows.numbers() {
            if let Some(row) = self.rows.open(number) {
                row.handling = handling::UNKNOWN;
            }
            self.rows.close(number);
        }
        self.rows.leave(out);
    }

    /// The end of the recording.
    pub fn finish(&mut self, out: &mut Rows<'_>) {
        for number in self.rows.numbers() {
            self.verdict(number);
            self.rows.close(number);
        }
        self.rows.leave(out);
    }

    /// Exceptions and signals that were given up because more were under way than are followed.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.rows.dropped()
    }

    fn step(&mut self, thread: ThreadId, process: Option<ProcessId>, step: Step) {
        let Some(known) = self.threads.get_mut(&thread) else {
            let new = Thread { steps: VecDeque::from([step]), after_catch: false };
            if let Some(oldest) = self.threads.insert(thread, process, new) {
                oldest.steps.iter().for_each(|step| self.leave_out(*step));
            }
            return;
        };
        known.after_catch = false;
        known.steps.push_back(step);
        let outermost = if known.steps.len() > MOST_OF_THREAD { known.steps.pop_front() } else { None };
        outermost.into_iter().for_each(|step| self.leave_out(step));
    }

    /// Nobody was seen to catch what is over.
    fn close(&mut self, steps: &[Step]) {
        for step in steps {
            if let Step::Thrown(number) = step {
                self.verdict(*number);
                self.rows.close(*number);
            }
        }
    }

    fn leave_out(&mut self, step: Step) {
        if let Step::Thrown(number) = step {
            self.give_up(number);
        }
    }

    /// Somebody may still catch it. Where no event tells of blocks, nothing is missed.
    fn give_up(&mut self, number: u64) {
        let Some(row) = self.rows.open(number) else { return };
        row.handling = handling::UNKNOWN;
        if row.kind == exception_kinds::SIGNAL || self.told.contains(&row.process) {
            self.rows.give_up(number);
        } else {
            self.rows.close(number);
        }
    }

    /// Where events tell of blocks, one that caught the exception would have been seen.
    fn verdict(&mut self, number: u64) {
        let told = &self.told;
        if let Some(row) = self.rows.open(number)
            && row.handling == handling::UNKNOWN
            && row.kind != exception_kinds::SIGNAL
            && told.contains(&row.process)
        {
            row.handling = handling::NOT_CAUGHT;
        }
    }
}

/// The place of the innermost exception that a catch block can belong to: one above all catch blocks that run.
fn innermost(steps: &VecDeque<Step>) -> Option<usize> {
    let place = steps.iter().rposition(|step| matches!(step, Step::Thrown(_) | Step::Block(Block::Catch)))?;
    matches!(steps.get(place), Some(Step::Thrown(_))).then_some(place)
}

#[cfg(test)]
mod tests;
