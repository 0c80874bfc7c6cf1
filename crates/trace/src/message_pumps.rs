//! Threads that fetch window messages and dispatch them: the times in which they fetched none, and those that one message took.

use crate::ids::ThreadId;
use crate::open_lives::OpenLives;
use crate::rows::ui_delay_kinds as kinds;

/// Threads that are followed at most. Of more the oldest ones begin anew.
const MOST: usize = 1 << 18;
/// Messages that a thread dispatches inside of each other, at most. A thread with more begins anew.
const DEEPEST: usize = 64;
/// Shorter times are no delays, nanoseconds.
pub const LEAST: i64 = 200_000_000;

/// A time in which a thread fetched no message, or was busy with one: at least [`LEAST`] long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Begin, ns.
    pub start: i64,
    /// End, ns.
    pub end: i64,
    /// [`kinds::NO_FETCH`] or [`kinds::DISPATCH`].
    pub kind: i8,
    /// Number of the message: of a time without a fetch the first one that was dispatched in it.
    pub message: Option<u32>,
}

impl Stall {
    fn new(start: i64, end: i64, kind: i8, message: Option<u32>) -> Option<Self> {
        (end.saturating_sub(start) >= LEAST).then_some(Self { start, end, kind, message })
    }
}

/// All threads that pump messages. Fed in the order of time.
#[derive(Debug)]
pub struct MessagePumps {
    threads: OpenLives<ThreadId, Pump>,
}

/// One thread.
#[derive(Debug, Default)]
struct Pump {
    /// End of the last fetch; `None` inside of a fetch, and where none is known.
    fetched: Option<i64>,
    /// The first message that was dispatched since.
    first: Option<u32>,
    /// The messages that are dispatched, inside of each other.
    open: Vec<u32>,
    /// The time that one of them takes; `None` inside of a fetch.
    part: Option<Part>,
}

/// A time outside of fetches that belongs to one message.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: i64,
    /// Number of messages that are dispatched with this one.
    depth: usize,
    /// Whether the message goes on behind another one or a fetch: the next message ends the part.
    goes_on: bool,
}

impl Default for MessagePumps {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl MessagePumps {
    /// None yet. Of more than `most` threads the oldest ones begin anew.
    #[must_use]
    pub fn with_most(most: usize) -> Self {
        Self { threads: OpenLives::new(most) }
    }

    /// A thread calls for the next message. Gives the time since the last one, and that of the message in hand.
    pub fn fetch_begins(&mut self, thread: ThreadId, time: i64) -> [Option<Stall>; 2] {
        let pump = self.pump(thread);
        let first = pump.first.take();
        let fetched = pump.fetched.take();
        let part = pump.part.take();
        let message = part.and_then(|part| pump.open.get(part.depth.checked_sub(1)?).copied());
        [
            fetched.and_then(|start| Stall::new(start, time, kinds::NO_FETCH, first)),
            part.and_then(|part| Stall::new(part.start, time, kinds::DISPATCH, message)),
        ]
    }

    /// The call comes back, with a message or without one.
    pub fn fetch_ends(&mut self, thread: ThreadId, time: i64) {
        let pump = self.pump(thread);
        pump.fetched = Some(time);
        pump.first = None;
        let depth = pump.open.len();
        pump.part = (depth > 0).then_some(Part { start: time, depth, goes_on: true });
    }

    /// A thread dispatches a message. Gives the time of the message that it is inside of, where that went on behind a fetch.
    pub fn dispatch_begins(&mut self, thread: ThreadId, time: i64, message: u32) -> Option<Stall> {
        let pump = self.pump(thread);
        if pump.open.len() >= DEEPEST {
            *pump = Pump { fetched: pump.fetched, ..Pump::default() };
        }
        let before = pump.part.take_if(|part| part.goes_on);
        let outer = pump.open.last().copied();
        pump.open.push(message);
        let depth = pump.open.len();
        pump.part.get_or_insert(Part { start: time, depth, goes_on: false });
        pump.first.get_or_insert(message);
        before.and_then(|part| Stall::new(part.start, time, kinds::DISPATCH, outer))
    }

    /// The message is done. Gives the time that it took since the last fetch inside of it.
    pub fn dispatch_ends(&mut self, thread: ThreadId, time: i64) -> Option<Stall> {
        let pump = self.pump(thread);
        let depth = pump.open.len();
        let message = pump.open.pop()?;
        let part = pump.part.take_if(|part| part.depth == depth)?;
        pump.part = (depth > 1).then(|| Part { start: time, depth: depth - 1, goes_on: true });
        Stall::new(part.start, time, kinds::DISPATCH, Some(message))
    }

    /// Events were lost: what the threads do is not known.
    pub fn lost(&mut self) {
        while self.threads.oldest().is_some() {}
    }

    /// The end of the recording: the times without a fetch that last.
    pub fn finish(mut self, end: i64) -> impl Iterator<Item = (ThreadId, Stall)> {
        std::iter::from_fn(move || self.threads.oldest_with_key()).filter_map(move |(thread, pump)| {
            let stall = Stall::new(pump.fetched?, end, kinds::NO_FETCH, pump.first)?;
            Some((thread, stall))
        })
    }

    fn pump(&mut self, thread: ThreadId) -> &mut Pump {
        if self.threads.get(&thread).is_none() {
            self.threads.insert(thread, None, Pump::default());
        }
        self.threads.get_mut(&thread).expect("it was put there")
    }
}

#[cfg(test)]
mod tests;
