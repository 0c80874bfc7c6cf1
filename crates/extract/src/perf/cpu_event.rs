//! Chooses the recorded event that stands for CPU time. Two such events would count the time twice.

use tracesift_perf::{Attr, Event, Metadata};
use tracesift_trace::counter_roles::roles;

use super::event_types::{BREAKPOINT, CPU_CLOCK, CYCLES, HARDWARE, SOFTWARE, TASK_CLOCK};
use crate::counters::SampledCounter;

/// What the samples of an event are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// CPU time.
    Cpu(Weight),
    /// A profile of a hardware counter.
    Counter(SampledCounter),
    /// Something that happened.
    Other,
}

/// What a sample of the CPU event stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Its period, which is time; this many ns where samples do not have it.
    Period(i64),
    /// Always this many ns.
    Fixed(i64),
}

/// The roles of all events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roles {
    roles: Vec<Role>,
}

/// Kinds of CPU events, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Candidate {
    CpuClock,
    TaskClock,
    Cycles,
}

fn clock(attr: &Attr) -> Option<Candidate> {
    match (attr.kind, attr.config) {
        (SOFTWARE, CPU_CLOCK) => Some(Candidate::CpuClock),
        (SOFTWARE, TASK_CLOCK) => Some(Candidate::TaskClock),
        // With a fixed period they are counts: how long a cycle takes is not known.
        (HARDWARE, config) if config & 0xffff_ffff == CYCLES => attr.frequency().map(|_| Candidate::Cycles),
        _ => None,
    }
}

/// What an event is that is not the CPU event.
fn without_cpu(attr: &Attr) -> Role {
    let is_other = attr.is_tracepoint() || matches!(attr.kind, SOFTWARE | BREAKPOINT);
    let period = || attr.period().and_then(|period| i64::try_from(period).ok());
    if is_other { Role::Other } else { Role::Counter(SampledCounter { period: period(), role: None }) }
}

fn weight(attr: &Attr, clock: Candidate) -> Weight {
    let per_sample = attr.frequency().filter(|frequency| *frequency > 0).map(|frequency| 1_000_000_000 / frequency);
    let ns = i64::try_from(per_sample.or_else(|| attr.period()).unwrap_or(0)).unwrap_or(i64::MAX);
    if clock == Candidate::Cycles { Weight::Fixed(ns) } else { Weight::Period(ns) }
}

/// Whether a name means an event: its own name, or that without what stands behind it (`cpu-clock/freq=999/`, `cycles:u`).
pub(crate) fn is_named(event: &str, wanted: &str) -> bool {
    let plain = event.split(['/', ':']).next().unwrap_or(event);
    event.eq_ignore_ascii_case(wanted) || plain.eq_ignore_ascii_case(wanted)
}

impl Roles {
    /// The roles where the event of this name is CPU time; `None` where there is none, or its samples are no time: neither it
    /// is a clock nor was it recorded with a frequency.
    pub(crate) fn with_cpu_event(metadata: &Metadata, wanted: &str) -> Option<Self> {
        let events = metadata.events.all();
        let weight = |(index, event): (usize, &Event)| {
            let attr = &event.attr;
            let weight = match clock(attr) {
                Some(clock) => weight(attr, clock),
                None if attr.is_tracepoint() => return None,
                None => {
                    Weight::Fixed(i64::try_from(1_000_000_000 / attr.frequency().filter(|hertz| *hertz > 0)?).ok()?)
                }
            };
            is_named(&metadata.event_name(index), wanted).then_some((index, weight))
        };
        let (chosen, weight) = events.iter().enumerate().find_map(weight)?;
        let mut roles: Vec<Role> = events.iter().map(|event| without_cpu(&event.attr)).collect();
        *roles.get_mut(chosen)? = Role::Cpu(weight);
        Some(Self { roles }.with_names(metadata))
    }

    /// The roles of a recording's events. Of several clocks one that has samples counts, and of two of a kind the first;
    /// cycles of different cores are one clock, as each runs on its own CPUs.
    pub(crate) fn of(metadata: &Metadata, samples: &[u64]) -> Self {
        let events = metadata.events.all();
        let has_samples = |index: &usize| samples.get(*index).is_some_and(|count| *count > 0);
        let clocks = events.iter().enumerate().filter_map(|(index, event)| Some((clock(&event.attr)?, index)));
        let chosen = clocks.min_by_key(|(clock, index)| (!has_samples(index), *clock, *index));
        let mut taken: Vec<u64> = Vec::new();
        let role = |(index, event): (usize, &Event)| {
            let attr = &event.attr;
            if let Some((wanted, first)) = chosen
                && clock(attr) == Some(wanted)
                && index >= first
                && (index == first || wanted == Candidate::Cycles)
                && !taken.contains(&attr.config)
            {
                taken.push(attr.config);
                return Role::Cpu(weight(attr, wanted));
            }
            without_cpu(attr)
        };
        Self { roles: events.iter().enumerate().map(role).collect() }.with_names(metadata)
    }

    /// The same with what the counters count.
    fn with_names(mut self, metadata: &Metadata) -> Self {
        let counters: Vec<usize> =
            (0..self.roles.len()).filter(|index| !matches!(self.roles[*index], Role::Other)).collect();
        let names: Vec<String> = counters.iter().map(|index| metadata.event_name(*index)).collect();
        for (index, counts) in counters.into_iter().zip(roles(names.iter().map(String::as_str))) {
            if let Role::Counter(counter) = &mut self.roles[index] {
                counter.role = counts;
            }
        }
        self
    }

    /// The first event that is CPU time.
    pub(crate) fn cpu_event(&self) -> Option<usize> {
        self.roles.iter().position(|role| matches!(role, Role::Cpu(_)))
    }

    /// The role of an event.
    pub(crate) fn get(&self, event: usize) -> Role {
        self.roles.get(event).copied().unwrap_or(Role::Other)
    }
}
