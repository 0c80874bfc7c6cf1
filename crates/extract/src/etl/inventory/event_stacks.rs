//! How long after their events the stacks come that providers write in events of their own.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
use tracesift_etl::{Guid, Record, class};

/// The event in which the .NET runtime writes the stack of its event before this one, on the same thread.
pub(crate) const CLR_STACK: u16 = 82;

/// The event that brings the user half of a stack, with the match id of the event whose item has the kernel half.
pub(crate) const USER_STACK: u16 = 18;

/// Events whose stack is still to come, at most; more only a forged recording has.
const MAX_WAITING: usize = 1 << 19;

/// A delay that is not known, which no look-ahead is too long for.
const UNKNOWN: i64 = i64::MAX;

/// Times of events whose stack is still to come.
#[derive(Debug, Default)]
pub(crate) struct EventStackDelays {
    by_match: FxHashMap<u64, i64>,
    /// Of the last event of the .NET runtime on each thread.
    by_thread: FxHashMap<u32, i64>,
}

impl EventStackDelays {
    /// Takes an event of a provider. Gives how many ticks the stack that it brings comes after its event.
    pub(crate) fn event(&mut self, record: &Record<'_>, provider: Guid, id: u16) -> Option<i64> {
        let ticks = record.time();
        if provider == RUNTIME_PROVIDER {
            let tid = record.tid()?;
            if id == CLR_STACK {
                return Some(ticks.saturating_sub(self.by_thread.remove(&tid)?));
            }
            let overflow = remember(&mut self.by_thread, tid, ticks);
            return self.kernel_half(record).or(overflow);
        }
        if provider == class::KERNEL_EVENT_TRACING && id == USER_STACK {
            let match_id = record.extended_items().find_map(|item| item.stack())?.match_id;
            return Some(ticks.saturating_sub(self.by_match.remove(&match_id)?));
        }
        self.kernel_half(record)
    }

    /// An event whose item has the kernel half waits for the user half.
    fn kernel_half(&mut self, record: &Record<'_>) -> Option<i64> {
        let mut items = record.extended_items();
        let match_of = |item: tracesift_etl::ExtendedItem<'_>| {
            let key = || item.stack_key().map(|(match_id, _)| match_id);
            item.stack().map(|stack| stack.match_id).or_else(key)
        };
        let match_id = items.find_map(match_of).filter(|match_id| *match_id != 0)?;
        remember(&mut self.by_match, match_id, record.time())
    }
}

/// Notes a time. Gives a delay where others had to be forgotten for it.
fn remember<K: Eq + Hash>(times: &mut FxHashMap<K, i64>, key: K, ticks: i64) -> Option<i64> {
    let is_full = times.len() >= MAX_WAITING;
    if is_full {
        times.clear();
    }
    times.insert(key, ticks);
    is_full.then_some(UNKNOWN)
}
