//! Signals, and exceptions of C++.

use tracesift_trace::exceptions::{Catcher, Delivered, Exceptions, Generated, signal_codes, signal_name};
use tracesift_trace::rows::{ExceptionRow, exception_flags, exception_kinds};
use tracesift_trace::{HealthKind, RowSink};

use super::call_chain::stack_of;
use super::rows::Rows;
use super::sample_context::SampleContext;
use super::scheduler::Scheduler;
use crate::perf::tracepoint::{DeliverFields, ExceptionFields, GenerateFields};

/// Follows signals from the sender to the delivery, exceptions from the throw to the catch block.
#[derive(Default)]
pub(crate) struct ThrownAndSent {
    followed: Exceptions,
}

impl ThrownAndSent {
    /// An event of a signal or of the C++ library.
    pub(crate) fn event<Sink: RowSink>(
        &mut self,
        fields: &ExceptionFields,
        at: &SampleContext<'_>,
        scheduler: &mut Scheduler,
        rows: &mut Rows<'_, Sink>,
    ) {
        let known = match fields {
            ExceptionFields::Generate(fields) => self.generated(fields, at, scheduler, rows),
            ExceptionFields::Deliver(fields) => self.delivered(fields, at, rows),
            ExceptionFields::Throw { again } => {
                self.thrown(*again, at, rows);
                Some(())
            }
            ExceptionFields::Catch => {
                self.caught(at, rows);
                Some(())
            }
        };
        if known.is_none() {
            rows.health.count(HealthKind::INCOMPLETE_EXCEPTIONS, Some(at.ticks), || {
                "an event of a signal without its fields".to_owned()
            });
        }
    }

    fn generated<Sink: RowSink>(
        &mut self,
        fields: &GenerateFields,
        at: &SampleContext<'_>,
        scheduler: &mut Scheduler,
        rows: &mut Rows<'_, Sink>,
    ) -> Option<()> {
        let raw = at.sample.raw?;
        let (number, code) = (fields.signal.get(raw)?, fields.code.get(raw)?);
        let signal = Generated {
            signal: i32::try_from(number).ok()?,
            is_of_process: fields.group.get(raw)? != 0,
            result: fields.result.get(raw)?,
        };
        let thread = scheduler.thread_at(fields.target.id(raw)?, at.cpu.unwrap_or(0), at.ticks, rows);
        let process = rows.population.process_of(thread);
        let row = of_signal((number, code), at, rows);
        let sender = at.sample.pid.filter(|_| signal_codes::is_of_process(code));
        let message = row.message.map(|reason| match sender {
            Some(pid) => format!("{reason} from {pid}"),
            None => reason,
        });
        let row = ExceptionRow { process: Some(process), thread: Some(thread), message, ..row };
        self.followed.signal_generated((process, thread), signal, row, &mut |row| rows.sink.exception(row));
        Some(())
    }

    fn delivered<Sink: RowSink>(
        &mut self,
        fields: &DeliverFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) -> Option<()> {
        let raw = at.sample.raw?;
        let (number, code) = (fields.signal.get(raw)?, fields.code.get(raw)?);
        let handler = fields.handler.get(raw)?.cast_unsigned();
        let frame = (handler > 1).then(|| rows.stacks.frame(at.process, handler, at.ticks, rows.sink));
        let signal = Delivered { signal: i32::try_from(number).ok()?, handler, frame };
        let row =
            ExceptionRow { process: Some(at.process), thread: Some(at.thread), ..of_signal((number, code), at, rows) };
        self.followed.signal_delivered((at.process, at.thread), signal, row, &mut |row| rows.sink.exception(row));
        Some(())
    }

    fn thrown<Sink: RowSink>(&mut self, again: bool, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        let row = ExceptionRow {
            time: rows.clock.ns(at.ticks),
            cpu: at.cpu_or_none(),
            process: Some(at.process),
            thread: Some(at.thread),
            stack: stack_of(at, rows),
            kind: exception_kinds::CPP,
            flags: Some(if again { exception_flags::RETHROWN } else { 0 }),
            ..ExceptionRow::default()
        };
        self.followed.thrown(at.thread, row, &mut |row| rows.sink.exception(row));
    }

    fn caught<Sink: RowSink>(&mut self, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        let catcher = Catcher { time: rows.clock.ns(at.ticks), ..Catcher::default() };
        let by = (Some(at.process), at.thread);
        // The library tells no end of a catch block.
        if !self.followed.caught_for_good(by, catcher, &mut |row| rows.sink.exception(row)) {
            rows.health.count(HealthKind::CATCH_WITHOUT_THROW, Some(at.ticks), || "an exception of C++".to_owned());
        }
    }

    /// Events were lost.
    pub(crate) fn lost<Sink: RowSink>(&mut self, rows: &mut Rows<'_, Sink>) {
        self.followed.lost(&mut |row| rows.sink.exception(row));
    }

    /// The end of the recording.
    pub(crate) fn finish<Sink: RowSink>(&mut self, rows: &mut Rows<'_, Sink>) {
        self.followed.finish(&mut |row| rows.sink.exception(row));
        let dropped = i64::try_from(self.followed.dropped()).unwrap_or(i64::MAX);
        rows.health
            .add(HealthKind::EXCEPTIONS_OVER_BUDGET, dropped, None, || "an exception of C++ or a signal".to_owned());
    }
}

/// The row of a signal with this number, for this reason. The thread is still missing.
fn of_signal<Sink: RowSink>(
    (number, code): (i64, i64),
    at: &SampleContext<'_>,
    rows: &mut Rows<'_, Sink>,
) -> ExceptionRow {
    let reason = signal_codes::name(number, code).map_or_else(|| format!("code {code}"), str::to_owned);
    ExceptionRow {
        time: rows.clock.ns(at.ticks),
        cpu: at.cpu_or_none(),
        stack: stack_of(at, rows),
        kind: exception_kinds::SIGNAL,
        exception_type: Some(signal_name(number)),
        message: Some(reason),
        ..ExceptionRow::default()
    }
}
