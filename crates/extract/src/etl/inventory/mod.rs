//! The first pass: what is known late.
//!
//! Walks every record once and decodes only what a later record may explain to an earlier one: lifetimes, images with
//! their identities, methods, file names, the volume map, sampling intervals; and, apart from these, what of stacks is known late.

mod dotnet;
mod enabled;
mod event_stacks;
mod injected;
mod kernel;
mod late_stacks;
mod machine;
mod manifest;
mod processors;
mod stacks;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tracesift_etl::Record;
use tracesift_etl::class::{EventClass, Group, KERNEL_EVENT_TRACING};
use tracesift_etl::payload::{
    KERNEL_FILE, KERNEL_NETWORK, PROCESSOR_POWER, Payload, PayloadError, ProviderEnabled, TCPIP, dotnet as runtime,
};
use tracesift_etl::schema::Schemas;
use tracesift_trace::HealthKind;
use tracesift_trace::file_names::FileNames;
use tracesift_trace::methods::MethodsBuilder;
use tracesift_trace::modules::Images;
use tracesift_trace::registry_keys::RegistryKeys;
use tracesift_trace::sampling::SamplingIntervals;
use tracesift_trace::{Clock, Health, Lifetimes};

use crate::etl::file_sources::FileSources;
use crate::etl::machine::Machine;
use crate::etl::network_sources::NetworkSources;
use crate::etl::paths::PathMap;
use enabled::Enabled;
pub(crate) use event_stacks::{CLR_STACK, USER_STACK};
pub(crate) use late_stacks::{LateFrames, LatePart, LateStack, LateStacks};
pub(super) use manifest::PROVIDER as KERNEL_PROCESS;
pub(crate) use processors::{Processors, cpu_of};
pub(in crate::etl) use stacks::{CutFacts, StackInventory};

/// A profile source: the timer or a hardware counter.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProfileSource {
    pub(crate) name: Option<String>,
    pub(crate) interval: u32,
}

/// All that the first pass collects.
pub(crate) struct Inventory {
    pub(crate) lifetimes: Lifetimes,
    /// Processes and threads as the manifest provider tells them; used where the kernel's own records are missing.
    twin: Lifetimes,
    has_kernel_processes: bool,
    has_twin: bool,
    pub(crate) images: Images,
    pub(crate) methods: MethodsBuilder,
    pub(crate) files: FileNames,
    /// Names of keys of the registry.
    pub(crate) registry_keys: RegistryKeys,
    /// Which operations on files the recording has.
    pub(crate) file_sources: FileSources,
    pub(crate) intervals: SamplingIntervals,
    pub(crate) sources: BTreeMap<u32, ProfileSource>,
    pub(crate) counters: Vec<String>,
    pub(crate) paths: PathMap,
    /// Names of the types of kernel objects, by their numbers.
    pub(crate) object_types: FxHashMap<u16, Box<str>>,
    pub(crate) machine: Machine,
    pub(crate) processors: Processors,
    pub(crate) network: NetworkSources,
    /// Which events were enabled.
    pub(crate) enabled: Enabled,
    /// Whether the recording has system calls.
    pub(crate) has_system_calls: bool,
    pub(crate) health: Health,
    pub(crate) span: RecordedSpan,
    pub(crate) records: u64,
    /// Names and layouts of the events that are kept one by one; `None` where none are.
    pub(crate) schemas: Schemas,
    last_pair: (u32, u32),
    clock: Clock,
    start_filetime: i64,
}

/// When scheduling was recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordedSpan {
    /// First record that was logged while the session ran (no header, nothing that a merge tool wrote, no rundown).
    pub(crate) first: Option<i64>,
    /// Last switch, ready event or sample.
    pub(crate) last_activity: Option<i64>,
    /// Last record of any live class.
    pub(crate) last: Option<i64>,
}

impl Inventory {
    pub(crate) fn new(clock: Clock, start_filetime: i64) -> Self {
        Self {
            lifetimes: Lifetimes::new(),
            twin: Lifetimes::new(),
            has_kernel_processes: false,
            has_twin: false,
            images: Images::new(),
            methods: MethodsBuilder::new(),
            files: FileNames::new(),
            registry_keys: RegistryKeys::default(),
            intervals: SamplingIntervals::new(),
            sources: BTreeMap::new(),
            counters: Vec::new(),
            paths: PathMap::default(),
            object_types: FxHashMap::default(),
            machine: Machine::default(),
            processors: Processors::default(),
            network: NetworkSources::default(),
            enabled: Enabled::default(),
            has_system_calls: false,
            file_sources: FileSources::default(),
            health: Health::new(),
            span: RecordedSpan::default(),
            records: 0,
            schemas: Schemas::new(),
            last_pair: (u32::MAX, u32::MAX),
            clock,
            start_filetime,
        }
    }

    /// Takes a record; they come in time order. All that is wrong with it is counted in `health`.
    pub(crate) fn record(&mut self, record: &Record<'_>) {
        self.records += 1;
        let class = record.class();
        if !matches!(class, EventClass::Kernel { .. }) && Schemas::has_schema(record) {
            self.schemas.learn(record);
        }
        match class {
            EventClass::Kernel { group, opcode, version } => {
                if group != Group::SYSTEM_CONFIG && group != Group::EVENT_TRACE {
                    self.pair(record);
                }
                self.kernel(record, group, opcode, version);
            }
            EventClass::Classic { guid, opcode, version } => self.injected(record, guid, opcode, version),
            EventClass::Event { provider, id, version } => {
                self.pair(record);
                self.live(record.time());
                if provider == runtime::RUNTIME_PROVIDER || provider == runtime::RUNDOWN_PROVIDER {
                    self.dotnet(record, provider, id, version);
                } else if provider == manifest::PROVIDER {
                    self.kernel_process(record, id, version);
                } else if provider == PROCESSOR_POWER {
                    self.processor_power(record, id, version);
                } else if provider == TCPIP || provider == KERNEL_NETWORK {
                    self.network.meet_provider(provider, id);
                } else if provider == KERNEL_FILE {
                    self.kernel_file(record, id, version);
                } else if provider == KERNEL_EVENT_TRACING
                    && id == ProviderEnabled::ID
                    && version > 0
                    && let Some(enabled) = self.decode::<ProviderEnabled<'_>>(record, version)
                {
                    self.enabled.take_provider(&enabled);
                }
            }
            EventClass::Message { .. } => self.live(record.time()),
        }
    }

    /// The raw tick of a FILETIME; `None` for 0 and for times that no recording can hold.
    fn ticks_of(&self, filetime: u64) -> Option<i64> {
        let filetime = i64::try_from(filetime).ok().filter(|filetime| *filetime > 0)?;
        let since_zero = filetime.checked_sub(self.start_filetime)?.checked_mul(100)?;
        Some(self.clock.ticks(since_zero))
    }

    /// The lifetimes to use.
    pub(crate) fn take_lifetimes(&mut self) -> Lifetimes {
        if self.has_twin && !self.has_kernel_processes {
            return std::mem::take(&mut self.twin);
        }
        std::mem::take(&mut self.lifetimes)
    }

    fn pair(&mut self, record: &Record<'_>) {
        if let (Some(pid), Some(tid)) = (record.pid(), record.tid())
            && (pid, tid) != self.last_pair
        {
            self.last_pair = (pid, tid);
            self.lifetimes.pair(pid, tid);
            self.twin.pair(pid, tid);
        }
    }

    fn live(&mut self, ticks: i64) {
        let span = &mut self.span;
        span.first = Some(span.first.map_or(ticks, |first| first.min(ticks)));
        span.last = Some(span.last.map_or(ticks, |last| last.max(ticks)));
    }

    fn activity(&mut self, ticks: i64) {
        self.live(ticks);
        let last = &mut self.span.last_activity;
        *last = Some(last.map_or(ticks, |last| last.max(ticks)));
    }

    /// Decodes a payload, or counts why it cannot be.
    fn decode<'a, T: Payload<'a>>(&mut self, record: &Record<'a>, version: u8) -> Option<T> {
        let parsed = T::parse(record.payload(), version, record.pointer_size());
        self.checked(record, parsed)
    }

    fn checked<T>(&mut self, record: &Record<'_>, parsed: Result<T, PayloadError>) -> Option<T> {
        match parsed {
            Ok(value) => Some(value),
            Err(error) => {
                count_undecodable(&mut self.health, record, &error);
                None
            }
        }
    }
}

/// Counts a payload that does not fit its layout.
pub(crate) fn count_undecodable(health: &mut Health, record: &Record<'_>, error: &PayloadError) {
    health.count(HealthKind::UNDECODABLE_PAYLOAD, Some(record.time()), || {
        format!("{}: {error}", describe(&record.class()))
    });
}

fn describe(class: &EventClass) -> String {
    match class {
        EventClass::Kernel { group, opcode, version } => {
            format!("kernel class {:#04x} opcode {opcode} version {version}", group.0)
        }
        EventClass::Classic { guid, opcode, version } => format!("class {guid} opcode {opcode} version {version}"),
        EventClass::Event { provider, id, version } => format!("provider {provider} event {id} version {version}"),
        EventClass::Message { guid, number } => format!("message {guid} {number}"),
    }
}
