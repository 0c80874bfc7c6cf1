//! The rows of several time ranges, from one reading of the events.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::Error;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;

use super::{Method, Question, from_events};
use crate::answer::Section;
use crate::inside::Inside;
use crate::processes::Processes;
use crate::recording::OpenRecording;
use tracesift_grammar::TimeRange;

/// The answers about each range, as the question gives them about that range alone.
pub(super) fn sections(
    question: &Question,
    recording: &OpenRecording,
    ranges: &[TimeRange],
    origin: i64,
) -> Result<Vec<Section>, Error> {
    if let Some(absent) = Inside::absent(&question.inside, recording)? {
        return Ok(vec![absent; ranges.len()]);
    }
    let processes: Vec<ProcessRow> = recording.archive().rows()?;
    let accepted: FxHashMap<ProcessId, &ProcessRow> =
        Processes::new(&processes).selected(&question.filter).map(|row| (row.process, row)).collect();
    let ids: FxHashSet<ProcessId> = accepted.keys().copied().collect();
    let shifted = question.at(question.time, origin);
    let mut figures: Vec<Vec<Method>> = vec![Vec::new(); ranges.len()];
    if let Some(patterns) = &question.methods {
        let methods = from_events::methods(recording, &shifted, ranges, patterns, &ids)?;
        figures.iter_mut().zip(methods).for_each(|(all, mut methods)| all.append(&mut methods));
    }
    if let Some(tags) = &question.tags {
        let tags = from_events::tags(recording, &shifted, ranges, tags, &ids)?;
        figures.iter_mut().zip(tags).for_each(|(all, mut tags)| all.append(&mut tags));
    }
    let of_range =
        |(time, figures)| question.at(time, origin).of_figures(recording, &accepted, figures, accepted.len());
    ranges.iter().copied().zip(figures).map(of_range).collect()
}
