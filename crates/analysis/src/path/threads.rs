//! What the walk knows of each thread: its life, and its rows that passed last.

use tracesift_trace::rows::ThreadRow;
use tracesift_trace::{StackId, ThreadId, view};

use super::guide::PathSwitch;
use crate::by_id::ById;
use crate::spans::Span;

view! {
    /// The life of a thread, and whether it is an idle thread.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ThreadLife of ThreadRow { thread, start, end, idle_cpu }
}

/// A thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    /// Its life inside of the recording.
    pub(super) life: Span,
    /// Whether its start was recorded.
    pub(super) is_born_inside: bool,
    /// Whether it stands for a CPU that has nothing to do.
    pub(super) is_idle: bool,
    /// Whether the recording has a switch of it.
    pub(super) is_switched: bool,
    /// Its row that passed last: the next one in time.
    pub(super) row: Option<PathSwitch>,
    /// Stack of the row that passed before that.
    pub(super) later_stack: Option<StackId>,
}

/// All threads by id.
#[derive(Clone, Debug)]
pub(super) struct Threads {
    recorded: Span,
    threads: ById<Thread>,
}

impl Threads {
    pub(super) fn new(recorded: Span, threads: impl IntoIterator<Item = impl Into<ThreadLife>>) -> Self {
        let mut all = Self { recorded, threads: ById::default() };
        for life in threads {
            let life = life.into();
            all.threads.insert(life.thread.0, Thread::of(&life, recorded));
        }
        all
    }

    pub(super) fn get(&self, thread: ThreadId) -> Thread {
        self.threads.get(thread.0).copied().unwrap_or_else(|| Thread::of(&unlisted(thread), self.recorded))
    }

    pub(super) fn is_idle(&self, thread: ThreadId) -> bool {
        self.threads.get(thread.0).is_some_and(|thread| thread.is_idle)
    }

    #[inline]
    pub(super) fn pass(&mut self, row: &PathSwitch) {
        let of_thread = self.get_mut(row.thread);
        of_thread.later_stack = of_thread.row.as_ref().and_then(|row| row.wait_stack);
        of_thread.row = Some(*row);
    }

    pub(super) fn never_switched(&mut self, thread: ThreadId) {
        self.get_mut(thread).is_switched = false;
    }

    fn get_mut(&mut self, thread: ThreadId) -> &mut Thread {
        let recorded = self.recorded;
        self.threads.get_or_insert_with(thread.0, || Thread::of(&unlisted(thread), recorded))
    }
}

impl Thread {
    fn of(life: &ThreadLife, recorded: Span) -> Self {
        let (start, end) = (life.start.unwrap_or(recorded.start), life.end.unwrap_or(recorded.end));
        Self {
            life: Span::new(start, end).intersect(recorded),
            is_born_inside: life.start.is_some(),
            is_idle: life.idle_cpu.is_some(),
            is_switched: true,
            row: None,
            later_stack: None,
        }
    }
}

/// A thread that the table of threads lacks has lived all the time.
fn unlisted(thread: ThreadId) -> ThreadLife {
    ThreadLife { thread, ..ThreadLife::default() }
}
