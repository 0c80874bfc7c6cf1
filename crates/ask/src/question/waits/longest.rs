//! The longest waits of a recording: one pass, and as many rows in memory as are shown.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::{Span, TimesOfThreads, pieces};
use tracesift_archive::Error;
use tracesift_trace::rows::ContextSwitchRow;
use tracesift_trace::{ProcessId, StackId, view};

use super::Question;
use crate::order::Top;
use crate::recording::OpenRecording;
use crate::stack_names::StackNames;
use crate::threads::Threads;

view! {
    /// The columns of a switch row that waits and chains need.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::question) struct WaitRow of ContextSwitchRow {
        time, thread, off_time, off_state, wait_reason, ready_time, readier, wait_stack, ready_stack, flags,
    }
}

/// A wait, cut to the time range.
#[derive(Clone, Debug)]
pub(in crate::question) struct Wait {
    /// When.
    pub(in crate::question) span: Span,
    /// The row that it is of.
    pub(in crate::question) row: WaitRow,
}

/// Which waits are asked for.
pub(super) struct Filter<'a> {
    question: &'a Question,
    processes: &'a FxHashSet<ProcessId>,
    threads: &'a Threads<'a>,
    accepted: FxHashMap<StackId, bool>,
}

impl<'a> Filter<'a> {
    pub(super) fn new(question: &'a Question, processes: &'a FxHashSet<ProcessId>, threads: &'a Threads<'a>) -> Self {
        Self { question, processes, threads, accepted: FxHashMap::default() }
    }

    /// Whether the wait of a row, cut to the time range, is one of them.
    pub(super) fn accepts(&mut self, row: &WaitRow, wait: Span, names: &mut StackNames) -> bool {
        let length = wait.length();
        let methods = &self.question.methods;
        let mut has_method = |stack: StackId| {
            *self.accepted.entry(stack).or_insert_with(|| {
                let stack = names.of(stack);
                stack.iter().any(|method| methods.matches(method.module.as_deref(), &method.function))
            })
        };
        length > 0
            && self.question.length.contains(Some(length))
            && self.threads.row(row.thread).is_some_and(|thread| {
                // Idle threads wait for nothing.
                self.processes.contains(&thread.process)
                    && self.question.threads.accepts(thread)
                    && thread.idle_cpu.is_none()
            })
            && (methods.is_empty() || row.wait_stack.is_some_and(&mut has_method))
    }
}

/// Length, start and thread: of equals the earlier one counts as longer.
type Rank = (i64, Reverse<i64>, Reverse<i32>);

/// The waits of the question, the longest last; at least as many as `top` shows, if there are.
pub(super) fn find(
    opened: &OpenRecording,
    question: &Question,
    (top, times): (Top, Option<&TimesOfThreads>),
    processes: &FxHashSet<ProcessId>,
    threads: &Threads<'_>,
    names: &mut StackNames,
) -> Result<Vec<Wait>, Error> {
    let wanted = top.take.unwrap_or(usize::MAX).saturating_add(top.skip);
    let has_ready = opened.info().has_ready;
    let range = question.range();
    // The shortest on top, so that it can give way; of equals the later one does.
    let mut longest: BinaryHeap<Reverse<Rank>> = BinaryHeap::new();
    let mut rows: FxHashMap<(i64, i64, i32), Wait> = FxHashMap::default();
    let mut filter = Filter::new(question, processes, threads);
    let time = range.if_bounded();
    let mut see = |row: &WaitRow, range: Span| {
        let Some(wait) = pieces(row, has_ready).clip(range).wait else { return };
        let length = wait.length();
        let key = (length, Reverse(wait.start), Reverse(row.thread.0));
        let is_long = longest.len() < wanted || longest.peek().is_some_and(|Reverse(shortest)| key > *shortest);
        if !is_long || !filter.accepts(row, wait, names) {
            return;
        }
        longest.push(Reverse(key));
        rows.insert((length, wait.start, row.thread.0), Wait { span: wait, row: *row });
        if longest.len() > wanted
            && let Some(Reverse((length, Reverse(start), Reverse(thread)))) = longest.pop()
        {
            rows.remove(&(length, start, thread));
        }
    };
    opened.archive().scan(time, |row: &WaitRow| match times {
        None => see(row, range),
        Some(times) => {
            times.touching(row.thread, row.off_time, row.time).iter().for_each(|time| see(row, *time));
        }
    })?;
    let mut waits: Vec<Wait> = rows.into_values().collect();
    waits.sort_by_key(|wait| (wait.span.length(), Reverse(wait.span.start), Reverse(wait.row.thread.0)));
    Ok(waits)
}
