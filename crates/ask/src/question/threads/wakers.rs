//! The wait reasons of threads, and the threads that woke them: one more pass, for the threads that
//! are shown.

use rustc_hash::FxHashMap;
use tracesift_analysis::{MethodName, Span, Times, pieces};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::rows::{ContextSwitchRow, ProcessRow, ThreadRow};
use tracesift_trace::{StackId, ThreadId, view};

use super::columns::Row;
use crate::recording::OpenRecording;
use crate::shown::Shown;
use crate::stack_names::StackNames;
use crate::threads::{Threads, Waker};
use crate::wait_reason;
use tracesift_grammar::TimeRange;

view! {
    /// The columns of a switch row that tell the reason of a wait and its end.
    #[derive(Clone, Copy, Debug)]
    struct WokenSwitch of ContextSwitchRow {
        time, thread, off_time, off_state, wait_reason, ready_time, readier, ready_stack, flags,
    }
}

/// What a thread waited for and who woke it.
#[derive(Clone, Debug, Default)]
pub(super) struct Detail {
    /// By reason, the longest first.
    pub(super) reasons: Vec<Reason>,
    /// The most frequent first.
    pub(super) wakers: Vec<WokenBy>,
}

/// Waits for one reason.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    pub(super) name: String,
    pub(super) count: i64,
    pub(super) wait: i64,
}

/// Wake-ups by one thread or kind of interrupt.
#[derive(Clone, Debug)]
pub(super) struct WokenBy {
    pub(super) label: String,
    pub(super) process: Option<(String, i64)>,
    pub(super) tid: Option<i64>,
    pub(super) count: i64,
    /// The waits that they ended, ns.
    pub(super) wait: i64,
    /// The stack of most of them, leaf first.
    pub(super) stack: Vec<MethodName>,
}

type WakeUp = (ThreadId, Option<StackId>, i16);

/// Wake-ups of one kind, with one of their rows.
struct WakeUps {
    count: i64,
    wait: i64,
    row: WokenSwitch,
}

#[derive(Default)]
struct WakeSums {
    /// By state and wait reason.
    reasons: FxHashMap<(Option<i8>, Option<i8>), Reason>,
    /// By who it was, with which stack, and the flags that tell whether it was anybody.
    wakers: FxHashMap<WakeUp, WakeUps>,
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The reasons of waits alone.
    Reasons,
    /// And who ended them: the stacks of all wake-ups.
    Wakers,
}

impl Wanted {
    /// What these columns need; `None`: nothing.
    pub(super) fn of(shown: &Shown) -> Option<Self> {
        let has = |keys: [&str; 2]| keys.iter().any(|key| shown.has(key));
        let reasons = has(["reasons", "wait_reasons"]).then_some(Self::Reasons);
        if has(["woken_by", "wakers"]) { Some(Self::Wakers) } else { reasons }
    }
}

/// Reads the switches of these threads.
pub(super) fn fill(
    opened: &OpenRecording,
    (time, times, wanted): (TimeRange, Option<&Times>, Wanted),
    rows: &mut [Row],
    threads: &[ThreadRow],
    processes: &[ProcessRow],
) -> Result<(), Error> {
    if rows.is_empty() || !opened.info().has_switches {
        return Ok(());
    }
    let (start, end) = time.bounds();
    let (range, has_ready) = (Span::new(start, end), opened.info().has_ready);
    let mut sums: FxHashMap<ThreadId, WakeSums> =
        rows.iter().map(|row| (row.thread.thread, WakeSums::default())).collect();
    let of_threads = rows.iter().map(|row| (row.thread.thread, row.process.process));
    let times = times.map(|times| times.of_threads(range, of_threads));
    let time = range.if_bounded();
    opened.archive().scan(time, |row: &WokenSwitch| {
        let Some(sums) = sums.get_mut(&row.thread) else { return };
        match &times {
            None => sums.add(row, has_ready, range, wanted),
            Some(times) => times.touching(row.thread, row.off_time, row.time).iter().for_each(|time| {
                sums.add(row, has_ready, *time, wanted);
            }),
        }
    })?;
    let known = Threads::new(threads, processes);
    let mut names = match wanted {
        Wanted::Reasons => StackNames::default(),
        Wanted::Wakers => StackNames::new(opened.named_stacks(Granularity::default())?),
    };
    for row in rows {
        if let Some(sums) = sums.remove(&row.thread.thread) {
            row.detail = sums.finish(&known, &mut names);
        }
    }
    Ok(())
}

impl WakeSums {
    /// Adds the wait of a row, cut to a range.
    fn add(&mut self, row: &WokenSwitch, has_ready: bool, range: Span, wanted: Wanted) {
        let Some(wait) = pieces(row, has_ready).clip(range).wait else { return };
        if let Some(name) = wait_reason::of(row) {
            let reason = Reason { name, count: 0, wait: 0 };
            let reason = self.reasons.entry((row.off_state, row.wait_reason)).or_insert(reason);
            reason.count += 1;
            reason.wait += wait.length();
        }
        if wanted == Wanted::Reasons {
            return;
        }
        let woken_in_time = row.ready_time.is_some_and(|time| range.contains(time.max(row.off_time)));
        if let Some(readier) = row.readier.filter(|_| woken_in_time) {
            let key = (readier, row.ready_stack, row.flags & Waker::FLAGS);
            let wake_ups = self.wakers.entry(key).or_insert_with(|| WakeUps { count: 0, wait: 0, row: *row });
            wake_ups.count += 1;
            wake_ups.wait += wait.length();
        }
    }

    fn finish(self, threads: &Threads<'_>, names: &mut StackNames) -> Detail {
        let mut reasons: Vec<Reason> = self.reasons.into_values().collect();
        reasons.sort_by(|a, b| b.wait.cmp(&a.wait).then_with(|| a.name.cmp(&b.name)));

        // Wake-ups with other stacks are by the same thread; the most frequent stack stands for all.
        let mut with_stacks: Vec<WakeUps> = self.wakers.into_values().collect();
        with_stacks.sort_by_key(|WakeUps { count, row, .. }| (-count, row.readier, row.ready_stack, row.flags));
        let mut wakers: Vec<(Waker, WokenBy)> = Vec::new();
        for WakeUps { count, wait, row } in with_stacks {
            let waker = Waker::of(&row, threads, names);
            if let Some((_, known)) = wakers.iter_mut().find(|(known, _)| *known == waker) {
                known.count += count;
                known.wait = known.wait.saturating_add(wait);
                continue;
            }
            let thread = if let Waker::Thread(thread) = waker { Some(thread) } else { None };
            let process = thread.and_then(|thread| threads.process(thread));
            let woken_by = WokenBy {
                label: threads.waker_label(waker),
                process: process.map(|process| (process.name.clone(), process.pid)),
                tid: thread.and_then(|thread| threads.row(thread)).map(|row| row.tid),
                count,
                wait,
                stack: row.ready_stack.map(|stack| names.of(stack)).unwrap_or_default(),
            };
            wakers.push((waker, woken_by));
        }
        let mut wakers: Vec<WokenBy> = wakers.into_iter().map(|(_, woken_by)| woken_by).collect();
        wakers.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.label.cmp(&b.label)));
        Detail { reasons, wakers }
    }
}
