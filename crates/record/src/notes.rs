//! What is noted beside a recording while the recorder is at work, as it records none of it.

#[cfg(target_os = "linux")]
pub(crate) use linux::Notes;
#[cfg(not(target_os = "linux"))]
pub(crate) use others::Notes;

#[cfg(target_os = "linux")]
mod linux {
    use crate::arguments::Arguments;
    use crate::error::Shortfall;
    use crate::facts::MachineFacts;
    use crate::memory_readings::MemoryReadings;
    use crate::options::Options;

    /// Command lines, memory, and descriptors of processes.
    #[derive(Debug)]
    pub(crate) struct Notes {
        arguments: Arguments,
        memory: MemoryReadings,
        looks_at_end: bool,
    }

    impl Notes {
        /// The recorder is at work.
        pub(crate) fn begin(options: &Options, facts: &mut MachineFacts) -> Self {
            let (at_begin, looks_at_end) = looks_at_descriptors(options);
            if at_begin {
                facts.descriptors.begin();
            }
            Self { arguments: Arguments::begin(), memory: MemoryReadings::begin(), looks_at_end }
        }

        /// To be called some twenty times per second.
        pub(crate) fn tick(&mut self) {
            self.arguments.tick();
            self.memory.tick();
        }

        /// The recorder is about to end. Tells what is missing.
        pub(crate) fn finish(self, facts: &mut MachineFacts) -> Option<Shortfall> {
            facts.processes = self.arguments.finish();
            facts.memory = self.memory.finish();
            if self.looks_at_end {
                facts.descriptors.finish();
            }
            facts.descriptors.shortfall()
        }
    }

    /// Whether it is noted at the beginning and at the end what descriptors stand for: where calls are recorded that name them, and the
    /// recording has all calls since the beginning, or until the end.
    fn looks_at_descriptors(options: &Options) -> (bool, bool) {
        let profiles = crate::profiles::complete(&options.profiles);
        let are_named = profiles.iter().any(|profile| profile.linux.descriptors) && options.rotation.is_none();
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
