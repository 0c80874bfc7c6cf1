//! Values of counters that samples of other events carry (`PERF_SAMPLE_READ`): at switches, and anywhere else.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_perf::{AttrFlags, Counter, Metadata, Payload, Record, SampleFormat, Values};
use tracesift_trace::HealthKind;
use tracesift_trace::RowSink;
use tracesift_trace::info::SampleSource;
use tracesift_trace::rows::CounterValueRow;

use super::rows::Rows;
use super::sample_context::SampleContext;

/// Counters that are followed at most; each has an id per CPU or thread.
const MAX_COUNTERS: usize = 1 << 20;

/// Follows counters.
pub(crate) struct Counters {
    metadata: Arc<Metadata>,
    /// The values that were read last, by id, and by thread where each has its own.
    last: FxHashMap<(u64, i32), u64>,
    /// The counters at switches, in the order of their group.
    at_switches: Vec<usize>,
    /// Events whose values became rows.
    used: Vec<bool>,
    multiplexed: bool,
}

impl Counters {
    pub(crate) fn new(metadata: Arc<Metadata>) -> Self {
        let used = vec![false; metadata.events.len()];
        Self { metadata, last: FxHashMap::default(), at_switches: Vec::new(), used, multiplexed: false }
    }

    /// Whether samples of an event bring values.
    pub(crate) fn are_read_by(&self, event: usize) -> bool {
        let format = self.metadata.events.get(event).map(|event| event.attr.sample_format);
        format.is_some_and(|format| format.contains(SampleFormat::READ))
    }

    /// The values at a switch as they stand, without that of the switches themselves.
    pub(crate) fn at_switch<Sink: RowSink>(
        &mut self,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) -> Option<Vec<i64>> {
        let values = at.sample.values.as_ref()?;
        self.watch(values, at.ticks, rows);
        let named = |counter: &Counter| self.metadata.events.by_id(counter.id?);
        let others = || values.counters().filter(|counter| named(counter) != Some(at.event));
        if self.at_switches.is_empty() {
            self.at_switches = others().filter_map(|counter| named(&counter)).collect();
        }
        if self.at_switches.is_empty() {
            return None;
        }
        if !others().map(|counter| named(&counter)).eq(self.at_switches.iter().copied().map(Some)) {
            rows.health.count(HealthKind::ODD_COUNTER_GROUPS, Some(at.ticks), || {
                "other counters than at the first switch".to_owned()
            });
            return None;
        }
        Some(others().map(|counter| counter.value.cast_signed()).collect())
    }

    /// The values in any other sample: what was counted since they were read before.
    pub(crate) fn read<Sink: RowSink>(&mut self, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        let Some(values) = at.sample.values.as_ref() else { return };
        self.watch(values, at.ticks, rows);
        for counter in values.counters() {
            let Some(id) = counter.id.or(at.sample.id) else { continue };
            let Some(event) = self.metadata.events.by_id(id).or(Some(at.event)) else { continue };
            // Threads that inherit a counter share its id.
            let own =
                self.metadata.events.get(event).is_some_and(|event| event.attr.flags.contains(AttrFlags::INHERIT));
            let thread = if own { at.sample.tid.unwrap_or(-1) } else { -1 };
            if self.last.len() >= MAX_COUNTERS {
                self.last.clear();
            }
            let before = self.last.insert((id, thread), counter.value).unwrap_or(0);
            let row = CounterValueRow {
                time: rows.clock.ns(at.ticks),
                cpu: at.cpu_or_none(),
                process: at.process,
                thread: at.thread,
                source: 0,
                value: counter.value.wrapping_sub(before).cast_signed(),
                total: None,
            };
            self.row(event, row, rows);
        }
    }

    /// A `PERF_RECORD_READ`: the counters of a thread that ends.
    pub(crate) fn at_end_of_thread<Sink: RowSink>(&mut self, record: &Record<'_>, rows: &mut Rows<'_, Sink>) {
        let (pid, tid, values) = match record.payload() {
            Ok(Payload::Read(pid, tid, values)) => (pid, tid, values),
            Ok(_) => return,
            Err(error) => return rows.undecodable(record, &error),
        };
        let at = rows.now;
        self.watch(&values, at, rows);
        let cpu = record.cpu().and_then(|cpu| u16::try_from(cpu).ok());
        let thread = rows.thread(Some(pid), Some(tid), cpu, at);
        for counter in values.counters() {
            let event = counter.id.and_then(|id| self.metadata.events.by_id(id)).or(record.event());
            let Some(event) = event else { continue };
            let row = CounterValueRow {
                time: rows.clock.ns(at),
                cpu: cpu.and_then(|cpu| i16::try_from(cpu).ok()).unwrap_or(-1),
                process: rows.population.process_of(thread),
                thread,
                source: 0,
                value: counter.value.cast_signed(),
                total: Some(true),
            };
            self.row(event, row, rows);
        }
    }

    fn row<Sink: RowSink>(&mut self, event: usize, row: CounterValueRow, rows: &mut Rows<'_, Sink>) {
        if row.value == 0 {
            return;
        }
        if let Some(used) = self.used.get_mut(event) {
            *used = true;
        }
        let source = i32::try_from(event).unwrap_or(i32::MAX);
        rows.sink.counter_value(&CounterValueRow { source, ..row });
    }

    /// Counters that had to share the hardware counted only a part of the time.
    fn watch<Sink: RowSink>(&mut self, values: &Values<'_>, ticks: i64, rows: &mut Rows<'_, Sink>) {
        if !self.multiplexed && values.time_running < values.time_enabled && values.time_running.is_some() {
            self.multiplexed = true;
            rows.health.count(HealthKind::MULTIPLEXED_COUNTERS, Some(ticks), || {
                "there were more counters than the hardware has: values are of a part of the time".to_owned()
            });
        }
    }

    /// The names of the counters at switches, and the sources of values that `known` does not have.
    pub(crate) fn finish(self, known: &[SampleSource]) -> (Vec<String>, Vec<SampleSource>) {
        let names = self.at_switches.iter().map(|event| self.metadata.event_name(*event)).collect();
        let number = |event: usize| u32::try_from(event).unwrap_or(u32::MAX);
        let used = self.used.iter().enumerate().filter(|(_, used)| **used).map(|(event, _)| event);
        let unknown = used.filter(|event| known.iter().all(|source| source.number != number(*event)));
        let source =
            |event| SampleSource { number: number(event), name: self.metadata.event_name(event), interval_ns: 0 };
        (names, unknown.map(source).collect())
    }
}
