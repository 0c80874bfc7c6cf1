//! Stacks that providers write in events of their own, found before the events that they are of.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
use tracesift_etl::{Record, class};
use tracesift_trace::stacks::HalfId;

use super::inventory::{CLR_STACK, USER_STACK};

/// Stacks that wait for their event, and threads whose last runtime event is remembered, at most: as many as a busy program
/// logs while the cursor is ahead.
const MAX_WAITING: usize = 1 << 19;

/// What a cursor that runs ahead has met.
#[derive(Debug, Default)]
pub(super) struct BroughtStacks {
    /// User halves by match id.
    by_match: FxHashMap<u64, HalfId>,
    /// Stacks that the .NET runtime wrote, by their event.
    by_runtime_event: FxHashMap<RuntimeEvent, HalfId>,
    /// The last runtime event of each thread that is no stack, as the cursor ahead and the main stream have met it.
    ahead: FxHashMap<u32, RuntimeEvent>,
    passed: FxHashMap<u32, RuntimeEvent>,
}

/// A runtime event of a thread: several can have one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RuntimeEvent {
    tid: u32,
    ticks: i64,
    number: u32,
}

impl RuntimeEvent {
    /// The next one of a thread, which becomes its last.
    fn next(last: &mut FxHashMap<u32, Self>, tid: u32, ticks: i64) -> Self {
        let before = last.get(&tid).filter(|before| before.ticks == ticks);
        let event = Self { tid, ticks, number: before.map_or(0, |before| before.number + 1) };
        remember(last, tid, event);
        event
    }
}

/// Whether a record brings the stack of another one, or is needed to tell of which.
pub(super) fn brings_stacks(record: &Record<'_>) -> bool {
    if record.is_stack_walk() {
        return true;
    }
    let Some(provider) = record.provider() else { return false };
    provider == RUNTIME_PROVIDER || provider == class::KERNEL_EVENT_TRACING && record.event_id() == Some(USER_STACK)
}

impl BroughtStacks {
    /// A record of a provider, from the cursor that runs ahead. `half` finds the half of an event at a time with these frames.
    pub(super) fn record<'a>(
        &mut self,
        record: &Record<'a>,
        half: impl FnOnce(i64, &mut dyn Iterator<Item = u64>) -> Option<HalfId>,
    ) {
        let (Some(tid), ticks) = (record.tid(), record.time()) else { return };
        if record.provider() == Some(class::KERNEL_EVENT_TRACING) {
            let Some(stack) = record.extended_items().find_map(|item| item.stack()) else { return };
            if let Some(half) = half(ticks, &mut stack.frames()) {
                remember(&mut self.by_match, stack.match_id, half);
            }
            return;
        }
        if record.event_id() != Some(CLR_STACK) {
            RuntimeEvent::next(&mut self.ahead, tid, ticks);
            return;
        }
        let Some(event) = self.ahead.remove(&tid) else { return };
        if let Some(half) = half(event.ticks, &mut clr_frames(record)) {
            remember(&mut self.by_runtime_event, event, half);
        }
    }

    /// The stack that the .NET runtime wrote behind a record. To be asked once for every record, as stacks wait until then.
    pub(super) fn of_runtime_event(&mut self, record: &Record<'_>) -> Option<HalfId> {
        let of_runtime = record.provider() == Some(RUNTIME_PROVIDER);
        let tid = record.tid().filter(|_| of_runtime && record.event_id() != Some(CLR_STACK))?;
        let event = RuntimeEvent::next(&mut self.passed, tid, record.time());
        self.by_runtime_event.remove(&event)
    }

    /// The user half that belongs to the kernel half in a record.
    pub(super) fn of_match(&mut self, record: &Record<'_>) -> Option<HalfId> {
        if self.by_match.is_empty() {
            return None;
        }
        record.extended_items().find_map(|item| {
            let by_key = || item.stack_key().map(|(match_id, _)| match_id);
            let match_id = item.stack().map(|stack| stack.match_id).or_else(by_key)?;
            self.by_match.remove(&match_id)
        })
    }
}

/// Inserts into a map that only a forged recording fills.
fn remember<K: Eq + Hash, V>(map: &mut FxHashMap<K, V>, key: K, value: V) {
    if map.len() >= MAX_WAITING {
        map.clear();
    }
    map.insert(key, value);
}

/// The addresses of a CLR stack event, leaf first: runtime instance, two bytes, number of frames, frames.
fn clr_frames<'a>(record: &Record<'a>) -> impl Iterator<Item = u64> + use<'a> {
    let payload = record.payload();
    let count = payload.get(4..8).and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)));
    let frames = payload.get(8..).unwrap_or_default();
    let bytes = usize::from(record.pointer_size());
    frames
        .chunks_exact(bytes)
        .take(count.unwrap_or(0) as usize)
        .map(|frame| frame.iter().rev().fold(0, |address, byte| address << 8 | u64::from(*byte)))
}
