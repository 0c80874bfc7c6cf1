//! Figures from samples and switches: for time ranges, for finer rows, and for methods that the summary does not keep.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::tags::{TagId, TagRow, TagSource, Tagger};
use tracesift_analysis::{
    MethodAggregator, MethodId, MethodName, MethodNames, MethodSource, MethodTotals, Recording, RunStacks, Span,
};
use tracesift_archive::{Error, Projection};
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, MethodSummaryRow, ThreadRow};
use tracesift_trace::{ProcessId, StackId, ThreadId};

use super::order::{Kind, Method};
use super::pattern::MethodPatterns;
use super::{Question, Tags};
use crate::recording::OpenRecording;

const SAMPLES: Projection<CpuSampleRow> =
    Projection::of(&["time", "cpu", "process", "thread", "weight", "stack", "frame", "priority"]);
const SWITCHES: Projection<ContextSwitchRow> = Projection::of(&[
    "time",
    "cpu",
    "thread",
    "prev_thread",
    "off_time",
    "off_state",
    "ready_time",
    "wait_stack",
    "previous_c_state",
    "flags",
]);

/// What rows are of, beside the method: a process, or a process and a thread. The aggregation knows both as numbers that stand
/// in place of processes.
pub(super) struct Owners {
    per_thread: bool,
    ids: FxHashMap<(ProcessId, Option<ThreadId>), ProcessId>,
    owners: Vec<(ProcessId, Option<ThreadId>)>,
    /// Of threads whose process is asked for.
    threads: FxHashMap<ThreadId, ProcessId>,
}

impl Owners {
    fn new(threads: &[ThreadRow], processes: &FxHashSet<ProcessId>, per_thread: bool) -> Self {
        let threads = threads.iter().filter(|row| processes.contains(&row.process));
        let threads = threads.map(|row| (row.thread, row.process)).collect();
        Self { per_thread, ids: FxHashMap::default(), owners: Vec::new(), threads }
    }

    fn id(&mut self, process: ProcessId, thread: ThreadId) -> ProcessId {
        let owner = (process, self.per_thread.then_some(thread));
        *self.ids.entry(owner).or_insert_with(|| {
            self.owners.push(owner);
            ProcessId::from_index(self.owners.len() - 1)
        })
    }

    /// Who stands behind a number.
    pub(super) fn owner(&self, id: ProcessId) -> Option<(ProcessId, Option<ThreadId>)> {
        self.owners.get(id.index()).copied()
    }
}

/// Rows of a recording that belong to some processes, as [`Owners`] number them.
pub(super) struct Events<'a> {
    opened: &'a OpenRecording,
    processes: &'a FxHashSet<ProcessId>,
    range: Span,
    threads: Vec<ThreadRow>,
    /// Who has the rows.
    pub(super) owners: Owners,
}

impl<'a> Events<'a> {
    pub(super) fn new(
        opened: &'a OpenRecording,
        question: &Question,
        processes: &'a FxHashSet<ProcessId>,
    ) -> Result<Self, Error> {
        let threads: Vec<ThreadRow> = opened.archive().rows()?;
        let owners = Owners::new(&threads, processes, question.per_thread);
        let (start, end) = question.time.bounds();
        Ok(Self { opened, processes, range: Span::new(start, end), threads, owners })
    }

    /// The number of an owner.
    pub(super) fn owner_id(&mut self, process: ProcessId, thread: ThreadId) -> ProcessId {
        self.owners.id(process, thread)
    }

    /// The time range.
    pub(super) fn range(&self) -> Span {
        self.range
    }

    /// The threads of the processes, with their owners in place of their processes.
    pub(super) fn owned_threads(&mut self) -> Vec<ThreadRow> {
        let owners = &mut self.owners;
        let of_processes = self.threads.iter().filter(|row| self.processes.contains(&row.process));
        of_processes.map(|row| ThreadRow { process: owners.id(row.process, row.thread), ..row.clone() }).collect()
    }

    /// The samples of the time range.
    pub(super) fn samples(&mut self, mut visit: impl FnMut(&CpuSampleRow)) -> Result<(), Error> {
        let (owners, processes) = (&mut self.owners, self.processes);
        let time = (self.range != Span::ALL).then_some(self.range.start..self.range.end);
        self.opened.archive().scan(SAMPLES, time, |row: &CpuSampleRow| {
            if processes.contains(&row.process) {
                visit(&CpuSampleRow { process: owners.id(row.process, row.thread), ..*row });
            }
        })
    }

    /// The switches of the processes' threads, newest first, with the owners of the threads.
    pub(super) fn switches(&mut self, mut visit: impl FnMut(ProcessId, &ContextSwitchRow)) -> Result<(), Error> {
        let owners = &mut self.owners;
        // A switch-in at the first instant ends a span that lies before it.
        let time = self.range.start.saturating_sub(1)..self.range.end.saturating_add(1);
        let time = (self.range != Span::ALL).then_some(time);
        self.opened.archive().scan_backwards(SWITCHES, time, |row: &ContextSwitchRow| {
            if let Some(process) = owners.threads.get(&row.thread).copied() {
                visit(owners.id(process, row.thread), row);
            }
        })
    }

    /// Precise CPU as samples of its own: one for each run, at its start, with the stack that is charged with it.
    fn runs(&mut self, recording: &Recording, mut visit: impl FnMut(&CpuSampleRow)) -> Result<(), Error> {
        let owners = &mut self.owners;
        let mut runs = RunStacks::new(recording, self.range, &self.threads);
        let mut charge = |run: tracesift_analysis::Run, stack: Option<StackId>| {
            if let Some(process) = owners.threads.get(&run.thread).copied() {
                let process = owners.id(process, run.thread);
                let (time, weight) = (run.span.start, run.span.length());
                let cpu = run.cpu.unwrap_or(-1);
                let thread = run.thread;
                visit(&CpuSampleRow {
                    time,
                    cpu,
                    process,
                    thread,
                    weight,
                    stack,
                    frame: None,
                    priority: None,
                    flags: 0,
                });
            }
        };
        self.opened.archive().scan_backwards(SWITCHES, None, |row| runs.switch(row, &mut charge))?;
        runs.finish(&mut charge);
        Ok(())
    }
}

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
    let with_totals = tags.set.has_children();
    let mut source = TagSource::new(&named.stacks, Tagger::new(&tags.set, &named.names));
    if with_totals {
        source = source.with_totals();
    }
    let (totals, owners) = totals(opened, question, processes, &mut source)?;
    let own: FxHashMap<(ProcessId, TagId), i64> = totals
        .methods
        .iter()
        .filter_map(|total| match TagRow::of(total.method) {
            TagRow::Own(tag) => Some(((total.process, tag), total.cpu)),
            TagRow::Total(_) => None,
        })
        .collect();
    let recording = Recording::from(opened.info());
    let mut found = Vec::new();
    for mut total in totals.methods {
        let (TagRow::Own(tag) | TagRow::Total(tag)) = TagRow::of(total.method);
        if with_totals == matches!(TagRow::of(total.method), TagRow::Own(_)) {
            continue;
        }
        total.exclusive_cpu = own.get(&(total.process, tag)).copied().unwrap_or(0);
        let name = source.tagger().name(tag);
        let last = name.rsplit('\\').next().unwrap_or(name);
        let wanted = tags.patterns.matches_any(&[name, last]);
        let Some((process, thread)) = owners.owner(total.process).filter(|_| wanted) else { continue };
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
    let mut events = Events::new(opened, question, processes)?;
    let mut totals = MethodAggregator::new(&recording, events.range(), &events.owned_threads(), source);
    if opened.file.has_samples {
        events.samples(|row| totals.sample(row))?;
    } else {
        events.runs(&recording, |row| totals.sample(row))?;
    }
    if info.has_switches {
        events.switches(|_, row| totals.switch(row))?;
    }
    Ok((totals.finish(), events.owners))
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
