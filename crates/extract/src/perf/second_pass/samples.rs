//! Samples of clocks and counters become rows.

use tracesift_trace::RowSink;
use tracesift_trace::rows::{CounterSampleRow, CpuSampleRow};

use super::call_chain::{lone_frame, stack_of};
use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::counters::SampledCounter;
use crate::perf::cpu_event::{Role, Weight};

/// A sample of an event with this role.
pub(super) fn profile<Sink: RowSink>(at: &SampleContext<'_>, role: Role, rows: &mut Rows<'_, Sink>) {
    let stack = stack_of(at, rows);
    let frame = lone_frame(at, stack, rows);
    let (time, cpu) = (rows.clock.ns(at.ticks), at.cpu_or_none());
    let (process, thread) = (at.process, at.thread);
    match role {
        Role::Cpu(weight) => {
            if let Some(stack) = stack {
                rows.stack_ends.count(process, stack);
            }
            rows.sink.cpu_sample(&CpuSampleRow {
                time,
                cpu,
                process,
                thread,
                weight: match (weight, at.sample.period) {
                    (Weight::Period(_), Some(period)) => i64::try_from(period).unwrap_or(i64::MAX),
                    (Weight::Period(ns) | Weight::Fixed(ns), _) => ns,
                },
                stack,
                frame,
                priority: None,
                flags: 0,
            });
        }
        Role::Counter(SampledCounter { period: fixed, role }) => {
            let source = i32::try_from(at.event).unwrap_or(i32::MAX);
            let period = at.sample.period.and_then(|period| i64::try_from(period).ok()).or(fixed);
            let row = CounterSampleRow { time, cpu, process, thread, source, stack, frame, period, role };
            rows.sink.counter_sample(&row);
        }
        Role::Other => {}
    }
}
