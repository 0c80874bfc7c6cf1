//! The processes that can be among the rows of an answer, with their figures. Of hundreds of archives with hundreds of processes each
//! ten are shown: figures decide which, and only these get a name.

use rustc_hash::FxHashSet;
use tracesift_archive::Error;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ProcessRow, ProcessSummaryRow};
use tracesift_trace::schema::ColumnSet;

use super::{Question, Sort, compare_figures};
use crate::processes::{ProcessKey, is_idle};
use crate::recording::OpenRecording;

/// What a table shows of them without `--details`.
const IN_TABLE: ColumnSet<ProcessRow> =
    ColumnSet::of(&["process", "pid", "name", "command_line", "start", "end", "origin"]);
/// The columns of the answer that come from these.
const TABLE: [&str; 8] =
    ["process", "pid", "process_label", "command_line", "cpu_ns", "samples", "cores_used", "priority"];
/// The figures that these columns and their order need.
const TABLE_FIGURES: ColumnSet<ProcessSummaryRow> =
    ColumnSet::of(&["process", "samples", "cpu", "run", "cores_used", "priority"]);

/// Reads what the answer may show.
pub(super) fn read(
    recording: &OpenRecording,
    question: &Question,
) -> Result<(Vec<ProcessRow>, Vec<ProcessSummaryRow>), Error> {
    let archive = recording.archive();
    // The filter may ask for parents, the images for all processes; other parts of the time have no summary.
    if !question.filter.is_empty() || question.modules.is_some() || !question.time.is_everything() {
        let processes: Vec<ProcessRow> = archive.rows()?;
        let figures = recording.process_figures(&processes, question.time)?;
        return Ok((processes, figures));
    }
    let is_table = question.shown.is_within(&TABLE);
    let figures =
        archive.needed_rows(if is_table && question.needs_few_figures() { TABLE_FIGURES } else { ColumnSet::ALL })?;
    let processes = archive.stored_rows(if is_table { IN_TABLE } else { ColumnSet::ALL })?;
    let keys: Vec<ProcessKey> = processes.keys()?;
    let at_work: FxHashSet<ProcessId> = keys.iter().filter(|key| !is_idle(**key)).map(|key| key.process).collect();
    let largest = question.largest(&figures, &at_work, recording.file.has_imported_sums);
    let is_shown = |key: &ProcessKey| is_idle(*key) || largest.as_ref().is_none_or(|of| of.contains(&key.process));
    let places = keys.iter().enumerate().filter(|(_, key)| is_shown(key)).map(|(place, _)| place);
    Ok((processes.rows(places)?, figures))
}

impl Question {
    /// Whether neither order nor ranges look at other figures than those of a table.
    pub(super) fn needs_few_figures(&self) -> bool {
        !matches!(self.sort, Sort::Wait | Sort::Ready | Sort::First | Sort::Last)
            && self.wait == Default::default()
            && self.ready == Default::default()
    }

    /// The processes that figures let into the answer, equals of the last one included; `None`: figures do not decide.
    fn largest(
        &self,
        figures: &[ProcessSummaryRow],
        at_work: &FxHashSet<ProcessId>,
        imported: bool,
    ) -> Option<FxHashSet<ProcessId>> {
        if matches!(self.sort, Sort::Start | Sort::Name) {
            return None;
        }
        let take = self.top.take?.saturating_add(self.top.skip);
        let mut figures: Vec<&ProcessSummaryRow> =
            figures.iter().filter(|row| at_work.contains(&row.process) && self.accepts(row, imported)).collect();
        let by_figures = |a: &&ProcessSummaryRow, b: &&ProcessSummaryRow| compare_figures(self.sort, b, a);
        if let Some(last) = take.checked_sub(1).filter(|last| *last < figures.len()) {
            let last = *figures.select_nth_unstable_by(last, by_figures).1;
            figures.retain(|row| compare_figures(self.sort, row, last).is_ge());
        }
        Some(figures.into_iter().map(|row| row.process).collect())
    }
}
