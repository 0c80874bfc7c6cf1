//! Clock rates of processors, as the power manager sets them.

use tracesift_etl::Guid;
use tracesift_etl::Record;
use tracesift_etl::payload::{PROCESSOR_POWER, PerformanceState};
use tracesift_trace::RowSink;
use tracesift_trace::rows::CpuFrequencyRow;

use super::SecondPass;
use crate::etl::inventory::cpu_of;

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of a provider that may have a row in a table of its own.
    pub(super) fn provider_record(&mut self, record: &Record<'_>, provider: Guid, id: u16, version: u8) {
        if provider != PROCESSOR_POWER || !PerformanceState::IDS.contains(&id) || !self.wanted.cpu_frequencies {
            return;
        }
        let Some(event) = self.decode::<PerformanceState>(record, version) else { return };
        // A rate of 0 says that the kernel does not know it; those beyond the first group were counted with their kinds.
        if let Some(cpu) = cpu_of(event.processor).filter(|_| event.mhz > 0) {
            let (time, khz) = (self.clock.ns(record.time()), i64::from(event.mhz) * 1000);
            self.sink.cpu_frequency(&CpuFrequencyRow { time, cpu, khz });
        }
    }
}
