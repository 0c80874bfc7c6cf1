//! Reclaim and compaction of memory, and processes that are killed for lack of it.

use rustc_hash::FxHashSet;
use tracesift_trace::reclaims::Reclaims;
use tracesift_trace::rows::{ReclaimRow, reclaim_kinds};
use tracesift_trace::{HealthKind, ProcessId, RowSink, ThreadId};

use super::call_chain::stack_of;
use super::rows::Rows;
use super::sample_context::SampleContext;
use super::scheduler::Scheduler;
use crate::perf::tracepoint::ReclaimFields;

/// Killed processes that are remembered at most: the kernel can mark several threads of one.
const MAX_KILLED: usize = 1 << 20;

/// Follows threads that free memory.
pub(crate) struct MemoryReclaims {
    open: Reclaims<ThreadId>,
    /// Bytes of a page, where the recording tells.
    page: Option<i64>,
    killed: FxHashSet<ProcessId>,
}

impl MemoryReclaims {
    /// In a recording that gives this size of a page.
    pub(crate) fn new(page: Option<u32>) -> Self {
        let page = page.filter(|page| page.is_power_of_two()).map(i64::from);
        Self { open: Reclaims::default(), page, killed: FxHashSet::default() }
    }

    /// An event of a thread that frees memory, or needs some.
    pub(crate) fn event<Sink: RowSink>(
        &mut self,
        fields: &ReclaimFields,
        at: &SampleContext<'_>,
        scheduler: &mut Scheduler,
        rows: &mut Rows<'_, Sink>,
    ) {
        let Some(raw) = at.sample.raw else { return incomplete(at, rows) };
        match fields {
            ReclaimFields::Begins { kind, order } => {
                let order = order.as_ref().and_then(|order| order.get(raw));
                self.begins(*kind, order.and_then(|order| i16::try_from(order).ok()), at, rows);
            }
            ReclaimFields::Ends { kind, pages } => {
                self.ends(*kind, pages.as_ref().and_then(|pages| pages.get(raw)), at, rows);
            }
            ReclaimFields::Victim { thread, common_pid } => {
                let Some(victim) = thread.id(raw) else { return incomplete(at, rows) };
                let thread = whose(victim, common_pid.as_ref().and_then(|pid| pid.id(raw)), at, scheduler, rows);
                self.kill(thread, at, rows);
            }
        }
    }

    fn begins<Sink: RowSink>(
        &mut self,
        kind: i8,
        order: Option<i16>,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let row = ReclaimRow { kind, order, process: Some(at.process), thread: Some(at.thread), ..row_of(at, rows) };
        for unended in self.open.begin(at.thread, row) {
            rows.health.count(HealthKind::RECLAIMS_WITHOUT_END, Some(at.ticks), || {
                format!("kind {}, begun at {} ns", unended.kind, unended.start)
            });
        }
    }

    fn ends<Sink: RowSink>(&mut self, kind: i8, pages: Option<i64>, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        let bytes = pages.filter(|pages| *pages >= 0).zip(self.page).map(|(pages, page)| pages.saturating_mul(page));
        let end = (rows.clock.ns(at.ticks), at.cpu_or_none());
        match self.open.end(at.thread, kind, end, bytes) {
            Some(row) => rows.sink.reclaim(&row),
            None => {
                rows.health.count(HealthKind::RECLAIMS_WITHOUT_BEGIN, Some(at.ticks), || format!("kind {kind}"));
            }
        }
    }

    fn kill<Sink: RowSink>(&mut self, thread: Option<ThreadId>, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        let process = thread.map(|thread| rows.population.process_of(thread));
        if process.is_some_and(|process| self.killed.contains(&process)) {
            return;
        }
        self.killed.extend(process.filter(|_| self.killed.len() < MAX_KILLED));
        let row = ReclaimRow { kind: reclaim_kinds::OOM_KILL, process, thread, ..row_of(at, rows) };
        rows.sink.reclaim(&row);
    }

    /// The end of the recording, in ticks.
    pub(crate) fn finish<Sink: RowSink>(self, end: i64, rows: &mut Rows<'_, Sink>) {
        let end = rows.clock.ns(end);
        self.open.finish(end).for_each(|row| rows.sink.reclaim(&row));
    }
}

/// Time, CPU and stack of an event.
fn row_of<Sink: RowSink>(at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) -> ReclaimRow {
    let (time, stack) = (rows.clock.ns(at.ticks), stack_of(at, rows));
    ReclaimRow { time, start: time, cpu: at.cpu_or_none(), stack, ..ReclaimRow::default() }
}

/// The thread that the kernel marked; `None` where the recording does not tell whose id it is.
fn whose<Sink: RowSink>(
    victim: u32,
    current: Option<u32>,
    at: &SampleContext<'_>,
    scheduler: &mut Scheduler,
    rows: &mut Rows<'_, Sink>,
) -> Option<ThreadId> {
    if current == Some(victim) {
        return Some(at.thread);
    }
    // In a pid namespace the ids of samples are others than the kernel's own.
    let has_same_ids = current.map(u32::cast_signed) == at.sample.tid;
    (has_same_ids || scheduler.namespace.is_some())
        .then(|| scheduler.thread_at(victim, at.cpu.unwrap_or(0), at.ticks, rows))
}

fn incomplete<Sink: RowSink>(at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
    rows.health.count(HealthKind::INCOMPLETE_MEMORY_EVENTS, Some(at.ticks), || {
        "an event of reclaim without its fields".to_owned()
    });
}
