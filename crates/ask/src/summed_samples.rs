//! Samples that are added up before anybody looks at their stacks. Several threads read a row group each.

use rayon::prelude::*;
use tracesift_analysis::{AttributedSample, Attribution, SampleSum, SampleSums, Span, Weight};
use tracesift_archive::Error;
use tracesift_trace::rows::CpuSampleRow;
use tracesift_trace::{ProcessId, view};

use crate::recording::OpenRecording;
use crate::stack_sums::StackSums;

view! {
    /// The columns of a sample that sums of processes need.
    #[derive(Clone, Copy, Debug)]
    struct SampleOfProcess of CpuSampleRow { time, process, weight, stack, frame }
}

/// Row groups whose sums are in memory at a time; twice as many while they are shown. If no two samples are alike, one has 30 MB of them.
const AT_ONCE: usize = 8;

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

/// Shows the samples of a range, added up by process, thread and place. A sum has the samples of a few row groups, so that memory does
/// not grow with the recording. Which samples count is told by process and time; `place` tells where a sample counts.
pub(crate) fn by_thread(
    recording: &OpenRecording,
    range: Span,
    counts: impl Fn(ProcessId, i64) -> bool + Sync,
    place: impl Fn(Attribution) -> Attribution + Sync,
    mut visit: impl FnMut(&SampleSum),
) -> Result<(), Error> {
    let groups = recording.archive().row_groups::<CpuSampleRow>(range.if_bounded())?;
    let of_groups = |some: &[usize]| {
        let mut sums = SampleSums::default();
        for group in some {
            groups.scan(*group, |row: &AttributedSample| {
                // Times beyond the range are those of a damaged archive.
                if range.contains(row.time) && counts(row.process, row.time) {
                    sums.sample(row, place(Attribution::of_sample(row.stack, row.frame)));
                }
            })?;
        }
        Ok(sums.finish())
    };
    let each = (AT_ONCE / rayon::current_num_threads().max(1)).max(1);
    let read = |some: &[usize]| some.par_chunks(each).map(of_groups).collect::<Result<Vec<_>, Error>>();
    let mut parts: Vec<Vec<SampleSum>> = Vec::new();
    let mut chunks = groups.numbers().chunks(AT_ONCE);
    loop {
        // What was read is shown while other threads read on.
        let mut next = None;
        rayon::in_place_scope(|scope| {
            if let Some(some) = chunks.next() {
                scope.spawn(|_| next = Some(read(some)));
            }
            parts.iter().flatten().for_each(&mut visit);
        });
        match next {
            Some(read) => parts = read?,
            None => return Ok(()),
        }
    }
}
