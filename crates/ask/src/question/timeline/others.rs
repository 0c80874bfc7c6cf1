//! The lanes of operations on files, system calls, network, page faults, and of collections and compilations of .NET.
//!
//! Rows and figures are those of the questions about them.

use rustc_hash::FxHashMap;
use tracesift_analysis::timeline::EventNumbers;
use tracesift_analysis::{IntervalUnion, Span};
use tracesift_archive::Error;
use tracesift_trace::rows::network_io_kinds;
use tracesift_trace::{ProcessId, ThreadId};

use super::lanes::{Asked, Collected};
use super::{LaneKind, Measure};
use crate::question::faults::{self, Fault, Faults};
use crate::question::file::{self, FileOperations};
use crate::question::gc::{self, Gc};
use crate::question::jit::{self, Compilation, Jit};
use crate::question::syscalls::{self, Call, Syscalls};
use crate::question::tcp::Traffic;
use crate::table_question::{Needed, TableQuestion};

/// Adds what rows say about a time to the lanes.
pub(super) fn add_rows(
    asked: &Asked<'_>,
    range: Span,
    lanes: &mut Collected,
    names: &mut EventNumbers,
) -> Result<(), Error> {
    let of = Of { asked, range };
    match asked.question.lane {
        LaneKind::File => of.files(lanes, names),
        LaneKind::Syscall => of.calls(lanes, names),
        LaneKind::Network => of.network(lanes, names),
        LaneKind::Fault => of.faults(lanes, names),
        LaneKind::Gc => of.collections(lanes),
        LaneKind::Jit => of.compilations(lanes),
        _ => Ok(()),
    }
}

/// Rows of a time.
struct Of<'a> {
    asked: &'a Asked<'a>,
    range: Span,
}

impl Of<'_> {
    /// The rows of a question that touch the time, of the processes that count.
    fn scan<Q: TableQuestion>(&self, mut visit: impl FnMut(&Q::Row)) -> Result<(), Error> {
        // What ends at the first instant ends a span that lies before it.
        let time = self.range.start.saturating_sub(1)..self.range.end.saturating_add(1);
        let needed = Needed { columns: Q::COLUMNS, joined: false };
        let all = self.asked.question.filter.is_empty();
        Q::scan(self.asked.recording.archive(), Some(time), needed, |row| {
            let counts = all || Q::process(row).is_some_and(|process| self.asked.accepted.contains(&process));
            if counts && Q::is_asked(row) {
                visit(row);
            }
        })
    }

    /// An amount of a row counts when the row ends, a length where it is.
    fn add<Q: TableQuestion>(&self, lanes: &mut Collected, lane: i32, row: &Q::Row, amount: i64) {
        let (start, end) = Q::times(row);
        if self.asked.measure == Measure::Time {
            lanes.add_span(lane, Span::new(start.min(end), end).intersect(self.range));
        } else if self.range.contains(end) {
            lanes.add_at(lane, end, amount);
        }
    }

    fn files(&self, lanes: &mut Collected, names: &mut EventNumbers) -> Result<(), Error> {
        let measure = self.asked.measure;
        let mut numbers = Numbers::new(names);
        self.scan::<FileOperations>(|row| {
            // A wait for changes of a directory is no work.
            if measure != Measure::Time || file::duration(row).is_some_and(|duration| duration > 0) {
                let amount = if measure == Measure::Bytes { file::bytes(row) } else { 1 };
                let lane = numbers.number(row.operation.into(), || file::operation(row.operation.into()));
                self.add::<FileOperations>(lanes, lane, row, amount);
            }
        })
    }

    fn calls(&self, lanes: &mut Collected, names: &mut EventNumbers) -> Result<(), Error> {
        let archive = self.asked.recording.archive();
        let known: FxHashMap<i64, String> = syscalls::names(archive)?.into_iter().collect();
        let mut numbers = Numbers::new(names);
        self.scan::<Syscalls>(|row: &Call| {
            let number = i64::from(row.number);
            let name = || known.get(&number).cloned().unwrap_or_else(|| number.to_string());
            self.add::<Syscalls>(lanes, numbers.number(number, name), row, 1);
        })
    }

    fn network(&self, lanes: &mut Collected, names: &mut EventNumbers) -> Result<(), Error> {
        let measure = self.asked.measure;
        let mut numbers = Numbers::new(names);
        self.scan::<Traffic>(|row| {
            let name = if row.kind == network_io_kinds::SENT { "sent" } else { "received" };
            let lane = numbers.number(row.kind.into(), || name.to_owned());
            self.add::<Traffic>(lanes, lane, row, if measure == Measure::Bytes { row.size } else { 1 });
        })
    }

    fn faults(&self, lanes: &mut Collected, names: &mut EventNumbers) -> Result<(), Error> {
        let mut numbers = Numbers::new(names);
        self.scan::<Faults>(|row: &Fault| {
            let kind = faults::kind_of(row);
            self.add::<Faults>(lanes, numbers.number(kind, || faults::kind(kind)), row, row.own.weight);
        })
    }

    fn collections(&self, lanes: &mut Collected) -> Result<(), Error> {
        self.scan::<Gc>(|row| {
            // A collection counts once, and each of its pauses has a time.
            self.add::<Gc>(lanes, row.process.0, row, gc::counts(row).into());
        })
    }

    /// A compilation that is nested in another one of its thread takes no more time.
    fn compilations(&self, lanes: &mut Collected) -> Result<(), Error> {
        let mut times: FxHashMap<(ProcessId, Option<ThreadId>), IntervalUnion> = FxHashMap::default();
        self.scan::<Jit>(|row: &Compilation| {
            let Some(process) = row.process.filter(|_| !jit::is_open(row)) else { return };
            if self.asked.measure == Measure::Time {
                let span = Span::new(row.start.min(row.time), row.time).intersect(self.range);
                times.entry((process, row.thread)).or_default().add(span);
            } else {
                self.add::<Jit>(lanes, process.0, row, 1);
            }
        })?;
        for ((process, _), mut union) in times {
            for span in union.spans() {
                lanes.add_span(process.0, *span);
            }
        }
        Ok(())
    }
}

/// The lanes of names that rows have as numbers.
struct Numbers<'a> {
    names: &'a mut EventNumbers,
    known: FxHashMap<i64, i32>,
}

impl<'a> Numbers<'a> {
    fn new(names: &'a mut EventNumbers) -> Self {
        Self { names, known: FxHashMap::default() }
    }

    fn number(&mut self, number: i64, name: impl FnOnce() -> String) -> i32 {
        let names = &mut *self.names;
        *self.known.entry(number).or_insert_with(|| names.number("", &name()))
    }
}
