//! What threads did in their delays: run, ready and wait as in chains of waits, the method with most samples, and the longest wait.

use rustc_hash::FxHashSet;
use tracesift_analysis::tags::{TagId, TagSet};
use tracesift_analysis::{Activity, ActivityWalk, Span};
use tracesift_archive::Error;
use tracesift_trace::rows::CpuSampleRow;
use tracesift_trace::{StackId, ThreadId, view};

use super::delays::Delay;
use crate::question::waits::longest::WaitRow;
use crate::question::waits::windows::Windows;
use crate::recording::OpenRecording;
use crate::stack_labels::Labels;
use crate::stack_names::StackNames;

view! {
    /// A sample of a thread.
    #[derive(Clone, Copy, Debug)]
    struct SampleOfThread of CpuSampleRow { time, thread, weight, stack }
}

/// What a thread did in a delay.
#[derive(Clone, Debug, Default)]
pub(super) struct Inside {
    /// `None`: the recording has no context switches.
    pub(super) activity: Option<Activity<WaitRow>>,
    /// Sampled CPU, ns; `None`: the recording has no samples.
    pub(super) cpu: Option<i64>,
    /// The place with most samples, by its number, and their CPU.
    pub(super) most: Option<(u32, i64)>,
}

/// Where threads ran and waited, by number.
pub(super) enum Places<'a> {
    /// In methods.
    Methods(Labels),
    /// In stack tags.
    Tags(&'a TagSet, Box<dyn FnMut(StackId) -> TagId + 'a>),
}

impl Places<'_> {
    /// The place of a stack.
    pub(super) fn of(&mut self, stack: Option<StackId>, names: &mut StackNames) -> Option<u32> {
        match self {
            Self::Methods(labels) => labels.of(stack, names),
            Self::Tags(_, tag) => Some(tag(stack?).0),
        }
    }

    /// Its name.
    pub(super) fn text(&self, place: u32) -> Option<String> {
        match self {
            Self::Methods(labels) => labels.text(Some(place)).cloned(),
            Self::Tags(set, _) => Some(set.name(TagId(place)).to_owned()),
        }
    }
}

/// What the threads did in each of the delays.
pub(super) fn of(
    recording: &OpenRecording,
    delays: &[Delay],
    places: &mut Places<'_>,
    names: &mut StackNames,
) -> Result<Vec<Inside>, Error> {
    let activities = activities(recording, delays)?;
    let samples = samples(recording, delays, places, names)?;
    let inside = activities.into_iter().zip(samples).map(|(activity, (cpu, most))| Inside { activity, cpu, most });
    Ok(inside.collect())
}

/// From the first to the last of them, and each with its thread.
fn windows(delays: &[Delay]) -> (Span, Windows) {
    let start = delays.iter().map(|delay| delay.span.start).min().unwrap_or(0);
    let end = delays.iter().map(|delay| delay.span.end).max().unwrap_or(0);
    (Span::new(start, end), Windows::new(delays.iter().map(|delay| (delay.thread, delay.span))))
}

fn activities(recording: &OpenRecording, delays: &[Delay]) -> Result<Vec<Option<Activity<WaitRow>>>, Error> {
    if !recording.info().has_switches || delays.is_empty() {
        return Ok(delays.iter().map(|_| None).collect());
    }
    let has_ready = recording.info().has_ready;
    let mut walks: Vec<ActivityWalk<WaitRow>> =
        delays.iter().map(|delay| ActivityWalk::new(delay.span, has_ready)).collect();
    let (all, mut windows) = windows(delays);
    let mut seen: FxHashSet<ThreadId> = FxHashSet::default();
    // Not only switches in the delays: a thread without any did not run all the time, nobody knows what it did.
    recording.archive().scan_around(Some(all.start..all.end), |row: &WaitRow| {
        windows.touched(row.thread, row.off_time, row.time, |place| {
            walks.get_mut(place).into_iter().for_each(|walk| walk.row(row));
        });
        seen.insert(row.thread);
    })?;
    let finish = |(walk, delay): (ActivityWalk<WaitRow>, &Delay)| {
        let unknown = Activity { unknown: delay.span.length(), ..Activity::default() };
        Some(if seen.contains(&delay.thread) { walk.finish() } else { unknown })
    };
    Ok(walks.into_iter().zip(delays).map(finish).collect())
}

/// CPU of the samples, and the place with most of it.
type Sampled = (Option<i64>, Option<(u32, i64)>);

fn samples(
    recording: &OpenRecording,
    delays: &[Delay],
    places: &mut Places<'_>,
    names: &mut StackNames,
) -> Result<Vec<Sampled>, Error> {
    if !recording.file.has_samples || delays.is_empty() {
        return Ok(delays.iter().map(|_| (None, None)).collect());
    }
    let (all, mut windows) = windows(delays);
    let mut sums: Vec<(i64, Vec<(u32, i64)>)> = delays.iter().map(|_| (0, Vec::new())).collect();
    recording.archive().scan(Some(all.start..all.end), |row: &SampleOfThread| {
        windows.touched(row.thread, row.time, row.time.saturating_add(1), |place| {
            let Some((cpu, weights)) = sums.get_mut(place) else { return };
            *cpu = cpu.saturating_add(row.weight);
            let Some(place) = places.of(row.stack, names) else { return };
            match weights.iter_mut().find(|(known, _)| *known == place) {
                Some((_, weight)) => *weight = weight.saturating_add(row.weight),
                None => weights.push((place, row.weight)),
            }
        });
    })?;
    let most = |(cpu, weights): (i64, Vec<(u32, i64)>)| {
        // Of equals the one that was seen first.
        let most = weights.into_iter().rev().max_by_key(|(_, weight)| *weight);
        (Some(cpu), most)
    };
    Ok(sums.into_iter().map(most).collect())
}
