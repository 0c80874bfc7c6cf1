//! The figures of tags as rows: table `tag_summary`, and what is asked of events.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{MethodSummaryRow, TagSummaryRow};

use super::set::TagId;
use super::source::{TagNumber, TagRow, TagSource};
use crate::RecordingFacts;
use crate::contribution::ContributionsByProcess;
use crate::method_total::MethodTotal;
use crate::names::{MethodId, MethodName};
use crate::owner::Owner;
use crate::stack_aggregator::StackAggregator;
use crate::stacks::MethodSource;

/// Sums per process and tag, beside the [`Summaries`](crate::Summaries) that make the contributions.
#[derive(Debug)]
pub struct TagSummaries<'a, S: MethodSource<Item = MethodId>> {
    recording: RecordingFacts,
    aggregator: StackAggregator<TagSource<'a, S>>,
}

impl<'a, S: MethodSource<Item = MethodId>> TagSummaries<'a, S> {
    pub(crate) fn new(recording: RecordingFacts, aggregator: StackAggregator<TagSource<'a, S>>) -> Self {
        Self { recording, aggregator }
    }

    /// Takes the contributions that the stacks take.
    pub fn add_all(&mut self, contributions: ContributionsByProcess<'_>) {
        self.aggregator.add_all(contributions);
    }

    /// As [`StackSummaries::bytes`](crate::StackSummaries::bytes).
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.aggregator.bytes()
    }

    /// As [`StackSummaries::is_full`](crate::StackSummaries::is_full).
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.aggregator.is_full()
    }

    /// Table `tag_summary` of the tag set with that hash: by process, in it the most CPU first, then wait, then the name. `parts` are
    /// those of all processes; `processes` is [`Summaries::processes`](crate::Summaries::processes) behind the last
    /// contribution.
    #[must_use]
    pub fn finish(parts: Vec<Self>, processes: &[ProcessId], tag_set: &str) -> Vec<TagSummaryRow> {
        let mut rows: Vec<TagSummaryRow> =
            parts.into_iter().flat_map(|part| part.rows(processes.to_vec(), tag_set)).collect();
        rows.sort_by(|a, b| {
            let place = |row: &TagSummaryRow| (row.process, Reverse((row.cpu, row.wait)));
            place(a).cmp(&place(b)).then_with(|| a.tag.cmp(&b.tag))
        });
        rows
    }

    fn rows(self, processes: Vec<ProcessId>, tag_set: &str) -> Vec<TagSummaryRow> {
        let (slots, source) = self.aggregator.finish(processes);
        let totals = slots.in_order().into_iter().map(|slot| slots.total(slot));
        let row = |TagTotal { tag, total }: TagTotal| {
            let name = MethodName { module: None, function: source.tagger().name(tag).to_owned() };
            to_store(total.row(total.owner, &self.recording, name), tag_set)
        };
        tag_totals(totals.collect(), &source).into_iter().map(row).collect()
    }
}

/// The figures of a tag in a process, or of another owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagTotal<O = ProcessId> {
    /// The tag.
    pub tag: TagId,
    /// Its figures. Where tags have children they are those of all below it, but for its exclusive CPU.
    pub total: MethodTotal<TagNumber, O>,
}

/// What was added up for the numbers of `source`, one row per owner and tag.
#[must_use]
pub fn tag_totals<S: MethodSource<Item = MethodId>, O: Owner>(
    totals: Vec<MethodTotal<TagNumber, O>>,
    source: &TagSource<'_, S>,
) -> Vec<TagTotal<O>> {
    if !source.has_totals() {
        let own = |total: MethodTotal<TagNumber, O>| match TagRow::of(total.method) {
            TagRow::Own(tag) => Some(TagTotal { tag, total }),
            TagRow::Total(_) => None,
        };
        return totals.into_iter().filter_map(own).collect();
    }
    let own: FxHashMap<(O, TagId), i64> = totals
        .iter()
        .filter_map(|total| match TagRow::of(total.method) {
            TagRow::Own(tag) => Some(((total.owner, tag), total.cpu)),
            TagRow::Total(_) => None,
        })
        .collect();
    let with_children = |mut total: MethodTotal<TagNumber, O>| match TagRow::of(total.method) {
        TagRow::Own(_) => None,
        TagRow::Total(tag) => {
            total.exclusive_cpu = own.get(&(total.owner, tag)).copied().unwrap_or(0);
            Some(TagTotal { tag, total })
        }
    };
    totals.into_iter().filter_map(with_children).collect()
}

/// A tag's figures as table `tag_summary` has them.
#[must_use]
pub fn to_store(figures: MethodSummaryRow, tag_set: &str) -> TagSummaryRow {
    TagSummaryRow {
        process: figures.process,
        tag_set: Some(tag_set.to_owned()),
        tag: figures.function,
        samples: figures.samples,
        cpu: figures.cpu,
        exclusive_cpu: figures.exclusive_cpu,
        wait: figures.wait,
        wait_sum: figures.wait_sum,
        wait_count: figures.wait_count,
        wait_longest: figures.wait_longest,
        ready: figures.ready,
        ready_sum: figures.ready_sum,
        ready_count: figures.ready_count,
        ready_longest: figures.ready_longest,
        switches: figures.switches,
        threads: Some(figures.threads),
        first: Some(figures.first),
        last: Some(figures.last),
    }
}

/// The way back: the figures of a stored tag, whose name stands in the place of a function's. One that was not seen, as far as is
/// known, was last seen before it was first seen.
#[must_use]
pub fn figures_of(row: TagSummaryRow) -> MethodSummaryRow {
    MethodSummaryRow {
        process: row.process,
        module: None,
        function: row.tag,
        samples: row.samples,
        cpu: row.cpu,
        exclusive_cpu: row.exclusive_cpu,
        wait: row.wait,
        wait_sum: row.wait_sum,
        wait_count: row.wait_count,
        wait_longest: row.wait_longest,
        ready: row.ready,
        ready_sum: row.ready_sum,
        ready_count: row.ready_count,
        ready_longest: row.ready_longest,
        switches: row.switches,
        threads: row.threads.unwrap_or(0),
        first: row.first.unwrap_or(i64::MAX),
        last: row.last.unwrap_or(i64::MIN),
    }
}
