//! Samples of clocks and counters become rows.

use tracesift_trace::RowSink;
use tracesift_trace::rows::{CounterSampleRow, CpuSampleRow};

use super::cpu_event::{Role, Weight};
use super::rows::{Interrupted, Rows};

impl<Sink: RowSink> Rows<'_, Sink> {
    /// A sample of an event with this role.
    pub(super) fn profile(&mut self, at: &Interrupted<'_>, role: Role) {
        let stack = self.stack_of(at);
        let frame = at.sample.ip.filter(|_| stack.is_none());
        let frame = frame.map(|address| self.lone_frame(at.mode, address, at.process, at.ticks));
        let (time, cpu) = (self.clock.ns(at.ticks), at.cpu_or_none());
        let (process, thread) = (at.process, at.thread);
        match role {
            Role::Cpu(weight) => {
                if let Some(stack) = stack {
                    self.stack_ends.count(process, stack);
                }
                self.sink.cpu_sample(&CpuSampleRow {
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
            Role::Counter => {
                let source = i32::try_from(at.event).unwrap_or(i32::MAX);
                self.sink.counter_sample(&CounterSampleRow { time, cpu, process, thread, source, stack, frame });
            }
            Role::Other => {}
        }
    }
}
