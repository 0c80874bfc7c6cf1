//! Single events of references to objects, with `--references`.

use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{ObjectReferenceRow, ProcessRow};
use tracesift_trace::schema::Row as _;
use tracesift_trace::{ProcessId, StackId, ThreadId};

use super::columns::Row;
use crate::answer::{Column, ColumnOf, Kind, descriptions};
use crate::recording::OpenRecording;
use crate::stack_names::StackNames;

/// One event of references.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) time: i64,
    pub(super) change: i64,
    pub(super) tag: String,
    /// Name and pid of the process.
    pub(super) process: Option<(String, i64)>,
    pub(super) tid: Option<i64>,
    /// The function at the leaf of the stack.
    pub(super) method: Option<String>,
}

impl Reference {
    /// The event as a line below the row of its object.
    pub(super) fn line(&self) -> String {
        let process = self.process.as_ref().map(|(name, pid)| format!(" {name}({pid})")).unwrap_or_default();
        let tid = self.tid.map(|tid| format!(" {tid}")).unwrap_or_default();
        let method = self.method.as_ref().map(|method| format!(", {method}")).unwrap_or_default();
        format!("{:+} {}{process}{tid}{method}", self.change, self.tag)
    }
}

pub(super) const COLUMNS: &[ColumnOf<Reference>] = &[
    ColumnOf::always("time", "Time", Kind::Time, |r| r.time.into(), "When the references were taken or released."),
    ColumnOf::always(
        "change",
        "Change",
        Kind::Count,
        |r| r.change.into(),
        "References that were taken; below 0: references that were released.",
    ),
    ColumnOf::always(
        "tag",
        "Tag",
        Kind::Text,
        |r| (&r.tag).into(),
        "Four characters for the code that has the references.",
    ),
    ColumnOf::always(
        "process",
        "Process",
        Kind::Text,
        |r| r.process.as_ref().map(|(name, _)| name.clone()).into(),
        "Process that took or released them.",
    ),
    ColumnOf::always("pid", "Pid", Kind::Id, |r| r.process.as_ref().map(|(_, pid)| *pid).into(), "Its process id."),
    ColumnOf::always("tid", "Tid", Kind::Id, |r| r.tid.into(), "Thread that took or released them."),
    ColumnOf::always(
        "method",
        "Method",
        Kind::Text,
        |r| r.method.as_ref().into(),
        "Function at which the stack was taken, as `module!function`.",
    ),
];

/// The columns of the objects in `reference_events`.
pub(super) fn columns() -> Vec<Column> {
    descriptions(COLUMNS)
}

/// Adds the events of references in a time range to the objects. Gives the reason why there are none.
///
/// # Errors
/// When a table cannot be read.
pub(super) fn add(
    recording: &OpenRecording,
    rows: &mut [Row],
    (from, to): (i64, i64),
    processes: &FxHashMap<ProcessId, &ProcessRow>,
    tids: &FxHashMap<ThreadId, i64>,
) -> Result<Option<String>, Error> {
    let archive = recording.archive();
    if archive.row_count::<ObjectReferenceRow>() == 0 {
        let why = match archive.info().events.as_str() {
            "all" => recording.file.absence_of(ObjectReferenceRow::TABLE.name),
            _ => "not extracted; `tracesift extract --events all` keeps them".into(),
        };
        return Ok(Some(format!("single references: {why}")));
    }
    let mut names = StackNames::new(recording.named_stacks(Granularity::default())?);
    let mut methods: FxHashMap<StackId, Option<String>> = FxHashMap::default();
    let places: FxHashMap<i32, usize> =
        rows.iter().enumerate().filter_map(|(place, row)| Some((row.life.number?, place))).collect();
    let time = Some(from..to).filter(|_| (from, to) != TimeRange::default().bounds());
    archive.scan(time, |event: &ObjectReferenceRow| {
        if event.time < from || event.time >= to {
            return;
        }
        let Some(row) = event.object.and_then(|number| rows.get_mut(*places.get(&number)?)) else { return };
        let mut leaf = |stack: StackId| {
            methods.entry(stack).or_insert_with(|| names.of(stack).first().map(ToString::to_string)).clone()
        };
        row.references.push(Reference {
            time: event.time,
            change: event.change,
            tag: event.tag.clone(),
            process: event.process.and_then(|process| processes.get(&process)).map(|row| (row.name.clone(), row.pid)),
            tid: event.thread.and_then(|thread| tids.get(&thread)).copied(),
            method: event.stack.and_then(&mut leaf),
        });
    })?;
    Ok(None)
}
