//! Mapped views: with `--map` the rows.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::Error;
use tracesift_trace::rows::{FileRow, MappedViewRow, ProcessRow};
use tracesift_trace::{FileId, ProcessId};

use super::columns::below;
use super::lives::touches;
use super::{Question, Sort, Stacks};
use crate::answer::{ColumnOf, Fact, Kind, Section, View};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::question::handles::hexadecimal;
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::stack_lines::StackLines;

/// One view of the answer.
#[derive(Clone, Debug)]
pub(super) struct Row {
    view: MappedViewRow,
    process: Option<ProcessRow>,
    tid: Option<i64>,
    file: Option<String>,
    /// The functions of the stacks that mapped and unmapped it, the innermost first.
    stacks: [Option<Vec<String>>; 2],
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

/// The columns.
pub(super) const COLUMNS: Columns<Row> = Columns(&[
    of_process::name().meaning("Process that has the view."),
    of_process::pid(),
    ColumnOf::machine("tid", "Tid", Kind::Id, |r| r.tid.into(), "Thread that mapped it."),
    ColumnOf::always("base", "Base", Kind::Text, |r| hexadecimal(r.view.base).into(), "Address of the view."),
    ColumnOf::always("size", "Size", Kind::Bytes, |r| r.view.size.into(), "Size of the view."),
    ColumnOf::details("offset", "Offset", Kind::Bytes, |r| r.view.offset.into(), "Offset in the section."),
    ColumnOf::always(
        "mapped_ns",
        "Mapped",
        Kind::Time,
        |r| (!is_there(&r.view)).then_some(r.view.start).into(),
        "When it was mapped; empty: before the recording.",
    ),
    ColumnOf::always(
        "unmapped_ns",
        "Unmapped",
        Kind::Time,
        |r| (!is_open(&r.view)).then_some(r.view.time).into(),
        "When it was unmapped; empty: not in the recording.",
    ),
    ColumnOf::always(
        "duration_ns",
        "Duration",
        Kind::Milliseconds,
        |r| duration(&r.view).into(),
        "Time for which it was mapped in the recording.",
    ),
    ColumnOf::details(
        "unmapped_by_exit",
        "By exit",
        Kind::Bool,
        |r| (r.view.by_exit == Some(true)).into(),
        "Whether the end of its process unmapped it.",
    ),
    ColumnOf::details(
        "object",
        "Object",
        Kind::Text,
        |r| hexadecimal(r.view.object).into(),
        "Key of the file; address of the section where no file is behind it. Linux: the descriptor that was mapped.",
    ),
    ColumnOf::always("name", "File", Kind::LongText, |r| r.file.as_ref().into(), "Path of the file behind the view."),
    of_process::label()
        .meaning("Process that has the view: name and pid; `+` it started, `-` it ended inside the recording."),
    of_process::command_line().shown(View::Machine),
    ColumnOf::details(
        "create_stack",
        "Create stack",
        Kind::Below,
        |r| below("mapped by", r.stacks[0].as_ref()),
        "Functions of the stack that mapped it, the innermost first.",
    ),
    ColumnOf::details(
        "destroy_stack",
        "Destroy stack",
        Kind::Below,
        |r| below("unmapped by", r.stacks[1].as_ref()),
        "Functions of the stack that unmapped it.",
    ),
]);

fn is_there(view: &MappedViewRow) -> bool {
    view.there == Some(true)
}

fn is_open(view: &MappedViewRow) -> bool {
    view.open == Some(true)
}

fn duration(view: &MappedViewRow) -> i64 {
    view.time.saturating_sub(view.start)
}

/// Whether an address lies in a view. Addresses have no sign.
pub(super) fn has_address(base: i64, size: i64, address: i64) -> bool {
    address.cast_unsigned().checked_sub(base.cast_unsigned()).is_some_and(|offset| offset < size.max(0).cast_unsigned())
}

impl Question {
    /// Whether a view passes all filters but that of processes.
    fn has_view(&self, view: &MappedViewRow, file: &str) -> bool {
        let (from, to) = self.time.bounds();
        let until = if is_open(view) { i64::MAX } else { view.time };
        let is_leaked = || {
            let is_left = is_open(view) || (self.with_exited && view.by_exit == Some(true));
            !is_there(view) && is_left && view.start >= from && view.start < to
        };
        touches((from, to), view.start, until)
            && (!self.leak || is_leaked())
            && self.duration.contains(Some(duration(view)))
            && self.begin.contains((!is_there(view)).then_some(view.start))
            && self.has_map(view)
            && self.names.matches(file)
            && (self.objects.is_empty() || self.objects.matches(&hexadecimal(view.object)))
    }

    /// Whether a view has the size and the addresses that are asked for.
    pub(super) fn has_map(&self, view: &MappedViewRow) -> bool {
        self.map_size.contains(Some(view.size))
            && self.address.is_none_or(|address| has_address(view.base, view.size, address))
            && (self.bases.is_empty() || self.bases.matches(&hexadecimal(view.base)))
    }

    /// The place of a view in the order.
    fn view_key(&self, view: &MappedViewRow) -> (i64, i64, i64) {
        let key = match self.sort {
            Some(Sort::Duration) => duration(view),
            Some(Sort::Created) => view.start,
            Some(Sort::Destroyed) => {
                if is_open(view) {
                    i64::MAX
                } else {
                    view.time
                }
            }
            _ => view.size,
        };
        (key, view.start, view.base)
    }

    /// The views of a recording.
    pub(super) fn views(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let (archive, file) = (recording.archive(), &recording.file);
        if archive.row_count::<MappedViewRow>() == 0 {
            let is_linux = archive.info().kind == "perf";
            let why = file.absence_with_cure("mapped_views", RowSource::both("VirtualAlloc", "VirtualAlloc"), is_linux);
            return Ok(file.absent("mapped views", why));
        }
        let processes: Vec<ProcessRow> = archive.rows()?;
        let accepted: FxHashSet<ProcessId> = self.accepted(&processes);
        let creators = self.creators(&processes);
        let files: FxHashMap<FileId, String> =
            archive.rows::<FileRow>()?.into_iter().map(|row| (row.file, row.path)).collect();
        let name = |view: &MappedViewRow| view.file.and_then(|file| files.get(&file));
        let mut views: Vec<MappedViewRow> = Vec::new();
        let mut stacks = Stacks::new(self, recording)?;
        let is_of_all = self.filter.is_empty();
        archive.scan(None, |view: &MappedViewRow| {
            let is_asked = (is_of_all || accepted.contains(&view.process))
                && creators.as_ref().is_none_or(|creators| creators.contains(&view.process));
            let mut has_stacks =
                || stacks.let_pass(view.stack, view.end_stack, [view.stack, view.end_stack].into_iter().flatten());
            if is_asked && self.has_view(view, name(view).map_or("", String::as_str)) && has_stacks() {
                views.push(*view);
            }
        })?;
        let size = views.iter().fold(0_i64, |sum, view| sum.saturating_add(view.size));
        let facts = vec![Fact::new("views", Kind::Count, views.len()), Fact::new("mapped", Kind::Bytes, size)];
        views.sort_by_cached_key(|view| self.view_key(view));
        self.top.apply(&mut views);
        let processes: FxHashMap<ProcessId, &ProcessRow> = processes.iter().map(|row| (row.process, row)).collect();
        let tids = super::tids(recording)?;
        let mut lines = StackLines::new(recording, self.shows_stacks())?;
        let rows: Vec<Row> = views
            .into_iter()
            .map(|view| Row {
                process: processes.get(&view.process).map(|row| (*row).clone()),
                tid: view.thread.and_then(|thread| tids.get(&thread)).copied(),
                file: name(&view).cloned(),
                stacks: [view.stack, view.end_stack].map(|stack| lines.of(stack)),
                view,
            })
            .collect();
        Ok(COLUMNS.section_showing(file, &rows, facts, &self.shown))
    }
}
