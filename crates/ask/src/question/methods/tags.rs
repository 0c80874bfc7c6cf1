//! Rows of stack tags: from the archive's summary, from the user's cache, or from the events.

mod stored;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tracesift_analysis::tags::{TagSet, figures_of, to_store};
use tracesift_archive::Error;
use tracesift_grammar::Patterns;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ProcessRow, TagSummaryRow};

use super::order::{Kind, Method};
use super::{Question, from_events};
use crate::recording::OpenRecording;
use crate::tag_cache::TagCache;
use tracesift_grammar::TimeRange;

/// Which stack tags.
#[derive(Clone, Debug)]
pub struct Tags {
    /// Their names, whole or their last part.
    pub patterns: Patterns,
    /// The rules.
    pub set: Arc<TagSet>,
    /// Where it is kept what rules say that archives do not keep.
    pub cache: Option<Arc<TagCache>>,
}

impl Tags {
    /// Whether the question is about the tag of that full name.
    pub(super) fn want(&self, name: &str) -> bool {
        let last = name.rsplit('\\').next().unwrap_or(name);
        self.patterns.matches_any(&[name, last])
    }
}

/// The tags that the question is about, in these processes.
pub(super) fn rows(
    opened: &OpenRecording,
    question: &Question,
    tags: &Tags,
    processes: &FxHashSet<ProcessId>,
) -> Result<Vec<Method>, Error> {
    let computed = || {
        let mut of_ranges = from_events::tags(opened, question, &[question.time], tags, processes)?;
        Ok(of_ranges.pop().unwrap_or_default())
    };
    if !question.could_be_tag_summary(opened) {
        return computed();
    }
    let archive = opened.archive();
    let rows = match stored::read(archive, question, tags, processes)? {
        Some(rows) => rows,
        None => match tags.cache.as_ref().map(|cache| (cache, cache.get(archive, &tags.set))) {
            None => return computed(),
            Some((_, Some(rows))) => rows,
            Some((cache, None)) => {
                let rows = all(opened, tags)?;
                cache.put(archive, &tags.set, &rows);
                rows
            }
        },
    };
    let wanted = rows.into_iter().filter(|row| processes.contains(&row.process) && tags.want(&row.tag));
    let methods = wanted.map(|row| Method { kind: Kind::Tag, figures: figures_of(row), place: None, thread: None });
    Ok(methods.filter(|tag| question.ranges.accept(tag)).collect())
}

/// All tags of all processes.
fn all(opened: &OpenRecording, tags: &Tags) -> Result<Vec<TagSummaryRow>, Error> {
    let processes: Vec<ProcessRow> = opened.archive().rows()?;
    let processes = processes.iter().map(|row| row.process).collect();
    let tags = Tags { patterns: Patterns::default(), ..tags.clone() };
    let rows = from_events::tags(opened, &Question::default(), &[TimeRange::default()], &tags, &processes)?;
    let hash = tags.set.hash();
    Ok(rows.into_iter().flatten().map(|tag| to_store(tag.figures, &hash)).collect())
}
