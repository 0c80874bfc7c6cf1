//! Computes the summary tables from the event tables of an archive. They are caches and can be
//! computed again at any time.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tracesift_analysis::summaries::METHODS_PER_PROCESS;
use tracesift_analysis::tags::{Nesting, TagSet, TagSource, TagSummaries};
use tracesift_analysis::{Bounds, ByProcess, Contribution, LargestMethods, RecordingFacts, Span, Summaries, Summary};
use tracesift_archive::Error;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ProcessSummaryRow, TagSummaryRow};

use crate::scan_ahead::{Worker, scan_ahead};
use crate::stack_methods::NamedStacks;
use crate::summary_source::{SummarySource, Times};

/// Worker threads, at most. Each keeps a part of the stacks in memory, and one thread decodes rows
/// for all of them.
const MAX_PARTS: usize = 4;

/// The summary tables of an archive, for all or some of its processes.
#[derive(Debug)]
pub(crate) struct Summarised {
    /// Table `process_summary`.
    pub(crate) processes: Vec<ProcessSummaryRow>,
    /// Table `method_summary`.
    pub(crate) methods: LargestMethods,
    /// Table `tag_summary`, by the built-in tag file.
    pub(crate) tags: Vec<TagSummaryRow>,
    /// Switch rows that contradict each other or the thread table.
    pub(crate) contradictions: u64,
    /// Bytes that the sums took.
    pub(crate) bytes: usize,
}

/// The sums exceed their limit of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full;

/// Threads in one round, at most. A thread takes some 500 bytes, whatever its process does.
const MAX_THREADS: usize = 1 << 17;

/// Reads frames, stacks, samples and switches once and adds them up. Returns [`Full`] if the sums
/// exceed `memory` bytes.
///
/// # Errors
/// A table cannot be read.
pub(crate) fn summarise(
    recording: RecordingFacts,
    source: &(impl SummarySource + Sync),
    memory: usize,
) -> Result<Result<Summarised, Full>, Error> {
    let mut threads = 0;
    source.threads(|_| threads += 1)?;
    if threads > MAX_THREADS {
        return Ok(Err(Full));
    }
    let named = NamedStacks::by_function(source)?;
    let ids = source.processes()?;
    let bounds = Bounds { sums: memory, ..Bounds::default() };
    let share = Share { listed: ids, processes: None, times: None, bounds };
    SummaryInput { recording, source, named: &named }.of_share(&share)
}

/// The part of a recording that one round adds up.
pub(crate) struct Share {
    /// Processes that get a row even without samples and switches.
    pub(crate) listed: Vec<ProcessId>,
    /// The processes of the round; `None`: all.
    pub(crate) processes: Option<RangeInclusive<ProcessId>>,
    /// The times in which these processes have rows.
    pub(crate) times: Times,
    /// Bytes that the sums may take.
    pub(crate) bounds: Bounds,
}

impl Share {
    fn has(&self, process: ProcessId) -> bool {
        self.processes.as_ref().is_none_or(|range| range.contains(&process))
    }
}

/// What sums are made of.
pub(crate) struct SummaryInput<'a, Source> {
    pub(crate) recording: RecordingFacts,
    pub(crate) source: &'a Source,
    pub(crate) named: &'a NamedStacks,
}

impl<Source: SummarySource + Sync> SummaryInput<'_, Source> {
    /// Adds up a share. Contradictions between rows are counted only if the share is the whole
    /// recording.
    pub(crate) fn of_share(&self, share: &Share) -> Result<Result<Summarised, Full>, Error> {
        let Self { recording, source, named: NamedStacks { stacks: methods, names } } = *self;
        let parts = thread::available_parallelism().map_or(1, |processors| processors.get().min(MAX_PARTS));
        // Switches of threads that are not given are passed over.
        let mut threads = Vec::new();
        source.threads(|row| {
            if share.has(row.process) {
                threads.push(*row);
            }
        })?;
        let mut summaries = Summaries::in_parts(recording, Span::ALL, &threads, vec![methods; parts], share.bounds);
        drop(threads);
        // A test reads our own rules.
        let set = TagSet::built_in(Nesting::Names).ok();
        let mut tags: Vec<_> = (0..parts)
            .map(|_| set.as_ref().map(|set| summaries.tags(TagSource::for_rows(methods, set, names))))
            .collect();
        // One thread decodes rows and takes those parts of them that are no stacks, the others have the stacks of some processes each.
        let (rows, stacks) = summaries.halves();
        let is_full = AtomicBool::new(false);
        let mut workers: Vec<_> = stacks
            .iter_mut()
            .zip(&mut tags)
            .map(|(stacks, tags)| {
                let (mut by_process, is_full) = (ByProcess::default(), &is_full);
                move |contributions: &[Contribution]| {
                    let contributions = by_process.of(contributions);
                    stacks.add_all(contributions);
                    if let Some(tags) = tags {
                        tags.add_all(contributions);
                    }
                    if stacks.is_full() || tags.as_ref().is_some_and(TagSummaries::is_full) {
                        is_full.store(true, Ordering::Relaxed);
                    }
                }
            })
            .collect();
        let scan = |give: &mut dyn FnMut(&Contribution)| {
            let goes_on = || !is_full.load(Ordering::Relaxed);
            source.samples(share.times.clone(), |row| {
                if share.has(row.process) && goes_on() {
                    rows.sample(row).iter().for_each(&mut *give);
                }
            })?;
            source.switches_newest_first(share.times.clone(), |row| {
                if goes_on() {
                    rows.switch(row).iter().for_each(&mut *give);
                }
            })
        };
        scan_ahead(
            scan,
            |contribution| contribution.part(parts),
            workers.iter_mut().map(|worker| worker as Worker<'_, Contribution>),
        )?;
        drop(workers);
        if is_full.into_inner() {
            return Ok(Err(Full));
        }
        let of_tags = tags.iter().flatten().map(TagSummaries::bytes).sum::<usize>();
        let bytes = of_tags + summaries.bytes();
        let numbered = summaries.processes();
        Ok(Ok(thread::scope(|scope| {
            let tags = set.as_ref().map(|set| {
                let tags = tags.into_iter().flatten().collect();
                scope.spawn(move || TagSummaries::finish(tags, &numbered, &set.hash()))
            });
            let listed = share.listed.iter().copied();
            let Summary { processes, methods, contradictions, .. } =
                summaries.finish(listed, METHODS_PER_PROCESS, |method| names.name(method));
            let tags = tags.map(|tags| tags.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            Summarised { processes, methods, tags: tags.unwrap_or_default(), contradictions, bytes }
        })))
    }
}
