//! The processes that can be among the rows of an answer, with their figures. Of hundreds of archives with hundreds of processes each
//! ten are shown: figures decide which, and only these get a name.

use rustc_hash::FxHashSet;
use tracesift_analysis::Times;
use tracesift_archive::Error;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ProcessRow, ProcessSummaryRow};
use tracesift_trace::schema::ColumnSet;

use super::{COLUMNS, Question, Seen, Sort, compare_figures};
use crate::ask::Ask as _;
use crate::needs::Needs;
use crate::order::Between;
use crate::processes::{ProcessKey, all_but_idle, is_idle};
use crate::recording::OpenRecording;

/// What decides, beside the columns of an answer, which processes there are: whether they ran, and the order of equals.
const DECISIVE: Needs = Needs {
    processes: ColumnSet::of_view::<ProcessKey>().and(ColumnSet::of(&["name", "start"])),
    process_summary: ColumnSet::of_view::<Seen>().and(ColumnSet::of(&["process"])),
    ..Needs::NOTHING
};

/// Reads what the answer may show.
pub(super) fn read(
    recording: &OpenRecording,
    question: &Question,
    times: Option<&Times>,
) -> Result<(Vec<ProcessRow>, Vec<ProcessSummaryRow>), Error> {
    let archive = recording.archive();
    // The filter may ask for parents, the images for all processes; other parts of the time have no summary.
    if !question.filter.is_empty() || question.modules.is_some() || !question.time.is_everything() || times.is_some() {
        let processes: Vec<ProcessRow> = archive.rows()?;
        let figures = recording.process_figures(&processes, question.time, times)?;
        return Ok((processes, figures));
    }
    let needs = question.needs();
    let figures = archive.needed_rows(needs.process_summary)?;
    let processes = archive.stored_rows(needs.processes)?;
    let keys: Vec<ProcessKey> = processes.keys()?;
    let selected = all_but_idle(keys.iter().copied());
    let largest = question.largest(&figures, &selected, recording.file.has_imported_sums);
    let is_shown = |key: &ProcessKey| is_idle(*key) || largest.as_ref().is_none_or(|of| of.contains(&key.process));
    let places = keys.iter().enumerate().filter(|(_, key)| is_shown(key)).map(|(place, _)| place);
    Ok((processes.rows(places)?, figures))
}

impl Question {
    /// The stored columns that the answer is made of.
    fn needs(&self) -> Needs {
        let limits = [("cpu_ns", self.cpu), ("wait_ns", self.wait), ("ready_ns", self.ready)];
        let limits = limits.map(|(column, limit)| (limit != Between::default()).then_some(column));
        let decides = |column| self.sorted_by() == Some(column) || limits.contains(&Some(column));
        DECISIVE.and(COLUMNS.needs(|column| self.shown.has(column) || decides(column)))
    }

    /// The processes that figures let into the answer, equals of the last one included; `None`: figures do not decide.
    fn largest(
        &self,
        figures: &[ProcessSummaryRow],
        selected: &FxHashSet<ProcessId>,
        imported: bool,
    ) -> Option<FxHashSet<ProcessId>> {
        if matches!(self.sort, Sort::Start | Sort::Name) {
            return None;
        }
        let take = self.top.take?.saturating_add(self.top.skip);
        let mut figures: Vec<&ProcessSummaryRow> =
            figures.iter().filter(|row| selected.contains(&row.process) && self.accepts(row, imported)).collect();
        let by_figures = |a: &&ProcessSummaryRow, b: &&ProcessSummaryRow| compare_figures(self.sort, b, a);
        if let Some(last) = take.checked_sub(1).filter(|last| *last < figures.len()) {
            let last = *figures.select_nth_unstable_by(last, by_figures).1;
            figures.retain(|row| compare_figures(self.sort, row, last).is_ge());
        }
        Some(figures.into_iter().map(|row| row.process).collect())
    }
}
