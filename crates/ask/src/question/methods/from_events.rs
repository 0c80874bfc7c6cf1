//! Figures from samples and switches: for time ranges, for finer rows, and for methods that the summary does not keep.

use std::cell::RefCell;

use rustc_hash::FxHashSet;
use tracesift_analysis::tags::{TagNumber, TagSource, TagTotal, tag_totals};
use tracesift_analysis::{
    MethodAggregator, MethodId, MethodName, MethodNames, MethodSource, MethodTotals, RecordingFacts, Span,
};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::{ProcessId, StackId};

use super::order::{Kind, Method};
use super::shared::Shared;
use super::{Question, Tags};
use crate::inside::Inside;
use crate::method_patterns::MethodPatterns;
use crate::owned_rows::{OwnedRows, OwnerNumber, Owners};
use crate::recording::OpenRecording;
use tracesift_grammar::TimeRange;

/// What the caches of all time ranges may take together.
const CACHE_BYTES: usize = 128 << 20;

/// The methods that these patterns accept, in these processes; for each of the time ranges.
pub(super) fn methods(
    opened: &OpenRecording,
    question: &Question,
    ranges: &[TimeRange],
    patterns: &MethodPatterns,
    processes: &FxHashSet<ProcessId>,
) -> Result<Vec<Vec<Method>>, Error> {
    let named = opened.named_stacks(question.granularity)?;
    let names = &named.names;
    let (totals, owners) = totals(opened, question, ranges, processes, &named.stacks, None)?;
    let mut wanted = Wanted { patterns, names, known: Vec::new() };
    let of_range = |totals| methods_of(opened, question, totals, &owners, &mut wanted);
    Ok(totals.into_iter().map(of_range).collect())
}

/// Those of one time range.
fn methods_of(
    opened: &OpenRecording,
    question: &Question,
    totals: MethodTotals<MethodId, OwnerNumber>,
    owners: &Owners,
    wanted: &mut Wanted<'_>,
) -> Vec<Method> {
    let names = wanted.names;
    let recording = RecordingFacts::from(opened.info());
    let mut found = Vec::new();
    for total in totals.methods {
        let Some((process, thread)) = owners.owner(total.owner).filter(|_| wanted.is(total.method)) else {
            continue;
        };
        let figures = total.row(process, &recording, names.name(total.method));
        let method = Method { kind: Kind::Method, figures, place: names.place(total.method), thread };
        if question.ranges.accept(&method) {
            found.push(method);
        }
    }
    found
}

/// The tags that the question is about, in these processes. Where tags have children, a tag's CPU, wait and ready are those of all below
/// it, and its exclusive CPU is its own. For each of the time ranges.
pub(super) fn tags(
    opened: &OpenRecording,
    question: &Question,
    ranges: &[TimeRange],
    tags: &Tags,
    processes: &FxHashSet<ProcessId>,
) -> Result<Vec<Vec<Method>>, Error> {
    let named = opened.named_stacks(Granularity::default())?;
    let mut source = TagSource::for_rows(&named.stacks, &tags.set, &named.names);
    // Where all of the recording is asked for, nearly every stack is needed, and samples of one tag are added up at once.
    let representatives = matches!(ranges, [range] if range.is_everything())
        .then(|| source.representatives(named.stacks.stacks().numbered()));
    let (totals, owners) = totals(opened, question, ranges, processes, &mut source, representatives.as_deref())?;
    let of_range = |totals| tags_of(opened, question, tags, totals, &owners, &source);
    Ok(totals.into_iter().map(of_range).collect())
}

/// Those of one time range.
fn tags_of<S: MethodSource<Item = MethodId>>(
    opened: &OpenRecording,
    question: &Question,
    tags: &Tags,
    totals: MethodTotals<TagNumber, OwnerNumber>,
    owners: &Owners,
    source: &TagSource<'_, S>,
) -> Vec<Method> {
    let recording = RecordingFacts::from(opened.info());
    let mut found = Vec::new();
    for TagTotal { tag, total } in tag_totals(totals.methods, source) {
        let name = source.tagger().name(tag);
        let Some((process, thread)) = owners.owner(total.owner).filter(|_| tags.want(name)) else { continue };
        let name = MethodName { module: None, function: name.to_owned() };
        let figures = total.row(process, &recording, name);
        let tag = Method { kind: Kind::Tag, figures, place: None, thread };
        if question.ranges.accept(&tag) {
            found.push(tag);
        }
    }
    found
}

/// The totals of each time range, and the owners that they are of.
type Totals<I> = (Vec<MethodTotals<I, OwnerNumber>>, Owners);

/// Adds up what the processes did per method of the source. `representatives` are stacks that have the same methods, if they are known.
fn totals<S: MethodSource>(
    opened: &OpenRecording,
    question: &Question,
    ranges: &[TimeRange],
    processes: &FxHashSet<ProcessId>,
    source: S,
    representatives: Option<&[StackId]>,
) -> Result<Totals<S::Item>, Error> {
    let info = opened.info();
    let recording = RecordingFacts::from(info);
    let times = Inside::times(&question.inside, opened)?;
    let rows = OwnedRows::series(opened, ranges, question.per_thread, processes)?;
    let mut rows = rows.inside(times.as_ref());
    let (threads, windows) = (rows.owned_threads(), rows.windows().clone());
    let source = RefCell::new(source);
    let source = Shared(&source);
    let new = |range: &Span| {
        let mut aggregator = MethodAggregator::of_owners(&recording, *range, threads.iter().copied(), source);
        if let Some(times) = rows.times_of_threads(*range) {
            aggregator = aggregator.inside(times);
        }
        if ranges.len() > 1 { aggregator.with_cache_bytes(CACHE_BYTES / ranges.len()) } else { aggregator }
    };
    let mut totals: Vec<_> = windows.spans().iter().map(new).collect();
    if let [totals] = &mut totals[..] {
        if opened.file.has_samples {
            rows.summed_samples(representatives, |owner, at, total| totals.samples_of(owner, at, total))?;
        } else {
            rows.cpu(&recording, |owner, row| totals.sample_of(owner, row))?;
        }
        if info.has_switches {
            rows.switches(|_, row| totals.switch(row))?;
        }
    } else {
        rows.cpu(&recording, |owner, row| {
            if let Some(totals) = windows.at(row.time).and_then(|place| totals.get_mut(place)) {
                totals.sample_of(owner, row);
            }
        })?;
        if info.has_switches {
            // Each range gets the very rows that a question about it alone would read.
            rows.switches(|_, row| {
                for totals in totals.get_mut(windows.touching(row.off_time, row.time)).into_iter().flatten() {
                    totals.switch(row);
                }
            })?;
        }
    }
    Ok((totals.into_iter().map(MethodAggregator::finish).collect(), rows.owners))
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
