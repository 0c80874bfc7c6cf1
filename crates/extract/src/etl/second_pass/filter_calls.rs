//! Calls of file system filter drivers, from the class FileIo.

use tracesift_etl::Record;
use tracesift_etl::payload::{FilterCall, FilterCallBegin, FilterCallEnd, FilterCallFailure};
use tracesift_trace::filter_calls::{CallEnd, CallKey};
use tracesift_trace::modules::AddressSpace;
use tracesift_trace::rows::FilterCallRow;
use tracesift_trace::{HealthKind, RowSink};

use super::{SecondPass, cpu_number};

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// The begin of a call, or its end.
    pub(super) fn filter_call(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let (call, end) = match opcode {
            FilterCallBegin::BEFORE | FilterCallBegin::AFTER => {
                let Some(event) = self.decode::<FilterCallBegin>(record, version) else { return };
                (event.call, None)
            }
            FilterCallEnd::BEFORE | FilterCallEnd::AFTER => {
                let Some(event) = self.decode::<FilterCallEnd>(record, version) else { return };
                let start = self.clock.ns(event.initial_time.cast_signed().min(record.time()));
                (event.call, Some(CallEnd::Completed(start)))
            }
            FilterCallFailure::BEFORE | FilterCallFailure::AFTER => {
                let Some(event) = self.decode::<FilterCallFailure>(record, version) else { return };
                (event.call, Some(CallEnd::Failed(event.status)))
            }
            _ => return,
        };
        self.file_io.has_filter_calls = true;
        let is_after = FilterCall::is_after(opcode);
        let operation = if call.callback_data == 0 { call.irp } else { call.callback_data };
        let key = CallKey { routine: call.routine, operation, is_after };
        let row = self.filter_call_row(record, &call, is_after);
        match end {
            Some(end) => {
                if let Some(row) = self.filter_calls.end(key, row, end) {
                    self.sink.filter_call(&row);
                }
            }
            None => {
                for unended in self.filter_calls.begin(key, row) {
                    self.health.count(HealthKind::FILTER_CALLS_WITHOUT_END, Some(record.time()), || {
                        format!("routine {:#x} is called again for {operation:#x}", call.routine)
                    });
                    self.sink.filter_call(&unended);
                }
            }
        }
    }

    /// The end of the recording, ns: calls that have not ended.
    pub(super) fn finish_filter_calls(&mut self, end: i64) {
        let mut count = 0;
        for row in self.filter_calls.finish(end) {
            count += 1;
            self.sink.filter_call(&row);
        }
        self.health.add(HealthKind::FILTER_CALLS_WITHOUT_END, count, None, || {
            "calls that were under way at the end of the recording".to_owned()
        });
    }

    /// What an event alone tells of a call.
    fn filter_call_row(&mut self, record: &Record<'_>, call: &FilterCall, is_after: bool) -> FilterCallRow {
        let (ticks, cpu) = (record.time(), record.cpu());
        // A filter runs in a thread. A short header does not name it.
        let thread = match record.tid() {
            Some(tid) => Some(self.population.thread_at(tid, cpu, ticks)),
            None => self.running(cpu),
        };
        let stack = self.stack_of(record, thread.map(|thread| self.population.tid_of(thread)));
        let by_key = self.file(call.file_context, ticks);
        let file = by_key.or_else(|| self.file_of_object(call.file_object));
        let module = self.stacks.modules().find(AddressSpace::Kernel, call.routine, ticks);
        let time = self.clock.ns(ticks);
        FilterCallRow {
            time,
            start: time,
            cpu: cpu_number(record),
            process: thread.map(|thread| self.population.process_of(thread)),
            thread,
            phase: i8::from(is_after),
            major: call.major(),
            driver: module.map(|(module, _)| module),
            frame: Some(self.stacks.frame_in(AddressSpace::Kernel, call.routine, ticks, self.sink)),
            file,
            file_object: call.file_object.cast_signed(),
            irp: (call.irp != 0).then_some(call.irp.cast_signed()),
            status: None,
            stack,
            open: None,
        }
    }
}
