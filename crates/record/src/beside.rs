//! What is looked at while perf records, and kept beside the recording: perf does not see it.

use std::path::PathBuf;

use crate::arguments::Arguments;
use crate::facts::{EnergyCounter, EnergyFacts, EnergyReading, MachineFacts, MemoryReading};
use crate::linux::energy::Counters;
use crate::memory_readings;
use crate::options::Options;
use crate::profiles;
use crate::readings::Readings;

type Read<T> = Box<dyn FnMut(i64) -> Option<T>>;

/// What was seen until now.
pub(crate) struct Beside {
    arguments: Arguments,
    memory: Readings<MemoryReading, fn(i64) -> Option<MemoryReading>>,
    energy: Option<Energy>,
}

struct Energy {
    counters: Vec<EnergyCounter>,
    readings: Readings<EnergyReading, Read<EnergyReading>>,
}

impl Beside {
    /// Looks for the first time; the recorder is at work.
    pub(crate) fn begin(options: &Options) -> Self {
        let wants_energy = profiles::complete(&options.profiles).iter().any(|profile| profile.linux.energy);
        let counters = wants_energy.then(|| Counters::below(&options.sysfs)).flatten();
        Self {
            arguments: Arguments::begin(),
            memory: Readings::begin(memory_readings::read),
            energy: counters.map(|counters| {
                let (counters, zones): (_, Vec<PathBuf>) = counters.into_parts();
                let read = move |seen_ns| Counters::read(&zones, seen_ns);
                Energy { counters, readings: Readings::begin(Box::new(read)) }
            }),
        }
    }

    /// Looks again. To be called some twenty times per second.
    pub(crate) fn tick(&mut self) {
        self.arguments.tick();
        self.memory.tick();
        if let Some(energy) = &mut self.energy {
            energy.readings.tick();
        }
    }

    /// Looks for the last time, and adds what was seen to the facts.
    pub(crate) fn finish(self, facts: &mut MachineFacts) {
        facts.processes = self.arguments.finish();
        facts.memory = self.memory.finish();
        facts.energy =
            self.energy.map(|energy| EnergyFacts { counters: energy.counters, readings: energy.readings.finish() });
    }
}
