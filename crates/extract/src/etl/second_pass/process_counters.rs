//! Counters of a process: read at its end, and at the rundown of the recording.

use tracesift_etl::Record;
use tracesift_etl::payload::{KernelProcessStop, Payload, ProcessCounters};
use tracesift_trace::RowSink;
use tracesift_trace::rows::ProcessCounterRow;

use super::SecondPass;

impl<Sink: RowSink> SecondPass<'_, Sink> {
    pub(super) fn process_counters(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<ProcessCounters>(record, version) else { return };
        // When a process ends, the kernel has given back its memory and handles before it logs the event.
        let is_end = record.opcode() == ProcessCounters::EXIT;
        let now = |count: u64| Some(count.cast_signed()).filter(|count| *count != 0 || !is_end);
        let peak = |size: u64| Some(size.cast_signed());
        let row = ProcessCounterRow {
            page_faults: now(event.page_fault_count.into()),
            handles: now(event.handle_count.into()),
            virtual_size: now(event.virtual_size),
            peak_virtual_size: peak(event.peak_virtual_size),
            working_set: now(event.working_set_size),
            peak_working_set: peak(event.peak_working_set_size),
            commit: now(event.pagefile_usage),
            peak_commit: peak(event.peak_pagefile_usage),
            private_commit: now(event.private_page_count),
            paged_pool: now(event.quota_paged_pool_usage),
            nonpaged_pool: now(event.quota_non_paged_pool_usage),
            ..self.counters_of(event.process_id, record)
        };
        self.sink.process_counter(&row);
    }

    /// The same from the provider Kernel-Process, which counts other things.
    pub(super) fn process_stop(&mut self, record: &Record<'_>, version: u8) {
        // The first pass decodes the same event, and counts those that it cannot decode.
        let (payload, pointer_size) = (record.payload(), record.pointer_size());
        let Ok(event) = KernelProcessStop::parse(payload, version, pointer_size) else { return };
        self.handles_of_ended(event.process_id, record.time());
        self.exceptions_of_ended(event.process_id, Some(event.exit_code), record.time());
        if !self.wanted.process_counters {
            return;
        }
        let usage = event.usage.as_ref();
        let row = ProcessCounterRow {
            handles: Some(event.handle_count.into()),
            commit: Some(event.commit_charge.cast_signed()),
            peak_commit: Some(event.commit_peak.cast_signed()),
            hard_faults: usage.map(|usage| usage.hard_faults.into()),
            reads: usage.map(|usage| usage.read_operations.into()),
            writes: usage.map(|usage| usage.write_operations.into()),
            read_bytes: usage.map(|usage| i64::from(usage.read_kib) * 1024),
            write_bytes: usage.map(|usage| i64::from(usage.write_kib) * 1024),
            cycles: usage.map(|usage| usage.cpu_cycles.cast_signed()),
            ..self.counters_of(event.process_id, record)
        };
        self.sink.process_counter(&row);
    }

    fn counters_of(&mut self, pid: u32, record: &Record<'_>) -> ProcessCounterRow {
        let process = self.population.process_at(pid, record.time());
        ProcessCounterRow { time: self.clock.ns(record.time()), process, ..ProcessCounterRow::default() }
    }
}
