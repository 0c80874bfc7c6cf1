//! What counters of energy counted, as Kernel-Processor-Power logs them. The unit of their values is not documented.

use tracesift_etl::payload::ProcessorNumber;
use tracesift_etl::{Record, event_fields};
use tracesift_trace::energy::{EnergyCounters, Reading};
use tracesift_trace::rows::EnergyRow;
use tracesift_trace::{HealthKind, RowSink};

use super::SecondPass;
use super::provider_fields::Fields;
use crate::etl::inventory::cpu_of;

/// Event ids of the provider Kernel-Processor-Power.
const PROCESSOR: u16 = 113;
const PACKAGE: u16 = 114;

/// Event ids that tell the value of a counter.
pub(super) const IDS: [u16; 2] = [PROCESSOR, PACKAGE];

event_fields! {
    /// A reading of a counter. Those of packages have no processor.
    struct EnergyCounter<'a> {
        group: u64 = "Group",
        number: u64 = "Number",
        counter: u64 = "CounterId",
        value: u64 = "CounterValue",
    }
}

/// Counters that have been read.
#[derive(Default)]
pub(super) struct Energy {
    fields: Fields<EnergyCounter<'static>>,
    /// By CPU, if any, and number of the counter.
    latest: EnergyCounters<(Option<i16>, u64)>,
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event that tells the value of a counter.
    pub(super) fn energy_counter(&mut self, record: &Record<'_>, id: u16) {
        let Some(event) = self.energy.fields.read(record, &self.schemas, &mut self.health) else { return };
        let processor = event.group.zip(event.number);
        let (Some(counter), Some(value), true) = (event.counter, event.value, id == PACKAGE || processor.is_some())
        else {
            return self.health.count(HealthKind::FIELDS_NOT_AS_EXPECTED, Some(record.time()), || {
                format!(
                    "Microsoft-Windows-Kernel-Processor-Power {id} version {}: a field is missing",
                    record.version()
                )
            });
        };
        let cpu = processor.and_then(|(group, number)| {
            let processor = u16::try_from(group).ok().zip(u8::try_from(number).ok());
            processor.and_then(|(group, number)| cpu_of(ProcessorNumber { group, number }))
        });
        if let (None, Some((group, number))) = (cpu, processor) {
            return self.health.count(HealthKind::PROCESSOR_BEYOND_GROUP_0, Some(record.time()), || {
                format!("group {group} number {number}")
            });
        }
        let time = self.clock.ns(record.time());
        let of = if id == PROCESSOR { "processor" } else { "package" };
        match self.energy.latest.reading((cpu, counter), time, value, u64::MAX) {
            Reading::First => {}
            Reading::Counted(counted) => self.sink.energy(&EnergyRow {
                time,
                cpu: cpu.map(i32::from),
                package: None,
                counter: format!("{of} {counter}"),
                value: None,
                counts: Some(counted.value),
                span: counted.span,
            }),
            Reading::Nothing => {
                self.health.count(HealthKind::ENERGY_READINGS_WITHOUT_ROW, Some(record.time()), || {
                    format!("{of} {counter} of CPU {cpu:?}")
                });
            }
        }
    }
}
