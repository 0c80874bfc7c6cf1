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
    /// By CPU: whether somebody else has changed its counters since its last switch.
    changed: Vec<bool>,
}

impl Counters {
    pub(super) fn new(sources: FxHashMap<u16, SampledCounter>) -> Self {
        Self { sources, changed: Vec::new() }
    }

    /// Whether somebody else has changed counters of a CPU since its last switch.
    pub(super) fn changed_on(&mut self, cpu: u16) -> &mut bool {
        let cpu = usize::from(cpu);
        if self.changed.len() <= cpu {
            self.changed.resize(cpu + 1, false);
        }
        &mut self.changed[cpu]
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
    }
}
