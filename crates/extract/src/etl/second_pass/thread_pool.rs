//! The thread pool of .NET programs.

use rustc_hash::FxHashMap;
use tracesift_etl::{Record, event_fields};
use tracesift_trace::rows::{ThreadPoolRow, adjustment_reasons, thread_pool_events as events};
use tracesift_trace::{ProcessId, RowSink};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};

/// Runtimes whose last adjustment is remembered, at most.
const MAX_RUNTIMES: usize = 1 << 16;

event_fields! {
    /// An event of the pool.
    struct Event<'a> {
        active: i64 = "ActiveWorkerThreadCount",
        retired: i64 = "RetiredWorkerThreadCount",
        new: i64 = "NewWorkerThreadCount",
        reason: i64 = "Reason",
        average: f64 = "AverageThroughput",
        throughput: f64 = "Throughput",
        least: i64 = "MinWorkerThreads",
        most: i64 = "MaxWorkerThreads",
        runtime: i64 = "ClrInstanceID",
    }
}

/// The adjustment before.
#[derive(Clone, Copy, Debug)]
struct Adjusted {
    time: i64,
    workers: Option<i32>,
    is_starvation: bool,
}

/// Pools of programs.
#[derive(Default)]
pub(super) struct ThreadPools {
    fields: Fields<Event<'static>>,
    /// By process and runtime.
    adjusted: FxHashMap<(Option<ProcessId>, Option<i32>), Adjusted>,
}

/// What an event of the runtime tells of its pool; `None`: it is about something else.
pub(super) fn event(id: u16) -> Option<i8> {
    Some(match id {
        50 => events::STARTED,
        51 => events::STOPPED,
        54 => events::SAMPLE,
        55 => events::ADJUSTED,
        57 => events::WAITS,
        59 => events::LIMITS,
        _ => return None,
    })
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of the thread pool.
    pub(super) fn thread_pool(&mut self, record: &Record<'_>, event: i8) {
        let Some(fields) = self.thread_pools.fields.read(record, &self.schemas, &mut self.health) else { return };
        let caller = self.caller(record);
        let int = |value: Option<i64>| value.and_then(|value| i32::try_from(value).ok());
        let row = ThreadPoolRow {
            time: caller.time,
            cpu: cpu_number(record),
            process: caller.process,
            thread: caller.thread,
            event,
            workers: int(fields.new.or(fields.active).or(fields.least)),
            others: int(fields.retired.or(fields.most)),
            reason: fields.reason.and_then(|reason| i8::try_from(reason).ok()),
            throughput: fields.average.or(fields.throughput).filter(|throughput| throughput.is_finite()),
            runtime: int(fields.runtime),
            stack: self.provider_stack(record),
            ..ThreadPoolRow::default()
        };
        let row = if event == events::ADJUSTED { self.adjusted(row) } else { row };
        self.sink.thread_pool(&row);
    }

    /// An adjustment, with what changed since the one before.
    fn adjusted(&mut self, row: ThreadPoolRow) -> ThreadPoolRow {
        let adjusted = &mut self.thread_pools.adjusted;
        let is_starvation = row.reason == Some(adjustment_reasons::STARVATION);
        let now = Adjusted { time: row.time, workers: row.workers, is_starvation };
        let key = (row.process, row.runtime);
        if adjusted.len() >= MAX_RUNTIMES && !adjusted.contains_key(&key) {
            return row;
        }
        let Some(before) = adjusted.insert(key, now) else { return row };
        let since = row.time.saturating_sub(before.time).max(0);
        ThreadPoolRow {
            change: row.workers.zip(before.workers).map(|(now, before)| now.saturating_sub(before)),
            since: Some(since),
            starved: before.is_starvation.then_some(since),
            ..row
        }
    }
}
