//! Delays of recordings without the events of message pumps: a thread that waited for messages, and then did not for long.
//!
//! Context switches tell less than the pump itself: a thread that finds a message each time that it looks for one does not wait, though
//! it is not delayed.

use rustc_hash::FxHashMap;
use tracesift_analysis::{Pieces, Span, pieces};
use tracesift_archive::Error;
use tracesift_trace::rows::{UiDelayRow, ui_delay_kinds as kinds};
use tracesift_trace::schema::Row as _;
use tracesift_trace::{StackId, ThreadId};

use super::delays::{Report, waits_for_messages};
use super::{Known, Question};
use crate::question::waits::longest::WaitRow;
use crate::recording::OpenRecording;
use crate::stack_names::StackNames;

/// The kind of these reports. No archive has rows of it.
pub(super) const FROM_SWITCHES: i8 = -1;

/// So many waits for messages make a thread one with a pump, whose last one is followed by a delay where it does not wait again.
const WAITS_OF_PUMP: u32 = 2;

/// Whether the recording may tell of delays in this way: it has context switches with stacks, and nothing of message pumps.
pub(super) fn can_tell(recording: &OpenRecording) -> Result<bool, Error> {
    let (archive, info) = (recording.archive(), recording.info());
    let table = UiDelayRow::TABLE.name;
    if info.kind == "perf" || !info.has_switches || info.enabled.iter().any(|enabled| enabled == table) {
        return Ok(false);
    }
    let mut has_pumps = false;
    archive.scan(None, |row: &Report| has_pumps |= matches!(row.kind, kinds::NO_FETCH | kinds::DISPATCH))?;
    Ok(!has_pumps)
}

/// The reports of the threads that are asked for. `None`: no thread waits for messages, as far as names of functions tell.
pub(super) fn reports(
    recording: &OpenRecording,
    question: &Question,
    known: &Known<'_>,
    is_asked: impl Fn(&Report) -> bool,
    names: &mut StackNames,
) -> Result<Option<Vec<Report>>, Error> {
    let has_ready = recording.info().has_ready;
    let mut is_pump: FxHashMap<StackId, bool> = FxHashMap::default();
    let mut pumps = Pumps::new(question.lengths().min.unwrap_or(0).max(1));
    recording.archive().scan(None, |row: &WaitRow| {
        let waits = row
            .wait_stack
            .is_some_and(|stack| *is_pump.entry(stack).or_insert_with(|| waits_for_messages(&names.of(stack))));
        pumps.see(row.thread, &pieces(row, has_ready), waits);
    })?;
    if pumps.threads.is_empty() {
        return Ok(None);
    }
    let (start, end) = question.time.bounds();
    let range = Span::new(start, end);
    let report = |delay: Stall| {
        let process = known.threads.row(delay.thread).map(|row| row.process);
        Report {
            time: delay.span.end,
            start: delay.span.start,
            process,
            thread: Some(delay.thread),
            kind: FROM_SWITCHES,
            message: None,
            class: None,
            top_class: None,
            input: None,
            open: delay.open.then_some(true),
        }
    };
    let has_ended = |thread: ThreadId| known.threads.row(thread).is_none_or(|row| row.end.is_some());
    let stalls = pumps.finish(recording.info().end_ns, has_ended);
    let reports = stalls.into_iter().map(report);
    Ok(Some(reports.filter(|report| !report.span().intersect(range).is_empty() && is_asked(report)).collect()))
}

/// A time in which a thread with a pump did not wait for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stall {
    thread: ThreadId,
    span: Span,
    /// It lasts at the end of the recording.
    open: bool,
}

impl Stall {
    fn order(&self) -> (ThreadId, i64) {
        (self.thread, self.span.start)
    }
}

/// What is known of a thread that waited for messages.
#[derive(Clone, Copy, Debug, Default)]
struct Pump {
    waits: u32,
    /// End of its last wait for messages; `None`: what it did since is not known.
    since: Option<i64>,
}

/// Threads that wait for messages. They see the rows of context switches, those of a thread in the order of time.
struct Pumps {
    threads: FxHashMap<ThreadId, Pump>,
    stalls: Vec<Stall>,
    /// Shorter times are none, ns.
    least: i64,
}

impl Pumps {
    fn new(least: i64) -> Self {
        Self { threads: FxHashMap::default(), stalls: Vec::new(), least }
    }

    /// A thread was off its CPU; `waits`: the stack is one of a wait for messages.
    fn see(&mut self, thread: ThreadId, pieces: &Pieces, waits: bool) {
        if pieces.unknown.is_some() {
            if let Some(pump) = self.threads.get_mut(&thread) {
                pump.since = None;
            }
            return;
        }
        // Where the begin of a wait is not known, its end is.
        let wait = pieces.wait.or(pieces.open).filter(|_| waits);
        let Some(wait) = wait else { return };
        let pump = self.threads.entry(thread).or_default();
        pump.waits = pump.waits.saturating_add(1);
        let since = pump.since.replace(wait.end);
        if let Some(since) = since.filter(|since| wait.start.saturating_sub(*since) >= self.least) {
            self.stalls.push(Stall { thread, span: Span::new(since, wait.start), open: false });
        }
    }

    /// All of them, in the order of threads. A thread that did not wait again up to the end of the recording is delayed, unless it ended.
    fn finish(mut self, end: i64, has_ended: impl Fn(ThreadId) -> bool) -> Vec<Stall> {
        for (thread, pump) in &self.threads {
            let since = pump.since.filter(|since| {
                pump.waits >= WAITS_OF_PUMP && end.saturating_sub(*since) >= self.least && !has_ended(*thread)
            });
            self.stalls.extend(since.map(|since| Stall { thread: *thread, span: Span::new(since, end), open: true }));
        }
        self.stalls.sort_unstable_by_key(Stall::order);
        self.stalls
    }
}

#[cfg(test)]
mod tests;
