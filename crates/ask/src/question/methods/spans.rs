//! Distributions of the single spans of methods, the CPUs on which they ran and their priority: what sums cannot say. Computed
//! from the events, for the rows of the answer only.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::percentiles::is_deep_sleep;
use tracesift_analysis::tags::{TagRow, TagSource, Tagger};
use tracesift_analysis::{ChargedTo, CpuSet, Distribution, MethodId, MethodName, Place, pieces};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

use super::order::{Kind, Method};
use super::{Question, Tags};
use crate::owned_rows::OwnedRows;
use crate::recording::OpenRecording;

/// Single spans of one method in one process or thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spans {
    /// Waits, ns.
    pub wait: Distribution,
    /// Ready spans, ns, without those after deep sleep.
    pub ready: Distribution,
    /// Ready spans after which the thread ran on a CPU that came from a sleep state, ns.
    pub ready_deep_sleep: Distribution,
    /// Mean priority over its samples.
    pub priority: Option<f64>,
    /// CPUs on which it was sampled.
    pub cpus: CpuSet,
}

/// What a [`Spans`] is made from.
#[derive(Default)]
struct Collected {
    wait: Vec<i64>,
    ready: Vec<i64>,
    ready_deep_sleep: Vec<i64>,
    priorities: i64,
    prioritized: i64,
    cpus: CpuSet,
}

/// The spans of each of these rows, in their order.
pub(super) fn of(opened: &OpenRecording, question: &Question, rows: &[&Method]) -> Result<Vec<Spans>, Error> {
    let processes: FxHashSet<ProcessId> = rows.iter().map(|row| row.figures.process).collect();
    let mut events = OwnedRows::new(opened, question.time, question.per_thread, &processes)?;
    let mut collected: Vec<Collected> = rows.iter().map(|_| Collected::default()).collect();
    // Without a row per thread any thread stands for its process.
    let owner = |events: &mut OwnedRows<'_>, row: &Method| {
        events.owner_id(row.figures.process, row.thread.unwrap_or(ThreadId(0)))
    };
    if rows.iter().any(|row| row.kind == Kind::Method) {
        let named = opened.named_stacks(question.granularity)?;
        let (mut stacks, names) = (&named.stacks, &named.names);
        let mut ids: FxHashMap<(MethodName, Option<Place>), MethodId> = FxHashMap::default();
        for id in (0..u32::try_from(names.len()).unwrap_or(u32::MAX)).map(MethodId) {
            ids.insert((names.name(id), names.place(id)), id);
        }
        let mut by_id: FxHashMap<(ProcessId, MethodId), u32> = FxHashMap::default();
        for (number, row) in (0..).zip(rows).filter(|(_, row)| row.kind == Kind::Method) {
            let name = MethodName { module: row.figures.module.clone(), function: row.figures.function.clone() };
            if let Some(id) = ids.get(&(name, row.place.clone())) {
                by_id.insert((owner(&mut events, row), *id), number);
            }
        }
        drop(ids);
        collect(opened, &mut events, &mut collected, |owner, at| {
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
        let mut by_name: FxHashMap<(ProcessId, &str), u32> = FxHashMap::default();
        for (number, row) in (0..).zip(rows).filter(|(_, row)| row.kind == Kind::Tag) {
            by_name.insert((owner(&mut events, row), &row.figures.function), number);
        }
        collect(opened, &mut events, &mut collected, |owner, at| {
            let mut tags = Vec::new();
            at.methods(&mut source, &mut tags);
            let name = |method: &MethodId| match TagRow::of(*method) {
                TagRow::Own(tag) | TagRow::Total(tag) => source.tagger().name(tag),
            };
            tags.iter().filter_map(|tag| by_name.get(&(owner, name(tag))).copied()).collect()
        })?;
    }
    Ok(collected.into_iter().map(Collected::finish).collect())
}

/// Reads the events, and adds each to the rows that `find` tells for an owner and a stack: it is asked once for each such pair.
fn collect(
    opened: &OpenRecording,
    events: &mut OwnedRows<'_>,
    collected: &mut [Collected],
    mut find: impl FnMut(ProcessId, ChargedTo) -> Vec<u32>,
) -> Result<(), Error> {
    let mut known: FxHashMap<(ProcessId, ChargedTo), Box<[u32]>> = FxHashMap::default();
    let mut each = |owner: ProcessId, at: ChargedTo, add: &mut dyn FnMut(&mut Collected)| {
        let rows = known.entry((owner, at)).or_insert_with(|| {
            let mut rows = find(owner, at);
            rows.sort_unstable();
            rows.dedup();
            rows.into()
        });
        for &row in rows.iter() {
            collected.get_mut(row as usize).into_iter().for_each(&mut *add);
        }
    };
    events.samples(|sample: &CpuSampleRow| {
        let at = ChargedTo::of_sample(sample);
        each(sample.process, at, &mut |row| {
            row.cpus.insert(sample.cpu);
            if let Some(priority) = sample.priority {
                row.priorities += i64::from(priority);
                row.prioritized += 1;
            }
        });
    })?;
    let threads = opened.archive().rows::<ThreadRow>()?;
    let idle: FxHashSet<ThreadId> = threads.iter().filter(|row| row.idle_cpu.is_some()).map(|row| row.thread).collect();
    let (has_ready, range) = (opened.info().has_ready, events.range());
    events.switches(|owner, switch: &ContextSwitchRow| {
        let at = ChargedTo::of_wait(switch);
        let parts = pieces(switch, has_ready).clip(range);
        let deep = is_deep_sleep(switch, |thread| idle.contains(&thread));
        each(owner, at, &mut |row| {
            row.wait.extend(parts.wait.map(|span| span.length()));
            let ready = if deep { &mut row.ready_deep_sleep } else { &mut row.ready };
            ready.extend(parts.ready.map(|span| span.length()));
        });
    })
}

impl Collected {
    fn finish(self) -> Spans {
        Spans {
            wait: Distribution::new(self.wait),
            ready: Distribution::new(self.ready),
            ready_deep_sleep: Distribution::new(self.ready_deep_sleep),
            priority: (self.prioritized > 0).then(|| self.priorities as f64 / self.prioritized as f64),
            cpus: self.cpus,
        }
    }
}
