//! What counters of energy counted, from the readings of the recorder.

use std::collections::VecDeque;

use tracesift_trace::energy::{EnergyCounters, Reading};
use tracesift_trace::rows::EnergyRow;
use tracesift_trace::{HealthKind, RowSink};

use super::rows::Rows;
use crate::recorder_facts::{EnergyCounter, EnergyReading, EnergyReadings};

/// Readings that are still to come.
#[derive(Default)]
pub(crate) struct Energy {
    counters: Vec<EnergyCounter>,
    readings: VecDeque<EnergyReading>,
    latest: EnergyCounters<usize>,
}

impl Energy {
    pub(crate) fn new(EnergyReadings { counters, readings }: EnergyReadings) -> Self {
        Self { counters, readings: readings.into(), ..Self::default() }
    }

    /// Makes rows of the readings up to a time, in ticks.
    pub(crate) fn until<Sink: RowSink>(&mut self, ticks: i64, rows: &mut Rows<'_, Sink>) {
        while let Some(reading) = self.readings.pop_front_if(|reading| reading.ticks <= ticks) {
            let time = rows.clock.ns(reading.ticks);
            for (index, (counter, value)) in self.counters.iter().zip(&reading.values).enumerate() {
                let Some(value) = *value else { continue };
                match self.latest.reading(index, time, value, counter.highest) {
                    Reading::First => {}
                    Reading::Counted(counted) => rows.sink.energy(&EnergyRow {
                        time,
                        cpu: None,
                        package: counter.package,
                        counter: counter.name.clone(),
                        value: Some(counted.value),
                        counts: None,
                        span: counted.span,
                    }),
                    Reading::Nothing => {
                        rows.health.count(HealthKind::ENERGY_READINGS_WITHOUT_ROW, Some(reading.ticks), || {
                            format!("{} of package {:?}", counter.name, counter.package)
                        });
                    }
                }
            }
        }
    }
}
