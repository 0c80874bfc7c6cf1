//! The second pass over a Linux recording: records in time order become rows.

mod branches;
mod call_chain;
mod chain_cache;
mod chain_words;
mod counters;
mod disk;
mod dns;
mod energy;
mod event_table;
mod exceptions;
mod interrupts;
mod locks;
mod mapped_files;
mod memory;
mod network;
mod page_cache;
mod page_faults;
mod power;
mod reclaims;
mod rows;
mod sample_context;
mod samples;
mod scheduler;
mod stack_ends;
mod syscalls;
mod user_stacks;

use std::collections::VecDeque;
use std::sync::Arc;

use tracesift_perf::{CpuMode, Kind, Metadata, Payload, Record, is_of_a_guest};
use tracesift_trace::HealthKind;
use tracesift_trace::RowSink;
use tracesift_trace::info::Disk;
use tracesift_trace::rows::{FileRow, MarkRow, MemoryStateRow, SyscallNameRow, page_fault_kinds};

use super::cpu_event::{Role, Roles};
use super::cpu_limits::CpuLimits;
use super::namespaces::Ids;
use super::time::ticks;
use super::tracepoint::{Tracepoint, tracepoints};
use crate::branches::Branches;
use crate::recorder_facts::{EnergyReadings, Looks, Mark, MemoryReading, ProcessMemory};
use branches::SampledBranches;
pub(super) use chain_cache::ChainCache;
use counters::Counters;
use disk::Disks;
use dns::Dns;
use energy::Energy;
pub(super) use event_table::EventTable;
use exceptions::ThrownAndSent;
use interrupts::InterruptSpans;
use locks::Locks;
use memory::Memory;
use network::Network;
use page_cache::PageCache;
use page_faults::{FaultSource, Faulted, page_fault};
use power::Power;
use reclaims::MemoryReclaims;
pub(super) use rows::Rows;
use samples::profile;
use scheduler::{Scheduler, SwitchSource};
pub(super) use stack_ends::StackEnds;
pub(super) use syscalls::EndNames;
use syscalls::Syscalls;
pub(super) use syscalls::tables_of_call;
pub(super) use user_stacks::UserStacks;

/// Records in the order of time become rows.
pub(crate) struct SecondPass<'s, Sink> {
    rows: Rows<'s, Sink>,
    /// What the samples of each event are.
    roles: Roles,
    /// By event; `None` for what is no tracepoint of ours.
    tracepoints: Vec<Option<Tracepoint>>,
    scheduler: Scheduler,
    disks: Disks,
    faults: FaultSource,
    page_cache: PageCache,
    memory: Memory,
    reclaims: MemoryReclaims,
    interrupts: InterruptSpans,
    locks: Locks,
    exceptions: ThrownAndSent,
    network: Network,
    dns: Dns,
    syscalls: Syscalls,
    power: Power,
    counters: Counters,
    branches: SampledBranches,
    events: EventTable,
    /// Those that were written beside the recording and are still to come.
    marks: VecDeque<Mark>,
    /// Memory of the machine, as the recorder read it.
    readings: VecDeque<MemoryReading>,
    /// Memory of processes, likewise.
    process_memory: VecDeque<ProcessMemory>,
    /// Its counters of energy, likewise.
    energy: Energy,
}

/// What the pass leaves behind.
pub(crate) struct Finished<'s, Sink> {
    pub(crate) rows: Rows<'s, Sink>,
    pub(crate) has_switches: bool,
    pub(crate) has_ready: bool,
    pub(crate) disks: Vec<Disk>,
    pub(crate) syscall_names: Vec<SyscallNameRow>,
    pub(crate) files: Vec<FileRow>,
    pub(crate) counters: Counters,
    pub(crate) branches: Branches,
}

impl<'s, Sink: RowSink> SecondPass<'s, Sink> {
    /// The pass over a recording with these events; `start` and `of_tasks` as in the inventory.
    pub(crate) fn new(
        mut rows: Rows<'s, Sink>,
        metadata: &Arc<Metadata>,
        roles: Roles,
        (start, of_tasks): (i64, Option<bool>),
        events: EventTable,
    ) -> Self {
        let tracepoints = tracepoints(metadata, &mut rows.health);
        let source = SwitchSource::of(metadata, &tracepoints, of_tasks);
        let scheduler = Scheduler::new(rows.clock, start, &rows.population, source);
        let faults = FaultSource::of(metadata, &tracepoints, &mut rows.health);
        let page_cache = PageCache::of(metadata, &tracepoints);
        let syscalls = Syscalls::new(metadata.features.arch.as_deref(), &tracepoints);
        let disks = Disks::new(&tracepoints);
        let network = Network::new(&tracepoints);
        let reclaims = MemoryReclaims::new(metadata.tracing.as_ref().map(|tracing| tracing.page_size));
        let (power, counters) = (Power::default(), Counters::new(metadata.clone()));
        Self {
            rows,
            roles,
            tracepoints,
            scheduler,
            disks,
            faults,
            page_cache,
            memory: Memory::default(),
            reclaims,
            interrupts: InterruptSpans::default(),
            locks: Locks::default(),
            exceptions: ThrownAndSent::default(),
            network,
            dns: Dns::default(),
            syscalls,
            power,
            counters,
            branches: SampledBranches::of(metadata),
            events,
            marks: VecDeque::new(),
            readings: VecDeque::new(),
            process_memory: VecDeque::new(),
            energy: Energy::default(),
        }
    }

    /// Marks that are not in the recording, in order.
    pub(crate) fn with_marks(mut self, marks: Vec<Mark>) -> Self {
        self.marks = marks.into();
        self
    }

    /// Readings of memory that are not in the recording, in order: of the machine, and of processes.
    pub(crate) fn with_memory(mut self, readings: Vec<MemoryReading>, processes: Vec<ProcessMemory>) -> Self {
        self.readings = readings.into();
        self.process_memory = processes.into();
        self
    }

    /// Readings of the counters of energy that are not in the recording.
    pub(crate) fn with_energy(mut self, readings: EnergyReadings) -> Self {
        self.energy = Energy::new(readings);
        self
    }

    /// Limits of clock rates when the recording began.
    pub(crate) fn with_limits(mut self, limits: &[CpuLimits]) -> Self {
        self.power.begin_with(limits);
        self
    }

    /// Looks at descriptors that are not in the recording, and what these tell of descriptors that were open at the end.
    pub(crate) fn with_descriptors(mut self, looks: Looks, end_names: EndNames) -> Self {
        self.syscalls.descriptors.learn(looks, end_names);
        self
    }

    /// Whose ids tracepoints have.
    pub(crate) fn with_ids(mut self, ids: Ids) -> Self {
        self.scheduler.learn(ids);
        self
    }

    /// Writes what the recorder noted up to here.
    fn notes_until(&mut self, ticks: i64) {
        while let Some(MemoryReading { ticks, row }) = self.readings.pop_front_if(|reading| reading.ticks <= ticks) {
            self.rows.sink.memory_state(&MemoryStateRow { time: self.rows.clock.ns(ticks), ..row });
        }
        while let Some(reading) = self.process_memory.pop_front_if(|reading| reading.ticks <= ticks) {
            self.memory.reading(&reading, &mut self.rows);
        }
        self.energy.until(ticks, &mut self.rows);
        while let Some(mark) = self.marks.pop_front_if(|mark| mark.ticks <= ticks) {
            let time = self.rows.clock.ns(mark.ticks);
            self.rows.sink.mark(&MarkRow { time, cpu: -1, process: None, thread: None, text: mark.text });
        }
    }

    /// Where the rows go.
    pub(crate) fn sink(&self) -> &Sink {
        self.rows.sink
    }

    /// Asks for the memory that a record needs which comes soon.
    #[inline]
    pub(crate) fn ask_for(&self, soon: &Record<'_>) {
        if let Some(chain) = soon.chain_number() {
            self.rows.chains.ask_for(chain, soon.thread().map(|(pid, _)| pid));
        }
    }

    /// A record.
    pub(crate) fn record(&mut self, record: &Record<'_>) {
        if let Some(ticks) = ticks(record) {
            self.rows.now = self.rows.now.max(ticks);
            self.notes_until(ticks);
            self.syscalls.descriptors.looks_until(ticks, &mut self.rows);
        }
        self.events.record(record, &mut self.rows);
        match record.kind() {
            Kind::Sample => self.sample(record),
            Kind::Lost | Kind::LostSamples => {
                self.disks.lost(self.rows.clock.ns(self.rows.now));
                self.power.lost();
                self.interrupts.lost(&mut self.rows);
                self.locks.lost(&mut self.rows);
                self.exceptions.lost(&mut self.rows);
                if record.kind() == Kind::Lost {
                    self.syscalls.descriptors.lost();
                }
            }
            Kind::Fork | Kind::Comm if self.syscalls.follow_tasks() || self.page_cache.is_followed() => {
                self.task(record);
            }
            Kind::Mmap | Kind::Mmap2 | Kind::Exit if self.page_cache.is_followed() => self.mapped_file(record),
            Kind::Read => self.counters.at_end_of_thread(record, &mut self.rows),
            Kind::Switch | Kind::SwitchCpuWide => self.scheduler.record(record, &mut self.rows),
            _ => {}
        }
    }

    /// A process begins, or starts another program. The first pass counts what does not decode.
    fn task(&mut self, record: &Record<'_>) {
        let Some(ticks) = ticks(record).map(|ticks| ticks.max(self.rows.now)) else { return };
        let descriptors = &mut self.syscalls.descriptors;
        let (follows_descriptors, names) = (descriptors.are_followed(), &mut self.page_cache.names);
        let id = |id: i32| u32::try_from(id).ok();
        match record.payload() {
            Ok(Payload::Fork(task)) if task.pid != task.parent_pid => {
                if let (Some(parent), Some(child)) = (id(task.parent_pid), id(task.pid)) {
                    if follows_descriptors {
                        descriptors.fork([parent, child], ticks, &mut self.rows);
                    }
                    let [parent, child] = [parent, child].map(|pid| self.rows.population.process_at(pid, ticks));
                    names.fork(parent, child);
                }
            }
            Ok(Payload::Comm(comm)) if comm.exec => {
                if let (Some(pid), Some(tid)) = (id(comm.pid), id(comm.tid)) {
                    if follows_descriptors {
                        descriptors.exec([pid, tid], ticks, &mut self.rows);
                    }
                    let process = self.rows.population.process_at(pid, ticks);
                    names.forget(process);
                    let time = self.rows.clock.ns(ticks);
                    self.syscalls.exec(process, time, &mut self.rows);
                }
            }
            _ => {}
        }
    }

    /// A process maps a file, or ends.
    fn mapped_file(&mut self, record: &Record<'_>) {
        let ticks = ticks(record).unwrap_or(self.rows.now);
        let names = &mut self.page_cache.names;
        match record.payload() {
            Ok(Payload::Mapping(mapping)) if record.cpu_mode() != CpuMode::Kernel => {
                if let Ok(pid) = u32::try_from(mapping.pid) {
                    let process = self.rows.population.process_at(pid, ticks);
                    names.map(process, &mapping, &mut self.syscalls.descriptors);
                }
            }
            Ok(Payload::Exit(task)) if task.pid == task.tid => {
                if let Some(process) =
                    u32::try_from(task.pid).ok().and_then(|pid| self.rows.population.known_process_at(pid, ticks))
                {
                    names.forget(process);
                }
            }
            _ => {}
        }
    }

    fn sample(&mut self, record: &Record<'_>) {
        let Some(event) = record.event() else {
            let health = &mut self.rows.health;
            return health.count(HealthKind::SAMPLES_OF_NO_EVENT, ticks(record), || "their id is not known".to_owned());
        };
        let role = self.roles.get(event);
        let tracepoint = self.tracepoints.get(event).and_then(Option::as_ref);
        let fault = self.faults.kind(event);
        let has_values = self.counters.are_read_by(event);
        let has_branches = self.branches.are_recorded_by(event);
        if role == Role::Other && tracepoint.is_none() && fault.is_none() && !has_values && !has_branches {
            return;
        }
        if is_of_a_guest(record.cpu_mode()) {
            let health = &mut self.rows.health;
            return health.count(HealthKind::SAMPLES_OF_GUESTS, ticks(record), || "in a virtual machine".to_owned());
        }
        let rows = &mut self.rows;
        let sample = record.sample();
        let mut at = match &sample {
            Ok(sample) => rows.context_of(record, sample, event),
            Err(error) => return rows.undecodable(record, error),
        };
        if at.sample.tid == Some(0)
            && let Some(thread) = at.cpu.and_then(|cpu| self.scheduler.outside(cpu))
        {
            (at.thread, at.process) = (thread, rows.population.process_of(thread));
        }
        self.scheduler.seen(&at, rows);
        if role != Role::Other {
            profile(&at, role, rows);
        }
        if has_branches {
            self.branches.sample(&at, rows);
        }
        if let Some(kind) = fault {
            let trap = tracepoint.and_then(|tracepoint| match tracepoint {
                Tracepoint::Trap(fields) => Some(fields),
                _ => None,
            });
            // Of several faults that a sample stands for only the last one is known.
            let weight = self.faults.weight(&at);
            let is_major = kind == page_fault_kinds::MAJOR && weight == 1;
            let is_hard =
                trap.is_none() && self.page_cache.fault_ends(is_major, &at, &mut self.syscalls.descriptors, rows);
            page_fault(&at, &Faulted { kind, weight, trap, is_hard }, rows);
        }
        if has_values && !self.scheduler.takes_values(tracepoint) {
            self.counters.read(&at, rows);
        }
        match tracepoint {
            Some(Tracepoint::Switch(fields)) => self.scheduler.switch(fields, &at, &mut self.counters, rows),
            Some(Tracepoint::Ready(fields)) => self.scheduler.ready(fields, &at, rows),
            Some(Tracepoint::Block(fields)) => self.disks.event(fields, &at, rows),
            Some(Tracepoint::Syscall(fields)) => {
                self.syscalls.event(fields, &at, (&self.network, &mut self.page_cache), rows);
            }
            Some(Tracepoint::Filemap(fields)) => self.page_cache.event(fields, &at, rows),
            Some(Tracepoint::Trap(fields)) => self.page_cache.trap(fields, &at),
            Some(Tracepoint::Frequency(fields)) => self.power.frequency(fields, &at, rows),
            Some(Tracepoint::Limits(fields)) => self.power.limits(fields, &at, rows),
            Some(Tracepoint::Measured(fields)) => self.power.measured(fields, &at, rows),
            Some(Tracepoint::Idle(fields)) => {
                if let Some((cpu, state)) = self.power.idle(fields, &at, rows) {
                    self.scheduler.idles(cpu, state);
                }
            }
            Some(Tracepoint::Rss(fields)) => self.memory.rss(fields, &at, rows),
            Some(Tracepoint::Reclaim(fields)) => self.reclaims.event(fields, &at, &mut self.scheduler, rows),
            Some(Tracepoint::Interrupt(fields)) => self.interrupts.event(fields, &at, rows),
            Some(Tracepoint::Lock(fields)) => self.locks.event(fields, &at, rows),
            Some(Tracepoint::Exception(fields)) => self.exceptions.event(fields, &at, &mut self.scheduler, rows),
            Some(Tracepoint::Network(fields)) => self.network.event(fields, &at, rows),
            Some(Tracepoint::Dns(fields)) => self.dns.event(fields, &at, rows),
            Some(Tracepoint::Heap(fields)) => self.syscalls.heap(fields, &at, rows),
            Some(Tracepoint::Path(fields)) => self.syscalls.descriptors.path(fields, &at, rows),
            None => {}
        }
    }

    /// The end of the recording, `end` nanoseconds after time zero.
    pub(crate) fn finish(mut self, end: i64) -> Finished<'s, Sink> {
        let ticks = self.rows.clock.ticks(end);
        self.notes_until(i64::MAX);
        let (has_switches, has_ready) = self.scheduler.finish(end, &mut self.rows);
        let disks = self.disks.finish(&mut self.rows);
        let (syscall_names, files) = self.syscalls.finish(ticks, &mut self.rows);
        self.power.finish(ticks, &mut self.rows);
        self.memory.finish(ticks, &mut self.rows);
        self.reclaims.finish(ticks, &mut self.rows);
        self.interrupts.finish(&mut self.rows);
        self.locks.finish(ticks, &mut self.rows);
        self.exceptions.finish(&mut self.rows);
        self.network.finish(&mut self.rows);
        self.dns.finish(end, &mut self.rows);
        let Self { rows, counters, branches, .. } = self;
        let branches = branches.finish();
        Finished { rows, has_switches, has_ready, disks, syscall_names, files, counters, branches }
    }
}
