//! Distributions of the single spans of methods, the CPUs on which they ran and their priority: what sums cannot say. Computed
//! from the events, for the rows of the answer only.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::percentiles::is_deep_sleep;
use tracesift_analysis::{CpuSet, Distribution, MethodId, MethodName, MethodSource, Place, pieces};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::NamedStacks;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ThreadRow};
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

use super::Question;
use super::from_events::Events;
use super::order::Method;
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

/// Where on a stack a row stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Top {
    Stack(StackId),
    Frame(FrameId),
}

/// Finds the rows of the answer whose methods a stack has.
struct Rows<'a> {
    stacks: &'a mut tracesift_analysis::StackMethods,
    by_method: FxHashMap<(ProcessId, MethodId), u32>,
    known: FxHashMap<(ProcessId, Top), Box<[u32]>>,
}

impl Rows<'_> {
    fn of(&mut self, owner: ProcessId, top: Top) -> &[u32] {
        let (stacks, by_method) = (&mut *self.stacks, &self.by_method);
        self.known.entry((owner, top)).or_insert_with(|| {
            let mut methods = Vec::new();
            match top {
                Top::Stack(stack) => stacks.stack(stack, &mut methods),
                Top::Frame(frame) => stacks.frame(frame, &mut methods),
            }
            let mut rows: Vec<u32> =
                methods.iter().filter_map(|method| by_method.get(&(owner, *method)).copied()).collect();
            rows.sort_unstable();
            rows.dedup();
            rows.into()
        })
    }
}

/// The spans of each of these methods, in their order.
pub(super) fn of(opened: &OpenRecording, question: &Question, methods: &[&Method]) -> Result<Vec<Spans>, Error> {
    let info = opened.info();
    let NamedStacks { mut stacks, names } = NamedStacks::of(opened.archive(), question.granularity)?;
    let processes: FxHashSet<ProcessId> = methods.iter().map(|method| method.figures.process).collect();
    let mut events = Events::new(opened, question, &processes)?;
    let range = events.range();

    let mut ids: FxHashMap<(MethodName, Option<Place>), MethodId> = FxHashMap::default();
    for id in (0..u32::try_from(names.len()).unwrap_or(u32::MAX)).map(MethodId) {
        ids.insert((names.name(id), names.place(id)), id);
    }
    let mut rows = Rows { stacks: &mut stacks, by_method: FxHashMap::default(), known: FxHashMap::default() };
    for (row, method) in (0..).zip(methods) {
        let figures = &method.figures;
        let name = MethodName { module: figures.module.clone(), function: figures.function.clone() };
        if let Some(id) = ids.get(&(name, method.place.clone())) {
            // Without a row per thread any thread stands for its process.
            let owner = events.owner_id(figures.process, method.thread.unwrap_or(ThreadId(0)));
            rows.by_method.insert((owner, *id), row);
        }
    }
    drop(ids);

    let mut collected: Vec<Collected> = methods.iter().map(|_| Collected::default()).collect();
    events.samples(|sample: &CpuSampleRow| {
        let Some(top) = sample.stack.map(Top::Stack).or(sample.frame.map(Top::Frame)) else { return };
        for &row in rows.of(sample.process, top) {
            let Some(of_row) = collected.get_mut(row as usize) else { continue };
            of_row.cpus.insert(sample.cpu);
            if let Some(priority) = sample.priority {
                of_row.priorities += i64::from(priority);
                of_row.prioritized += 1;
            }
        }
    })?;
    let idle: FxHashSet<ThreadId> = opened
        .archive()
        .rows::<ThreadRow>()?
        .iter()
        .filter(|row| row.idle_cpu.is_some())
        .map(|row| row.thread)
        .collect();
    events.switches(|owner, switch: &ContextSwitchRow| {
        let Some(stack) = switch.wait_stack else { return };
        let parts = pieces(switch, info.has_ready).clip(range);
        let deep = is_deep_sleep(switch, |thread| idle.contains(&thread));
        for &row in rows.of(owner, Top::Stack(stack)) {
            let Some(of_row) = collected.get_mut(row as usize) else { continue };
            of_row.wait.extend(parts.wait.map(|span| span.length()));
            let ready = if deep { &mut of_row.ready_deep_sleep } else { &mut of_row.ready };
            ready.extend(parts.ready.map(|span| span.length()));
        }
    })?;
    Ok(collected.into_iter().map(Collected::finish).collect())
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
