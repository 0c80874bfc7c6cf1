//! What is noted beside a recording while the recorder is at work, as it records none of it.

#[cfg(target_os = "linux")]
pub(crate) use linux::Notes;
#[cfg(not(target_os = "linux"))]
pub(crate) use others::Notes;

#[cfg(target_os = "linux")]
mod linux {
    use std::path::PathBuf;

    use crate::arguments::Arguments;
    use crate::error::Shortfall;
    use crate::facts::{EnergyCounter, EnergyFacts, EnergyReading, MachineFacts, MemoryReading};
    use crate::linux::energy::Counters;
    use crate::memory_readings;
    use crate::options::Options;
    use crate::process_memory::ProcessMemories;
    use crate::profiles;
    use crate::readings::Readings;

    type Read<T> = Box<dyn FnMut(i64) -> Option<T>>;

    /// Command lines, memory, counters of energy, and descriptors of processes.
    pub(crate) struct Notes {
        arguments: Arguments,
        memory: Readings<MemoryReading, fn(i64) -> Option<MemoryReading>>,
        processes: Option<ProcessMemories>,
        energy: Option<Energy>,
        looks_at_end: bool,
    }

    struct Energy {
        counters: Vec<EnergyCounter>,
        readings: Readings<EnergyReading, Read<EnergyReading>>,
    }

    impl Energy {
        /// Reads them for the first time, where a profile asks for them and the machine has some.
        fn begin(options: &Options) -> Option<Self> {
            let wants = profiles::complete(&options.profiles).iter().any(|profile| profile.linux.energy);
            let counters = wants.then(|| Counters::below(&options.sysfs)).flatten()?;
            let (counters, zones): (_, Vec<PathBuf>) = counters.into_parts();
            let read = move |seen_ns| Counters::read(&zones, seen_ns);
            Some(Self { counters, readings: Readings::begin(Box::new(read)) })
        }
    }

    impl Notes {
        /// The recorder is at work.
        pub(crate) fn begin(options: &Options, facts: &mut MachineFacts) -> Self {
            let (at_begin, looks_at_end) = looks_at_descriptors(options);
            let wants_memory = profiles::complete(&options.profiles).iter().any(|profile| profile.linux.process_memory);
            if at_begin {
                facts.descriptors.begin();
            }
            Self {
                arguments: Arguments::begin(),
                memory: Readings::begin(memory_readings::read),
                processes: wants_memory.then(ProcessMemories::begin),
                energy: Energy::begin(options),
                looks_at_end,
            }
        }

        /// To be called some twenty times per second.
        pub(crate) fn tick(&mut self) {
            self.arguments.tick();
            self.memory.tick();
            if let Some(processes) = &mut self.processes {
                processes.tick();
            }
            if let Some(energy) = &mut self.energy {
                energy.readings.tick();
            }
        }

        /// The recorder is about to end. Tells what is missing.
        pub(crate) fn finish(self, facts: &mut MachineFacts) -> Option<Shortfall> {
            facts.processes = self.arguments.finish();
            facts.memory = self.memory.finish();
            facts.process_memory = self.processes.map(ProcessMemories::finish).unwrap_or_default();
            facts.energy =
                self.energy.map(|energy| EnergyFacts { counters: energy.counters, readings: energy.readings.finish() });
            if self.looks_at_end {
                facts.descriptors.finish();
            }
            facts.descriptors.shortfall()
        }
    }

    /// Whether it is noted at the beginning and at the end what descriptors stand for: where calls are recorded that name them, and the
    /// recording has all calls since the beginning, or until the end.
    fn looks_at_descriptors(options: &Options) -> (bool, bool) {
        let are_named = profiles::complete(&options.profiles).iter().any(|profile| profile.linux.descriptors)
            && options.rotation.is_none();
        (are_named && options.ring.is_none(), are_named)
    }
}

/// Windows records it itself.
#[cfg(not(target_os = "linux"))]
mod others {
    use crate::error::Shortfall;
    use crate::facts::MachineFacts;
    use crate::options::Options;

    /// Nothing.
    #[derive(Debug)]
    pub(crate) struct Notes;

    impl Notes {
        pub(crate) fn begin(_options: &Options, _facts: &mut MachineFacts) -> Self {
            Self
        }

        pub(crate) fn tick(&mut self) {}

        pub(crate) fn finish(self, _facts: &mut MachineFacts) -> Option<Shortfall> {
            None
        }
    }
}
