//! Page faults of class Memory: each one is a row.

use tracesift_etl::Record;
use tracesift_etl::payload::PageFault;
use tracesift_trace::rows::{PageFaultRow, page_fault_kinds};
use tracesift_trace::{HealthKind, RowSink};

use super::{SecondPass, cpu_number};

impl<Sink: RowSink> SecondPass<'_, Sink> {
    pub(super) fn page_fault(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let Some(event) = self.decode::<PageFault>(record, version) else { return };
        let (ticks, cpu) = (record.time(), record.cpu());
        // A fault happens in the thread that runs. A short header does not name it.
        let thread = match record.tid() {
            Some(tid) => Some(self.population.thread_at(tid, cpu, ticks)),
            None => self.running(cpu),
        };
        let Some(thread) = thread else {
            return self.health.count(HealthKind::PAGE_FAULTS_WITHOUT_THREAD, Some(ticks), || {
                format!("on CPU {cpu}: no context switch tells who ran")
            });
        };
        let process = self.population.process_of(thread);
        let stack = self.stack_of(record, Some(self.population.tid_of(thread)));
        let frame = self.lone_frame(stack, process, event.program_counter, ticks);
        self.sink.page_fault(&PageFaultRow {
            time: self.clock.ns(ticks),
            cpu: cpu_number(record),
            process,
            thread,
            address: Some(event.virtual_address.cast_signed()),
            kind: kind(opcode),
            kernel: Some(self.stacks.is_kernel(event.program_counter)),
            weight: 1,
            stack,
            frame,
            hard: None,
        });
    }
}

fn kind(opcode: u8) -> i8 {
    match opcode {
        PageFault::TRANSITION => page_fault_kinds::TRANSITION,
        PageFault::DEMAND_ZERO => page_fault_kinds::DEMAND_ZERO,
        PageFault::COPY_ON_WRITE => page_fault_kinds::COPY_ON_WRITE,
        PageFault::GUARD_PAGE => page_fault_kinds::GUARD_PAGE,
        PageFault::HARD => page_fault_kinds::HARD,
        PageFault::ACCESS_VIOLATION => page_fault_kinds::ACCESS_VIOLATION,
        _ => page_fault_kinds::UNKNOWN,
    }
}
