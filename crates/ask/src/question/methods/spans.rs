//! Distributions of the single spans of methods, the CPUs on which they ran and their priority: what sums cannot say. Computed
//! from the events, for the rows of the answer only.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::percentiles::is_deep_sleep;
use tracesift_analysis::tags::{TagNumber, TagRow, TagSource, Tagger};
use tracesift_analysis::{
    Attribution, CpuSet, Distribution, MethodId, MethodName, Pieces, Place, RecordingFacts, Span, pieces,
};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::rows::ThreadRow;
use tracesift_trace::{ProcessId, ThreadId};

use super::order::{Kind, Method};
use super::{Question, Tags};
use crate::core_figures::{CoreFigures, CoreSums, Cores};
use crate::inside::Inside;
use crate::owned_rows::{OwnedRows, OwnedSample, OwnedSwitch, OwnerNumber};
use crate::recording::OpenRecording;

/// The percentiles that are shown, from 0 to 1.
pub(super) const PERCENTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 1.0];

/// What is shown of single spans.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Their number.
    pub count: usize,
    /// Their median, 90th, 95th and 99th percentile, and the longest, ns.
    pub percentiles: [Option<f64>; PERCENTILES.len()],
}

/// Single spans of one method in one process or thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spans {
    /// Waits.
    pub wait: Figures,
    /// Ready spans, without those after deep sleep.
    pub ready: Figures,
    /// Ready spans after which the thread ran on a CPU that came from a sleep state.
    pub ready_deep_sleep: Figures,
    /// Mean priority over its samples.
    pub priority: Option<f64>,
    /// CPUs on which it was sampled, or ran where there are no samples.
    pub cpus: CpuSet,
    /// On which kinds of core it was sampled, and how fast they were clocked.
    pub cores: CoreFigures,
}

/// What a [`Spans`] is made from: of one stack, then of all stacks of a row.
#[derive(Clone, Default)]
struct Collected {
    wait: Vec<i64>,
    ready: Vec<i64>,
    ready_deep_sleep: Vec<i64>,
    priorities: i64,
    prioritized: i64,
    cpus: CpuSet,
    cores: CoreSums,
}

/// The spans of each of these rows, in their order.
pub(super) fn of(opened: &OpenRecording, question: &Question, rows: &[&Method]) -> Result<Vec<Spans>, Error> {
    let processes: FxHashSet<ProcessId> = rows.iter().map(|row| row.figures.process).collect();
    let times = Inside::times(&question.inside, opened)?;
    let events = OwnedRows::new(opened, question.time, question.per_thread, &processes)?;
    let mut events = events.inside(times.as_ref());
    let mut spans: Vec<Spans> = vec![Spans::default(); rows.len()];
    // Without a row per thread any thread stands for its process.
    let owner = |events: &mut OwnedRows<'_>, row: &Method| {
        events.owner_number(row.figures.process, row.thread.unwrap_or(ThreadId(0)))
    };
    if rows.iter().any(|row| row.kind == Kind::Method) {
        let named = opened.named_stacks(question.granularity)?;
        let (mut stacks, names) = (&named.stacks, &named.names);
        let mut ids: FxHashMap<(MethodName, Option<Place>), MethodId> = FxHashMap::default();
        for id in (0..u32::try_from(names.len()).unwrap_or(u32::MAX)).map(MethodId) {
            ids.insert((names.name(id), names.place(id)), id);
        }
        let mut by_id: FxHashMap<(OwnerNumber, MethodId), u32> = FxHashMap::default();
        for (number, row) in (0..).zip(rows).filter(|(_, row)| row.kind == Kind::Method) {
            let name = MethodName { module: row.figures.module.clone(), function: row.figures.function.clone() };
            if let Some(id) = ids.get(&(name, row.place.clone())) {
                by_id.insert((owner(&mut events, row), *id), number);
            }
        }
        drop(ids);
        collect((opened, question), &mut events, &mut spans, |owner, at| {
            let mut methods = Vec::new();
            at.methods(&mut stacks, &mut methods);
            methods.iter().filter_map(|method| by_id.get(&(owner, *method)).copied()).collect()
        })?;
    }
    if let Some(Tags { set, .. }) = &question.tags {
        let named = opened.named_stacks(Granularity::default())?;
        let mut source = TagSource::new(&named.stacks, Tagger::new(set, &named.names));
        if set.has_children() {
            source = source.with_totals();
        }
        let mut by_name: FxHashMap<(OwnerNumber, &str), u32> = FxHashMap::default();
        for (number, row) in (0..).zip(rows).filter(|(_, row)| row.kind == Kind::Tag) {
            by_name.insert((owner(&mut events, row), &row.figures.function), number);
        }
        collect((opened, question), &mut events, &mut spans, |owner, at| {
            let mut tags = Vec::new();
            at.methods(&mut source, &mut tags);
            let name = |number: &TagNumber| match TagRow::of(*number) {
                TagRow::Own(tag) | TagRow::Total(tag) => source.tagger().name(tag),
            };
            tags.iter().filter_map(|tag| by_name.get(&(owner, name(tag))).copied()).collect()
        })?;
    }
    Ok(spans)
}

/// Reads the events, and fills the rows that `find` tells for an owner and a stack: it is asked once for each such pair. Every span is kept
/// once, however many rows its stack is of.
fn collect(
    (opened, question): (&OpenRecording, &Question),
    events: &mut OwnedRows<'_>,
    spans: &mut [Spans],
    mut find: impl FnMut(OwnerNumber, Attribution) -> Vec<u32>,
) -> Result<(), Error> {
    // Of stacks that are of a row: their place among `stacks`.
    let mut known: FxHashMap<(OwnerNumber, Attribution), Option<usize>> = FxHashMap::default();
    let mut stacks: Vec<Collected> = Vec::new();
    let mut of_row: Vec<Vec<usize>> = spans.iter().map(|_| Vec::new()).collect();
    let mut place = |stacks: &mut Vec<Collected>, owner: OwnerNumber, at: Attribution| {
        *known.entry((owner, at)).or_insert_with(|| {
            let mut rows = find(owner, at);
            rows.sort_unstable();
            rows.dedup();
            if rows.is_empty() {
                return None;
            }
            stacks.push(Collected::default());
            let place = stacks.len() - 1;
            rows.iter().filter_map(|row| usize::try_from(*row).ok()).for_each(|row| {
                of_row.get_mut(row).into_iter().for_each(|places| places.push(place));
            });
            Some(place)
        })
    };
    let cores = if question.cores && opened.file.has_samples { Cores::of(opened.archive())? } else { None };
    events.cpu(&RecordingFacts::from(opened.info()), |owner, sample: &OwnedSample| {
        let place = place(&mut stacks, owner, Attribution::of_sample(sample.stack, sample.frame));
        if let Some(stack) = place.and_then(|place| stacks.get_mut(place)) {
            stack.cpus.insert(sample.cpu);
            if let Some(cores) = &cores {
                stack.cores.add(cores, sample);
            }
            if let Some(priority) = sample.priority {
                stack.priorities += i64::from(priority);
                stack.prioritized += 1;
            }
        }
    })?;
    if question.percentiles {
        let threads = opened.archive().rows::<ThreadRow>()?;
        let idle: FxHashSet<ThreadId> =
            threads.iter().filter(|row| row.idle_cpu.is_some()).map(|row| row.thread).collect();
        let (has_ready, range) = (opened.info().has_ready, events.range());
        let times = events.times_of_threads(range);
        events.switches(|owner, switch: &OwnedSwitch| {
            let place = place(&mut stacks, owner, Attribution::of_wait(switch.wait_stack));
            if let Some(stack) = place.and_then(|place| stacks.get_mut(place)) {
                let deep = is_deep_sleep(switch, |thread| idle.contains(&thread));
                let all = pieces(switch, has_ready);
                match &times {
                    None => stack.add_parts(all.clip(range), deep),
                    Some(times) => {
                        let times = times.touching(switch.thread, switch.off_time, switch.time).iter();
                        times.for_each(|time| stack.add_parts(all.clip(*time), deep));
                    }
                }
            }
        })?;
    }
    for (row, places) in spans.iter_mut().zip(of_row).filter(|(_, places)| !places.is_empty()) {
        let mut all = Collected::default();
        places.iter().filter_map(|place| stacks.get(*place)).for_each(|stack| all.add(stack));
        *row = all.finish(cores.as_ref());
    }
    Ok(())
}

impl Collected {
    /// Adds the parts of a span off the CPU.
    fn add_parts(&mut self, parts: Pieces, after_deep_sleep: bool) {
        self.wait.extend(parts.wait.map(Span::length));
        let ready = if after_deep_sleep { &mut self.ready_deep_sleep } else { &mut self.ready };
        ready.extend(parts.ready.map(Span::length));
    }

    fn add(&mut self, other: &Self) {
        self.wait.extend_from_slice(&other.wait);
        self.ready.extend_from_slice(&other.ready);
        self.ready_deep_sleep.extend_from_slice(&other.ready_deep_sleep);
        self.priorities += other.priorities;
        self.prioritized += other.prioritized;
        self.cpus.union_with(&other.cpus);
        self.cores.join(&other.cores);
    }

    fn finish(self, cores: Option<&Cores>) -> Spans {
        let figures = |values: Vec<i64>| {
            let distribution = Distribution::new(values);
            Figures { count: distribution.count(), percentiles: PERCENTILES.map(|p| distribution.percentile(p)) }
        };
        Spans {
            wait: figures(self.wait),
            ready: figures(self.ready),
            ready_deep_sleep: figures(self.ready_deep_sleep),
            priority: (self.prioritized > 0).then(|| self.priorities as f64 / self.prioritized as f64),
            cpus: self.cpus,
            cores: cores.map_or_else(CoreFigures::default, |cores| self.cores.finish(cores)),
        }
    }
}
