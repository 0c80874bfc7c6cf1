//! Figures of rows by their stacks, for call trees, flame graphs and profiles.

use tracesift_analysis::{Attribution, Span, Times};
use tracesift_archive::{Archive, Error};
use tracesift_export::Measure as Exported;
use tracesift_grammar::TimeRange;
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

use super::alone::amount;
use super::arithmetic::How;
use super::dimension::{Dimension, Of, ValueOf};
use super::reading::parts_of;
use super::{Needed, TableQuestion, scan_rows, table};
use crate::absence::Absence;
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;

/// A measure of a question that is shown by the stacks of its rows.
///
/// Thread and code of a row are those of the question's dimensions: the code is that of methods, or of stacks where methods are those
/// that the rows are about.
#[derive(Clone, Copy, Debug)]
pub struct StackFigure {
    /// Key of the measure's column: `response_ns`. All stacks together have its total.
    pub column: &'static str,
    /// The word of `--measure`, the words of titles, the unit, and what a row is, in the plural.
    pub measure: Exported,
    /// One sentence for the help.
    pub help: &'static str,
}

/// A figure of rows of a table, whatever the table is.
#[derive(Clone, Copy, Debug)]
pub struct StackMeasure {
    /// Its word, its words in titles, its unit.
    pub exported: Exported,
    /// One sentence for the help.
    pub help: &'static str,
    /// The tables that are read.
    pub tables: &'static [&'static str],
    /// The tables of which events are needed, where these are all.
    pub(crate) reads: Option<&'static [&'static str]>,
    /// What rows are called: `disk operations`.
    pub what: &'static str,
    source: RowSource,
    table: &'static str,
    count: fn(&Archive) -> u64,
    scan: Scan,
}

/// Hands over what each row has in a time range, there in these times if any are chosen.
type Scan = fn(&OpenRecording, (TimeRange, Option<&Times>), &mut dyn FnMut(Charged)) -> Result<(), Error>;

/// What a row has of a figure.
#[derive(Clone, Copy, Debug)]
pub struct Charged {
    /// Who has it; `None`: the recording does not know.
    pub process: Option<ProcessId>,
    /// The thread, where rows have one.
    pub thread: Option<ThreadId>,
    /// The code that has it.
    pub at: Attribution,
    /// When it began, ns.
    pub time: i64,
    /// The figure, in the unit of the measure.
    pub amount: i64,
}

impl StackMeasure {
    /// The figure with this number of a question.
    #[must_use]
    pub const fn of<Q: TableQuestion, const N: usize>() -> Self {
        let figure = Q::STACKS[N];
        Self {
            exported: figure.measure,
            help: figure.help,
            tables: Q::TABLES,
            reads: Q::READS,
            what: Q::WHAT[1],
            source: Q::SOURCE,
            table: table::<Q>().name,
            count: Q::count,
            scan: scan::<Q, N>,
        }
    }

    /// Why the recording has no such rows, and the cure; `None`: it has the table.
    #[must_use]
    pub fn missing(&self, recording: &OpenRecording) -> Option<Absence> {
        let archive = recording.archive();
        let is_missing = (self.count)(archive) == 0;
        is_missing.then(|| recording.file.absence_with_cure(self.table, self.source, archive.info().kind == "perf"))
    }

    /// Hands over what each row has in the time range, there in these times if any are chosen. Rows without anything are left out.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn scan(
        &self,
        recording: &OpenRecording,
        chosen: (TimeRange, Option<&Times>),
        mut visit: impl FnMut(Charged),
    ) -> Result<(), Error> {
        (self.scan)(recording, chosen, &mut visit)
    }
}

fn scan<Q: TableQuestion, const N: usize>(
    recording: &OpenRecording,
    (time, times): (TimeRange, Option<&Times>),
    visit: &mut dyn FnMut(Charged),
) -> Result<(), Error> {
    let key = Q::STACKS[N].column;
    let measure = Q::MEASURES.iter().find(|measure| measure.is.column.key == key);
    let measure = measure.expect("a figure is a measure of its question");
    let adds = measure.adds;
    let thread = Q::DIMENSIONS.iter().find_map(|dimension| match dimension.value {
        ValueOf::Thread(thread) => Some(thread),
        _ => None,
    });
    // A row without a length adds nothing to sums of times.
    let has_length = Q::HAS_LENGTH.filter(|_| matches!(measure.is.how, How::Duration));
    let place = code_of(Q::DIMENSIONS);
    let (start, end) = time.bounds();
    let range = Span::new(start, end);
    let mut parts = Vec::new();
    let touching = (!time.is_everything()).then_some(start.saturating_sub(1)..end);
    scan_rows::<Q>(recording.archive(), touching, Needed::own::<Q>(), &mut |row| {
        if !Q::is_asked(row) || has_length.is_some_and(|has_length| !has_length(row)) {
            return;
        }
        parts_of::<Q>(row, range, times, &mut parts);
        for part in &parts {
            let amount = amount(adds, row, *part);
            if amount <= 0 {
                continue;
            }
            let (stack, frame) = match place {
                Some(Code::Method(place)) => place(row),
                Some(Code::Stack(stack)) => (stack(row), None),
                None => (None, None),
            };
            visit(Charged {
                process: Q::process(row),
                thread: thread.and_then(|thread| thread(row)),
                at: Attribution::of_sample(stack, frame),
                time: part.start,
                amount,
            });
        }
    })
}

/// Where rows have their code.
enum Code<R> {
    Method(fn(&R) -> (Option<StackId>, Option<FrameId>)),
    Stack(fn(&R) -> Option<StackId>),
}

fn code_of<R>(dimensions: &[Dimension<R>]) -> Option<Code<R>> {
    let method = dimensions.iter().find_map(|dimension| match dimension.value {
        ValueOf::Code(place) => Some(Code::Method(place)),
        _ => None,
    });
    method.or_else(|| {
        dimensions.iter().find_map(|dimension| match dimension.value {
            ValueOf::Stack(stack) if matches!(dimension.is.of, Of::Stack) => Some(Code::Stack(stack)),
            _ => None,
        })
    })
}

/// Whether rows add up to the measure, so that stacks can have their parts of it.
#[cfg(test)]
pub(super) fn adds_up(how: How) -> bool {
    matches!(
        how,
        How::Duration
            | How::Rows
            | How::RowsIf
            | How::Sum
            | How::SumKnown
            | How::SumOf
            | How::AliveLast
            | How::Begun
            | How::SumBegun
            | How::SumLeft
    )
}

/// The unit of a column.
#[cfg(test)]
fn unit_of(kind: crate::answer::Kind) -> Option<tracesift_export::Unit> {
    use crate::answer::Kind;
    use tracesift_export::Unit;

    match kind {
        Kind::Seconds | Kind::Milliseconds | Kind::Microseconds => Some(Unit::Nanoseconds),
        Kind::Bytes => Some(Unit::Bytes),
        Kind::Count => Some(Unit::Count),
        _ => None,
    }
}

/// Checks that figures are sums of rows, in the unit of their columns, with code.
#[cfg(test)]
pub(crate) fn check<Q: TableQuestion>() {
    for figure in Q::STACKS {
        let measure = Q::MEASURES.iter().find(|measure| measure.is.column.key == figure.column);
        let measure = measure.unwrap_or_else(|| panic!("{}: no measure {}", Q::NAME, figure.column));
        assert!(adds_up(measure.is.how), "{}: {}", Q::NAME, figure.column);
        assert_eq!(unit_of(measure.is.column.kind), Some(figure.measure.unit), "{}: {}", Q::NAME, figure.column);
        assert!(code_of(Q::DIMENSIONS).is_some(), "{}: rows have no code", Q::NAME);
    }
}
