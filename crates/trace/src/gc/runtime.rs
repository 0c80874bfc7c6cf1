//! One runtime of a process: its open collections and suspensions.

use super::held::{Held, Life};
use super::{At, Start};
use crate::ids::{StackId, ThreadId};
use crate::rows::{GcCollectionRow, GcSuspensionRow, gc_kinds, gc_suspension_reasons};

/// Suspensions that are followed at once, at most: as many threads as ask at the same time.
const MOST_SUSPENSIONS: usize = 64;
/// Collections that are remembered by the thread that ended them, at most: the background thread and those that allocate.
const MOST_ENDED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Runtime {
    /// Collections under way: one in the background and another one, at most.
    open: Vec<Life>,
    suspensions: Vec<Suspension>,
    trigger: Option<Trigger>,
    /// Bytes since the last collection began, and those of large objects. `None`: no tick was logged.
    allocated: Option<[i64; 2]>,
    /// The last collections of threads that ended some, the newest last.
    ended: Vec<(Option<ThreadId>, u64)>,
    /// The collection that began last.
    begun: Option<u64>,
    /// End of the last pause for a collection.
    pause_end: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
struct Trigger {
    reason: i8,
    thread: Option<ThreadId>,
    stack: Option<StackId>,
}

#[derive(Debug)]
struct Suspension {
    row: GcSuspensionRow,
    /// The collection that threads stand for.
    owner: Option<u64>,
    /// Since when they stand for it.
    since: i64,
    /// Collections that go on when the owner has ended.
    outer: Vec<u64>,
    /// The first owner.
    first: Option<u64>,
    /// The last event of the suspension.
    last: i64,
    /// Whether a collection has ended in it.
    has_ended: bool,
}

impl Suspension {
    fn is_for_collection(&self) -> bool {
        matches!(self.row.reason, gc_suspension_reasons::COLLECTION | gc_suspension_reasons::PREPARATION)
    }
}

/// The collection of that number.
fn find<'l>(open: &'l mut [Life], held: &'l mut Held, id: u64) -> Option<&'l mut Life> {
    open.iter_mut().find(|life| life.id == id).or_else(|| held.find(id))
}

impl Runtime {
    /// Place of the suspension that a thread has asked for.
    fn suspension_of(&self, thread: Option<ThreadId>) -> Option<usize> {
        self.suspensions.iter().rposition(|suspension| suspension.row.thread == thread)
    }

    pub(super) fn suspending(&mut self, at: At, reason: i8, held: &mut Held, done: &mut Vec<GcSuspensionRow>) {
        if let Some(before) = self.suspension_of(at.thread) {
            self.lose(before, at.time, held, done);
        }
        if self.suspensions.len() >= MOST_SUSPENSIONS {
            self.lose(0, at.time, held, done);
        }
        let row = GcSuspensionRow {
            time: at.time,
            start: at.time,
            process: at.process,
            thread: at.thread,
            runtime: at.runtime,
            reason,
            ..GcSuspensionRow::default()
        };
        // A preparation is for the collection in the background, if there is one.
        let is_preparation = reason == gc_suspension_reasons::PREPARATION;
        let background = self.open.iter().find(|life| is_preparation && life.row.kind == gc_kinds::BACKGROUND);
        let owner = background.map(|life| life.id);
        let collection = background.map(|life| life.row.number);
        self.suspensions.push(Suspension {
            row: GcSuspensionRow { collection, ..row },
            owner,
            since: at.time,
            outer: Vec::new(),
            first: owner,
            last: at.time,
            has_ended: false,
        });
        if let (Some(owner), Some(pause_end)) = (owner, self.pause_end)
            && let Some(life) = find(&mut self.open, held, owner)
        {
            let ran = life.row.since_pause.unwrap_or(0).saturating_add((at.time - pause_end).max(0));
            life.row.since_pause = Some(ran);
        }
    }

    pub(super) fn suspended(&mut self, at: At, held: &mut Held, done: &mut Vec<GcSuspensionRow>) {
        let Some(place) = self.suspension_of(at.thread) else { return };
        let suspension = &mut self.suspensions[place];
        suspension.row.stopped.get_or_insert(at.time);
        suspension.last = at.time;
        // Threads stand for one suspension at a time: those that stood before went on unseen.
        for other in (0..self.suspensions.len()).rev() {
            if other != place && self.suspensions[other].row.stopped.is_some() {
                self.lose(other, at.time, held, done);
            }
        }
    }

    pub(super) fn restarting(&mut self, at: At) {
        if let Some(place) = self.suspension_of(at.thread) {
            let suspension = &mut self.suspensions[place];
            suspension.row.restart = Some(at.time);
            suspension.last = at.time;
        }
    }

    pub(super) fn resumed(&mut self, at: At, held: &mut Held, done: &mut Vec<GcSuspensionRow>) {
        let Some(place) = self.suspension_of(at.thread) else { return };
        let mut suspension = self.suspensions.remove(place);
        suspension.row.time = at.time;
        self.charge(&suspension, at.time, Some(at.time), held);
        done.push(suspension.row);
    }

    /// Closes a suspension whose end was not recorded: threads stood up to its last event at least.
    fn lose(&mut self, place: usize, now: i64, held: &mut Held, done: &mut Vec<GcSuspensionRow>) {
        let suspension = self.suspensions.remove(place);
        self.charge(&suspension, suspension.last, None, held);
        done.push(GcSuspensionRow { time: now, open: Some(true), ..suspension.row });
    }

    /// Gives the time of a suspension up to `end` to its collections.
    fn charge(&mut self, suspension: &Suspension, end: i64, resumed: Option<i64>, held: &mut Held) {
        let row = &suspension.row;
        if let Some(life) = suspension.owner.and_then(|owner| find(&mut self.open, held, owner)) {
            life.stood(suspension.since, end);
            if life.row.resumed.is_none() {
                (life.row.restart, life.row.resumed) = (row.restart, resumed);
            }
        }
        if suspension.owner.is_some() {
            self.pause_end = Some(end);
        }
        let Some(life) = suspension.first.and_then(|first| find(&mut self.open, held, first)) else { return };
        life.row.suspensions = life.row.suspensions.saturating_add(1);
        if let Some(stopped) = row.stopped {
            let suspending = life.row.suspending.unwrap_or(0);
            life.row.suspending = Some(suspending.saturating_add((stopped - row.start).max(0)));
        }
    }

    pub(super) fn triggered(&mut self, at: At, reason: i8, stack: Option<StackId>) {
        self.trigger = Some(Trigger { reason, thread: at.thread, stack });
    }

    pub(super) fn allocated(&mut self, bytes: i64, is_large: bool) {
        let [all, large] = self.allocated.get_or_insert_default();
        *all = all.saturating_add(bytes);
        *large = large.saturating_add(if is_large { bytes } else { 0 });
    }

    pub(super) fn started(&mut self, at: At, start: Start, held: &mut Held) {
        if self.open.iter().any(|life| life.row.number == start.number) {
            return;
        }
        // Only one in the background can go on when another one begins.
        let is_background = start.kind == gc_kinds::BACKGROUND;
        for place in (0..self.open.len()).rev() {
            if is_background || self.open[place].row.kind != gc_kinds::BACKGROUND {
                self.lose_end(place, at.time, held);
            }
        }
        let id = held.number();
        let trigger = self.trigger.take();
        let allocated = self.allocated.as_mut().map(std::mem::take);
        let mut row = GcCollectionRow {
            time: at.time,
            start: at.time,
            process: at.process,
            thread: at.thread,
            runtime: at.runtime,
            number: start.number,
            generation: start.generation,
            kind: start.kind,
            reason: start.reason,
            trigger_reason: trigger.map(|trigger| trigger.reason),
            trigger_thread: trigger.and_then(|trigger| trigger.thread),
            stack: trigger.and_then(|trigger| trigger.stack),
            allocated: allocated.map(|[all, _]| all),
            allocated_large: allocated.map(|[_, large]| large),
            ..GcCollectionRow::default()
        };
        self.stand_for(id, &mut row, held);
        self.begun = Some(id);
        self.open.push(Life { id, row, ..Life::default() });
    }

    /// From now on threads stand for a collection that begins.
    fn stand_for(&mut self, id: u64, row: &mut GcCollectionRow, held: &mut Held) {
        let only = || {
            let mut of_collections =
                (0..self.suspensions.len()).filter(|place| self.suspensions[*place].is_for_collection());
            of_collections.next().filter(|_| of_collections.next().is_none())
        };
        let Some(place) = self.suspension_of(row.thread).or_else(only) else { return };
        let suspension = &mut self.suspensions[place];
        suspension.last = row.start;
        match suspension.owner {
            None => {
                suspension.first = Some(id);
                suspension.row.collection = Some(row.number);
                row.suspend_start = Some(suspension.row.start);
                row.suspended = suspension.row.stopped;
                row.since_pause = self.pause_end.map(|end| (suspension.row.start - end).max(0));
            }
            Some(owner) => {
                if let Some(life) = find(&mut self.open, held, owner) {
                    life.stood(suspension.since, row.start);
                }
                if self.open.iter().any(|life| life.id == owner) {
                    suspension.outer.push(owner);
                }
                suspension.since = row.start;
                row.since_pause = Some(0);
            }
        }
        suspension.owner = Some(id);
    }

    /// False: no such collection is under way.
    pub(super) fn ended(&mut self, at: At, number: i32, held: &mut Held) -> bool {
        let Some(place) = self.open.iter().position(|life| life.row.number == number) else { return false };
        self.end(place, at, held);
        true
    }

    fn end(&mut self, place: usize, at: At, held: &mut Held) {
        let mut life = self.open.remove(place);
        life.row.time = at.time;
        for suspension in &mut self.suspensions {
            suspension.outer.retain(|outer| *outer != life.id);
            if suspension.owner != Some(life.id) {
                continue;
            }
            suspension.last = at.time;
            suspension.has_ended = true;
            if let Some(outer) = suspension.outer.pop() {
                life.stood(suspension.since, at.time);
                (suspension.owner, suspension.since) = (Some(outer), at.time);
            }
        }
        // The newest one of a thread counts.
        self.ended.retain(|(thread, _)| *thread != at.thread);
        if self.ended.len() >= MOST_ENDED {
            self.ended.remove(0);
        }
        self.ended.push((at.thread, life.id));
        held.add(life);
    }

    /// Closes a collection whose end was not recorded. How long threads stood for it is known up to the last event.
    fn lose_end(&mut self, place: usize, now: i64, held: &mut Held) {
        let mut life = self.open.remove(place);
        (life.row.time, life.row.open) = (now, Some(true));
        held.add(life);
    }

    /// The collection that ended last on this thread, or on any.
    pub(super) fn ended_last<'h>(&self, thread: Option<ThreadId>, held: &'h mut Held) -> Option<&'h mut Life> {
        let of_thread = self.ended.iter().rev().find(|(other, _)| thread.is_some() && *other == thread);
        let (_, id) = of_thread.or(self.ended.last())?;
        held.find(*id)
    }

    /// The collection that a thread tells the history of: its own one that is under way or has ended, else one that other threads run.
    pub(super) fn of_history<'l>(
        &'l mut self,
        thread: Option<ThreadId>,
        is_of_heap: bool,
        held: &'l mut Held,
    ) -> Option<&'l mut Life> {
        let is_blocking = |life: &Life| life.row.kind != gc_kinds::BACKGROUND;
        let own = self.open.iter().rposition(|life| is_blocking(life) && life.row.thread == thread);
        let lacks_it = |life: &Life| match is_of_heap {
            true => life.histories < life.row.heaps.unwrap_or(1),
            false => life.row.heaps.is_none(),
        };
        let ended = self.ended.iter().find(|(other, _)| *other == thread).map(|(_, id)| *id);
        let ended = ended.filter(|id| own.is_none() && held.find(*id).is_some_and(|life| lacks_it(life)));
        if let Some(id) = ended {
            return held.find(id);
        }
        let blocking = || self.open.iter().rposition(is_blocking);
        let place = own.or_else(blocking).or_else(|| self.open.len().checked_sub(1))?;
        self.open.get_mut(place)
    }

    /// The collection that began last.
    pub(super) fn began_last<'l>(&'l mut self, held: &'l mut Held) -> Option<&'l mut Life> {
        find(&mut self.open, held, self.begun?)
    }

    /// The collection for which a thread marks objects: its own one, else one that other threads run.
    pub(super) fn marking(&mut self, thread: Option<ThreadId>) -> Option<&mut Life> {
        let is_blocking = |life: &Life| life.row.kind != gc_kinds::BACKGROUND;
        let own = self.open.iter().rposition(|life| is_blocking(life) && life.row.thread == thread);
        let blocking = || self.open.iter().rposition(is_blocking);
        let place = own.or_else(blocking).or_else(|| self.open.len().checked_sub(1))?;
        self.open.get_mut(place)
    }

    /// Makes room: nothing more will be heard of it.
    pub(super) fn give_up(&mut self, now: i64, held: &mut Held, done: &mut Vec<GcSuspensionRow>) {
        while !self.suspensions.is_empty() {
            self.lose(0, now, held, done);
        }
        while let Some(last) = self.open.len().checked_sub(1) {
            self.lose_end(last, now, held);
        }
    }

    /// The end of the recording.
    pub(super) fn finish(&mut self, end: i64, held: &mut Held, done: &mut Vec<GcSuspensionRow>) {
        for suspension in &mut self.suspensions {
            // Threads go on soon after the end of a collection: that they did is not in the recording.
            if !suspension.has_ended && suspension.row.restart.is_none() {
                suspension.last = end;
            }
        }
        self.give_up(end, held, done);
    }
}
