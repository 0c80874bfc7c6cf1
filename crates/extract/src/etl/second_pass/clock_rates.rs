//! Clock rates of processors, as the power manager sets them.

use tracesift_etl::Record;
use tracesift_etl::payload::PerformanceState;
use tracesift_trace::RowSink;
use tracesift_trace::rows::CpuFrequencyRow;

use super::SecondPass;
use crate::etl::inventory::cpu_of;

impl<Sink: RowSink> SecondPass<'_, Sink> {
    pub(super) fn performance_state(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<PerformanceState>(record, version) else { return };
        // A rate of 0 says that the kernel does not know it; those beyond the first group were counted with their kinds.
        if let Some(cpu) = cpu_of(event.processor).filter(|_| event.mhz > 0) {
            let (time, khz) = (self.clock.ns(record.time()), i64::from(event.mhz) * 1000);
            self.sink.cpu_frequency(&CpuFrequencyRow { time, cpu, khz, ..CpuFrequencyRow::default() });
        }
    }
}
