//! Samples and switches of some processes, with a number for each process or thread whose figures are added up.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::{
    Attribution, Owner, RecordingFacts, Run, RunStacks, RunSwitch, SampleTotal, Span, StackWeight, Times,
    TimesOfThreads,
};
use tracesift_archive::Error;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ThreadRow};
use tracesift_trace::{ProcessId, StackId, ThreadId, view};

use crate::recording::OpenRecording;
use crate::stack_sums::Sum;
use crate::summed_samples;
use crate::time_windows::TimeWindows;
use tracesift_grammar::TimeRange;

view! {
    /// A sample of a process that is asked for.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct OwnedSample of CpuSampleRow { time, cpu, process, thread, weight, stack, frame, priority }
}

view! {
    /// A switch row of a thread that is asked for.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct OwnedSwitch of ContextSwitchRow {
        time, thread, prev_thread, off_time, ready_time, wait_stack, previous_c_state, flags,
    }
}

/// The number of an owner among those of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct OwnerNumber(u32);

impl Owner for OwnerNumber {}

/// Who figures are of: a process, or a process and a thread. The aggregation knows both as numbers.
pub(crate) struct Owners {
    per_thread: bool,
    numbers: FxHashMap<(ProcessId, Option<ThreadId>), OwnerNumber>,
    owners: Vec<(ProcessId, Option<ThreadId>)>,
    /// Of threads whose process is asked for.
    threads: FxHashMap<ThreadId, ProcessId>,
}

impl Owners {
    fn new(threads: &[ThreadRow], processes: &FxHashSet<ProcessId>, per_thread: bool) -> Self {
        let threads = threads.iter().filter(|row| processes.contains(&row.process));
        let threads = threads.map(|row| (row.thread, row.process)).collect();
        Self { per_thread, numbers: FxHashMap::default(), owners: Vec::new(), threads }
    }

    fn number(&mut self, process: ProcessId, thread: ThreadId) -> OwnerNumber {
        self.number_of(process, Some(thread))
    }

    fn number_of(&mut self, process: ProcessId, thread: Option<ThreadId>) -> OwnerNumber {
        let owner = (process, thread.filter(|_| self.per_thread));
        *self.numbers.entry(owner).or_insert_with(|| {
            self.owners.push(owner);
            // 2^32 owners take more than a hundred gigabytes.
            OwnerNumber(u32::try_from(self.owners.len() - 1).unwrap_or(u32::MAX))
        })
    }

    /// Who stands behind a number.
    pub(crate) fn owner(&self, number: OwnerNumber) -> Option<(ProcessId, Option<ThreadId>)> {
        self.owners.get(number.0 as usize).copied()
    }
}

/// Which samples count.
fn counts<'a>(
    processes: &'a FxHashSet<ProcessId>,
    times: Option<&'a Times>,
) -> impl Fn(ProcessId, i64) -> bool + Sync + 'a {
    move |process, time| processes.contains(&process) && times.is_none_or(|times| times.contain(Some(process), time))
}

/// Rows of a recording that belong to some processes, as [`Owners`] number them.
pub(crate) struct OwnedRows<'a> {
    opened: &'a OpenRecording,
    processes: &'a FxHashSet<ProcessId>,
    windows: TimeWindows,
    /// All of them.
    range: Span,
    /// The times that count; `None`: all.
    times: Option<&'a Times>,
    threads: Vec<ThreadRow>,
    /// Who has the rows.
    pub(crate) owners: Owners,
}

impl<'a> OwnedRows<'a> {
    pub(crate) fn new(
        opened: &'a OpenRecording,
        time: TimeRange,
        per_thread: bool,
        processes: &'a FxHashSet<ProcessId>,
    ) -> Result<Self, Error> {
        Self::series(opened, &[time], per_thread, processes)
    }

    /// Those of several time ranges, which follow each other.
    pub(crate) fn series(
        opened: &'a OpenRecording,
        ranges: &[TimeRange],
        per_thread: bool,
        processes: &'a FxHashSet<ProcessId>,
    ) -> Result<Self, Error> {
        let threads: Vec<ThreadRow> = opened.archive().rows()?;
        let owners = Owners::new(&threads, processes, per_thread);
        let windows = TimeWindows::of(ranges);
        Ok(Self { opened, processes, range: windows.all(), windows, times: None, threads, owners })
    }

    /// Shows no samples and no runs but those in these times, if any are chosen. Switches are those of the whole range: their parts are up
    /// to who adds them up, with [`times_of_threads`](Self::times_of_threads).
    pub(crate) fn inside(self, times: Option<&'a Times>) -> Self {
        Self { times, ..self }
    }

    /// The times of the threads in a range that count; `None`: all.
    pub(crate) fn times_of_threads(&self, range: Span) -> Option<TimesOfThreads> {
        let threads = self.owners.threads.iter().map(|(thread, process)| (*thread, *process));
        self.times.map(|times| times.of_threads(range, threads))
    }

    /// The time ranges.
    pub(crate) fn windows(&self) -> &TimeWindows {
        &self.windows
    }

    /// The number of an owner.
    pub(crate) fn owner_number(&mut self, process: ProcessId, thread: ThreadId) -> OwnerNumber {
        self.owners.number(process, thread)
    }

    /// The number of an owner, if its process is asked for. The thread may be unknown.
    pub(crate) fn asked_number(&mut self, process: ProcessId, thread: Option<ThreadId>) -> Option<OwnerNumber> {
        self.processes.contains(&process).then(|| self.owners.number_of(process, thread))
    }

    /// The time range.
    pub(crate) fn range(&self) -> Span {
        self.range
    }

    /// The threads of the processes, with their owners.
    pub(crate) fn owned_threads(&mut self) -> Vec<(ThreadId, OwnerNumber)> {
        let owners = &mut self.owners;
        let of_processes = self.threads.iter().filter(|row| self.processes.contains(&row.process));
        of_processes.map(|row| (row.thread, owners.number(row.process, row.thread))).collect()
    }

    /// The samples of the time range.
    pub(crate) fn samples(&mut self, mut visit: impl FnMut(OwnerNumber, &OwnedSample)) -> Result<(), Error> {
        let (owners, processes, times) = (&mut self.owners, self.processes, self.times);
        let time = self.range.if_bounded();
        self.opened.archive().scan(time, |row: &OwnedSample| {
            let counts = times.is_none_or(|times| times.contain(Some(row.process), row.time));
            if counts && processes.contains(&row.process) {
                visit(owners.number(row.process, row.thread), row);
            }
        })
    }

    /// The samples of the time range, added up by owner and place, some of these more than once. Where there are representatives, each
    /// stack counts as the one that they have for it.
    pub(crate) fn summed_samples(
        &mut self,
        representatives: Option<&[StackId]>,
        mut visit: impl FnMut(OwnerNumber, Attribution, &SampleTotal),
    ) -> Result<(), Error> {
        let known = |stack: StackId| representatives?.get(usize::try_from(stack.0).ok()?).copied();
        let place = |at: Attribution| match at {
            Attribution::Stack(stack) => Attribution::Stack(known(stack).unwrap_or(stack)),
            place => place,
        };
        let (owners, range) = (&mut self.owners, self.range);
        let counts = counts(self.processes, self.times);
        let per_thread = owners.per_thread;
        summed_samples::by_place(self.opened, range, per_thread, counts, place, |Sum { owner, at, sum }| {
            visit(owners.number_of(owner.0, owner.1), at, &sum);
        })
    }

    /// What the samples of the time range have in each stack.
    pub(crate) fn stack_sums(&mut self) -> Result<Vec<StackWeight<OwnerNumber>>, Error> {
        let counts = counts(self.processes, self.times);
        let sums = summed_samples::by_stack(self.opened, self.range, self.owners.per_thread, counts)?;
        let mut weight = |Sum { owner: (process, thread), at, sum }: Sum| StackWeight {
            owner: self.owners.number_of(process, thread),
            attribution: at,
            weight: sum,
        };
        Ok(sums.finish().into_iter().map(&mut weight).collect())
    }

    /// The switches of the processes' threads, newest first, with the owners of the threads.
    pub(crate) fn switches(&mut self, mut visit: impl FnMut(OwnerNumber, &OwnedSwitch)) -> Result<(), Error> {
        let owners = &mut self.owners;
        // A switch-in at the first instant ends a span that lies before it.
        let time = self.range.if_bounded().map(|time| time.start.saturating_sub(1)..time.end.saturating_add(1));
        self.opened.archive().scan_backwards(time, |row: &OwnedSwitch| {
            if let Some(process) = owners.threads.get(&row.thread).copied() {
                visit(owners.number(process, row.thread), row);
            }
        })
    }

    /// CPU: the samples of the time range, or precise CPU where there are none.
    pub(crate) fn cpu(
        &mut self,
        recording: &RecordingFacts,
        visit: impl FnMut(OwnerNumber, &OwnedSample),
    ) -> Result<(), Error> {
        if self.opened.file.has_samples { self.samples(visit) } else { self.runs(recording, visit) }
    }

    /// Precise CPU as samples of its own: one for each run, at its start, with the stack that is charged with it. Where a run is in
    /// several ranges, each has its part.
    fn runs(
        &mut self,
        recording: &RecordingFacts,
        mut visit: impl FnMut(OwnerNumber, &OwnedSample),
    ) -> Result<(), Error> {
        let (owners, windows, times) = (&mut self.owners, &self.windows, self.times);
        let spans = windows.spans();
        let mut runs = RunStacks::new(recording, self.range, &self.threads);
        let mut charge = |run: Run, stack: Option<StackId>| {
            if let Some(process) = owners.threads.get(&run.thread).copied() {
                let owner = owners.number(process, run.thread);
                let cpu = run.cpu.unwrap_or(-1);
                let thread = run.thread;
                let mut visit = |part: Span| {
                    let (time, weight) = (part.start, part.length());
                    if weight > 0 {
                        let (frame, priority) = (None, None);
                        let sample = OwnedSample { time, cpu, process, thread, weight, stack, frame, priority };
                        visit(owner, &sample);
                    }
                };
                for range in &spans[windows.touching(run.span.start, run.span.end)] {
                    let part = run.span.intersect(*range);
                    match times {
                        None => visit(part),
                        Some(times) => {
                            let parts = times.touching(Some(process), part.start, part.end).iter();
                            parts.for_each(|time| visit(part.intersect(*time)));
                        }
                    }
                }
            }
        };
        let time = self.range.if_bounded();
        self.opened.archive().scan_around_backwards(time, |row: &RunSwitch| runs.switch(row, &mut charge))?;
        runs.finish(&mut charge);
        Ok(())
    }
}
