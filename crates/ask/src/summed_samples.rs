//! Samples that are added up before anybody looks at their stacks. Several threads read a row group each.

use rayon::prelude::*;
use tracesift_analysis::{AttributedSample, Attribution, SampleTotal, Span, Weight};
use tracesift_archive::Error;
use tracesift_trace::rows::CpuSampleRow;
use tracesift_trace::{ProcessId, view};

use crate::recording::OpenRecording;
use crate::stack_sums::{StackSums, Sum};

view! {
    /// The columns of a sample that sums of processes need.
    #[derive(Clone, Copy, Debug)]
    struct SampleOfProcess of CpuSampleRow { time, process, weight, stack, frame }
}

/// Row groups that are added up before it is looked at how much memory the sums take. If no two samples are alike, these have 200 MB of them.
const AT_ONCE: usize = 16;
/// Bytes of sums that are not shown yet, before those of the row groups at hand.
const BYTES: usize = 128 << 20;

/// What the samples of a range have in each stack, by process, or by process and thread. Which ones count is told by process and time.
pub(crate) fn by_stack(
    recording: &OpenRecording,
    range: Span,
    per_thread: bool,
    counts: impl Fn(ProcessId, i64) -> bool + Sync,
) -> Result<StackSums, Error> {
    let groups = recording.archive().row_groups::<CpuSampleRow>(range.if_bounded())?;
    let add_group = |mut sums: StackSums, group: &usize| {
        let mut add = |process, thread, time, at, weight| {
            // Times beyond the range are those of a damaged archive.
            if range.contains(time) && counts(process, time) {
                sums.add((process, thread), at, Weight { amount: weight, count: 1 });
            }
        };
        if per_thread {
            groups.scan(*group, |row: &AttributedSample| {
                add(row.process, Some(row.thread), row.time, Attribution::of_sample(row.stack, row.frame), row.weight);
            })?;
        } else {
            groups.scan(*group, |row: &SampleOfProcess| {
                add(row.process, None, row.time, Attribution::of_sample(row.stack, row.frame), row.weight);
            })?;
        }
        Ok(sums)
    };
    let sums = groups.numbers().par_iter().try_fold(StackSums::default, add_group);
    sums.try_reduce(StackSums::default, |sums, more| Ok(sums.append(more)))
}

/// Shows the samples of a range, added up by process and place, or by process, thread and place. Memory does not grow with the recording:
/// what takes too much of it is shown, and adding up begins anew. Which samples count is told by process and time; `place` tells where a
/// sample counts.
pub(crate) fn by_place(
    recording: &OpenRecording,
    range: Span,
    per_thread: bool,
    counts: impl Fn(ProcessId, i64) -> bool + Sync,
    place: impl Fn(Attribution) -> Attribution + Sync,
    mut visit: impl FnMut(Sum<SampleTotal>),
) -> Result<(), Error> {
    let groups = recording.archive().row_groups::<CpuSampleRow>(range.if_bounded())?;
    let add_groups = |(totals, numbers): (&mut Totals, &[usize])| {
        numbers.iter().try_for_each(|group| {
            groups.scan(*group, |row: &AttributedSample| {
                // Times beyond the range are those of a damaged archive.
                if range.contains(row.time) && counts(row.process, row.time) {
                    let owner = (row.process, per_thread.then_some(row.thread));
                    let total = totals.sums.of(owner, place(Attribution::of_sample(row.stack, row.frame)));
                    totals.on_heap += total.add(row.thread, row.time, row.weight);
                }
            })
        })
    };
    let tables = rayon::current_num_threads().clamp(1, AT_ONCE);
    let mut tables: Vec<_> = std::iter::repeat_with(Totals::default).take(tables).collect();
    let each = AT_ONCE / tables.len();
    let room = BYTES / tables.len();
    for round in groups.numbers().chunks(each * tables.len()) {
        tables.par_iter_mut().zip(round.par_chunks(each)).try_for_each(add_groups)?;
        for table in tables.iter_mut().filter(|table| table.bytes() > room) {
            std::mem::take(table).sums.finish().into_iter().for_each(&mut visit);
        }
    }
    let sums: Vec<_> = tables.into_par_iter().map(|table| table.sums.finish()).collect();
    sums.into_iter().flatten().for_each(visit);
    Ok(())
}

/// What one thread adds up.
#[derive(Default)]
struct Totals {
    sums: StackSums<SampleTotal>,
    /// Bytes that the totals have on the heap.
    on_heap: usize,
}

impl Totals {
    fn bytes(&self) -> usize {
        self.sums.bytes() + self.on_heap
    }
}
