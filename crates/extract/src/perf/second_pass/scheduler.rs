//! Switches and wake-ups, from the scheduler's tracepoints or from `PERF_RECORD_SWITCH`.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_perf::{AttrFlags, Metadata, Payload, Record, Switch as SwitchRecord, is_of_a_guest};
use tracesift_trace::HealthKind;
use tracesift_trace::rows::switch_flags;
use tracesift_trace::switches::{Leave, Ready, Switch, SwitchTracker};
use tracesift_trace::{Clock, Population, RowSink, ThreadId};

use super::call_chain::stack_of;
use super::counters::Counters;
use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::perf::namespaces::{Ids, Namespace};
use crate::perf::time::ticks;
use crate::perf::tracepoint::{ReadyFields, SwitchFields, TaskStates, Tracepoint, WakeUp, is_sampled};

/// `TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ`: the event came out of an interrupt.
const IN_INTERRUPT: i64 = 0x08 | 0x10;
/// Priorities below are real time: what `top` shows as PR is the kernel's number less this.
const NORMAL_PRIORITIES: i64 = 100;

/// Where switches come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Switches {
    /// `sched:sched_switch` on all CPUs, and `PERF_RECORD_SWITCH` where that leaves one out.
    Tracepoint,
    /// `PERF_RECORD_SWITCH`.
    Records,
    /// Only some of them are in the recording.
    Sampled,
    /// `sched:sched_switch` of single tasks: when they go is there, when they come back is not.
    Departures,
    /// Nowhere.
    Absent,
}

/// What a recording has of switches and wake-ups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchSource {
    switches: Switches,
    /// The recorder asked for `PERF_RECORD_SWITCH`.
    has_records: bool,
    /// `sched_waking` where it is there, else `sched_wakeup`.
    wake_up: Option<WakeUp>,
    /// `sched_wakeup_new`.
    new: bool,
    /// The recorder kept the newest events of each CPU, so that each CPU is recorded from another time on.
    of_rings: bool,
}

impl SwitchSource {
    /// Looks at the events of a recording; `of_tasks` is whether single tasks were watched, where the recorder says so.
    pub(crate) fn of(metadata: &Metadata, tracepoints: &[Option<Tracepoint>], of_tasks: Option<bool>) -> Self {
        let events = metadata.events.all();
        let known = || events.iter().zip(tracepoints).filter_map(|(event, known)| Some((&event.attr, known.as_ref()?)));
        // What begins with a program follows that program.
        let of_tasks =
            of_tasks.unwrap_or_else(|| events.iter().any(|event| event.attr.flags.contains(AttrFlags::ENABLE_ON_EXEC)));
        let switch = known().find(|(_, known)| matches!(known, Tracepoint::Switch(_))).map(|(attr, _)| attr);
        let has_records = events.iter().any(|event| event.attr.flags.contains(AttrFlags::CONTEXT_SWITCH));
        let switches = match switch {
            Some(attr) if !is_sampled(attr) && !of_tasks => Switches::Tracepoint,
            _ if has_records => Switches::Records,
            Some(attr) if is_sampled(attr) => Switches::Sampled,
            Some(_) => Switches::Departures,
            None => Switches::Absent,
        };
        let has = |wanted: WakeUp| {
            known().any(|(attr, known)| match known {
                Tracepoint::Ready(fields) => fields.kind == wanted && !is_sampled(attr) && !of_tasks,
                _ => false,
            })
        };
        let wake_up = [WakeUp::Waking, WakeUp::Wakeup].into_iter().find(|kind| has(*kind));
        let of_rings = events.iter().any(|event| event.attr.flags.contains(AttrFlags::WRITE_BACKWARD));
        Self { switches, has_records, wake_up, new: has(WakeUp::New), of_rings }
    }

    fn uses(self, kind: WakeUp) -> bool {
        if kind == WakeUp::New { self.new } else { self.wake_up == Some(kind) }
    }
}

/// Follows who runs where.
pub(crate) struct Scheduler {
    tracker: SwitchTracker,
    source: SwitchSource,
    /// Switches that were not used, and how many they stand for.
    unused: u64,
    stands_for: u64,
    /// Switches that the tracepoint left out and the kernel's records have.
    completed: u64,
    /// The idle state that a CPU entered last, since it has nothing to run.
    idle_states: FxHashMap<u16, i8>,
    /// Whether the tracepoint calls threads as the kernel's records do; `None` until it is seen. Records have the ids of the
    /// recorder's namespace.
    has_same_ids: Option<bool>,
    /// What the tracepoint's ids mean, where they are others.
    pub(super) namespace: Option<Namespace>,
    /// CPUs of which a record was seen, where each is recorded from another time on.
    seen: FxHashSet<u16>,
}

impl Scheduler {
    /// Of a recording whose events begin at tick `start`.
    pub(crate) fn new(clock: Clock, start: i64, population: &Population, source: SwitchSource) -> Self {
        let tracker = SwitchTracker::new(clock, start, population.deaths().into());
        Self {
            tracker,
            source,
            unused: 0,
            stands_for: 0,
            completed: 0,
            idle_states: FxHashMap::default(),
            has_same_ids: None,
            namespace: None,
            seen: FxHashSet::default(),
        }
    }

    /// Whose ids tracepoints have. Where they are those of the kernel's records, these complete them from the begin on: recorders switch
    /// tracepoints on later.
    pub(super) fn learn(&mut self, ids: Ids) {
        match ids {
            Ids::Unknown => {}
            Ids::Same => self.has_same_ids = Some(true),
            Ids::Of(namespace) => self.namespace = Some(namespace),
        }
    }

    /// A sample. The first one of a CPU whose oldest events are gone tells who runs there, and not since when.
    pub(super) fn seen<Sink: RowSink>(&mut self, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        if let Some(cpu) = at.cpu.filter(|_| self.source.of_rings && self.source.switches == Switches::Tracepoint)
            && self.seen.insert(cpu)
        {
            self.tracker.begins(at.ticks, cpu, at.thread, &mut rows.population, rows.sink);
        }
    }

    /// The thread that a field of a tracepoint means.
    pub(super) fn thread_at<Sink: RowSink>(
        &mut self,
        id: u32,
        cpu: u16,
        ticks: i64,
        rows: &mut Rows<'_, Sink>,
    ) -> ThreadId {
        match &mut self.namespace {
            Some(namespace) => namespace.thread_at(id, cpu, ticks, &mut rows.population),
            None => rows.population.thread_at(id, cpu, ticks),
        }
    }

    /// The thread that runs on a CPU if it is outside of the recorder's pid namespace. Its samples have the ids of the idle thread.
    pub(crate) fn outside(&self, cpu: u16) -> Option<ThreadId> {
        let namespace = self.namespace.as_ref()?;
        self.tracker.running(cpu).filter(|thread| namespace.is_outside(*thread))
    }

    /// A CPU enters an idle state.
    pub(crate) fn idles(&mut self, cpu: u16, state: i16) {
        self.idle_states.insert(cpu, i8::try_from(state).unwrap_or(i8::MAX));
    }

    /// Whether the values of counters in samples of this tracepoint go into the rows of switches.
    pub(crate) fn takes_values(&self, tracepoint: Option<&Tracepoint>) -> bool {
        self.source.switches == Switches::Tracepoint && matches!(tracepoint, Some(Tracepoint::Switch(_)))
    }

    /// A `sched_switch`.
    pub(crate) fn switch<Sink: RowSink>(
        &mut self,
        fields: &SwitchFields,
        at: &SampleContext<'_>,
        counters: &mut Counters,
        rows: &mut Rows<'_, Sink>,
    ) {
        if self.source.switches != Switches::Tracepoint {
            self.unused += 1;
            self.stands_for = self.stands_for.saturating_add(at.sample.period.unwrap_or(1).max(1));
            return;
        }
        let (Some(raw), Some(cpu)) = (at.sample.raw, at.cpu) else { return incomplete(at, rows) };
        let (Some(prev), Some(next), Some(state)) =
            (fields.prev_pid.id(raw), fields.next_pid.id(raw), fields.prev_state.get(raw))
        else {
            return incomplete(at, rows);
        };
        let letter = fields.states.letter(state);
        let old_stack = stack_of(at, rows);
        // Who leaves is who was interrupted, except where a dying thread has lost its ids.
        let is_current =
            self.namespace.is_none() && at.sample.tid.is_some_and(|tid| tid > 0 && tid.cast_unsigned() == prev);
        if is_current {
            self.has_same_ids.get_or_insert(true);
        } else if at.sample.tid.is_some_and(|tid| tid >= 0 && tid.cast_unsigned() != prev) {
            self.has_same_ids = Some(false);
        }
        let old = if is_current { at.thread } else { self.thread_at(prev, cpu, at.ticks, rows) };
        let new = self.thread_at(next, cpu, at.ticks, rows);
        let priority = |number: Option<i64>| i8::try_from(number?.saturating_sub(NORMAL_PRIORITIES)).ok();
        let idle_state = self.idle_states.remove(&cpu);
        let switch = Switch {
            previous_c_state: idle_state.filter(|_| prev == 0),
            counters: counters.at_switch(at, rows),
            old_state: Some(letter.cast_signed()),
            new_priority: priority(fields.next_prio.as_ref().and_then(|field| field.get(raw))),
            old_priority: priority(fields.prev_prio.as_ref().and_then(|field| field.get(raw))),
            old_stack,
            ..Switch::between(at.ticks, Some(cpu), Some(old), TaskStates::leave(letter), Some(new))
        };
        self.tracker.switch(&switch, &mut rows.population, &mut rows.health, rows.sink);
    }

    /// A wake-up.
    pub(crate) fn ready<Sink: RowSink>(
        &mut self,
        fields: &ReadyFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        if !self.source.uses(fields.kind) {
            return;
        }
        let (Some(raw), Some(cpu)) = (at.sample.raw, at.cpu) else { return incomplete(at, rows) };
        let Some(pid) = fields.pid.id(raw) else { return incomplete(at, rows) };
        if fields.success.as_ref().and_then(|field| field.get(raw)) == Some(0) {
            return;
        }
        // To be woken does not make a thread known: nothing is measured of it before its first switch.
        let known = match &self.namespace {
            Some(namespace) => namespace.known_thread_at(pid, cpu, at.ticks, &mut rows.population),
            None => rows.population.known_thread_at(pid, cpu, at.ticks),
        };
        let Some(thread) = known else { return };
        let flags = fields.common_flags.as_ref().and_then(|field| field.get(raw)).unwrap_or(0);
        let stack = stack_of(at, rows);
        // Who is outside of the recorder's namespace has no tid in the sample, as if nobody ran.
        let waker = fields.common_pid.as_ref().filter(|_| self.namespace.is_some()).and_then(|field| field.id(raw));
        let readier = waker.map_or(at.thread, |waker| self.thread_at(waker, cpu, at.ticks, rows));
        self.tracker.ready(Ready {
            ticks: at.ticks,
            cpu,
            thread,
            readier: Some(readier),
            adjust_reason: None,
            adjust_increment: None,
            flags: if flags & IN_INTERRUPT != 0 { switch_flags::READIED_FROM_DPC } else { 0 },
            stack,
        });
    }

    /// A `PERF_RECORD_SWITCH` or `PERF_RECORD_SWITCH_CPU_WIDE`.
    pub(crate) fn record<Sink: RowSink>(&mut self, record: &Record<'_>, rows: &mut Rows<'_, Sink>) {
        let SwitchSource { switches, has_records, .. } = self.source;
        let completes = has_records && switches == Switches::Tracepoint && self.has_same_ids == Some(true);
        if !(completes || switches == Switches::Records) || is_of_a_guest(record.cpu_mode()) {
            return;
        }
        let switch = match record.payload() {
            Ok(Payload::Switch(switch)) => switch,
            Ok(_) => return,
            Err(error) => return rows.undecodable(record, &error),
        };
        let (Some(_), Some((pid, tid))) = (record.time(), record.thread()) else {
            return rows
                .health
                .count(HealthKind::INCOMPLETE_SWITCHES, ticks(record), || "without time or thread".to_owned());
        };
        let ticks = rows.now;
        // Recorders that follow tasks leave the CPU out unless they are asked for it.
        let cpu = record.cpu().and_then(|cpu| u16::try_from(cpu).ok());
        if completes {
            return self.complete(&switch, (pid, tid), cpu, rows);
        }
        // A thread that has ended leaves without its id.
        let ended = cpu.filter(|_| switch.out && tid == -1).and_then(|cpu| self.tracker.running(cpu));
        let this = ended.unwrap_or_else(|| rows.thread(Some(pid), Some(tid), cpu, ticks));
        let other = switch.other.map(|(pid, tid)| rows.thread(Some(pid), Some(tid), cpu, ticks));
        if !switch.out && other.is_some() && cpu.and_then(|cpu| self.tracker.running(cpu)) == Some(this) {
            // On a watched CPU the record of who goes says who comes.
            return;
        }
        let leave = match (switch.out && tid == -1, switch.preempted) {
            (true, _) => Leave::Ended,
            (false, true) => Leave::Runnable,
            (false, false) => Leave::Blocked,
        };
        let (old, new) = if switch.out { (Some(this), other) } else { (None, Some(this)) };
        let switch = Switch::between(ticks, cpu, old, leave, new);
        self.tracker.switch(&switch, &mut rows.population, &mut rows.health, rows.sink);
    }

    /// A switch that the tracepoint left out, if it did: kernels do so in the context of some threads, that of a CPU's idle
    /// thread among them, and say nothing of it. The record of who comes is written by the one who comes.
    fn complete<Sink: RowSink>(
        &mut self,
        record: &SwitchRecord,
        this: (i32, i32),
        cpu: Option<u16>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let (Some(cpu), Some(other)) = (cpu, record.other) else { return };
        let ((_, old), (_, new)) = if record.out { (this, other) } else { (other, this) };
        // A thread that ends has lost its id.
        let Ok(new) = u32::try_from(new) else { return };
        let ticks = rows.now;
        let new = rows.population.thread_at(new, cpu, ticks);
        if self.tracker.running(cpu) == Some(new) {
            return;
        }
        let leave = match (record.out, record.preempted) {
            (true, true) => Leave::Runnable,
            (true, false) => Leave::Blocked,
            // An idle thread never waits. At a CPU's first switch nobody knows since when it ran.
            (false, _) if old == 0 && self.tracker.running(cpu).is_some() => Leave::Runnable,
            (false, _) => Leave::Unseen,
        };
        let idle_state = self.idle_states.remove(&cpu);
        let switch = Switch {
            previous_c_state: idle_state.filter(|_| old == 0),
            ..Switch::between(
                ticks,
                Some(cpu),
                u32::try_from(old).ok().map(|old| rows.population.thread_at(old, cpu, ticks)),
                leave,
                Some(new),
            )
        };
        self.tracker.switch(&switch, &mut rows.population, &mut rows.health, rows.sink);
        self.completed += 1;
    }

    /// The end of the recording: whether it has switches, and wake-ups.
    pub(crate) fn finish<Sink: RowSink>(&mut self, end: i64, rows: &mut Rows<'_, Sink>) -> (bool, bool) {
        self.tracker.finish(end, &mut rows.population, rows.sink);
        let unused = i64::try_from(self.unused).unwrap_or(i64::MAX);
        let total = self.stands_for;
        match self.source.switches {
            Switches::Sampled => rows.health.add(HealthKind::SAMPLED_SWITCHES, unused, None, || {
                format!(
                    "sched:sched_switch was recorded with a frequency or period: {unused} of {total} switches are stored, \
                     too few for wait, ready and precise CPU times; record it with period 1 and -F not at all"
                )
            }),
            Switches::Departures => rows.health.add(HealthKind::SWITCHES_OF_SINGLE_TASKS, unused, None, || {
                "sched:sched_switch was recorded for single tasks: when they come back is not in the recording; \
                 record with -a or --switch-events"
                    .to_owned()
            }),
            Switches::Tracepoint if self.completed > 0 => {
                let completed = i64::try_from(self.completed).unwrap_or(i64::MAX);
                rows.health.add(HealthKind::COMPLETED_SWITCHES, completed, None, || {
                    "sched:sched_switch left them out; their times are those of PERF_RECORD_SWITCH".to_owned()
                });
            }
            Switches::Tracepoint | Switches::Records | Switches::Absent => {}
        }
        (self.tracker.has_switches(), self.tracker.has_ready())
    }
}

fn incomplete<Sink: RowSink>(at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
    rows.health.count(HealthKind::INCOMPLETE_SWITCHES, Some(at.ticks), || "without CPU or fields".to_owned());
}
