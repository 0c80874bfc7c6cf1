//! Hardware counters: their samples, and their values at switches.

use rustc_hash::FxHashMap;
use tracesift_etl::Record;
use tracesift_etl::payload::{CounterCorruption, CounterSample};
use tracesift_trace::rows::CounterSampleRow;
use tracesift_trace::{HealthKind, RowSink};

use super::{SecondPass, cpu_number};
use crate::counters::SampledCounter;

/// What is known of the counters.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// The sources of samples, by number.
    sources: FxHashMap<u16, SampledCounter>,
    /// CPUs whose counters somebody else has changed since their last switch, a bit each.
    changed: Vec<bool>,
}

impl Counters {
    pub(super) fn new(sources: FxHashMap<u16, SampledCounter>) -> Self {
        Self { sources, changed: Vec::new() }
    }
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    pub(super) fn counter_sample(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<CounterSample>(record, version) else { return };
        let (thread, process, stack) = self.sampled(record, event.thread_id);
        let ticks = record.time();
        let frame = self.lone_frame(stack, process, event.instruction_pointer, ticks);
        let source = self.counters.sources.get(&event.profile_source).copied().unwrap_or_default();
        self.sink.counter_sample(&CounterSampleRow {
            time: self.clock.ns(ticks),
            cpu: cpu_number(record),
            process,
            thread,
            source: i32::from(event.profile_source),
            stack,
            frame,
            period: source.period,
            role: source.role,
        });
    }

    /// Somebody else changed counters of a CPU.
    pub(super) fn counter_corruption(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<CounterCorruption<'_>>(record, version) else { return };
        let Ok(cpu) = u16::try_from(event.processor) else { return };
        self.health.count(HealthKind::CHANGED_COUNTERS, Some(record.time()), || format!("CPU {cpu}"));
        let changed = &mut self.counters.changed;
        if changed.len() <= usize::from(cpu) {
            changed.resize(usize::from(cpu) + 1, false);
        }
        changed[usize::from(cpu)] = true;
    }

    /// The counters that a switch has read; `None`: it has none, or they are no continuation of those of the switch before.
    pub(super) fn counters_at_switch(&mut self, record: &Record<'_>) -> Option<Vec<i64>> {
        let counters = record.counters();
        if counters.is_empty() {
            return None;
        }
        let changed = self.counters.changed.get_mut(usize::from(record.cpu())).is_some_and(std::mem::take);
        (!changed).then(|| counters.iter().map(u64::cast_signed).collect())
    }
}
