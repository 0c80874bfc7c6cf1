//! Interrupt service routines and deferred procedure calls, from the class PerfInfo.

use tracesift_etl::Record;
use tracesift_etl::payload::{DeferredProcedureCall, DpcEnqueue, DpcExecution, FrameworkRoutine, InterruptService};
use tracesift_trace::interrupts::{InterruptKey, InterruptRequest, Interrupts};
use tracesift_trace::modules::AddressSpace;
use tracesift_trace::rows::{InterruptRow, interrupt_kinds};
use tracesift_trace::{HealthKind, RowSink};

use super::{SecondPass, cpu_number};

/// Calls of the framework that wait for the end of what they are in, at most.
const MAX_CALLS: usize = 64;

/// What runs on a CPU, as events tell before the one of its end.
#[derive(Clone, Debug, Default)]
struct Running {
    /// Routine of the deferred procedure call that was taken from the queue, and the time of the request, ns.
    taken: Option<(u64, i64)>,
    /// The drivers' routines that the framework called, and when: for interrupts, for deferred procedure calls.
    framework: [Vec<(u64, i64)>; 2],
}

impl Running {
    fn call(&mut self, sort: usize, routine: u64, ticks: i64) {
        let calls = &mut self.framework[sort];
        if calls.len() >= MAX_CALLS {
            calls.remove(0);
        }
        calls.push((routine, ticks));
    }

    /// The routine that the framework called since then. What runs inside of others ends before them, and has taken its own.
    fn called_since(&mut self, sort: usize, begin: i64) -> Option<u64> {
        let calls = &mut self.framework[sort];
        let first = calls.partition_point(|(_, ticks)| *ticks < begin);
        let called = calls.get(first).map(|(routine, _)| *routine);
        calls.truncate(first);
        called
    }
}

/// Interrupts on their way.
#[derive(Default)]
pub(super) struct InterruptState {
    interrupts: Interrupts,
    running: Vec<Running>,
}

impl InterruptState {
    fn running(&mut self, cpu: u16) -> &mut Running {
        let cpu = usize::from(cpu);
        if self.running.len() <= cpu {
            self.running.resize_with(cpu + 1, Running::default);
        }
        &mut self.running[cpu]
    }

    /// Events were lost: what was asked for may have run.
    pub(super) fn lost(&mut self) {
        self.interrupts.lost();
        self.running.clear();
    }
}

/// A routine that was done.
struct Done {
    kind: i8,
    /// Raw time of its begin.
    begin: u64,
    routine: u64,
    vector: Option<i32>,
    claimed: Option<bool>,
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of the class PerfInfo, if it is about interrupts.
    pub(super) fn interrupt_event(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        match opcode {
            DeferredProcedureCall::THREADED | DeferredProcedureCall::ORDINARY | DeferredProcedureCall::TIMER => {
                let Some(event) = self.decode::<DeferredProcedureCall>(record, version) else { return };
                let kind = match opcode {
                    DeferredProcedureCall::THREADED => interrupt_kinds::THREADED_DPC,
                    DeferredProcedureCall::TIMER => interrupt_kinds::TIMER_DPC,
                    _ => interrupt_kinds::DPC,
                };
                let (begin, routine) = (event.initial_time, event.routine);
                self.interrupt(record, &Done { kind, begin, routine, vector: None, claimed: None });
            }
            InterruptService::LINE_BASED | InterruptService::PASSIVE | InterruptService::MESSAGE_SIGNALLED => {
                let Some(event) = self.decode::<InterruptService>(record, version) else { return };
                let done = Done {
                    kind: interrupt_kinds::ISR,
                    begin: event.initial_time,
                    routine: event.routine,
                    vector: event.vector.map(i32::from),
                    claimed: Some(event.return_value != 0),
                };
                self.interrupt(record, &done);
            }
            DpcEnqueue::OPCODE => {
                let Some(event) = self.decode::<DpcEnqueue>(record, version) else { return };
                let request = InterruptRequest { time: self.clock.ns(record.time()), name: None };
                self.interrupts.interrupts.request(dpc(event.key), request, true);
            }
            DpcExecution::OPCODE => {
                let Some(event) = self.decode::<DpcExecution>(record, version) else { return };
                let request = self.interrupts.interrupts.requested(dpc(event.key));
                self.interrupts.running(record.cpu()).taken = request.map(|request| (event.routine, request.time));
            }
            FrameworkRoutine::INTERRUPT | FrameworkRoutine::PASSIVE | FrameworkRoutine::DPC => {
                let Some(event) = self.decode::<FrameworkRoutine>(record, version) else { return };
                let sort = usize::from(opcode == FrameworkRoutine::DPC);
                self.interrupts.running(record.cpu()).call(sort, event.routine, record.time());
            }
            _ => {}
        }
    }

    /// A routine is done.
    fn interrupt(&mut self, record: &Record<'_>, done: &Done) {
        let (ticks, cpu) = (record.time(), record.cpu());
        let begin = done.begin.cast_signed();
        let (start, time) = (self.clock.ns(begin), self.clock.ns(ticks));
        if begin > ticks || start < self.start {
            return self.health.count(HealthKind::INTERRUPTS_WITHOUT_BEGIN, Some(ticks), || {
                format!("routine {:#x}, begun at {begin}", done.routine)
            });
        }
        let sort = usize::from(done.kind != interrupt_kinds::ISR);
        let running = self.interrupts.running(cpu);
        let routine = running.called_since(sort, begin).unwrap_or(done.routine);
        let taken = running.taken.take_if(|(routine, _)| sort == 1 && *routine == done.routine);
        let thread = self.running(cpu);
        let stack = self.stack_of(record, thread.map(|thread| self.population.tid_of(thread)));
        let module = self.stacks.modules().find(AddressSpace::Kernel, routine, ticks);
        let cpu = cpu_number(record);
        let row = InterruptRow {
            time,
            start,
            cpu,
            process: thread.map(|thread| self.population.process_of(thread)),
            thread,
            kind: done.kind,
            frame: Some(self.stacks.frame_in(AddressSpace::Kernel, routine, ticks, self.sink)),
            module: module.map(|(module, _)| module),
            vector: done.vector,
            name: None,
            claimed: done.claimed,
            queued: taken.map(|(_, asked)| start.saturating_sub(asked).max(0)),
            exclusive: self.interrupts.interrupts.exclusive(done.kind, cpu, (start, time)),
            stack,
        };
        self.sink.interrupt(&row);
    }
}

/// The key of a deferred procedure call in a queue.
fn dpc(key: u64) -> InterruptKey {
    InterruptKey { kind: interrupt_kinds::DPC, place: 0, id: key }
}
