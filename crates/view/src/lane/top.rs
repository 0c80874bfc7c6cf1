//! Lanes of CPUs: for how long threads ran in each column, and which process ran longest.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::timeline::{Grid, Watched};
use tracesift_analysis::{Accounting, RecordingFacts, Run, SwitchWithoutPriorities};
use tracesift_archive::Error;
use tracesift_ask::question::timeline::Measure;
use tracesift_ask::recording::OpenRecording;
use tracesift_trace::rows::ContextSwitchRow;
use tracesift_trace::{ProcessId, ThreadId};

use super::columns::Figures;
use super::machine::words;
use super::people::People;
use super::totals::shown;

/// Rows from which on nobody is told who ran: the timeline tables have the run time faster.
const MOST_ROWS: u64 = 4_000_000;

/// No process.
const NOBODY: i64 = -1;

/// Whether a range has so few rows that they are looked at.
pub(crate) fn is_quick(recording: &OpenRecording, grid: Grid) -> Result<bool, Error> {
    let range = grid.range();
    let rows = recording.archive().rows_around::<ContextSwitchRow>(range.start..range.end)?;
    Ok(recording.info().has_switches && rows > 0 && rows <= MOST_ROWS)
}

/// Run time by CPU, column and process.
struct Runs<'a> {
    cpus: &'a FxHashSet<i16>,
    process_of: FxHashMap<ThreadId, ProcessId>,
    grid: Grid,
    sums: FxHashMap<(i16, usize, ProcessId), i64>,
}

/// The columns of a CPU.
struct OfCpu {
    run: Vec<i64>,
    /// The process that ran longest, and for how long.
    top: Vec<(i64, i64)>,
}

impl Watched for Runs<'_> {
    fn run(&mut self, run: Run) {
        let Some(cpu) = run.cpu.filter(|cpu| self.cpus.contains(cpu)) else { return };
        let Some(process) = self.process_of.get(&run.thread) else { return };
        let span = run.span.intersect(self.grid.range());
        let (Some(first), Some(last)) = (self.grid.place(span.start), self.grid.place(span.end.saturating_sub(1)))
        else {
            return;
        };
        for place in first..=last {
            let part = span.intersect(self.grid.bucket(place)).length();
            let sum = self.sums.entry((cpu, place, *process)).or_default();
            *sum = sum.saturating_add(part);
        }
    }
}

/// The figures of CPUs, of those that are there.
pub(crate) fn figures(
    recording: &OpenRecording,
    cpus: &FxHashSet<i16>,
    grid: Grid,
) -> Result<FxHashMap<i16, Figures>, Error> {
    let people = People::of(recording)?;
    let processes = shown(&people);
    let counted = people.threads.iter().filter(|row| processes.contains(&row.process));
    let process_of = counted.map(|row| (row.thread, row.process)).collect();
    let mut runs = Runs { cpus, process_of, grid, sums: FxHashMap::default() };
    let facts = RecordingFacts::from(recording.info());
    let range = grid.range();
    let mut accounting = Accounting::new(&facts, range, &people.threads);
    recording.archive().scan_around(Some(range.start..range.end), |row: &SwitchWithoutPriorities| {
        accounting.switch_watched(*row, &mut runs);
    })?;
    accounting.finish_watched(&mut runs);
    let nothing = || OfCpu { run: vec![0; grid.buckets()], top: vec![(NOBODY, 0); grid.buckets()] };
    let mut all: FxHashMap<i16, OfCpu> = cpus.iter().map(|cpu| (*cpu, nothing())).collect();
    for ((cpu, place, process), sum) in runs.sums {
        let Some(OfCpu { run, top }) = all.get_mut(&cpu) else { continue };
        if let (Some(run), Some(top)) = (run.get_mut(place), top.get_mut(place)) {
            *run = run.saturating_add(sum);
            // Of two that ran equally long, the first one in the table: the order of a map is none.
            let process = i64::from(process.0);
            if sum > top.1 || sum == top.1 && process < top.0 {
                *top = (process, sum);
            }
        }
    }
    let words = words("cpu", Measure::Run, grid, &[]);
    let figures = |(cpu, OfCpu { run, top }): (i16, OfCpu)| {
        let top = top.into_iter().map(|(process, _)| process).collect();
        let figures = Figures {
            at_once: Some(1),
            unit: "ns",
            series: vec![(Measure::Run.word(), run), ("top", top)],
            words: vec![(Measure::Run.word(), words.clone())],
            ..Figures::default()
        };
        (cpu, figures)
    };
    Ok(all.into_iter().map(figures).collect())
}
