//! Profiles of archives for pictures and other people's tools: which samples or spans, of whom, with which stacks.

mod path;
mod stacks;
mod target;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use tracesift_analysis::times::overlap;
use tracesift_analysis::{
    AttributedSample, AttributedSwitch, Attribution, Measure as OfThreads, RecordingFacts, Run, RunStacks, RunSwitch,
    Span, Times, Weight as Summed, pieces,
};
use tracesift_archive::Error;
use tracesift_export::{
    About, Folded, Listed, Marker, MarkerKind, Measure as Exported, Process, Profile, Sample, StackId as ExportedStack,
    Thread, ThreadId as ExportedThread, Weight,
};
use tracesift_trace::rows::{ContextSwitchRow, MarkRow, ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, StackId, ThreadId, view};

pub use self::path::{Found, PathProfile, PathQuestion};

use self::stacks::Stacks;
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::measure::Measure;
use crate::method_patterns::MethodPatterns;
use crate::processes::Processes;
use crate::recording::OpenRecording;
use crate::stack_ends;
use crate::stack_sums::{Owner, StackSums, Sum};
use crate::summed_samples;
use crate::wait_reason;
use tracesift_grammar::TimeRange;

view! {
    /// The columns of a switch row that waits in a profile need.
    #[derive(Clone, Copy, Debug)]
    struct WaitOfThread of ContextSwitchRow {
        time, thread, off_time, off_state, wait_reason, ready_time, wait_stack, flags,
    }
}

/// Seconds from 1601, where file times begin, to 1970, in 100 ns.
const UNIX_EPOCH: i64 = 116_444_736_000_000_000;

/// What a profile is of.
#[derive(Clone, Debug)]
pub struct Question {
    /// Time of threads, or a figure of rows.
    pub measure: Measure,
    /// Which processes; the idle loop only by its name.
    pub filter: ProcessFilter,
    /// Only these of them; `None`: all.
    pub processes: Option<BTreeSet<ProcessId>>,
    /// Samples and spans in this range.
    pub time: TimeRange,
    /// What chooses times in it.
    pub inside: Vec<Inside>,
    /// The instant from which times are counted, ns since the session's start.
    pub origin: i64,
    /// Only stacks with such a method.
    pub methods: MethodPatterns,
    /// All filters in words, for the titles of files and pictures.
    pub said: String,
}

impl Question {
    /// Sums per thread and stack.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn folded(&self, recording: &OpenRecording) -> Result<Folded, Error> {
        let mut folded = Folded::new(self.about(recording));
        let (mut builder, sums, mut stacks) = self.sums(recording, true)?;
        for Sum { owner, at, sum } in sums {
            let Some(stack) = stacks.get(at, &mut folded.catalog) else { continue };
            let thread = builder.thread(owner, &mut folded.catalog);
            folded.weights.push(exported(thread, stack, sum));
        }
        Ok(folded)
    }

    /// Sums per thread and stack, for pictures. Without `per_thread` each process has one thread without a name, and all is its.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn listed(&self, recording: &OpenRecording, per_thread: bool) -> Result<Listed, Error> {
        let mut listed = Listed::new(self.about(recording));
        let (mut builder, sums, mut stacks) = self.sums(recording, per_thread)?;
        for Sum { owner, at, sum } in sums {
            let Some(stack) = stacks.list(at, &mut listed) else { continue };
            let thread = builder.thread(owner, &mut listed.catalog);
            listed.weights.push(exported(thread, stack, sum));
        }
        Ok(listed)
    }

    /// A sentence about those of the processes whose stacks end early, so that their callers have too little.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn note_of_early_ends(&self, recording: &OpenRecording) -> Result<Option<String>, Error> {
        let rows: Vec<ProcessRow> = recording.archive().rows()?;
        stack_ends::note(recording, Processes::new(&rows).selected(&self.filter))
    }

    /// What each owner has in each stack, and the stacks, which are read meanwhile.
    fn sums(&self, recording: &OpenRecording, per_thread: bool) -> Result<(Builder, Vec<Sum>, Stacks), Error> {
        let builder = Builder::new(recording, self)?;
        let stacks = || Stacks::of(recording.archive(), &self.methods);
        let (stacks, sums) = rayon::join(stacks, || builder.sums(recording, self, per_thread));
        let (stacks, sums) = (stacks?, sums?);
        Ok((builder, sums, stacks))
    }

    /// Every sample or span, with the waits and the marks beside them.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn timed(&self, recording: &OpenRecording) -> Result<Profile, Error> {
        let mut profile = Profile::new(self.about(recording));
        let mut builder = Builder::new(recording, self)?;
        let mut stacks = Stacks::of(recording.archive(), &self.methods)?;
        let mut charges = Vec::new();
        builder.charges(recording, self, &mut |charge| charges.push(charge))?;
        profile.samples.reserve(charges.len());
        for Charge { owner, at, time, weight } in charges {
            let Some(stack) = stacks.get(at, &mut profile.catalog) else { continue };
            let thread = builder.thread(owner, &mut profile.catalog);
            profile.samples.push(Sample { time: time.saturating_sub(self.origin), thread, stack, weight });
        }
        if self.measure.is_cpu() {
            self.add_waits(recording, &builder, &mut stacks, &mut profile)?;
        }
        recording.archive().scan(None, |row: &MarkRow| {
            if self.time.contains(row.time) && builder.counts(None, row.time) {
                let name = profile.catalog.string(&row.text);
                let kind = MarkerKind::Mark;
                let start = row.time.saturating_sub(self.origin);
                profile.markers.push(Marker { kind, thread: None, start, end: None, name, stack: None });
            }
        })?;
        Ok(profile)
    }

    fn about(&self, recording: &OpenRecording) -> About {
        let (start, end) = self.time.bounds();
        let span = Span::new(recording.file.start, recording.file.end).intersect(Span::new(start, end));
        about(recording, self.measure.exported(), (self.origin, span.length()), &self.said)
    }

    /// Waits and ready spans beside samples of the CPU: what the thread did in between.
    fn add_waits(
        &self,
        recording: &OpenRecording,
        builder: &Builder,
        stacks: &mut Stacks,
        profile: &mut Profile,
    ) -> Result<(), Error> {
        let (range, has_ready) = (self.range(), recording.info().has_ready);
        let mut rows = Vec::new();
        recording.archive().scan(self.touching(), |row: &WaitOfThread| {
            // Those of threads that have no samples would only fill the file.
            if let Some(thread) = builder.of_switch(row.thread).and_then(|owner| builder.known(owner)) {
                builder.each(row.thread, (row.off_time, row.time), range, |range| {
                    rows.push((thread, row.wait_stack, wait_reason::of(row), pieces(row, has_ready).clip(range)));
                });
            }
        })?;
        for (thread, stack, reason, parts) in rows {
            let stack = stack.and_then(|stack| stacks.get(Attribution::Stack(stack), &mut profile.catalog));
            let name = profile.catalog.string(reason.as_deref().unwrap_or_default());
            for (kind, span) in [(MarkerKind::Wait, parts.wait), (MarkerKind::Ready, parts.ready)] {
                if let Some(span) = span.filter(|span| !span.is_empty()) {
                    let counted = |time: i64| time.saturating_sub(self.origin);
                    let (start, end) = (counted(span.start), Some(counted(span.end)));
                    profile.markers.push(Marker { kind, thread: Some(thread), start, end, name, stack });
                }
            }
        }
        Ok(())
    }

    fn range(&self) -> Span {
        let (start, end) = self.time.bounds();
        Span::new(start, end)
    }

    fn touching(&self) -> Option<std::ops::Range<i64>> {
        let (start, end) = self.time.bounds();
        (!self.time.is_everything()).then_some(start..end)
    }
}

/// What the profile of a recording says of itself. Times count from `origin`.
fn about(recording: &OpenRecording, measure: Exported, (origin, duration): (i64, i64), said: &str) -> About {
    let file = &recording.file;
    let filetime = file.zero.filetime;
    let timer = recording.info().sample_sources.iter().find(|source| source.number == 0);
    About {
        start: (filetime != 0).then(|| filetime.saturating_sub(UNIX_EPOCH).saturating_mul(100).saturating_add(origin)),
        duration: u64::try_from(duration).ok(),
        interval: timer.and_then(|source| u64::try_from(source.interval_ns).ok()).filter(|interval| *interval > 0),
        filters: said.to_owned(),
        ..About::new(&file.name, measure)
    }
}

/// A sum of a stack.
fn exported(thread: ExportedThread, stack: ExportedStack, sum: Summed) -> Weight {
    // A damaged archive may have less than nothing.
    let positive = |figure: i64| u64::try_from(figure).unwrap_or(0);
    Weight { thread, stack, weight: positive(sum.amount), count: positive(sum.count) }
}

/// A sample or span of the measure.
#[derive(Clone, Copy)]
struct Charge {
    owner: Owner,
    at: Attribution,
    time: i64,
    weight: u64,
}

/// What a profile is made with.
struct Builder {
    origin: i64,
    processes: FxHashMap<ProcessId, ProcessRow>,
    threads: FxHashMap<ThreadId, ThreadRow>,
    /// The times that count; `None`: all.
    times: Option<Times>,
    exported_processes: FxHashMap<ProcessId, tracesift_export::ProcessId>,
    exported_threads: FxHashMap<Owner, ExportedThread>,
}

impl Builder {
    fn new(recording: &OpenRecording, question: &Question) -> Result<Self, Error> {
        let archive = recording.archive();
        let processes: Vec<ProcessRow> = archive.rows()?;
        let is_one = |row: &&ProcessRow| question.processes.as_ref().is_none_or(|some| some.contains(&row.process));
        let processes = Processes::new(&processes);
        let accepted = processes.selected(&question.filter).filter(is_one).map(|row| (row.process, row.clone()));
        Ok(Self {
            origin: question.origin,
            processes: accepted.collect(),
            threads: archive.rows::<ThreadRow>()?.into_iter().map(|row| (row.thread, row)).collect(),
            times: Inside::times(&question.inside, recording)?,
            exported_processes: FxHashMap::default(),
            exported_threads: FxHashMap::default(),
        })
    }

    /// Whether an instant of a process is in the chosen times.
    #[inline]
    fn counts(&self, process: Option<ProcessId>, time: i64) -> bool {
        self.times.as_ref().is_none_or(|times| times.contain(process, time))
    }

    /// Visits each part of a range that counts and that a span of a thread may touch.
    fn each(&self, thread: ThreadId, (start, end): (i64, i64), range: Span, mut visit: impl FnMut(Span)) {
        let Some(times) = &self.times else { return visit(range) };
        let process = self.threads.get(&thread).map(|row| row.process);
        times.touching(process, start, end).iter().filter_map(|time| overlap(*time, range)).for_each(visit);
    }

    /// What each owner has in each stack.
    fn sums(&self, recording: &OpenRecording, question: &Question, per_thread: bool) -> Result<Vec<Sum>, Error> {
        if question.measure.is_cpu() && recording.file.has_samples {
            let counts = |process, time| self.processes.contains_key(&process) && self.counts(Some(process), time);
            return Ok(summed_samples::by_stack(recording, question.range(), per_thread, counts)?.finish());
        }
        let mut sums = StackSums::default();
        self.charges(recording, question, &mut |Charge { owner: (process, thread), at, weight, .. }| {
            let weight = Summed { amount: i64::try_from(weight).unwrap_or(i64::MAX), count: 1 };
            sums.add((process, thread.filter(|_| per_thread)), at, weight);
        })?;
        Ok(sums.finish())
    }

    /// A sample of the processes that are asked for.
    #[inline]
    fn charge(&self, row: &AttributedSample) -> Option<Charge> {
        let at = Attribution::of_sample(row.stack, row.frame);
        let weight = u64::try_from(row.weight).unwrap_or(0);
        let charge = Charge { owner: (row.process, Some(row.thread)), at, time: row.time, weight };
        self.processes.contains_key(&row.process).then_some(charge)
    }

    /// Every sample or span of the question.
    fn charges(
        &self,
        recording: &OpenRecording,
        question: &Question,
        visit: &mut dyn FnMut(Charge),
    ) -> Result<(), Error> {
        let archive = recording.archive();
        let (range, has_ready) = (question.range(), recording.info().has_ready);
        if question.measure.is_cpu() && !recording.file.has_samples {
            return self.runs(recording, range, visit);
        }
        if question.measure.is_cpu() {
            return archive.scan(question.touching(), |row: &AttributedSample| {
                if self.counts(Some(row.process), row.time) {
                    self.charge(row).into_iter().for_each(&mut *visit);
                }
            });
        }
        if let Measure::Rows(rows) = question.measure {
            return rows.scan(recording, (question.time, self.times.as_ref()), |charged| {
                let process = charged.process.filter(|process| self.processes.contains_key(process));
                if let Some(process) = process {
                    let weight = u64::try_from(charged.amount).unwrap_or(0);
                    visit(Charge { owner: (process, charged.thread), at: charged.at, time: charged.time, weight });
                }
            });
        }
        archive.scan(question.touching(), |row: &AttributedSwitch| {
            let Some(owner) = self.of_switch(row.thread) else { return };
            let all = pieces(row, has_ready);
            let is_wait = matches!(question.measure, Measure::Threads(OfThreads::Wait));
            self.each(row.thread, (row.off_time, row.time), range, |range| {
                let parts = all.clip(range);
                let part = if is_wait { parts.wait } else { parts.ready };
                if let Some(span) = part.filter(|span| !span.is_empty()) {
                    let at = Attribution::of_wait(row.wait_stack);
                    let weight = u64::try_from(span.length()).unwrap_or(0);
                    visit(Charge { owner, at, time: span.start, weight });
                }
            });
        })
    }

    /// Precise CPU, where there are no samples: each run is charged to the stack with which the thread leaves the CPU next.
    fn runs(&self, recording: &OpenRecording, range: Span, visit: &mut dyn FnMut(Charge)) -> Result<(), Error> {
        let mut runs = RunStacks::new(&RecordingFacts::from(recording.info()), range, self.threads.values());
        let mut charge = |run: Run, stack: Option<StackId>| {
            let process = self.threads.get(&run.thread).map(|row| row.process);
            if let Some(process) = process.filter(|process| self.processes.contains_key(process)) {
                let at = Attribution::of_wait(stack);
                self.each(run.thread, (run.span.start, run.span.end), range, |range| {
                    let span = run.span.intersect(range);
                    let weight = u64::try_from(span.length()).unwrap_or(0);
                    if weight > 0 {
                        visit(Charge { owner: (process, Some(run.thread)), at, time: span.start, weight });
                    }
                });
            }
        };
        let time = range.if_bounded();
        recording.archive().scan_around_backwards(time, |row: &RunSwitch| runs.switch(row, &mut charge))?;
        runs.finish(&mut charge);
        Ok(())
    }

    fn of_switch(&self, thread: ThreadId) -> Option<Owner> {
        let process = self.threads.get(&thread)?.process;
        self.processes.contains_key(&process).then_some((process, Some(thread)))
    }

    fn known(&self, owner: Owner) -> Option<ExportedThread> {
        self.exported_threads.get(&owner).copied()
    }

    fn thread(&mut self, owner: Owner, catalog: &mut tracesift_export::Catalog) -> ExportedThread {
        if let Some(known) = self.known(owner) {
            return known;
        }
        let process = self.process(owner.0, catalog);
        let row = owner.1.and_then(|thread| self.threads.get(&thread));
        let name = catalog.string(row.and_then(|row| row.name.as_deref()).unwrap_or_default());
        let thread = catalog.thread(Thread {
            process,
            name,
            tid: row.and_then(|row| u32::try_from(row.tid).ok()).unwrap_or(0),
            start: row.and_then(|row| row.start).map(|time| time.saturating_sub(self.origin)),
            end: row.and_then(|row| row.end).map(|time| time.saturating_sub(self.origin)),
        });
        self.exported_threads.insert(owner, thread);
        thread
    }

    fn process(&mut self, process: ProcessId, catalog: &mut tracesift_export::Catalog) -> tracesift_export::ProcessId {
        let (rows, origin) = (&self.processes, self.origin);
        *self.exported_processes.entry(process).or_insert_with(|| {
            let row = rows.get(&process);
            let name = catalog.string(row.map_or("", |row| row.name.as_str()));
            catalog.process(Process {
                name,
                pid: row.and_then(|row| u32::try_from(row.pid).ok()).unwrap_or(0),
                start: row.and_then(|row| row.start).map(|time| time.saturating_sub(origin)),
                end: row.and_then(|row| row.end).map(|time| time.saturating_sub(origin)),
            })
        })
    }
}
