//! Changes of the number of worker threads of .NET for starvation.

use serde::Deserialize;
use tracesift_trace::rows::{ThreadPoolRow, adjustment_reasons, thread_pool_events};
use tracesift_trace::{Health, ProcessId, RowSink};

use crate::bounded::{Entries, List};
use crate::document::{Moment, ProcessReference};
use crate::identity::Identities;
use crate::limits::{PROCESSES, STARVATIONS};
use crate::values::Integer;

/// `ThreadPool`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ThreadPool {
    /// By `name(pid)start`.
    pub per_process_thread_pool_starvations: Entries<List<Starvation, STARVATIONS>, PROCESSES>,
    /// Number of events of .NET's keyword for threads, of which the extract has no more.
    pub thread_pool_event_count: Integer,
}

/// One change.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Starvation {
    /// Workers that the pool wants from now on.
    pub new_worker_thread_count: Integer,
    /// When.
    pub date_time: Option<Moment>,
}

/// A change, as much of it as a row needs.
#[derive(Clone, Copy, Debug)]
struct Change {
    time: i64,
    process: Option<ProcessId>,
    workers: Option<i32>,
}

/// The changes that can be rows, in the order of time.
#[derive(Debug, Default)]
pub(super) struct StarvationRows(Vec<Change>);

impl StarvationRows {
    pub(super) fn read(part: ThreadPool, zero: Moment, identities: &mut Identities, health: &mut Health) -> Self {
        let mut changes = Vec::new();
        for (key, of_process) in part.per_process_thread_pool_starvations.0 {
            let process = identities.find(&ProcessReference::parse(&key), health);
            for change in of_process.0 {
                let Some(time) = change.date_time.filter(|time| time.is_known()) else {
                    super::unreadable(health, || "a starvation of a thread pool without a time".to_owned());
                    continue;
                };
                let workers = change.new_worker_thread_count.count().and_then(|workers| i32::try_from(workers).ok());
                changes.push(Change { time: time.ns_since(zero), process, workers });
            }
        }
        changes.sort_by_key(|change| change.time);
        Self(changes)
    }

    pub(super) fn write(&self, sink: &mut impl RowSink) {
        for Change { time, process, workers } in &self.0 {
            sink.thread_pool(&ThreadPoolRow {
                time: *time,
                cpu: -1,
                process: *process,
                event: thread_pool_events::ADJUSTED,
                workers: *workers,
                reason: Some(adjustment_reasons::STARVATION),
                ..ThreadPoolRow::default()
            });
        }
    }
}
