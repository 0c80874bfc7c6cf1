//! Rows of the switches and samples of a slice, as far as they can be made without the slices before.

use tracesift_etl::Record;
use tracesift_etl::class::Group;
use tracesift_etl::payload::{ContextSwitch, CounterCorruption, Payload, ReadyThread, SampledProfile};
use tracesift_trace::ids::{StackId, ThreadId};
use tracesift_trace::lifespans::Lifespans as _;
use tracesift_trace::rows::ContextSwitchRow;
use tracesift_trace::stack_binder::UserHalves;
use tracesift_trace::switches::{Deferred, Runs, SwitchTarget};

use super::inventory::count_undecodable;
use super::scheduling::{flags_of_sample, ready, sample, switch, user_halves};
use super::slice_worker::{AtWork, Place};
use super::worked_slice::{Bound, DeferredEvent, RestOf, Step, UnknownTids, WorkedSlice};

/// Takes what the tracker of a slice tells.
struct Target<'f> {
    found: &'f mut WorkedSlice,
    unknown: UnknownTids,
    asks_counters: bool,
    /// Whether rows are wanted.
    keeps_rows: bool,
}

impl SwitchTarget for Target<'_> {
    #[inline]
    fn row(&mut self, row: &ContextSwitchRow) {
        if self.keeps_rows {
            self.found.switches.push(row);
        }
    }

    fn deferred(&mut self, deferred: Deferred) {
        let switches = u32::try_from(self.found.switches.len()).unwrap_or(u32::MAX);
        let asks_counters = self.asks_counters && matches!(deferred, Deferred::Enter { .. });
        self.found.steps.push(Step::Deferred { switches });
        self.found.deferred.push(DeferredEvent { deferred, unknown: self.unknown, asks_counters });
    }
}

impl AtWork<'_> {
    /// A switch, a ready event or a sample; `false` for any other record, and for a sample whose row this slice cannot make.
    pub(super) fn scheduling(
        &mut self,
        record: &Record<'_>,
        (group, opcode, version): (Group, u8, u8),
        place: Place,
    ) -> bool {
        let wanted = self.worker.source.wanted;
        match (group, opcode) {
            (Group::THREAD, ContextSwitch::OPCODE) if wanted.context_switches => match self.decode(record, version) {
                Some(event) => self.switch(record, &event, place),
                None => self.undecodable(record, place),
            },
            (Group::THREAD, ContextSwitch::OPCODE) => {
                self.unwanted(record, place);
                // Rows of other tables name who runs.
                if self.worker.source.follows_switches
                    && let Some(event) = self.decode(record, version)
                {
                    self.follow(record, &event, None);
                }
            }
            (Group::THREAD, ReadyThread::OPCODE) if !wanted.context_switches => self.unwanted(record, place),
            (Group::PERF_INFO, SampledProfile::OPCODE) if !wanted.cpu_samples => self.unwanted(record, place),
            (Group::THREAD, ReadyThread::OPCODE) => match self.decode(record, version) {
                Some(event) => self.ready(record, &event, place),
                None => self.undecodable(record, place),
            },
            (Group::PERF_INFO, SampledProfile::OPCODE) => match self.decode(record, version) {
                Some(event) => self.sample(record, &event, place),
                None => self.undecodable(record, place),
            },
            (Group::PERF_INFO, CounterCorruption::OPCODE) => {
                let parsed = CounterCorruption::parse(record.payload(), version, record.pointer_size());
                // Whoever makes the rows counts those that do not decode.
                if let Some(cpu) = parsed.ok().and_then(|event| u16::try_from(event.processor).ok()) {
                    self.found.counters_of(cpu).changed = true;
                }
                return false;
            }
            _ => return false,
        }
        true
    }

    fn decode<'a, T: Payload<'a>>(&mut self, record: &Record<'a>, version: u8) -> Option<T> {
        match T::parse(record.payload(), version, record.pointer_size()) {
            Ok(value) => Some(value),
            Err(error) => {
                count_undecodable(&mut self.found.health, record, &error);
                self.leave_open(record);
                None
            }
        }
    }

    /// A record of a table that nobody wants.
    fn unwanted(&mut self, record: &Record<'_>, place: Place) {
        if place.is_kept { self.leave_all_of(record, place) } else { self.leave_open(record) }
    }

    fn undecodable(&mut self, record: &Record<'_>, place: Place) {
        if place.is_kept {
            self.raw(record, place, Bound::Open, RestOf::Event);
        }
    }

    /// The thread of a tid; where no record tells of it, one that is none of the known ones.
    fn thread(&self, record: &Record<'_>, tid: u32) -> Result<ThreadId, ThreadId> {
        let owners = &self.worker.source.owners;
        let known = owners.thread_at(tid, record.cpu(), record.time());
        known.ok_or_else(|| ThreadId::from_index(owners.thread_count()))
    }

    /// The stack of a row, and the record for whoever keeps it or has to look for its stack.
    fn keep(&mut self, record: &Record<'_>, place: Place, stack: Bound, rest: RestOf) -> Option<StackId> {
        let number = match stack {
            Bound::Stack(stack) => Some(stack),
            Bound::Open => {
                self.leave_all_open(record);
                Some(self.next_stack())
            }
            Bound::None => None,
        };
        if place.is_kept || stack == Bound::Open {
            self.raw(record, place, stack, rest);
        }
        number
    }

    fn switch(&mut self, record: &Record<'_>, event: &ContextSwitch, place: Place) {
        let stack = self.take(record, Some(event.new_thread_id), UserHalves::Shared);
        let stack = self.keep(record, place, stack, RestOf::Switch);
        self.follow(record, event, stack);
    }

    /// Another thread runs from now on.
    fn follow(&mut self, record: &Record<'_>, event: &ContextSwitch, stack: Option<StackId>) {
        let at @ (ticks, cpu) = (record.time(), record.cpu());
        let new = self.thread(record, event.new_thread_id);
        let old = self.thread(record, event.old_thread_id);
        let unknown = UnknownTids {
            new: new.is_err().then_some(event.new_thread_id),
            old: old.is_err().then_some(event.old_thread_id),
        };
        let (Ok(new) | Err(new), Ok(old) | Err(old)) = (new, old);
        let (counters, asks_counters) = self.counters(record);
        let switch = switch(at, event, (new, old), stack, counters);
        let runs = self.runs(cpu);
        // Where the slices before know who runs, or who leaves, whoever joins the slice sees it.
        let is_expected = runs == Runs::Open || runs == Runs::Thread(old) || unknown.old.is_some();
        if self.worker.source.has_system_calls && !is_expected {
            self.found.steps.push(Step::Unexpected { ticks, cpu, old, runs });
        }
        let keeps_rows = self.worker.source.wanted.context_switches;
        let mut target = Target { found: self.found, unknown, asks_counters, keeps_rows };
        // Its own counters: the target has the rest.
        let mut health = std::mem::take(&mut target.found.health);
        let (tracker, lives) = (&mut self.worker.tracker, &mut self.worker.lives);
        // The row names the old thread.
        if asks_counters || unknown.old.is_some() {
            tracker.defer_enter(&switch, lives, &mut health, &mut target);
        } else {
            tracker.switch(&switch, lives, &mut health, &mut target);
        }
        self.found.health = health;
    }

    /// The hardware counters of a switch, and whether they may be those that somebody else has changed before this slice.
    fn counters(&mut self, record: &Record<'_>) -> (Option<Vec<i64>>, bool) {
        let counters = record.counters();
        if counters.is_empty() {
            return (None, false);
        }
        let of_cpu = self.found.counters_of(record.cpu());
        let asks = !std::mem::replace(&mut of_cpu.are_told, true);
        let changed = std::mem::take(&mut of_cpu.changed);
        ((!changed).then(|| counters.iter().map(u64::cast_signed).collect()), asks)
    }

    fn ready(&mut self, record: &Record<'_>, event: &ReadyThread, place: Place) {
        let readier = match self.runs(record.cpu()) {
            Runs::Thread(thread) => Ok(Some(self.worker.lives.tid_of(thread))),
            Runs::Nobody => Ok(None),
            Runs::Open => Err(()),
        };
        let stack = match readier {
            // After lost switches somebody else may run there.
            Ok(readier) if !self.worker.source.lossy => self.take(record, readier, user_halves(event)),
            _ => self.unbound(),
        };
        let stack = self.keep(record, place, stack, RestOf::Ready);
        let thread = self.thread(record, event.thread_id);
        let unknown = UnknownTids { new: thread.is_err().then_some(event.thread_id), old: None };
        let (Ok(thread) | Err(thread)) = thread;
        let event = ready((record.time(), record.cpu()), event, thread, stack);
        let mut target = Target { found: self.found, unknown, asks_counters: false, keeps_rows: true };
        if unknown.new.is_some() {
            self.worker.tracker.defer_ready(event, &mut target);
        } else {
            self.worker.tracker.ready(event, &mut target);
        }
    }

    fn sample(&mut self, record: &Record<'_>, event: &SampledProfile, place: Place) {
        let stack = self.take(record, Some(event.thread_id), UserHalves::Shared);
        let source = &self.worker.source;
        let (ticks, cpu) = (record.time(), record.cpu());
        let thread = self.thread(record, event.thread_id).ok();
        let known = thread.and_then(|thread| Some((thread, *source.owners.life(thread)?)));
        // Who interrupts the idle thread is charged apart, and a sample without a stack has a frame.
        let known = known.filter(|(_, life)| flags_of_sample(event) == 0 || !life.is_idle);
        let has_stack = matches!(stack, Bound::Stack(_)) || !source.has_stacks;
        let Some((thread, life)) = known.filter(|_| has_stack) else {
            if stack == Bound::Open {
                self.leave_open(record);
            }
            return self.raw(record, place, stack, RestOf::SampleRow);
        };
        let (time, weight) = (source.clock.ns(ticks), source.intervals.at(ticks));
        let stack = self.keep(record, place, stack, RestOf::Sample);
        self.found.samples.push(&sample((time, cpu), event, (life.process, thread), stack, weight));
    }
}
