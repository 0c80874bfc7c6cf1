//! An open archive, ready to be asked.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::{
    AccountedSwitch, Accounting, CpuSet, ProcessTotals, SampleOfProcess, Span, ThreadAccount, ThreadLifetime, Times,
};
use tracesift_archive::{Archive, Error, Watch};
use tracesift_extract::input::file_kind;
use tracesift_extract::stack_methods::{Granularity, NamedStacks};
use tracesift_trace::ProcessId;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{CpuSampleRow, HealthRow, ProcessRow, ProcessSummaryRow};
use tracesift_trace::view;

use crate::answer::Failure;
use crate::filter::ProcessFilter;
use crate::processes::{ProcessKey, Processes, is_idle};
use crate::recording_label::RecordingLabel;
use crate::time_windows::TimeWindows;
use tracesift_grammar::TimeRange;

view! {
    /// The CPU of a sample.
    #[derive(Clone, Copy, Debug)]
    struct CpuOfSample of CpuSampleRow { time, cpu, process }
}

view! {
    /// The unknown time of a process.
    #[derive(Clone, Copy, Debug)]
    struct UnknownTime of ProcessSummaryRow { process, unknown }
}

/// Accounts of threads that are kept at a time: some 60 MiB.
const ACCOUNTS: usize = 1 << 18;

/// An archive to open.
#[derive(Clone, Debug)]
pub struct Source {
    /// Directory of the archive.
    pub archive: PathBuf,
    /// The path that answers name: the archive's, or that of the recording which was extracted for this question.
    pub shown: PathBuf,
    /// Who sees how far questions to it are, and can end them.
    pub watch: Watch,
}

impl Source {
    /// An archive under its own name.
    #[must_use]
    pub fn archive(path: PathBuf) -> Self {
        Self { shown: path.clone(), archive: path, watch: Watch::default() }
    }

    /// The same archive, watched by somebody.
    #[must_use]
    pub fn watched_by(self, watch: &Watch) -> Self {
        Self { watch: watch.clone(), ..self }
    }
}

/// Whether nobody waits for the answer of a question to these archives any more.
pub(crate) fn is_cancelled(sources: &[Source]) -> bool {
    sources.iter().any(|source| source.watch.is_cancelled())
}

/// An open archive.
#[derive(Clone, Debug)]
pub struct OpenRecording {
    /// How answers name it.
    pub file: RecordingLabel,
    archive: Archive,
    /// Named stacks, as long as one question uses them.
    named: Arc<Mutex<Named>>,
}

type Named = Vec<(Granularity, Arc<NamedStacks>)>;

impl OpenRecording {
    /// Opens an archive.
    ///
    /// # Errors
    /// Those of [`Archive::open`], and [`Error::Cancelled`].
    pub fn open(source: &Source) -> Result<Self, Error> {
        source.watch.check()?;
        let archive = Archive::open(&source.archive)?.watched_by(&source.watch);
        // Most recordings have nothing that limits their figures, and need not be asked what.
        let health = if archive.row_count::<HealthRow>() == 0 { Vec::new() } else { archive.rows::<HealthRow>()? };
        let file = RecordingLabel::new(&source.shown, name_of(&source.shown), archive.info(), &health);
        Ok(Self { file, archive, named: Arc::default() })
    }

    /// The archive.
    #[must_use]
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// The same recording for somebody who asks very often, and has room for so many bytes ([`Archive::keeping`]).
    #[must_use]
    pub fn keeping(self, room: u64) -> Self {
        Self { archive: self.archive.keeping(room), ..self }
    }

    /// The same recording, read under another watch.
    #[must_use]
    pub fn watched_by(self, watch: &Watch) -> Self {
        Self { archive: self.archive.watched_by(watch), ..self }
    }

    /// The archive's stacks with their names, made once for all that ask until [`Self::forget_stacks`].
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn named_stacks(&self, granularity: Granularity) -> Result<Arc<NamedStacks>, Error> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = named.iter().find(|(known, _)| *known == granularity) {
            return Ok(known.clone());
        }
        let stacks = Arc::new(NamedStacks::of(&self.archive, granularity)?);
        named.push((granularity, stacks.clone()));
        Ok(stacks)
    }

    /// Gives the memory of named stacks back: hundreds of recordings are open at a time.
    pub(crate) fn forget_stacks(&self) {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What was recorded.
    #[must_use]
    pub fn info(&self) -> &TraceInfo {
        self.archive.info()
    }

    /// Time of the processes that pass a filter which no switch accounts for, because chains of switches are broken there.
    ///
    /// # Errors
    /// Those of reading the tables.
    pub(crate) fn unknown_time(&self, filter: &ProcessFilter) -> Result<i64, Error> {
        let figures: Vec<UnknownTime> = self.archive.rows()?;
        let unknown = figures.iter().filter_map(|row| Some((row.process, row.unknown?))).filter(|(_, of)| *of != 0);
        if unknown.clone().next().is_none() {
            return Ok(0);
        }
        let accepted: FxHashSet<ProcessId> = if filter.is_empty() {
            let processes: Vec<ProcessKey> = self.archive.rows()?;
            processes.iter().filter(|row| !is_idle(*row)).map(|row| row.process).collect()
        } else {
            let processes: Vec<ProcessRow> = self.archive.rows()?;
            Processes::new(&processes).selected(filter).map(|row| row.process).collect()
        };
        let sum = |sum: i64, (process, of)| if accepted.contains(&process) { sum.saturating_add(of) } else { sum };
        Ok(unknown.fold(0, sum))
    }

    /// The figures of every process in a time range, there in these times if any are chosen: from the archive's summary, or from samples and
    /// switches when that is not everything.
    ///
    /// # Errors
    /// Those of reading the tables.
    pub fn process_figures(
        &self,
        processes: &[ProcessRow],
        time: TimeRange,
        times: Option<&Times>,
    ) -> Result<Vec<ProcessSummaryRow>, Error> {
        if time.is_everything() && times.is_none() {
            return self.archive.rows();
        }
        Ok(self.figures_of_ranges(processes, &[time], times)?.pop().unwrap_or_default())
    }

    /// The figures of every process in each of several time ranges, which follow each other, there in these times if any are chosen: from one
    /// reading of the samples and switches.
    ///
    /// # Errors
    /// Those of reading the tables.
    pub(crate) fn figures_of_ranges(
        &self,
        processes: &[ProcessRow],
        ranges: &[TimeRange],
        times: Option<&Times>,
    ) -> Result<Vec<Vec<ProcessSummaryRow>>, Error> {
        let has_switches = self.info().has_switches;
        let threads: Vec<ThreadLifetime> = if has_switches { self.archive.rows()? } else { Vec::new() };
        let at_once = (ACCOUNTS / threads.len().max(1)).max(1);
        let mut all = Vec::with_capacity(ranges.len());
        for ranges in ranges.chunks(at_once) {
            let recording = tracesift_analysis::RecordingFacts::from(self.info());
            let windows = TimeWindows::of(ranges);
            let mut totals: Vec<ProcessTotals> =
                windows.spans().iter().map(|range| ProcessTotals::new(*range)).collect();
            self.archive.scan(windows.bounds(), |row: &SampleOfProcess| {
                let counts = times.is_none_or(|times| times.contain(Some(row.process), row.time));
                if counts && let Some(totals) = windows.at(row.time).and_then(|place| totals.get_mut(place)) {
                    totals.sample(row);
                }
            })?;
            let mut accounts = if has_switches {
                let accounting = Accounting::series(&recording, windows.spans(), &threads);
                let mut accounting = inside(accounting, times, &threads);
                // Where a thread runs all through a range, rows around it say so.
                let time = windows.bounds();
                self.archive.scan_around(time, |row: &AccountedSwitch| accounting.switch(row, &mut |_| {}))?;
                accounting.finish_series(&mut |_| {})
            } else {
                Vec::new()
            }
            .into_iter();
            let ids = || processes.iter().map(|process| process.process);
            all.extend(totals.into_iter().map(|totals| {
                let accounts = accounts.next().unwrap_or_default();
                totals.finish(&recording, ids(), &accounts.threads)
            }));
        }
        Ok(all)
    }

    /// The CPUs on which each process ran in a time range: from context switches, of processes without any from samples. Always
    /// from the events: the archive's summary has only their number.
    ///
    /// # Errors
    /// Those of reading the tables.
    pub fn process_cpus(&self, time: TimeRange, times: Option<&Times>) -> Result<FxHashMap<ProcessId, CpuSet>, Error> {
        let mut ran: FxHashMap<ProcessId, CpuSet> = FxHashMap::default();
        for account in self.thread_accounts(time, times)?.iter().filter(|account| !account.cpus.is_empty()) {
            ran.entry(account.process).or_default().union_with(&account.cpus);
        }
        let (start, end) = time.bounds();
        let mut sampled: FxHashMap<ProcessId, CpuSet> = FxHashMap::default();
        self.archive.scan(Some(start..end), |row: &CpuOfSample| {
            let counts = times.is_none_or(|times| times.contain(Some(row.process), row.time));
            if counts && (start..end).contains(&row.time) && !ran.contains_key(&row.process) {
                sampled.entry(row.process).or_default().insert(row.cpu);
            }
        })?;
        ran.extend(sampled);
        Ok(ran)
    }

    /// Where the time of each thread went in a time range; nothing without switches.
    fn thread_accounts(&self, time: TimeRange, times: Option<&Times>) -> Result<Vec<ThreadAccount>, Error> {
        if !self.info().has_switches {
            return Ok(Vec::new());
        }
        let (start, end) = time.bounds();
        let recording = tracesift_analysis::RecordingFacts::from(self.info());
        let threads: Vec<ThreadLifetime> = self.archive.rows()?;
        let accounting = Accounting::new(&recording, Span::new(start, end), &threads);
        let mut accounting = inside(accounting, times, &threads);
        // Where a thread runs all through the range, rows around it say so.
        let around = (!time.is_everything()).then_some(start..end);
        self.archive.scan_around(around, |row: &AccountedSwitch| accounting.switch(row, &mut |_| {}))?;
        Ok(accounting.finish(&mut |_| {}).threads)
    }
}

/// An accounting over nothing but these times, if any are chosen.
pub(crate) fn inside<'a, T>(accounting: Accounting, times: Option<&Times>, threads: &'a [T]) -> Accounting
where
    &'a T: Into<ThreadLifetime>,
{
    let Some(times) = times else { return accounting };
    let lives = threads.iter().map(Into::<ThreadLifetime>::into);
    accounting.inside(times.of_threads(Span::ALL, lives.map(|life| (life.thread, life.process))))
}

/// The name of a file without `.etl`, `.zip`, `.sift`.
#[must_use]
pub fn name_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    file_kind::stem(&name).to_owned()
}

/// Opens archives in parallel; the oldest recording stands first.
#[must_use]
pub fn open_all(sources: &[Source]) -> (Vec<OpenRecording>, Vec<Failure>) {
    let opened: Vec<_> = sources
        .par_iter()
        .map(|source| OpenRecording::open(source).map_err(|error| Failure::new(&source.shown, &error)))
        .collect();
    let (mut recordings, mut failures) = (Vec::new(), Vec::new());
    for result in opened {
        match result {
            Ok(recording) => recordings.push(recording),
            Err(failure) => failures.push(failure),
        }
    }
    recordings.sort_by(by_time);
    (recordings, failures)
}

fn by_time(a: &OpenRecording, b: &OpenRecording) -> Ordering {
    let key = |recording: &OpenRecording| (recording.file.zero.filetime, recording.file.start);
    key(a).cmp(&key(b)).then_with(|| a.file.path.cmp(&b.file.path))
}
