//! Notes below the rows of methods, which prevent a wrong reading of the figures.

use tracesift_extract::stack_methods::By;

use super::columns::Row;
use super::order::{Kind, Method};
use super::{MethodSums, Question, Totals};
use crate::core_figures::{CoreFigures, UNKNOWN_CORES};
use crate::recording::OpenRecording;

/// Where lines are asked for and there are none, rows look as if nothing had been asked.
pub(crate) const NO_LINES: &str = "no symbols tell source lines of these: rows are functions";
const OVERLAP: &str = "totals add up the rows shown, which overlap: a sample or span counts in each of its methods";
const UNIONS: &str = "totals of wait and ready add up unions: time at which several rows waited counts for each";
const IMPORTED_TAGS: &str = "stack tags were imported: they follow the tag files of the extract, and their waits are plain sums over the threads";
const IMPORTED_SPANS: &str = "single spans are unknown: an import has sums only";

/// The notes of an answer about these methods, of which these rows are shown.
pub(super) fn of(question: &Question, recording: &OpenRecording, methods: &[&Method], rows: &[Row]) -> Vec<String> {
    let imported = recording.file.has_imported_sums;
    let precise = !recording.file.has_samples && !imported;
    let sums = MethodSums::of(methods.iter().copied());
    let adds_up = question.totals != Totals::None && methods.len() > 1;
    let rows_overlap = question.methods.is_some() || question.tags.as_ref().is_some_and(|tags| tags.set.has_children());
    let has_places = methods.iter().any(|method| method.place.is_some());
    let knows_cores = rows.iter().any(|row| row.spans.as_ref().is_some_and(|of| of.cores != CoreFigures::default()));
    let notes = [
        (adds_up && rows_overlap, OVERLAP),
        (adds_up && (sums.wait.is_some() || sums.ready.is_some()), UNIONS),
        (imported && methods.iter().any(|method| method.kind == Kind::Tag), IMPORTED_TAGS),
        (imported && question.percentiles, IMPORTED_SPANS),
        (question.granularity.by == By::Line && !rows.is_empty() && !has_places, NO_LINES),
        (question.cores && !rows.is_empty() && !knows_cores, UNKNOWN_CORES),
    ];
    let said = notes.into_iter().filter(|(applies, _)| *applies).map(|(_, note)| note.to_owned());
    said.chain((precise && !methods.is_empty()).then(|| recording.file.note_of_precise_cpu())).collect()
}
