//! Stacks of events: in the event itself, or behind it.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
use tracesift_etl::{Record, class};
use tracesift_trace::RowSink;
use tracesift_trace::ids::StackId;
use tracesift_trace::stack_binder::UserHalves;
use tracesift_trace::stack_keys::Half;
use tracesift_trace::stacks::{HalfId, KeyReference};

use super::SecondPass;
use crate::etl::inventory::{CLR_STACK, USER_STACK};
use crate::event_kinds::is_injected;

/// Stacks that wait for their event, and threads whose last runtime event is remembered, at most: as many as a busy program
/// logs while the cursor is ahead.
const MAX_WAITING: usize = 1 << 19;

/// What the cursor ahead has met.
#[derive(Debug, Default)]
pub(super) struct EventStacks {
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
pub(crate) fn brings_stacks(record: &Record<'_>) -> bool {
    if record.is_stack_walk() {
        return true;
    }
    let Some(provider) = record.provider() else { return false };
    provider == RUNTIME_PROVIDER || provider == class::KERNEL_EVENT_TRACING && record.event_id() == Some(USER_STACK)
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// A record of a provider, from the cursor that runs ahead.
    pub(super) fn event_stack_record(&mut self, record: &Record<'_>) {
        let (Some(pid), Some(tid), ticks) = (record.pid(), record.tid(), record.time()) else { return };
        if record.provider() == Some(class::KERNEL_EVENT_TRACING) {
            let Some(stack) = record.extended_items().find_map(|item| item.stack()) else { return };
            let process = self.population.process_at(pid, ticks);
            if let Some(half) = self.stacks.inline_half(process, stack.frames(), ticks) {
                remember(&mut self.event_stacks.by_match, stack.match_id, half);
            }
            return;
        }
        if record.event_id() != Some(CLR_STACK) {
            RuntimeEvent::next(&mut self.event_stacks.ahead, tid, ticks);
            return;
        }
        let Some(event) = self.event_stacks.ahead.remove(&tid) else { return };
        let process = self.population.process_at(pid, event.ticks);
        if let Some(half) = self.stacks.inline_half(process, clr_frames(record), event.ticks) {
            remember(&mut self.event_stacks.by_runtime_event, event, half);
        }
    }

    /// The stack that the .NET runtime wrote behind a record. To be asked once for every record, as stacks wait until then.
    pub(super) fn runtime_stack(&mut self, record: &Record<'_>) -> Option<HalfId> {
        let of_runtime = record.provider() == Some(RUNTIME_PROVIDER);
        let tid = record.tid().filter(|_| of_runtime && record.event_id() != Some(CLR_STACK))?;
        let event = RuntimeEvent::next(&mut self.event_stacks.passed, tid, record.time());
        self.event_stacks.by_runtime_event.remove(&event)
    }

    /// The stack of an event that is kept, `behind` being that from the .NET runtime. What was recorded for the rows of typed
    /// tables stays theirs.
    pub(super) fn event_stack(&mut self, record: &Record<'_>, behind: Option<HalfId>) -> Option<StackId> {
        if let Some(taken) = self.taken {
            return taken;
        }
        let is_user_half =
            || record.provider() == Some(class::KERNEL_EVENT_TRACING) && record.event_id() == Some(USER_STACK);
        // What a merge tool wrote has copied time stamps; what brings the stack of another event has none itself.
        if record.is_stack_walk() || record.class_guid().is_some_and(is_injected) || is_user_half() {
            return None;
        }
        let (ticks, cpu) = (record.time(), record.cpu());
        let (kernel, user) = match self.stack_in(record) {
            (None, None) if behind.is_some() => (None, behind),
            (None, None) => {
                let running = || self.switches.running(cpu).map(|thread| self.population.tid_of(thread));
                let tid = record.tid().or_else(running);
                let user = if record.kind().is_kernel() { UserHalves::Shared } else { UserHalves::Own };
                self.binder.peek(ticks, tid, cpu, user)
            }
            halves => halves,
        };
        self.stacks.stack(kernel, user, &mut self.health, self.sink)
    }

    /// Kernel and user half of the stack in the event's own items.
    fn stack_in(&mut self, record: &Record<'_>) -> (Option<HalfId>, Option<HalfId>) {
        let (mut kernel, mut user) = (None, None);
        for item in record.extended_items() {
            let ticks = record.time();
            let (match_id, half) = if let Some(stack) = item.stack() {
                let process = self.population.process_at(record.pid().unwrap_or(0), ticks);
                (stack.match_id, self.stacks.inline_half(process, stack.frames(), ticks))
            } else if let Some((match_id, key)) = item.stack_key() {
                let process = self.population.process_at(record.pid().unwrap_or(0), ticks);
                let position = self.stack_records_passed;
                // The item does not say which half its key stands for.
                let half =
                    [Half::User, Half::Kernel].into_iter().find(|half| self.stacks.is_defined(*half, key, position));
                let half = half.unwrap_or(Half::Kernel);
                let reference = KeyReference { half, key, position, ticks, process };
                let keyed = self.stacks.keyed_half(&reference, &mut self.health);
                (match_id, keyed)
            } else {
                continue;
            };
            if match_id == 0 {
                user = half;
            } else {
                kernel = half;
                user = user.or_else(|| self.event_stacks.by_match.remove(&match_id));
            }
        }
        (kernel, user)
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
