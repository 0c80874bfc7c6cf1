//! The ends of wait chains: for whom a wait was, and what that one did.

use tracesift_analysis::{Activity, Span};
use tracesift_archive::Error;
use tracesift_trace::rows::CpuSampleRow;
use tracesift_trace::{ProcessId, StackId, ThreadId, view};

use super::super::chain::{self, Link};
use super::super::longest::{Wait, WaitRow};
use super::super::windows::Windows;
use super::{Did, End, is_open};
use crate::recording::OpenRecording;
use crate::stack_labels::Labels;
use crate::stack_names::StackNames;
use crate::threads::{Threads, Waker};

view! {
    /// The stack of a sample.
    #[derive(Clone, Copy, Debug)]
    struct StackOfThread of CpuSampleRow { time, thread, weight, stack }
}

/// Finds them.
pub(super) struct Ends<'a> {
    recording: &'a OpenRecording,
    threads: &'a Threads<'a>,
}

/// The end of a chain at which a thread ran: where, the samples tell.
struct Ran {
    /// Of which wait.
    wait: usize,
    thread: ThreadId,
    within: Span,
    /// By label, ns.
    weights: Vec<(u32, i64)>,
}

impl<'a> Ends<'a> {
    pub(super) fn new(recording: &'a OpenRecording, threads: &'a Threads<'a>) -> Self {
        Self { recording, threads }
    }

    /// The process of a thread.
    pub(super) fn process(&self, thread: ThreadId) -> Option<ProcessId> {
        self.threads.row(thread).map(|row| row.process)
    }

    /// For whom each of the waits was, and whether that one ended it itself.
    pub(super) fn of(
        &self,
        waits: &[Wait],
        labels: &mut Labels,
        names: &mut StackNames,
    ) -> Result<Vec<(End, bool)>, Error> {
        let chains = chain::of(self.recording, waits, self.threads, names)?;
        let mut ends = Vec::with_capacity(waits.len());
        let mut ran = Vec::new();
        for (number, (wait, chain)) in waits.iter().zip(&chains).enumerate() {
            let Some(last) = chain.last() else {
                ends.push((self.without_thread(wait, names), true));
                continue;
            };
            let did = did(&last.activity);
            let (stack, ended_by) = match did {
                Did::Wait => (last.activity.longest.as_ref().and_then(|(_, row)| row.wait_stack), last.waker),
                // The stack of the wake-up with which it ended the wait before.
                Did::Run => (wake_up(wait, chain), Waker::Unknown),
                Did::Ready | Did::Unknown => (None, Waker::Unknown),
            };
            if did == Did::Run {
                ran.push(Ran { wait: number, thread: last.thread, within: last.within, weights: Vec::new() });
            }
            let interrupt = if let Waker::Interrupt(interrupt) = ended_by { Some(interrupt) } else { None };
            ends.push((End::Thread(last.thread, did, labels.of(stack, names), interrupt), chain.len() == 1));
        }
        self.sample(&mut ran, labels, names)?;
        for ran in ran {
            let most = ran.weights.iter().max_by_key(|(label, weight)| (*weight, std::cmp::Reverse(*label)));
            if let (Some((label, _)), Some((End::Thread(_, _, at, _), _))) = (most, ends.get_mut(ran.wait)) {
                *at = Some(*label);
            }
        }
        Ok(ends)
    }

    fn without_thread(&self, wait: &Wait, names: &mut StackNames) -> End {
        match Waker::of(&wait.row, self.threads, names) {
            Waker::Interrupt(interrupt) => End::Interrupt(interrupt),
            Waker::Thread(_) | Waker::Unknown if is_open(&wait.row) => End::Nobody,
            Waker::Thread(_) | Waker::Unknown => End::Unknown,
        }
    }

    /// Where those who ran did so.
    fn sample(&self, ran: &mut [Ran], labels: &mut Labels, names: &mut StackNames) -> Result<(), Error> {
        if ran.is_empty() || !self.recording.file.has_samples {
            return Ok(());
        }
        let start = ran.iter().map(|ran| ran.within.start).min().unwrap_or(0);
        let end = ran.iter().map(|ran| ran.within.end).max().unwrap_or(0);
        let mut windows = Windows::new(ran.iter().map(|ran| (ran.thread, ran.within)));
        self.recording.archive().scan(Some(start..end), |row: &StackOfThread| {
            windows.touched(row.thread, row.time, row.time.saturating_add(1), |place| {
                let (Some(ran), Some(label)) = (ran.get_mut(place), labels.of(row.stack, names)) else { return };
                match ran.weights.iter_mut().find(|(known, _)| *known == label) {
                    Some((_, weight)) => *weight = weight.saturating_add(row.weight),
                    None => ran.weights.push((label, row.weight)),
                }
            });
        })
    }
}

/// What took the largest part.
fn did(activity: &Activity<WaitRow>) -> Did {
    let Activity { run, ready, unknown, .. } = *activity;
    if activity.mostly_waits() {
        Did::Wait
    } else if run >= ready.max(unknown) {
        Did::Run
    } else if ready >= unknown {
        Did::Ready
    } else {
        Did::Unknown
    }
}

/// The stack of the wake-up by the last thread of a chain.
fn wake_up(wait: &Wait, chain: &[Link]) -> Option<StackId> {
    match chain {
        [.., before, _] => before.activity.longest.as_ref().and_then(|(_, row)| row.ready_stack),
        _ => wait.row.ready_stack,
    }
}
