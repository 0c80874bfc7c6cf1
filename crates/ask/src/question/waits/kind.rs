//! What threads wait for, by what the recording has of the wait and its end: a disk, a timer, or anything else.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::{Interrupt, Span, pieces};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::ThreadId;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::longest::WaitRow;
use crate::recording::OpenRecording;
use crate::stack_names::StackNames;
use crate::threads::{Threads, Waker};
use crate::wait_reason;

/// The kind of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitKind {
    /// A disk ended it; or no thread is known to have ended it, and the thread was in the state of Linux in which it waits for a device.
    Disk,
    /// A timer ended it, or the thread slept for a time.
    Sleep,
    /// Another thread, the network, or something else ended it, or nobody knows.
    Other,
}

impl WaitKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Disk, Self::Sleep, Self::Other];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Sleep => "sleep",
            Self::Other => "other",
        }
    }

    /// The kind of the wait of a row.
    pub(super) fn of(row: &WaitRow, waker: Waker, names: &mut StackNames) -> Self {
        match waker {
            Waker::Interrupt(Interrupt::Disk) => return Self::Disk,
            Waker::Interrupt(Interrupt::Timer) => return Self::Sleep,
            _ => {}
        }
        let reason = wait_reason::of(row);
        // `DelayExecution` and `WrDelayExecution`: nothing but a thread that sleeps has these.
        if reason.as_deref().is_some_and(|reason| reason.ends_with("DelayExecution")) {
            return Self::Sleep;
        }
        if !matches!(waker, Waker::Unknown | Waker::Interrupt(Interrupt::Other)) {
            return Self::Other;
        }
        let stack = row.wait_stack.map(|stack| names.of(stack)).unwrap_or_default();
        match Interrupt::of_sleep(&stack) {
            Some(_) => Self::Sleep,
            None if reason.as_deref() == Some("D") => Self::Disk,
            None => Self::Other,
        }
    }
}

/// The kinds of the waits of threads in a range, by thread and start: that of the part in the range, as `dump waits` has it.
///
/// # Errors
/// When a table cannot be read.
pub fn kinds_of_threads(
    recording: &OpenRecording,
    chosen: &FxHashSet<ThreadId>,
    range: Span,
) -> Result<FxHashMap<(ThreadId, i64), WaitKind>, Error> {
    if chosen.is_empty() {
        return Ok(FxHashMap::default());
    }
    let archive = recording.archive();
    let has_ready = recording.info().has_ready;
    let mut waits: Vec<(Span, WaitRow)> = Vec::new();
    archive.scan(Some(range.start..range.end), |row: &WaitRow| {
        if chosen.contains(&row.thread)
            && let Some(wait) = pieces(row, has_ready).clip(range).wait
        {
            waits.push((wait, *row));
        }
    })?;
    if waits.is_empty() {
        return Ok(FxHashMap::default());
    }
    let processes: Vec<ProcessRow> = archive.rows()?;
    let threads: Vec<ThreadRow> = archive.rows()?;
    let known = Threads::new(&threads, &processes);
    let mut names = StackNames::new(recording.named_stacks(Granularity::default())?);
    let mut kind = |row: &WaitRow| WaitKind::of(row, Waker::of(row, &known, &mut names), &mut names);
    Ok(waits.iter().map(|(wait, row)| ((row.thread, wait.start), kind(row))).collect())
}
