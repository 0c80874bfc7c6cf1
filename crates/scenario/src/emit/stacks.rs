//! Stacks as records of their own: halves that point back at their events, and the definitions of their keys.

use std::collections::HashMap;

use tracesift_etl::write::payload::{Stack, StackDefinition, StackReference};

use super::list::{HeadKind, RecordList};
use super::{KeyStyle, StackStyle, rundown};
use crate::Scenario;
use crate::machine::StackId;
use crate::record::{Event, Walk};

/// One half of a stack at the time at which it is written.
#[derive(Clone, Copy, Debug)]
struct Half {
    ticks: i64,
    cpu: u16,
    event_ticks: i64,
    /// Thread of the event.
    thread: usize,
    stack: StackId,
    kernel: bool,
    /// The other half, where both go into one record.
    user: Option<StackId>,
}

pub(super) fn all(scenario: &Scenario, list: &mut RecordList) {
    let mut halves = halves(scenario);
    halves.sort_by_key(|half| (half.ticks, half.cpu));
    let mut keys = match scenario.recording.stacks {
        StackStyle::Inline => None,
        StackStyle::Keys(style) | StackStyle::Mixed(style) => Some([Keys::new(style), Keys::new(style)]),
    };
    for (index, half) in halves.iter().enumerate() {
        let inline = match scenario.recording.stacks {
            StackStyle::Inline => true,
            StackStyle::Keys(_) => false,
            StackStyle::Mixed(_) => index % 3 == 0,
        };
        match &mut keys {
            Some(tables) if !inline => {
                tables[usize::from(half.kernel)].reference(scenario, list, half);
                if let Some(user) = half.user {
                    let half = Half { stack: user, kernel: false, ..*half };
                    tables[0].reference(scenario, list, &half);
                }
            }
            _ => in_place(scenario, list, half),
        }
    }
    for table in keys.iter().flatten() {
        table.rundown(scenario, list);
    }
}

fn halves(scenario: &Scenario) -> Vec<Half> {
    let mut halves = Vec::new();
    // A kernel stack takes a few microseconds to walk.
    let delay = (scenario.machine.frequency * 7 / 1_000_000).max(1);
    for record in &scenario.records {
        let (thread, walk) = match &record.event {
            Event::Switch(switch) => (switch.new, switch.walk),
            Event::Ready(ready) => (ready.by, ready.walk),
            Event::Sample(sample) => (sample.thread, sample.walk),
            Event::CounterSample(sample) => (sample.thread, sample.walk),
            _ => continue,
        };
        let Some(Walk { kernel, user, user_ticks, user_cpu }) = walk else { continue };
        let (ticks, cpu) = (record.ticks + delay, record.cpu);
        let together = user_cpu == cpu && user_ticks <= ticks;
        let half = Half { ticks, cpu, event_ticks: record.ticks, thread, stack: StackId(0), kernel: true, user: None };
        if let Some(stack) = kernel {
            halves.push(Half { stack, user: user.filter(|_| together), ..half });
        }
        if let Some(stack) = user.filter(|_| !together || kernel.is_none()) {
            let ticks = if together { ticks } else { user_ticks };
            halves.push(Half { stack, kernel: false, ticks, cpu: user_cpu, ..half });
        }
    }
    halves
}

fn addresses(scenario: &Scenario, stack: StackId) -> Vec<u64> {
    let machine = &scenario.machine;
    machine.stack(stack).iter().map(|function| machine.address(*function)).collect()
}

fn in_place(scenario: &Scenario, list: &mut RecordList, half: &Half) {
    let machine = &scenario.machine;
    let mut frames = addresses(scenario, half.stack);
    if let Some(user) = half.user {
        frames.extend(addresses(scenario, user));
    }
    let payload = Stack {
        event_time: half.event_ticks,
        pid: machine.pid_of(half.thread),
        tid: machine.threads[half.thread].tid,
        frames: &frames,
    };
    list.push(half.ticks, half.cpu, HeadKind::Perfinfo(Stack::HOOK), |out| payload.encode(out));
}

/// A key in use.
#[derive(Clone, Copy, Debug)]
struct Slot {
    stack: StackId,
    last_used: i64,
}

/// The keys of one kind of half.
#[derive(Debug)]
struct Keys {
    style: KeyStyle,
    slots: Vec<Slot>,
    by_stack: HashMap<StackId, usize>,
}

impl Keys {
    fn new(style: KeyStyle) -> Self {
        Self { style, slots: Vec::new(), by_stack: HashMap::new() }
    }

    fn reference(&mut self, scenario: &Scenario, list: &mut RecordList, half: &Half) {
        let slot = match self.by_stack.get(&half.stack) {
            Some(slot) => *slot,
            None => self.take(scenario, list, half),
        };
        self.slots[slot].last_used = half.ticks;
        let machine = &scenario.machine;
        let payload = StackReference {
            event_time: half.event_ticks,
            pid: machine.pid_of(half.thread),
            tid: machine.threads[half.thread].tid,
            key: key(scenario, slot),
        };
        let hook = if half.kernel { StackReference::KERNEL } else { StackReference::USER };
        list.push(half.ticks, half.cpu, HeadKind::Perfinfo(hook), |out| payload.encode(out));
    }

    /// A slot for a stack that has no key: a new one, or that of the stack used longest ago.
    fn take(&mut self, scenario: &Scenario, list: &mut RecordList, half: &Half) -> usize {
        let full = self.style.capacity.is_some_and(|capacity| self.slots.len() >= capacity.max(1));
        // A reference in the same tick on a higher CPU would come behind the deletion.
        let oldest = self.slots.iter().enumerate().min_by_key(|(_, slot)| slot.last_used);
        let evicted = oldest.filter(|(_, slot)| full && slot.last_used < half.ticks).map(|(index, _)| index);
        let entry = Slot { stack: half.stack, last_used: half.ticks };
        let slot = match evicted {
            Some(slot) => {
                self.by_stack.remove(&self.slots[slot].stack);
                self.define(scenario, list, slot, (half.ticks, half.cpu), StackDefinition::DELETE);
                self.slots[slot] = entry;
                slot
            }
            None => {
                self.slots.push(entry);
                self.slots.len() - 1
            }
        };
        self.by_stack.insert(half.stack, slot);
        if self.style.create {
            self.define(scenario, list, slot, (half.ticks, half.cpu), StackDefinition::CREATE);
        }
        slot
    }

    fn define(
        &self,
        scenario: &Scenario,
        list: &mut RecordList,
        slot: usize,
        (ticks, cpu): (i64, u16),
        hook: tracesift_etl::write::Hook,
    ) {
        let frames = addresses(scenario, self.slots[slot].stack);
        let payload = StackDefinition { key: key(scenario, slot), frames: &frames };
        list.push(ticks, cpu, HeadKind::Perfinfo(hook), |out| payload.encode(out));
    }

    fn rundown(&self, scenario: &Scenario, list: &mut RecordList) {
        if self.style.create && !self.style.rundown {
            return;
        }
        let last = self.slots.iter().map(|slot| slot.last_used).max().unwrap_or(0);
        let ticks = rundown::end_ticks(scenario).max(last + 1);
        for slot in 0..self.slots.len() {
            self.define(scenario, list, slot, (ticks, 0), StackDefinition::RUNDOWN);
        }
    }
}

fn key(scenario: &Scenario, slot: usize) -> u64 {
    super::kernel_base(scenario.machine.pointer_size) + 0x0100_0000 + slot as u64 * 0x40
}
