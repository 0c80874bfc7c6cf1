//! System calls of Windows, from the class PerfInfo. Their events name no thread: it is the one that runs on the CPU.

use tracesift_etl::Record;
use tracesift_etl::payload::{SystemCallEnter, SystemCallExit};
use tracesift_trace::modules::AddressSpace;
use tracesift_trace::rows::SyscallRow;
use tracesift_trace::system_calls::OpenCall;
use tracesift_trace::{HealthKind, RowSink, ThreadId};

use super::{SecondPass, cpu_number};

/// From here on a status is a warning or an error. Below are success and information.
const SMALLEST_FAILURE: u32 = 0x8000_0000;

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// A thread calls the kernel.
    pub(super) fn system_call_enter(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<SystemCallEnter>(record, version) else { return };
        let Some(thread) = self.caller_of_kernel(record) else { return };
        let ticks = record.time();
        let call = OpenCall {
            start: self.clock.ns(ticks),
            cpu: cpu_number(record),
            frame: self.stacks.frame_in(AddressSpace::Kernel, event.routine, ticks, self.sink),
            stack: self.stack_of(record, Some(self.population.tid_of(thread))),
        };
        if self.never_returns(event.routine, ticks) {
            return self.system_call(thread, &call, (call.start, call.cpu), None);
        }
        let given_up = self.system_calls.enter(thread, call);
        self.calls_without_exit(given_up, ticks, "too many calls inside of each other");
    }

    /// A call of a thread returns.
    pub(super) fn system_call_exit(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<SystemCallExit>(record, version) else { return };
        let Some(thread) = self.caller_of_kernel(record) else { return };
        let (time, cpu) = (self.clock.ns(record.time()), cpu_number(record));
        match self.system_calls.exit(thread) {
            Some(call) => self.system_call(thread, &call, (time, cpu), Some(event.status)),
            None => self.health.count(HealthKind::SYSCALLS_WITHOUT_ENTRY, Some(record.time()), || {
                format!("a call of tid {} returned", self.population.tid_of(thread))
            }),
        }
    }

    /// A switch on a CPU between threads other than those that the switches before it tell: what they have called is not known.
    pub(super) fn calls_at_switch(&mut self, (ticks, cpu): (i64, u16), old: ThreadId) {
        if self.system_calls.is_empty() {
            return;
        }
        let running = self.running(cpu);
        if running == Some(old) {
            return;
        }
        let forgotten = running.map_or(0, |thread| self.system_calls.forget(thread)) + self.system_calls.forget(old);
        self.calls_without_exit(forgotten, ticks, "switches of the thread are missing");
    }

    /// Events were lost: an exit may be among them.
    pub(super) fn system_calls_lost(&mut self, ticks: i64) {
        let forgotten = self.system_calls.forget_all();
        self.calls_without_exit(forgotten, ticks, "events were lost");
    }

    /// The end of the recording, ns: calls that have not returned.
    pub(super) fn finish_system_calls(&mut self, end: i64) {
        let (open, others) = std::mem::take(&mut self.system_calls).finish();
        let end_ticks = self.clock.ticks(end);
        let mut without = others;
        for (thread, call) in open {
            if self.population.died(thread).is_some() {
                without += 1;
            } else {
                self.system_call(thread, &call, (end.max(call.start), call.cpu), None);
            }
        }
        self.calls_without_exit(without, end_ticks, "at the end of the recording or of the thread");
    }

    fn never_returns(&self, routine: u64, ticks: i64) -> bool {
        if self.no_return.is_empty() {
            return false;
        }
        let found = self.stacks.modules().find(AddressSpace::Kernel, routine, ticks);
        found.is_some_and(|place| self.no_return.has(place))
    }

    /// The thread that runs where an event was logged.
    fn caller_of_kernel(&mut self, record: &Record<'_>) -> Option<ThreadId> {
        let thread = self.running(record.cpu());
        if thread.is_none() {
            self.health.count(HealthKind::SYSCALLS_WITHOUT_THREAD, Some(record.time()), || {
                format!("CPU {}: no switch told which thread ran there", record.cpu())
            });
        }
        thread
    }

    fn system_call(&mut self, thread: ThreadId, call: &OpenCall, (time, cpu): (i64, i16), status: Option<u32>) {
        self.sink.syscall(&SyscallRow {
            time,
            start: call.start,
            cpu,
            process: self.population.process_of(thread),
            thread,
            number: call.frame.0,
            result: status.map(i64::from),
            error: status.filter(|status| *status >= SMALLEST_FAILURE).map(i64::from),
            stack: call.stack,
            frame: Some(call.frame),
        });
    }

    fn calls_without_exit(&mut self, count: i64, ticks: i64, why: &'static str) {
        self.health.add(HealthKind::SYSCALLS_WITHOUT_EXIT, count, Some(ticks), || why.to_owned());
    }
}
