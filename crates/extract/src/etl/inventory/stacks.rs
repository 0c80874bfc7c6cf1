//! What of stacks is known late: the frames of their keys, and the halves that come much later than their events.

use std::io;
use std::path::PathBuf;

use tracesift_etl::Record;
use tracesift_etl::class::{EventClass, Group};
use tracesift_etl::payload::{
    ContextSwitch, Payload, Stack, StackDefinition, StackReference, THREAD_STATE_TERMINATED, Thread, is_kernel_address,
};
use tracesift_trace::stack_keys::{Half, Serves, StackKeysBuilder};
use tracesift_trace::{Clock, Health};

use super::count_undecodable;
use super::event_stacks::EventStackDelays;
use super::late_stacks::{LateStacks, PACE};

/// All that the first pass collects of stacks. It needs nothing of the [inventory](super::Inventory), so that both are made side by side.
pub(in crate::etl) struct StackInventory {
    pub(in crate::etl) keys: StackKeysBuilder,
    pub(in crate::etl) late: LateStacks,
    /// What is before each cut of the recording.
    pub(in crate::etl) cuts: Vec<CutFacts>,
    pub(in crate::etl) health: Health,
    delays: EventStackDelays,
    records: usize,
    stack_records: u64,
}

/// What is before a cut of the recording.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::etl) struct CutFacts {
    pub(in crate::etl) records: u64,
    pub(in crate::etl) stack_records: u64,
}

impl StackInventory {
    /// Nothing yet; frames spill into this directory.
    pub(in crate::etl) fn new(clock: Clock, temporary: Option<PathBuf>) -> Self {
        Self {
            keys: StackKeysBuilder::new(temporary),
            late: LateStacks::new(clock),
            cuts: Vec::new(),
            health: Health::new(),
            delays: EventStackDelays::default(),
            records: 0,
            stack_records: 0,
        }
    }

    /// The recording is cut before the next record.
    pub(in crate::etl) fn cut(&mut self) {
        self.cuts.push(CutFacts { records: self.records as u64, stack_records: self.stack_records });
    }

    /// Takes a record; they come in time order.
    ///
    /// # Errors
    /// When frames of stacks cannot be spilled to the temporary directory. All that is wrong with the record itself is counted in `health`.
    pub(in crate::etl) fn record(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.records += 1;
        if self.records.is_multiple_of(PACE) {
            self.late.pace(record.time());
        }
        match record.class() {
            EventClass::Kernel { group: Group::STACK_WALK, opcode, version } => {
                return self.stack_walk(record, opcode, version);
            }
            EventClass::Kernel { group: Group::THREAD, opcode, version } => self.thread(record, opcode, version),
            EventClass::Event { provider, id, .. } => {
                if let Some(delay) = self.delays.event(record, provider, id) {
                    self.late.delayed(delay);
                }
            }
            EventClass::Kernel { .. } | EventClass::Classic { .. } | EventClass::Message { .. } => {}
        }
        Ok(())
    }

    /// A life of a tid may be over. What does not decode the inventory counts.
    fn thread(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let (payload, pointer_size) = (record.payload(), record.pointer_size());
        let ended = match opcode {
            ContextSwitch::OPCODE => ContextSwitch::parse(payload, version, pointer_size)
                .ok()
                .filter(|switch| switch.old_thread_state == THREAD_STATE_TERMINATED)
                .map(|switch| switch.old_thread_id),
            Thread::START | Thread::END => {
                Thread::parse(payload, version, pointer_size).ok().map(|thread| thread.thread_id)
            }
            _ => None,
        };
        if let Some(tid) = ended {
            self.late.thread_ended(tid);
        }
    }

    fn stack_walk(&mut self, record: &Record<'_>, opcode: u8, version: u8) -> io::Result<()> {
        // The second pass numbers the stack records in the same way.
        let position = self.stack_records;
        self.stack_records += u64::from(record.is_stack_walk());
        match opcode {
            Stack::OPCODE => {
                if let Some(stack) = self.decode::<Stack<'_>>(record, version) {
                    self.late.inline(record, &stack);
                }
            }
            StackReference::KERNEL | StackReference::USER => {
                if let Some(reference) = self.decode::<StackReference>(record, version) {
                    let half = if opcode == StackReference::KERNEL { Half::Kernel } else { Half::User };
                    self.late.keyed(record, position, half, &reference);
                }
            }
            StackDefinition::CREATE | StackDefinition::DELETE | StackDefinition::RUNDOWN => {
                if let Some(definition) = self.decode::<StackDefinition<'_>>(record, version) {
                    let frames = definition.frames;
                    // The root frame decides: kernel halves hold kernel frames only.
                    let root = frames.last().unwrap_or(0);
                    let kernel = is_kernel_address(root, record.pointer_size());
                    let half = if kernel { Half::Kernel } else { Half::User };
                    let serves = if opcode == StackDefinition::CREATE { Serves::Later } else { Serves::Earlier };
                    self.keys.define(half, definition.stack_key, position, serves, frames.iter())?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn decode<'a, T: Payload<'a>>(&mut self, record: &Record<'a>, version: u8) -> Option<T> {
        let parsed = T::parse(record.payload(), version, record.pointer_size());
        parsed.map_err(|error| count_undecodable(&mut self.health, record, &error)).ok()
    }
}
