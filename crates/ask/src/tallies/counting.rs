//! One pass over the samples: row groups at the same time, added up by bucket and stack, then by what is on the stacks.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::timeline::Grid;
use tracesift_analysis::{Attribution, RecordingFacts, Span};
use tracesift_archive::{Error, RowGroups};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::CpuSampleRow;
use tracesift_trace::{ProcessId, view};

use super::subjects::OfStacks;
use super::{Amount, Subjects, Tally};
use crate::owned_rows::OwnedRows;
use crate::recording::OpenRecording;

view! {
    /// A sample and its place.
    #[derive(Clone, Copy, Debug)]
    struct Placed of CpuSampleRow { time, process, weight, stack, frame }
}

/// Samples of one stack in one bucket.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    samples: i64,
    cpu: i64,
    first: i64,
    last: i64,
}

impl Sum {
    fn of(time: i64, cpu: i64) -> Self {
        Self { samples: 1, cpu, first: time, last: time }
    }

    fn add(&mut self, more: Self) {
        self.samples = self.samples.saturating_add(more.samples);
        self.cpu = self.cpu.saturating_add(more.cpu);
        self.first = self.first.min(more.first);
        self.last = self.last.max(more.last);
    }
}

/// The place of a bucket, what the samples are charged to, and their sum.
type Part = (usize, Attribution, Sum);

/// The figures of all subjects.
pub(super) fn count(
    subjects: &Subjects,
    recording: &OpenRecording,
    processes: &FxHashSet<ProcessId>,
    grid: Grid,
    amount: Amount,
) -> Result<Vec<Tally>, Error> {
    if subjects.all().is_empty() {
        return Ok(Vec::new());
    }
    let figures = vec![Tally::empty(grid); subjects.all().len()];
    let mut counting = Counting { subjects, of_stacks: subjects.of_stacks(), processes, grid, amount, figures };
    if recording.file.has_samples {
        counting.samples(recording)?;
    } else if recording.info().has_switches {
        counting.runs(recording)?;
    }
    Ok(counting.figures)
}

struct Counting<'a> {
    subjects: &'a Subjects,
    of_stacks: OfStacks,
    processes: &'a FxHashSet<ProcessId>,
    grid: Grid,
    amount: Amount,
    figures: Vec<Tally>,
}

impl Counting<'_> {
    fn samples(&mut self, recording: &OpenRecording) -> Result<(), Error> {
        let range = self.grid.range();
        let groups = recording.archive().row_groups::<CpuSampleRow>(Some(range.start..range.end))?;
        // Two for each thread keep all of them busy; what they found is added up before the next ones are read.
        for some in groups.numbers().chunks(2 * rayon::current_num_threads().max(1)) {
            let parts = some.par_iter().map(|group| self.group(&groups, *group)).collect::<Result<Vec<_>, Error>>()?;
            parts.into_iter().flatten().for_each(|part| self.add(part));
        }
        Ok(())
    }

    /// What the samples of a row group add up to. They come by time, so that mostly a bucket is met once.
    fn group(&self, groups: &RowGroups<'_>, group: usize) -> Result<Vec<Part>, Error> {
        let (mut parts, mut bucket) = (Vec::new(), 0);
        let mut sums: FxHashMap<Attribution, Sum> = FxHashMap::default();
        groups.scan(group, |row: &Placed| {
            let place = Attribution::of_sample(row.stack, row.frame);
            let may_count = match place {
                Attribution::Stack(stack) => self.of_stacks.of(stack).is_none_or(|found| !found.is_empty()),
                Attribution::Frame(_) => true,
                Attribution::Nowhere => false,
            };
            if !may_count || !self.processes.contains(&row.process) {
                return;
            }
            let Some(of) = self.grid.place(row.time) else { return };
            if of != bucket {
                parts.extend(sums.drain().map(|(place, sum)| (bucket, place, sum)));
                bucket = of;
            }
            let sum = Sum::of(row.time, row.weight);
            sums.entry(place).and_modify(|known| known.add(sum)).or_insert(sum);
        })?;
        parts.extend(sums.drain().map(|(place, sum)| (bucket, place, sum)));
        Ok(parts)
    }

    /// Precise CPU, which `dump cpu` shows of recordings without samples: each run has a part in each bucket.
    fn runs(&mut self, recording: &OpenRecording) -> Result<(), Error> {
        let bucket = |place: usize| self.grid.bucket(place);
        let range = |span: Span| TimeRange { start: Some(span.start), end: Some(span.end) };
        let ranges: Vec<TimeRange> = (0..self.grid.buckets()).map(bucket).map(range).collect();
        let mut rows = OwnedRows::series(recording, &ranges, false, self.processes)?;
        rows.cpu(&RecordingFacts::from(recording.info()), |_, row| {
            if let Some(bucket) = self.grid.place(row.time) {
                let sum = Sum { samples: 0, ..Sum::of(row.time, row.weight) };
                self.add((bucket, Attribution::of_sample(row.stack, row.frame), sum));
            }
        })
    }

    fn add(&mut self, (bucket, place, sum): Part) {
        let mut alone = Vec::new();
        let known = if let Attribution::Stack(stack) = place { self.of_stacks.of(stack) } else { None };
        let found = known.unwrap_or_else(|| {
            self.subjects.at(place, &mut Vec::new(), &mut alone);
            &alone
        });
        for number in found {
            let Some(figures) = self.figures.get_mut(*number as usize) else { continue };
            let amount = if self.amount == Amount::Cpu { sum.cpu } else { sum.samples };
            figures.add(bucket, (sum.samples, sum.cpu), (sum.first, sum.last), amount);
        }
    }
}
