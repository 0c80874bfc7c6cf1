//! Figures from samples and switches: for time ranges, for finer rows, and for methods that the summary does not keep.

use rustc_hash::FxHashSet;
use tracesift_analysis::tags::{TagSource, TagTotal, tag_totals};
use tracesift_analysis::{MethodAggregator, MethodId, MethodName, MethodNames, MethodSource, MethodTotals, Recording};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::MethodSummaryRow;

use super::order::{Kind, Method};
use super::pattern::MethodPatterns;
use super::{Question, Tags};
use crate::owned_rows::{OwnedRows, Owners};
use crate::recording::OpenRecording;

/// The methods that these patterns accept, in these processes.
pub(super) fn methods(
    opened: &OpenRecording,
    question: &Question,
    patterns: &MethodPatterns,
    processes: &FxHashSet<ProcessId>,
) -> Result<Vec<Method>, Error> {
    let named = opened.named_stacks(question.granularity)?;
    let names = &named.names;
    let (totals, owners) = totals(opened, question, processes, &named.stacks)?;
    let mut wanted = Wanted { patterns, names, known: Vec::new() };
    let recording = Recording::from(opened.info());
    let mut found = Vec::new();
    for total in totals.methods {
        let Some((process, thread)) = owners.owner(total.process).filter(|_| wanted.is(total.method)) else {
            continue;
        };
        let figures = MethodSummaryRow { process, ..total.row(&recording, names.name(total.method)) };
        let method = Method { kind: Kind::Method, figures, place: names.place(total.method), thread };
        if question.ranges.accept(&method) {
            found.push(method);
        }
    }
    Ok(found)
}

/// The tags that the question is about, in these processes. Where tags have children, a tag's CPU, wait and ready are those of all below
/// it, and its exclusive CPU is its own.
pub(super) fn tags(
    opened: &OpenRecording,
    question: &Question,
    tags: &Tags,
    processes: &FxHashSet<ProcessId>,
) -> Result<Vec<Method>, Error> {
    let named = opened.named_stacks(Granularity::default())?;
    let mut source = TagSource::for_rows(&named.stacks, &tags.set, &named.names);
    let (totals, owners) = totals(opened, question, processes, &mut source)?;
    let recording = Recording::from(opened.info());
    let mut found = Vec::new();
    for TagTotal { tag, total } in tag_totals(totals.methods, &source) {
        let name = source.tagger().name(tag);
        let Some((process, thread)) = owners.owner(total.process).filter(|_| tags.want(name)) else { continue };
        let name = MethodName { module: None, function: name.to_owned() };
        let figures = MethodSummaryRow { process, ..total.row(&recording, name) };
        let tag = Method { kind: Kind::Tag, figures, place: None, thread };
        if question.ranges.accept(&tag) {
            found.push(tag);
        }
    }
    Ok(found)
}

/// Adds up what the processes did per method of the source.
fn totals(
    opened: &OpenRecording,
    question: &Question,
    processes: &FxHashSet<ProcessId>,
    source: impl MethodSource,
) -> Result<(MethodTotals, Owners), Error> {
    let info = opened.info();
    let recording = Recording::from(info);
    let mut rows = OwnedRows::new(opened, question.time, question.per_thread, processes)?;
    let mut totals = MethodAggregator::new(&recording, rows.range(), &rows.owned_threads(), source);
    rows.cpu(&recording, |row| totals.sample(row))?;
    if info.has_switches {
        rows.switches(|_, row| totals.switch(row))?;
    }
    Ok((totals.finish(), rows.owners))
}

/// Which methods the question is about: each name is looked at once, however many processes have it.
struct Wanted<'a> {
    patterns: &'a MethodPatterns,
    names: &'a MethodNames,
    known: Vec<Option<bool>>,
}

impl Wanted<'_> {
    fn is(&mut self, method: MethodId) -> bool {
        let index = method.0 as usize;
        if self.known.len() <= index {
            self.known.resize(index + 1, None);
        }
        let (patterns, names) = (self.patterns, self.names);
        let matches = || {
            let name = names.name(method);
            patterns.matches(name.module.as_deref(), &name.function)
        };
        self.known.get_mut(index).is_some_and(|known| *known.get_or_insert_with(matches))
    }
}
