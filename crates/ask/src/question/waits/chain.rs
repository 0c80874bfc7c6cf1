//! Wait chains: from a wait back to whoever did the work.
//!
//! The thread that ended a wait is asked what it did while the wait lasted. Where it mostly waited itself, so is the thread that ended that
//! wait, and so on. Each step reads only the rows of the threads that are asked, in the time that is asked.

use tracesift_analysis::{Activity, ActivityWalk, Span};
use tracesift_archive::Error;
use tracesift_trace::ThreadId;

use super::longest::{Wait, WaitRow};
use super::windows::Windows;
use crate::recording::OpenRecording;
use crate::stack_names::StackNames;
use crate::threads::{Threads, Waker};

/// Steps from a wait. Nobody reads more, and a damaged archive must not lead in circles.
const LONGEST_CHAIN: usize = 16;

/// One thread of a chain.
#[derive(Clone, Debug)]
pub(in crate::question) struct Link {
    /// Who.
    pub(in crate::question) thread: ThreadId,
    /// While the wait before lasted.
    pub(in crate::question) within: Span,
    /// What it did.
    pub(in crate::question) activity: Activity<WaitRow>,
    /// Who ended its longest wait.
    pub(in crate::question) waker: Waker,
}

/// The chain of each wait: who ended it, who ended that one's, and so on.
pub(in crate::question) fn of(
    opened: &OpenRecording,
    waits: &[Wait],
    threads: &Threads<'_>,
    names: &mut StackNames,
) -> Result<Vec<Vec<Link>>, Error> {
    let mut chains: Vec<Vec<Link>> = waits.iter().map(|_| Vec::new()).collect();
    let mut open: Vec<(usize, ThreadId, Span)> = Vec::new();
    for (number, wait) in waits.iter().enumerate() {
        if let Waker::Thread(thread) = Waker::of(&wait.row, threads, names) {
            open.push((number, thread, wait.span));
        }
    }
    for _ in 0..LONGEST_CHAIN {
        if open.is_empty() {
            break;
        }
        let asked = std::mem::take(&mut open);
        let activities = activities(opened, &asked)?;
        for ((number, thread, within), activity) in asked.into_iter().zip(activities) {
            let waker = activity.longest.as_ref().map_or(Waker::Unknown, |(_, row)| Waker::of(row, threads, names));
            if let (Waker::Thread(next), Some((span, _)), true) = (waker, &activity.longest, activity.mostly_waits()) {
                open.push((number, next, *span));
            }
            if let Some(chain) = chains.get_mut(number) {
                chain.push(Link { thread, within, activity, waker });
            }
        }
    }
    Ok(chains)
}

/// What each of these threads did in its time.
fn activities(opened: &OpenRecording, asked: &[(usize, ThreadId, Span)]) -> Result<Vec<Activity<WaitRow>>, Error> {
    let has_ready = opened.info().has_ready;
    let start = asked.iter().map(|(.., span)| span.start).min().unwrap_or(0);
    let end = asked.iter().map(|(.., span)| span.end).max().unwrap_or(0);
    let mut walks: Vec<ActivityWalk<WaitRow>> =
        asked.iter().map(|(.., span)| ActivityWalk::new(*span, has_ready)).collect();
    let mut windows = Windows::new(asked.iter().map(|(_, thread, span)| (*thread, *span)));
    opened.archive().scan(Some(start..end), |row: &WaitRow| {
        windows.touched(row.thread, row.off_time, row.time, |place| {
            walks.get_mut(place).into_iter().for_each(|walk| walk.row(row));
        });
    })?;
    Ok(walks.into_iter().map(ActivityWalk::finish).collect())
}
