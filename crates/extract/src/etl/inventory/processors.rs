//! Kinds of cores and their nominal clock rates, as the power manager tells of them when its state is captured.

use std::collections::BTreeMap;

use tracesift_etl::Record;
use tracesift_etl::payload::{PowerProfile, ProcessorNumber, ProcessorPerformance, ProcessorSummary};
use tracesift_trace::HealthKind;
use tracesift_trace::rows::CpuRow;

use super::Inventory;

/// What is known of each processor.
#[derive(Debug, Default)]
pub(crate) struct Processors {
    rows: BTreeMap<i16, CpuRow>,
    /// Names of the profiles of power settings.
    pub(crate) profiles: BTreeMap<u8, String>,
}

/// The number that records call a processor by. `None` above the first group: nothing tells how many processors groups have.
pub(crate) fn cpu_of(processor: ProcessorNumber) -> Option<i16> {
    (processor.group == 0).then_some(i16::from(processor.number))
}

impl Processors {
    fn row(&mut self, cpu: i16) -> &mut CpuRow {
        let unknown = CpuRow { cpu, ..CpuRow::default() };
        self.rows.entry(cpu).or_insert(unknown)
    }

    /// Table `cpus`.
    pub(crate) fn into_rows(self) -> Vec<CpuRow> {
        self.rows.into_values().collect()
    }
}

impl Inventory {
    pub(super) fn processor_power(&mut self, record: &Record<'_>, id: u16, version: u8) {
        if PowerProfile::IDS.contains(&id) {
            if let Some(profile) = self.decode::<PowerProfile<'_>>(record, version) {
                self.processors.profiles.insert(profile.id, profile.name.to_string());
            }
            return;
        }
        let (processor, mhz, class) = if ProcessorSummary::IDS.contains(&id) {
            let Some(summary) = self.decode::<ProcessorSummary>(record, version) else { return };
            (summary.processor, summary.nominal_mhz, None)
        } else if id == ProcessorPerformance::ID {
            let Some(performance) = self.decode::<ProcessorPerformance>(record, version) else { return };
            (performance.processor, performance.nominal_mhz, performance.efficiency_class)
        } else {
            return;
        };
        let Some(cpu) = cpu_of(processor) else {
            self.health.count(HealthKind::PROCESSOR_BEYOND_GROUP_0, Some(record.time()), || {
                format!("group {} number {}", processor.group, processor.number)
            });
            return;
        };
        let row = self.processors.row(cpu);
        // Virtual machines tell 0 where nobody told them.
        row.nominal_khz = Some(i64::from(mhz) * 1000).filter(|khz| *khz > 0).or(row.nominal_khz);
        row.efficiency_class = class.and_then(|class| i8::try_from(class).ok()).or(row.efficiency_class);
    }
}
