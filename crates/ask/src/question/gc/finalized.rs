//! `dump gc --finalized`: the types whose finalizers ran.

use tracesift_analysis::Times;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::GcFinalizedRow;
use tracesift_trace::schema::{Row as _, TableDefinition};
use tracesift_trace::{ProcessId, view};

use crate::answer::Kind;
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Joined, Measure, TableQuestion};

view! {
    /// Objects of a type whose finalizers ran.
    #[derive(Clone, Debug)]
    pub struct Objects of GcFinalizedRow { process, type_name, count, first, last }
}

/// Some objects were finalized in a part of the recording, and some outside of it: their number in the part is not known.
#[derive(Clone, Copy, Debug)]
pub struct InPart;

/// Objects of a type in a part of the recording.
pub(super) type Type = Joined<Objects, InPart>;

/// Types whose finalizers ran.
#[derive(Clone, Copy, Debug)]
pub struct Finalized;

/// What is asked.
pub(super) type Question = table_question::Question<Finalized>;

impl TableQuestion for Finalized {
    type Row = Type;

    const NAME: &'static str = "gc";
    const WHAT: [&'static str; 2] = ["type of finalized objects", "types of finalized objects"];
    const SOURCE: RowSource = RowSource::windows("GC");
    const MOST: &'static str = "most types";
    const DIMENSIONS: &'static [Dimension<Type>] = &[
        Dimension::process(),
        Dimension::text("type", "Type", |row: &Type| row.type_name.as_deref())
            .meaning("Name of the type. Empty where the recording does not tell it.")
            .filtered("--type", ["type", "types"], "With --finalized: only these types: 'System.IO.*'"),
    ];
    const MEASURES: &'static [Measure<Type>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::distinct("type", "types", "Types").meaning("Number of types.").details(),
        Measure::sum_known("objects", "Objects", Kind::Count, |row: &Type| row.other.is_none().then_some(row.count))
            .meaning("Objects whose finalizers ran. With `--time` those of types of which no finalizer ran outside of the time range; empty where there is no such type.")
            .sorted(&["count"])
            .total("finalizers"),
        Measure::rows_if("partly", "Partly", |row: &Type| row.other.is_some())
            .meaning("Types whose finalizers ran in the time range and outside of it: the archive does not tell how many ran in it, so `objects` is without them.")
            .details(),
        Measure::min("first_ns", "First", Kind::Time, |row: &Type| Some(row.first))
            .meaning("When the first finalizer of the type ran, in the whole recording."),
        Measure::max("last_ns", "Last", Kind::Time, |row: &Type| Some(row.last))
            .meaning("When the last one ran."),
    ];
    const BY: &'static [&'static str] = &["process", "type"];
    const SORT: &'static str = "count";
    /// The finalizers ran at any time between the first and the last one.
    const HAS_LENGTH: Option<fn(&Type) -> bool> = Some(|_| false);
    const EXAMPLES: &'static [(&'static str, &'static str)] = super::Gc::EXAMPLES;
    const PARTS: Option<&'static TableDefinition> = Some(GcFinalizedRow::TABLE);

    fn process(row: &Type) -> Option<ProcessId> {
        Some(row.process)
    }

    fn times(row: &Type) -> (i64, i64) {
        // The last one is in the range that has its instant.
        (row.first, row.last.max(row.first).saturating_add(1))
    }

    fn parts(recording: &OpenRecording, ranges: &[TimeRange], _: Option<&Times>) -> Result<Vec<Vec<Type>>, Error> {
        let rows: Vec<Type> = recording.archive().rows()?;
        let part = |range: &TimeRange| {
            let (start, end) = range.bounds();
            let touching = rows.iter().filter(|row| row.first < end && row.last >= start);
            let is_whole = |row: &Type| row.first >= start && row.last < end;
            touching.map(|row| Type { other: (!is_whole(row)).then_some(InPart), ..row.clone() }).collect()
        };
        Ok(ranges.iter().map(part).collect())
    }
}
