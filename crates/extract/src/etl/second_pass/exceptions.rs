//! Exceptions, as the .NET runtime logs them.

use tracesift_etl::schema::FieldText;
use tracesift_etl::{Record, event_fields};
use tracesift_trace::exceptions::{Block, Catcher, Exceptions};
use tracesift_trace::rows::{ExceptionRow, exception_kinds};
use tracesift_trace::{HealthKind, ProcessId, RowSink, ThreadId};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};

/// Event ids of the runtime.
mod id {
    /// An exception is thrown.
    pub(super) const THROWN: u16 = 80;
    pub(super) const CATCH_BEGINS: u16 = 250;
    pub(super) const CATCH_ENDS: u16 = 251;
    pub(super) const FINALLY_BEGINS: u16 = 252;
    pub(super) const FINALLY_ENDS: u16 = 253;
    pub(super) const FILTER_BEGINS: u16 = 254;
    pub(super) const FILTER_ENDS: u16 = 255;
    /// The runtime is done with an exception.
    pub(super) const DONE: u16 = 256;
}

/// The exit code of a process that an exception of .NET ended.
const ENDED_BY_EXCEPTION: u32 = 0xe043_4352;

event_fields! {
    /// An event about an exception.
    struct Event<'a> {
        exception_type: FieldText<'a> = "ExceptionType",
        message: FieldText<'a> = "ExceptionMessage",
        hresult: i64 = "ExceptionHRESULT",
        flags: i64 = "ExceptionFlags",
        runtime: i64 = "ClrInstanceID",
        entry: u64 = "EntryEIP",
        method: FieldText<'a> = "MethodName",
    }
}

/// Exceptions under way.
#[derive(Default)]
pub(super) struct DotNetExceptions {
    fields: Fields<Event<'static>>,
    followed: Exceptions,
}

/// Whether an event of the runtime is about exceptions.
pub(super) fn is_about_exceptions(id: u16) -> bool {
    matches!(id, id::THROWN | id::CATCH_BEGINS..=id::DONE)
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of the runtime about an exception.
    pub(super) fn exception(&mut self, record: &Record<'_>, id: u16) {
        let caller = self.caller(record);
        let Some(thread) = caller.thread else { return };
        let by = (caller.process, thread);
        match id {
            id::THROWN => self.exception_thrown(record, thread),
            id::CATCH_BEGINS => self.exception_caught(record, by, caller.time),
            id::FINALLY_BEGINS => self.exceptions.followed.begin(by, Block::Finally),
            id::FILTER_BEGINS => self.exceptions.followed.begin(by, Block::Filter),
            _ => {
                let (followed, sink) = (&mut self.exceptions.followed, &mut *self.sink);
                let out = &mut |row: &ExceptionRow| sink.exception(row);
                match id {
                    id::CATCH_ENDS => followed.end(by, Block::Catch, out),
                    id::FINALLY_ENDS => followed.end(by, Block::Finally, out),
                    id::FILTER_ENDS => followed.end(by, Block::Filter, out),
                    _ => followed.done(by, out),
                }
            }
        }
    }

    fn exception_thrown(&mut self, record: &Record<'_>, thread: ThreadId) {
        let Some(event) = self.exceptions.fields.read(record, &self.schemas, &mut self.health) else { return };
        let stack = self.provider_stack(record);
        let caller = self.caller(record);
        let text = |text: Option<FieldText<'_>>| text.map(|text| text.to_string());
        let row = ExceptionRow {
            time: caller.time,
            cpu: cpu_number(record),
            process: caller.process,
            thread: Some(thread),
            stack,
            kind: exception_kinds::DOT_NET,
            runtime: event.runtime.and_then(|runtime| u16::try_from(runtime).ok()).map(u16::cast_signed),
            exception_type: text(event.exception_type),
            message: text(event.message),
            // It has 32 bits, and no sign where people write it.
            hresult: event.hresult.map(|hresult| hresult & 0xffff_ffff),
            flags: event.flags.and_then(|flags| i32::try_from(flags).ok()),
            ..ExceptionRow::default()
        };
        let sink = &mut *self.sink;
        self.exceptions.followed.thrown(thread, row, &mut |row| sink.exception(row));
    }

    fn exception_caught(&mut self, record: &Record<'_>, by: (Option<ProcessId>, ThreadId), time: i64) {
        let Some(event) = self.exceptions.fields.read(record, &self.schemas, &mut self.health) else { return };
        let frame = match (by.0, event.entry) {
            (Some(process), Some(entry)) if entry != 0 => {
                Some(self.stacks.frame(process, entry, record.time(), self.sink))
            }
            _ => None,
        };
        let method = event.method.map(|method| method.to_string()).filter(|method| !method.is_empty());
        let sink = &mut *self.sink;
        let catcher = Catcher { time, method, frame };
        if !self.exceptions.followed.caught(by, catcher, &mut |row| sink.exception(row)) {
            self.health.count(HealthKind::CATCH_WITHOUT_THROW, Some(record.time()), || {
                format!("tid {}", record.tid().unwrap_or(0))
            });
        }
    }

    /// A process ended with an exit code.
    pub(super) fn exceptions_of_ended(&mut self, pid: u32, exit_code: Option<u32>, ticks: i64) {
        if !self.wanted.exceptions {
            return;
        }
        let Some(process) = self.population.known_process_at(pid, ticks) else { return };
        let sink = &mut *self.sink;
        let by_exception = exit_code == Some(ENDED_BY_EXCEPTION);
        self.exceptions.followed.process_ended(process, by_exception, &mut |row| sink.exception(row));
    }

    /// Events were lost.
    pub(super) fn exceptions_lost(&mut self) {
        let sink = &mut *self.sink;
        self.exceptions.followed.lost(&mut |row| sink.exception(row));
    }

    /// The end of the recording: exceptions that nobody has caught.
    pub(super) fn finish_exceptions(&mut self) {
        let sink = &mut *self.sink;
        self.exceptions.followed.finish(&mut |row| sink.exception(row));
        let dropped = i64::try_from(self.exceptions.followed.dropped()).unwrap_or(i64::MAX);
        self.health.add(HealthKind::EXCEPTIONS_OVER_BUDGET, dropped, None, || "an exception of .NET".to_owned());
    }
}
