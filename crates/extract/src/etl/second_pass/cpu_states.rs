//! Parked and capped processors, and idle states that the kernel logs.

use std::collections::BTreeMap;

use tracesift_etl::payload::ProcessorNumber;
use tracesift_etl::{Record, event_fields};
use tracesift_trace::cpu_states::{Cap, CpuStates, Told};
use tracesift_trace::rows::{CpuIdleStateRow, CpuStateRow};
use tracesift_trace::{HealthKind, RowSink};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};
use crate::etl::inventory::cpu_of;

/// Event ids of the provider Kernel-Processor-Power.
mod id {
    pub(super) const PARKED: u16 = 14;
    pub(super) const UNPARKED: u16 = 15;
    pub(super) const FIRMWARE_CAP: u16 = 47;
    pub(super) const THERMAL_CAP: u16 = 48;
    pub(super) const RUNDOWN: u16 = 64;
}

/// Event ids that tell whether a processor is parked or capped.
pub(super) const IDS: [u16; 5] = [id::PARKED, id::UNPARKED, id::FIRMWARE_CAP, id::THERMAL_CAP, id::RUNDOWN];

/// Opcodes of the kernel's class Power: a processor enters an idle state, and leaves it.
pub(super) const IDLE_ENTER: u8 = 57;
pub(super) const IDLE_EXIT: u8 = 58;

event_fields! {
    /// The state of a processor.
    struct Processor<'a> {
        group: u64 = "Group",
        number: u64 = "Number",
        soft_parked: bool = "SoftParked",
        cap: i64 = "Cap",
        parked: bool = "Parked",
        firmware_cap: i64 = "BiosCap",
        thermal_cap: i64 = "ThermalCap",
    }
}

/// States of processors on their way.
#[derive(Default)]
pub(super) struct ProcessorStates {
    fields: Fields<Processor<'static>>,
    states: CpuStates,
    /// Start, in ticks, and number of the idle state of a CPU.
    idle: BTreeMap<i16, (i64, i16)>,
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event that tells whether a processor is parked or capped.
    pub(super) fn processor_state(&mut self, record: &Record<'_>, id: u16) {
        let Some(event) = self.processors.fields.read(record, &self.schemas, &mut self.health) else { return };
        let (Some(group), Some(number)) = (event.group, event.number) else { return };
        let processor = u16::try_from(group).ok().zip(u8::try_from(number).ok());
        let Some(cpu) = processor.and_then(|(group, number)| cpu_of(ProcessorNumber { group, number })) else {
            // The first pass counts those of rundowns.
            if id != id::RUNDOWN {
                self.health.count(HealthKind::PROCESSOR_BEYOND_GROUP_0, Some(record.time()), || {
                    format!("group {group} number {number}")
                });
            }
            return;
        };
        let (time, begin) = (self.clock.ns(record.time()), self.start);
        let states = &mut self.processors.states;
        let is_soft = event.soft_parked.unwrap_or(false);
        let rows: [Option<CpuStateRow>; 3] = match id {
            id::PARKED => [states.parking(time, cpu, Some(is_soft), Told::Begins, begin), None, None],
            id::UNPARKED => [states.parking(time, cpu, None, Told::Begins, begin), None, None],
            id::FIRMWARE_CAP | id::THERMAL_CAP => {
                let cap = if id == id::FIRMWARE_CAP { Cap::Firmware } else { Cap::Heat };
                [event.cap.and_then(|percent| states.cap(time, cpu, (cap, percent), Told::Begins, begin)), None, None]
            }
            _ => {
                let mut cap = |cap, percent: Option<i64>| states.cap(time, cpu, (cap, percent?), Told::InForce, begin);
                let caps = [cap(Cap::Firmware, event.firmware_cap), cap(Cap::Heat, event.thermal_cap)];
                let parking = event.parked.and_then(|parked| {
                    let soft = (parked || is_soft).then_some(is_soft);
                    states.parking(time, cpu, soft, Told::InForce, begin)
                });
                [parking, caps[0], caps[1]]
            }
        };
        rows.iter().flatten().for_each(|row| self.sink.cpu_state(row));
    }

    /// A CPU enters an idle state, or leaves it.
    pub(super) fn idle_state(&mut self, record: &Record<'_>, opcode: u8) {
        let (cpu, ticks) = (cpu_number(record), record.time());
        if opcode == IDLE_EXIT {
            // The first one of a CPU may have been entered before the recording.
            if let Some(entered) = self.processors.idle.remove(&cpu) {
                self.idle_row(cpu, entered, ticks);
            }
            return;
        }
        let Some(state) = record.payload().first_chunk().map(|bytes| u32::from_le_bytes(*bytes)) else {
            return self
                .health
                .count(HealthKind::INCOMPLETE_POWER_EVENTS, Some(ticks), || "without a state".to_owned());
        };
        let state = i16::try_from(state).unwrap_or(i16::MAX);
        if self.processors.idle.insert(cpu, (ticks, state)).is_some() {
            self.health.count(HealthKind::IDLE_STATES_WITHOUT_END, Some(ticks), || format!("of CPU {cpu}"));
        }
    }

    fn idle_row(&mut self, cpu: i16, (start, state): (i64, i16), end: i64) {
        let (time, start) = (self.clock.ns(end), self.clock.ns(start));
        self.sink.cpu_idle_state(&CpuIdleStateRow { time, cpu, start, state });
    }

    /// States that last at the end of the recording, `end` nanoseconds after time zero.
    pub(super) fn finish_processor_states(&mut self, end: i64) {
        let ProcessorStates { states, idle, .. } = std::mem::take(&mut self.processors);
        states.finish(end).for_each(|row| self.sink.cpu_state(&row));
        for (cpu, (start, state)) in idle {
            let start = self.clock.ns(start);
            self.sink.cpu_idle_state(&CpuIdleStateRow { time: end.max(start), cpu, start, state });
        }
    }
}
