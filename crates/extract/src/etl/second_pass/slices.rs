//! Slices of the recording that were worked on, in their order.

use std::iter::Peekable;
use std::slice::Iter;

use tracesift_etl::Record;
use tracesift_etl::payload::{ContextSwitch, Payload as _, ReadyThread, SampledProfile};
use tracesift_trace::RowSink;
use tracesift_trace::ids::StackId;
use tracesift_trace::stack_binder::UserHalves;
use tracesift_trace::switches::{Deferred, Runs, Switch};

use super::{SecondPass, Told};
use crate::etl::scheduling::user_halves;
use crate::etl::slices::Slice;
use crate::etl::worked_slice::{
    Bound, Brought, CountersOfCpu, DeferredEvent, LeftHalves, RawStep, RestOf, Step, UnknownTids, WorkedSlice,
};

/// How many steps ahead the memory of a record is asked for. Workers have read it, but long ago.
const STEPS_AHEAD: usize = 16;

/// Halves of a slice that no record has needed yet.
struct HalvesOfSlice<'s> {
    left: Peekable<Iter<'s, LeftHalves>>,
    brought: Peekable<Iter<'s, Brought>>,
    /// Those of the time in hand that only some records may take.
    at_hand: Vec<&'s LeftHalves>,
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// A slice, with what a worker found out about it; there are `walked` stack records before it.
    pub(crate) fn slice(&mut self, slice: &Slice, found: &mut WorkedSlice, told: &mut Told, walked: u64) {
        told.learn(found);
        self.health.merge(&found.health);
        let mut deferred = std::mem::take(&mut found.deferred);
        let mut next_deferred = deferred.iter_mut();
        let mut halves = HalvesOfSlice {
            left: found.left.iter().peekable(),
            brought: found.brought.iter().peekable(),
            at_hand: Vec::new(),
        };
        for (place, step) in (0..).zip(&found.steps) {
            if let Some(Step::Raw(later)) = found.steps.get(place as usize + STEPS_AHEAD)
                && let Some(batch) = slice.own.get(later.batch as usize)
            {
                batch.ask_for(later.index as usize);
            }
            match step {
                Step::Stack { pair } => {
                    let stack = self.stack_of_pair(*pair, told);
                    self.rows.stack(stack);
                }
                Step::Pace => self.stacks.drop_full_tables(),
                Step::Deferred { switches } => {
                    if let Some(event) = next_deferred.next() {
                        self.deferred(event, *switches as usize);
                    }
                }
                Step::Unexpected { ticks, cpu, old, runs } => {
                    self.runs = *runs;
                    self.calls_at_switch((*ticks, *cpu), *old);
                }
                Step::Raw(raw) => {
                    let batch = slice.own.get(raw.batch as usize);
                    let Some(record) = batch.and_then(|batch| batch.record(raw.index as usize)) else { continue };
                    self.samples_before = raw.samples as usize;
                    self.halves_before(&record, place, &mut halves, told);
                    self.stack_records_passed = walked + u64::from(raw.walked);
                    self.raw(&record, raw, &mut halves, told);
                }
            }
        }
        found.end.number_stacks(|number| self.rows.stack_of(number));
        self.switches.end_slice(&found.end);
        self.counters_after(&found.counters);
        deferred.clear();
        found.deferred = deferred;
        self.rows.end_slice(found);
    }

    /// An event that the worker could not explain, behind so many rows of switches.
    fn deferred(&mut self, event: &mut DeferredEvent, switches: usize) {
        let DeferredEvent { deferred, unknown, asks_counters } = event;
        deferred.number_stacks(|number| self.rows.stack_of(number));
        let runs = deferred.runs();
        match deferred {
            Deferred::Leave { event, .. } => {
                self.name_threads(event, *unknown);
                // Of those whom the worker knew it has told.
                if let Some(old) = event.old.filter(|_| runs == Runs::Open || unknown.old.is_some()) {
                    self.runs = runs;
                    self.calls_at_switch((event.ticks, event.cpu.unwrap_or(u16::MAX)), old);
                }
            }
            Deferred::Enter { event, .. } => {
                self.name_threads(event, *unknown);
                if *asks_counters && self.counters_were_changed(event.cpu.unwrap_or(u16::MAX)) {
                    event.counters = None;
                }
            }
            Deferred::Ready { event, .. } => {
                if let Some(tid) = unknown.new {
                    // To be readied does not make a thread known: nothing is measured of it before its first switch.
                    let Some(thread) = self.population.known_thread_at(tid, event.cpu, event.ticks) else { return };
                    event.thread = thread;
                }
            }
            Deferred::Ends { .. }
            | Deferred::End { .. }
            | Deferred::AliveSince { .. }
            | Deferred::AliveUntil { .. } => {}
        }
        let mut sink = self.rows.switches_behind(switches);
        self.switches.join(deferred, &mut self.population, &mut self.health, &mut sink);
    }

    /// Names the threads of a switch that no record tells of.
    fn name_threads(&mut self, event: &mut Switch, unknown: UnknownTids) {
        let (ticks, cpu) = (event.ticks, event.cpu.unwrap_or(u16::MAX));
        for (thread, tid) in [(&mut event.new, unknown.new), (&mut event.old, unknown.old)] {
            if let Some(tid) = tid {
                *thread = Some(self.population.thread_at(tid, cpu, ticks));
            }
        }
    }

    /// Takes the halves of a slice that the record of its `place`-th step needs.
    fn halves_before(&mut self, record: &Record<'_>, place: u32, halves: &mut HalvesOfSlice<'_>, told: &mut Told) {
        let time = record.time();
        self.binder.advance(time, self.sweep_interval, |_| ());
        halves.at_hand.retain(|left| left.event.ticks == time);
        while let Some(left) = halves.left.next_if(|left| left.event.ticks <= time) {
            if left.for_any {
                self.add_left(left, told);
            } else if left.event.ticks == time {
                halves.at_hand.push(left);
            }
        }
        (self.behind, self.matching) = (None, None);
        while let Some(brought) = halves.brought.next_if(|brought| brought.step == place) {
            let half = self.half_of(brought.half, told);
            if brought.of_runtime { self.behind = half } else { self.matching = half }
        }
    }

    /// What is left to do for a record.
    fn raw(&mut self, record: &Record<'_>, step: &RawStep, halves: &mut HalvesOfSlice<'_>, told: &mut Told) {
        self.runs = step.runs;
        self.taken = None;
        self.bound = match step.stack {
            Bound::Open => None,
            Bound::None => Some(None),
            Bound::Stack(number) => Some(self.rows.stack_of(number)),
        };
        match step.rest {
            RestOf::Record => return self.record(record),
            RestOf::SampleRow => {
                if self.bound.is_none()
                    && let Ok(event) = SampledProfile::parse(record.payload(), record.version(), record.pointer_size())
                {
                    self.add_left_of(Some(event.thread_id), record.cpu(), halves, told);
                }
                return self.record(record);
            }
            RestOf::Event => {}
            RestOf::Switch | RestOf::Ready | RestOf::Sample => {
                let stack = match self.bound {
                    Some(stack) => stack,
                    None => {
                        let stack = self.open_stack(record, step.rest, halves, told);
                        self.rows.stack(stack);
                        stack
                    }
                };
                self.taken = Some(stack);
            }
        }
        self.keep(record);
    }

    /// The stack of a switch or ready event that the worker has not looked for.
    fn open_stack(
        &mut self,
        record: &Record<'_>,
        rest: RestOf,
        halves: &mut HalvesOfSlice<'_>,
        told: &mut Told,
    ) -> Option<StackId> {
        let (payload, version, pointer_size) = (record.payload(), record.version(), record.pointer_size());
        match rest {
            RestOf::Switch => {
                let tid = Some(ContextSwitch::parse(payload, version, pointer_size).ok()?.new_thread_id);
                self.add_left_of(tid, record.cpu(), halves, told);
                self.stack_of(record, tid)
            }
            RestOf::Ready => {
                let event = ReadyThread::parse(payload, version, pointer_size).ok()?;
                let readier = self.running(record.cpu()).map(|thread| self.population.tid_of(thread));
                self.add_left_of(readier, record.cpu(), halves, told);
                self.ready_stack(record, readier, user_halves(&event))
            }
            RestOf::Sample | RestOf::SampleRow | RestOf::Event | RestOf::Record => None,
        }
    }

    /// Adds the halves at hand that may be the stack of an event of `tid`. Others must not be looked up: which events are open depends on
    /// where slices begin.
    fn add_left_of(&mut self, tid: Option<u32>, cpu: u16, halves: &mut HalvesOfSlice<'_>, told: &mut Told) {
        halves.at_hand.retain(|left| {
            let is_its = left.event.is_of(tid, cpu);
            if is_its {
                self.add_left(left, told);
            }
            !is_its
        });
    }

    /// The stack of a ready event, on which the thread `readier` is believed to run.
    fn ready_stack(&mut self, record: &Record<'_>, readier: Option<u32>, user: UserHalves) -> Option<StackId> {
        let (ticks, cpu) = (record.time(), record.cpu());
        let halves = match self.binder.take(ticks, readier, cpu, user) {
            // After lost switches somebody else runs there than the model believes.
            (None, None) if self.lossy => self.binder.take(ticks, None, cpu, user),
            halves => halves,
        };
        self.stack_of_halves(halves)
    }

    /// Takes what a slice knows of hardware counters at its end.
    fn counters_after(&mut self, counters: &[CountersOfCpu]) {
        for (cpu, of_cpu) in (0..=u16::MAX).zip(counters) {
            let changed = self.counters.changed_on(cpu);
            *changed = of_cpu.changed || *changed && !of_cpu.are_told;
        }
    }

    fn counters_were_changed(&mut self, cpu: u16) -> bool {
        std::mem::take(self.counters.changed_on(cpu))
    }
}
