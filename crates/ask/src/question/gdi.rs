//! `dump gdi`: which windows, menus, fonts and bitmaps are made and not freed.

use std::ops::Range;

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error};
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ProcessRow, handle_kinds};

use super::handles::{
    CONDITIONS, EXITED, Handle, LIMITS, LIST, MEASURES, dimensions, hexadecimal, kind, made_by, scan,
};
use crate::answer::ColumnOf;
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Exited, Limit, Measure, Needed, Peak, TableQuestion};

/// Lives of handles of the window manager and of GDI.
#[derive(Clone, Copy, Debug)]
pub struct Gdi;

/// What is asked.
pub type Question = table_question::Question<Gdi>;

/// The options.
pub type Options = table_question::Options<Gdi>;

impl TableQuestion for Gdi {
    type Row = Handle;

    const NAME: &'static str = "gdi";
    const WHAT: [&'static str; 2] =
        ["handle of GDI or of the window manager", "handles of GDI and of the window manager"];
    const SOURCE: RowSource = RowSource::windows("UserGDILeaks");
    const MOST: &'static str = "most handles";
    const DIMENSIONS: &'static [Dimension<Handle>] = dimensions![
        Dimension::words("kind", "Kind", |row: &Handle| Some(i64::from(row.kind)), kind)
            .meaning("`user` (windows, menus, hooks) or `gdi` (fonts, brushes, bitmaps). A process can have 10,000 handles of each.")
            .filtered("--kind", ["kind", "kinds"], "Only handles of these kinds: user, gdi"),
    ];
    const MEASURES: &'static [Measure<Handle>] = MEASURES;
    const LIMITS: &'static [Limit<Handle>] = LIMITS;
    const EXITED: Option<Exited<Handle>> = EXITED;
    const CONDITIONS: &'static [Condition<Handle>] = CONDITIONS;
    const LIST: &'static [ColumnOf<Handle>] = LIST;
    const BY: &'static [&'static str] = &["process", "type"];
    const SORT: &'static str = "diff";
    const GROWS: bool = true;
    const SHORT: &'static [&'static str] = &["process", "time", "top", "type", "by", "leak", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump gdi X.sift --top 10", "the processes and types that grew most"),
        (
            "tracesift dump gdi X.sift --by process,kind --min-peak 8000",
            "the processes near the limit of 10,000 handles",
        ),
        ("tracesift dump gdi X.sift --leak --by type,method", "the functions whose handles nobody freed"),
    ];

    fn process(row: &Handle) -> Option<ProcessId> {
        Some(row.owner)
    }

    fn times(row: &Handle) -> (i64, i64) {
        (row.start, row.time)
    }

    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        _: Needed<Handle>,
        visit: impl FnMut(&Handle),
    ) -> Result<(), Error> {
        scan(archive, time, visit)
    }

    fn is_asked(row: &Handle) -> bool {
        matches!(row.kind, handle_kinds::USER | handle_kinds::GDI)
    }

    fn notes(archive: &Archive, time: TimeRange, asked: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        let mut peaks: FxHashMap<(ProcessId, i8), Peak> = FxHashMap::default();
        let processes: FxHashMap<ProcessId, &ProcessRow> = asked.iter().map(|row| (row.process, *row)).collect();
        archive.scan(None, |row: &Handle| {
            if Self::is_asked(row) && processes.contains_key(&row.owner) {
                peaks.entry((row.owner, row.kind)).or_default().add(
                    (row.start, row.time),
                    row.open == Some(true),
                    time,
                );
            }
        })?;
        let mut near: Vec<(i64, ProcessId, i8)> =
            peaks.into_iter().map(|((process, kind), peak)| (peak.figure(), process, kind)).collect();
        near.retain(|(peak, ..)| *peak * 100 > MOST_HANDLES * NEAR_PERCENT);
        near.sort_unstable();
        let note = |(peak, process, kind): (i64, ProcessId, i8)| {
            let process = processes.get(&process)?;
            let what = if kind == handle_kinds::GDI { "GDI handles" } else { "handles of the window manager" };
            let share = peak * 100 / MOST_HANDLES;
            Some(format!(
                "{}({}) has {peak} {what} at its peak: {share} % of the {MOST_HANDLES} that Windows lets a process have",
                process.name, process.pid
            ))
        };
        Ok(near.into_iter().filter_map(note).collect())
    }
}

/// Handles of GDI that a process can have, and as many of the window manager, unless its registry says otherwise.
const MOST_HANDLES: i64 = 10_000;
/// Above this share of them a process is near the limit.
const NEAR_PERCENT: i64 = 80;

#[cfg(test)]
mod tests {
    use tracesift_grammar::TimeRange;
    use tracesift_testing::archive::{create, finish_as};
    use tracesift_trace::ProcessId;
    use tracesift_trace::info::TraceInfo;
    use tracesift_trace::rows::{HandleRow, ProcessRow, handle_kinds};

    use super::Question;
    use crate::ask::Ask as _;
    use crate::filter::ProcessFilter;
    use crate::recording::{OpenRecording, Source};

    const END: i64 = 1_000_000;

    /// So many handles, of which the first ones end before the last one begins.
    fn handles(owner: i32, kind: i8, (count, ended): (i64, i64)) -> Vec<HandleRow> {
        let row = |index: i64| HandleRow {
            start: index,
            time: if index < ended { count - 2 } else { END },
            open: Some(index >= ended),
            owner: ProcessId(owner),
            kind,
            handle: index,
            ..HandleRow::default()
        };
        (0..count).map(row).collect()
    }

    #[test]
    fn processes_near_the_limit_have_a_note() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut writer = create(&directory.path().join("gdi.sift"));
        let process = |id: i32, name: &str| ProcessRow {
            process: ProcessId(id),
            pid: 100 + i64::from(id),
            name: name.to_owned(),
            ..ProcessRow::default()
        };
        writer.write_table(&[process(0, "idle.exe"), process(1, "below.exe"), process(2, "above.exe")]);
        let mut rows = handles(1, handle_kinds::GDI, (8_000, 0));
        // One more handle than that, but two end before the last one begins.
        rows.extend(handles(1, handle_kinds::USER, (8_001, 2)));
        rows.extend(handles(1, handle_kinds::KERNEL, (9_000, 0)));
        rows.extend(handles(2, handle_kinds::GDI, (8_001, 0)));
        rows.extend(handles(2, handle_kinds::USER, (9_950, 0)));
        rows.sort_by_key(|row| row.time);
        writer.write_table(&rows);
        let info = TraceInfo { name: "gdi".to_owned(), kind: "etl".to_owned(), end_ns: END, ..TraceInfo::default() };
        let archive = finish_as(writer, info);
        let notes = |time: TimeRange, filter: ProcessFilter| {
            let mut question = Question::default();
            (question.time, question.filter) = (time, filter);
            let recording = OpenRecording::open(&Source::archive(archive.clone())).expect("an archive");
            question.section(&recording).expect("an answer").notes
        };
        let gdi = "above.exe(102) has 8001 GDI handles at its peak: 80 % of the 10000 that Windows lets a process have";
        let user = "above.exe(102) has 9950 handles of the window manager at its peak: \
                    99 % of the 10000 that Windows lets a process have";
        let everything = TimeRange::default();
        assert_eq!(notes(everything, ProcessFilter::default()), [gdi, user]);
        let time = TimeRange { start: None, end: Some(8_001) };
        let of_part = user.replace("9950", "8001").replace("99 %", "80 %");
        assert_eq!(notes(time, ProcessFilter::default()), [&of_part, gdi]);
        let filter = ProcessFilter { process: "below*".into(), ..ProcessFilter::default() };
        assert!(notes(everything, filter).is_empty());
    }
}
