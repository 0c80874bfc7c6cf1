//! The second pass: records in time order become rows.

mod allocations;
mod assemblies;
mod clock_rates;
mod clr_allocations;
mod compilations;
mod contention;
mod counters;
mod cpu_states;
mod disk;
mod dns;
mod energy;
mod event_stacks;
mod event_table;
mod event_texts;
mod exceptions;
mod file_io;
mod filter_calls;
mod gc;
mod handles;
mod interrupts;
mod last_branches;
mod memory;
mod network;
mod page_faults;
mod power_settings;
mod process_counters;
mod provider_fields;
mod registry;
mod scheduling;
mod slice_rows;
mod slices;
mod socket_calls;
mod system_calls;
mod thread_pool;
mod told;
mod ui;
mod work_items;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tracesift_etl::payload::dotnet::{FRAMEWORK_PROVIDER, RUNTIME_PROVIDER, TASKS_PROVIDER};
use tracesift_etl::payload::{
    CounterCorruption, CounterSample, DiskFlush, DiskInit, DiskTransfer, FileCreate, FileInformation, FilterCallBegin,
    FilterCallFailure, HardFault, KERNEL_FILE, KERNEL_MEMORY, KERNEL_NETWORK, KERNEL_PROCESS, KernelProcessStop,
    LastBranches, MappedView, Mark, PROCESSOR_POWER, PageFault, PageLists, Payload, PerformanceState, Process,
    ProcessCounters, ProcessMemories, SampledProfile, SplitIo, SystemCallEnter, SystemCallExit, TCPIP,
};
use tracesift_etl::schema::Schemas;
use tracesift_etl::{EventClass, Group, Guid, Record, class};
use tracesift_trace::allocations::Allocations;
use tracesift_trace::compilations::Compilations;
use tracesift_trace::disk_queues::DiskQueues;
use tracesift_trace::dns::Caller;
use tracesift_trace::file_names::{FileNames, PathId};
use tracesift_trace::filter_calls::FilterCalls;
use tracesift_trace::ids::{FileId, ProcessId, StackId, ThreadId};
use tracesift_trace::registry_keys::RegistryKeys;
use tracesift_trace::rows::MarkRow;
use tracesift_trace::sampling::SamplingIntervals;
use tracesift_trace::stack_binder::{LateUserHalf, StackBinder, UserHalves};
use tracesift_trace::stack_keys::Half;
use tracesift_trace::stacks::{HalfId, KeyReference, Stacks};
use tracesift_trace::switches::{Deaths, Runs, SwitchTracker};
use tracesift_trace::system_calls::SystemCalls;
use tracesift_trace::{Clock, Health, Population, RowSink};

use crate::branches::Branches;
use crate::counters::SampledCounter;
use crate::etl::file_sources::FileSources;
use crate::etl::inventory::{LateFrames, LatePart, LateStacks, count_undecodable};
use crate::etl::machine::MemorySize;
use crate::etl::network_sources::NetworkSources;
use crate::etl::no_return::NoReturn;
use crate::event_kinds::{EventChoice, WantedHooks};
use crate::table_choice::WantedTables;
use assemblies::LoadedAssemblies;
use clr_allocations::ClrAllocations;
use contention::Contention;
use counters::Counters;
use cpu_states::ProcessorStates;
use disk::Initiations;
use dns::Dns;
use energy::Energy;
use event_table::EventTable;
use exceptions::DotNetExceptions;
use file_io::FileIo;
use gc::Gc;
use handles::HandleState;
use interrupts::InterruptState;
use memory::Memory;
use network::Network;
use power_settings::PowerSettings;
use registry::Registry;
pub(crate) use slice_rows::SliceRows;
use socket_calls::Sockets;
use thread_pool::ThreadPools;
pub(crate) use told::Told;
use ui::Windows;
use work_items::QueuedWork;

/// Late halves between two places at which tables of stacks may be dropped.
const LATE_PACE: usize = 1 << 10;

/// What the second pass works with.
pub(crate) struct SecondPass<'s, Sink> {
    pub(crate) clock: Clock,
    pub(crate) population: Population,
    pub(crate) switches: SwitchTracker,
    pub(crate) stacks: Stacks,
    pub(crate) health: Health,
    /// What of stacks in events could not be used. It is apart, as what workers count is told slice by slice.
    health_of_items: Health,
    pub(crate) sink: &'s mut Sink,
    /// Records that lead to no table need no stack either.
    wanted: WantedTables,
    intervals: SamplingIntervals,
    counters: Counters,
    files: FileNames,
    file_ids: FxHashMap<PathId, FileId>,
    /// Paths of the files that rows point at, by id.
    used_files: Vec<PathId>,
    /// Whether stacks are looked for.
    has_stacks: bool,
    binder: StackBinder,
    initiations: Initiations,
    disk_queues: DiskQueues,
    sweep_interval: i64,
    /// Stack records before the record in hand.
    stack_records_passed: u64,
    lossy: bool,
    schemas: Schemas,
    dns: Dns,
    sockets: Sockets,
    power_settings: PowerSettings,
    processors: ProcessorStates,
    energy: Energy,
    network: Network,
    handles: HandleState,
    file_io: FileIo,
    filter_calls: FilterCalls,
    registry: Registry,
    interrupts: InterruptState,
    contention: Contention,
    thread_pools: ThreadPools,
    queued_work: QueuedWork,
    windows: Windows,
    system_calls: SystemCalls,
    /// System calls that never return.
    no_return: NoReturn,
    gc: Gc,
    compilations: Compilations,
    clr_allocations: ClrAllocations,
    exceptions: DotNetExceptions,
    allocations: Allocations,
    assemblies: LoadedAssemblies,
    branches: Branches,
    memory: Memory,
    /// Start of the recording, nanoseconds since time zero.
    start: i64,
    /// Events that are kept one by one; `None` where none are.
    event_table: Option<Box<EventTable>>,
    /// The stack that the .NET runtime wrote behind the event in hand.
    behind: Option<HalfId>,
    /// The user half of the stack in the event in hand.
    matching: Option<HalfId>,
    /// The stack of the event in hand, where a worker has found it already.
    bound: Option<Option<StackId>>,
    /// Who runs on the CPU of the record in hand, as its slice knows it.
    runs: Runs,
    /// Switches and samples, which another thread writes.
    rows: SliceRows,
    /// Rows of samples that the worker made before the record in hand.
    samples_before: usize,
    /// The stack that a typed table's row took from the binder: the same event has no second one there.
    taken: Option<Option<StackId>>,
}

/// What the first pass found out, frozen.
pub(crate) struct Known {
    pub(crate) population: Population,
    /// Ends of threads.
    pub(crate) deaths: Deaths,
    pub(crate) stacks: Stacks,
    pub(crate) intervals: SamplingIntervals,
    /// The hardware counters that are sampled, by number of the source.
    pub(crate) sampled_counters: FxHashMap<u16, SampledCounter>,
    pub(crate) files: FileNames,
    /// Names of keys of the registry.
    pub(crate) registry_keys: RegistryKeys,
    pub(crate) health: Health,
    /// Records were lost: who runs on a CPU is not certain.
    pub(crate) lossy: bool,
    /// What the recording says about the size of the memory.
    pub(crate) memory: MemorySize,
    /// What describes events.
    pub(crate) schemas: Schemas,
    /// Which events are kept one by one.
    pub(crate) events: Option<(EventChoice, WantedHooks)>,
    /// Which sources tell of the network.
    pub(crate) network: NetworkSources,
    /// Which sources tell of operations on files.
    pub(crate) file_sources: FileSources,
    /// Names of the types of kernel objects, by their numbers.
    pub(crate) object_types: FxHashMap<u16, Box<str>>,
    /// Names of the profiles of power settings, by their numbers.
    pub(crate) profiles: BTreeMap<u8, String>,
    /// System calls that never return.
    pub(crate) no_return: NoReturn,
    /// Whether stacks are looked for.
    pub(crate) has_stacks: bool,
}

impl<'s, Sink: RowSink> SecondPass<'s, Sink> {
    /// The pass over a recording that starts at raw tick `start`.
    pub(crate) fn new(
        (clock, start): (Clock, i64),
        known: Known,
        wanted: WantedTables,
        rows: SliceRows,
        sink: &'s mut Sink,
    ) -> Self {
        let Known {
            population,
            deaths,
            stacks,
            intervals,
            sampled_counters,
            files,
            registry_keys,
            health,
            lossy,
            memory,
            schemas,
            events,
            network,
            file_sources,
            object_types,
            profiles,
            no_return,
            has_stacks,
        } = known;
        let event_table = events.map(|events| Box::new(EventTable::new(events, sink)));
        Self {
            clock,
            switches: SwitchTracker::new(clock, start, deaths),
            population,
            stacks,
            health,
            health_of_items: Health::new(),
            sink,
            wanted,
            intervals,
            counters: Counters::new(sampled_counters),
            files,
            file_ids: FxHashMap::default(),
            used_files: Vec::new(),
            has_stacks,
            binder: StackBinder::new(clock.frequency, 0),
            initiations: Initiations::default(),
            disk_queues: DiskQueues::new(clock.ns(start)),
            sweep_interval: clock.frequency,
            stack_records_passed: 0,
            lossy,
            dns: Dns::default(),
            sockets: Sockets::default(),
            power_settings: PowerSettings::new(profiles),
            processors: ProcessorStates::default(),
            energy: Energy::default(),
            network: Network::new(network),
            handles: HandleState::new(object_types),
            file_io: FileIo::new(file_sources),
            filter_calls: FilterCalls::default(),
            registry: Registry::new(registry_keys),
            interrupts: InterruptState::default(),
            contention: Contention::default(),
            thread_pools: ThreadPools::default(),
            queued_work: QueuedWork::default(),
            windows: Windows::new(clock.ns(start)),
            system_calls: SystemCalls::default(),
            no_return,
            gc: Gc::default(),
            compilations: Compilations::default(),
            clr_allocations: ClrAllocations::default(),
            exceptions: DotNetExceptions::default(),
            allocations: Allocations::default(),
            assemblies: LoadedAssemblies::default(),
            branches: Branches::default(),
            memory: Memory::new(memory),
            start: clock.ns(start),
            event_table,
            schemas,
            behind: None,
            matching: None,
            bound: None,
            runs: Runs::Open,
            rows,
            samples_before: 0,
            taken: None,
        }
    }

    /// User halves that come later than workers look ahead.
    pub(crate) fn late_stacks(&mut self, late: &LateStacks) {
        let mut user_halves = Vec::new();
        // Workers have counted those that cannot be used.
        let mut ignored = Health::new();
        let of_users = late.halves.iter().filter(|late| late.part == LatePart::Half(Half::User));
        for (number, half) in of_users.enumerate() {
            if number.is_multiple_of(LATE_PACE) {
                self.stacks.drop_full_tables();
            }
            let process = self.population.process_at(half.pid, half.event_ticks);
            let (tid, event_ticks, ticks) = (half.tid, half.event_ticks, half.ticks);
            let found = match &half.frames {
                LateFrames::Key { key, position } => {
                    let (key, position) = (*key, *position);
                    let reference = KeyReference { half: Half::User, key, position, ticks: event_ticks, process };
                    self.stacks.keyed_half(&reference, &mut ignored)
                }
                LateFrames::Inline(range) => {
                    let frames = late.frames.get(range.clone()).unwrap_or_default();
                    self.stacks.inline_half(process, frames.iter().copied(), event_ticks)
                }
            };
            let first_event_ticks = half.first_event_ticks;
            user_halves.extend(found.map(|half| LateUserHalf { tid, event_ticks, first_event_ticks, ticks, half }));
        }
        self.binder.set_late(user_halves);
    }

    /// The thread that runs on the CPU of the record in hand, as far as known.
    fn running(&self, cpu: u16) -> Option<ThreadId> {
        match self.runs {
            Runs::Open => self.switches.running(cpu),
            Runs::Nobody => None,
            Runs::Thread(thread) => Some(thread),
        }
    }

    /// A record that may become a row.
    fn record(&mut self, record: &Record<'_>) {
        self.taken = None;
        match record.class() {
            EventClass::Kernel { group, opcode, version } => self.kernel_record(record, group, opcode, version),
            EventClass::Event { provider, id, version } => {
                if provider == RUNTIME_PROVIDER {
                    self.managed_code_record(record, id, version);
                }
                self.provider_record(record, provider, id, version);
            }
            EventClass::Classic { guid: class::LOST_EVENT, .. } => {
                self.disk_queues.lost(self.clock.ns(record.time()));
                self.interrupts.lost();
                self.system_calls_lost(record.time());
                self.contention_lost(record.time());
                self.work_lost(record.time());
                self.exceptions_lost();
                self.windows.lost();
            }
            EventClass::Classic { .. } | EventClass::Message { .. } => {}
        }
        self.keep(record);
    }

    /// Keeps a record as it was logged, if that is wanted.
    fn keep(&mut self, record: &Record<'_>) {
        if self.event_table.as_ref().is_some_and(|table| table.wants(record)) {
            self.event(record);
        }
    }

    /// A record that may have a row in a table of its own.
    fn kernel_record(&mut self, record: &Record<'_>, group: Group, opcode: u8, version: u8) {
        let wanted = self.wanted;
        match group {
            Group::DISK_IO | Group::SPLIT_IO if !wanted.disk_io => return,
            _ => {}
        }
        match (group, opcode) {
            (Group::PERF_INFO, SampledProfile::OPCODE) if wanted.cpu_samples => self.sampled_profile(record, version),
            (Group::PERF_INFO, CounterSample::OPCODE) if wanted.counter_samples => self.counter_sample(record, version),
            (Group::PERF_INFO, CounterCorruption::OPCODE) => self.counter_corruption(record, version),
            (Group::PERF_INFO, Mark::OPCODE) => self.mark(record, version),
            (Group::PERF_INFO, SystemCallEnter::OPCODE) if wanted.syscalls => self.system_call_enter(record, version),
            (Group::PERF_INFO, SystemCallExit::OPCODE) if wanted.syscalls => self.system_call_exit(record, version),
            (Group::PERF_INFO, opcode) if wanted.interrupts => self.interrupt_event(record, opcode, version),
            (Group::DISK_IO, DiskTransfer::READ | DiskTransfer::WRITE) => self.disk_transfer(record, opcode, version),
            (Group::DISK_IO, DiskFlush::OPCODE) => self.disk_flush(record, version),
            (Group::DISK_IO, DiskInit::READ | DiskInit::WRITE | DiskInit::FLUSH) => self.disk_init(record, version),
            (Group::SPLIT_IO, SplitIo::OPCODE) => self.split_io(record, version),
            (Group::MEMORY, HardFault::OPCODE) if wanted.hard_faults => self.hard_fault(record, version),
            (Group::MEMORY, PageLists::OPCODE) if wanted.memory_state => self.page_lists(record, version, false),
            (Group::MEMORY, ProcessMemories::OPCODE) if wanted.memory_processes => {
                self.process_memories(record, version, false);
            }
            (Group::MEMORY, memory::SESSIONS) if wanted.memory_sessions => {
                self.session_memories(record, version, false);
            }
            (Group::MEMORY, opcode) if wanted.page_faults && PageFault::OPCODES.contains(&opcode) => {
                self.page_fault(record, opcode, version);
            }
            (Group::PROCESS, ProcessCounters::EXIT | ProcessCounters::RUNDOWN) if wanted.process_counters => {
                self.process_counters(record, version);
            }
            (Group::POWER, opcode @ (cpu_states::IDLE_ENTER | cpu_states::IDLE_EXIT)) if wanted.cpu_idle_states => {
                self.idle_state(record, opcode);
            }
            (Group::TCP_IP | Group::UDP_IP, _) if wanted.connections || wanted.network_io => {
                self.kernel_network(record, group, opcode, version);
            }
            (Group::PROCESS, Process::END) => {
                // The first pass decodes the same event, and counts those that it cannot decode.
                if let Ok(process) = Process::parse_either(record.payload(), version, record.pointer_size()) {
                    self.handles_of_ended(process.process_id, record.time());
                    self.assemblies_of_ended(process.process_id, record.time());
                    let exit_code = process.exit_status.map(i32::cast_unsigned);
                    self.exceptions_of_ended(process.process_id, exit_code, record.time());
                }
            }
            (Group::MEMORY | Group::HEAP | Group::POOL, opcode) if wanted.allocations => {
                self.allocation(record, group, opcode, version);
            }
            (Group::LAST_BRANCH, LastBranches::OPCODE) => self.last_branches(record, version),
            (Group::REGISTRY, opcode) if wanted.registry => self.registry_operation(record, opcode, version),
            (Group::OBJECT, opcode) => self.object(record, opcode, version),
            (Group::FILE_IO, MappedView::MAP..=MappedView::DC_END) if wanted.mapped_views => {
                self.mapped_view(record, opcode, version);
            }
            (Group::FILE_IO, FileCreate::OPCODE..=FileInformation::QUERY_ATTRIBUTES) if wanted.file_io => {
                self.file_operation(record, opcode, version);
            }
            (Group::FILE_IO, FilterCallBegin::BEFORE..=FilterCallFailure::AFTER) if wanted.filter_calls => {
                self.filter_call(record, opcode, version);
            }
            _ => {}
        }
    }

    /// An event of a provider that may have a row in a table of its own.
    fn provider_record(&mut self, record: &Record<'_>, provider: Guid, id: u16, version: u8) {
        let wanted = self.wanted;
        if let Some(source) = gc::source(provider, id).filter(|_| self.wants_gc()) {
            self.gc_event(record, id, source);
        }
        if let Some(tells) = assemblies::tells(provider, id).filter(|_| wanted.assemblies) {
            self.assembly(record, provider, tells);
        }
        match (provider, id) {
            (class::DNS_CLIENT, id) if wanted.dns_queries => self.dns_client(record, id),
            (class::WINSOCK_AFD, id) if wanted.socket_calls => {
                if let Some(operation) = socket_calls::operation(id) {
                    self.socket_call(record, operation);
                }
            }
            (RUNTIME_PROVIDER, id) if wanted.lock_waits && contention::IDS.contains(&id) => self.contention(record, id),
            (RUNTIME_PROVIDER, 61..=62) | (TASKS_PROVIDER | FRAMEWORK_PROVIDER, _) if wanted.work_items => {
                if let Some((source, happens)) = work_items::tells(provider, id) {
                    self.work_item(record, source, happens);
                }
            }
            (RUNTIME_PROVIDER, id) if wanted.thread_pool => {
                if let Some(event) = thread_pool::event(id) {
                    self.thread_pool(record, event);
                }
            }
            (class::KERNEL_POWER, id) if wanted.power_settings => self.power_setting(record, id),
            (PROCESSOR_POWER, id) if wanted.power_settings && power_settings::OF_PROFILES.contains(&id) => {
                self.profile_setting(record);
            }
            (KERNEL_PROCESS, KernelProcessStop::ID) => self.process_stop(record, version),
            (class::WIN32K, handles::id::USER_CREATED..=handles::id::GDI_TRANSFORMED) if wanted.handles => {
                self.session_handle(record, id);
            }
            (class::WIN32K, id) if wanted.ui_delays || wanted.focus => self.window_event(record, id),
            (KERNEL_MEMORY, PageLists::ID) if wanted.memory_state => self.page_lists(record, version, true),
            (KERNEL_MEMORY, ProcessMemories::ID) if wanted.memory_processes => {
                self.process_memories(record, version, true);
            }
            (KERNEL_MEMORY, memory::SESSIONS_OF_PROVIDER) if wanted.memory_sessions => {
                self.session_memories(record, version, true);
            }
            (KERNEL_MEMORY, memory::SWAP_OUT..=memory::SWAPPED_IN) if wanted.reclaims => self.swap(record, id),
            (PROCESSOR_POWER, id) if wanted.cpu_frequencies && PerformanceState::IDS.contains(&id) => {
                self.performance_state(record, version);
            }
            (PROCESSOR_POWER, id) if wanted.cpu_states && cpu_states::IDS.contains(&id) => {
                self.processor_state(record, id);
            }
            (PROCESSOR_POWER, id) if wanted.energy && energy::IDS.contains(&id) => self.energy_counter(record, id),
            (KERNEL_NETWORK, id) if wanted.connections || wanted.network_io => self.kernel_network_provider(record, id),
            (TCPIP, id) if wanted.connections || wanted.network_io => self.tcpip(record, id),
            (KERNEL_FILE, id) if wanted.file_io => self.kernel_file(record, id),
            _ => {}
        }
    }

    /// The process that logged an event of a provider.
    fn process_of_header(&mut self, record: &Record<'_>) -> Option<ProcessId> {
        record.pid().map(|pid| self.population.process_at(pid, record.time()))
    }

    /// Who logged an event of a provider.
    fn caller(&mut self, record: &Record<'_>) -> Caller {
        let (ticks, cpu) = (record.time(), record.cpu());
        Caller {
            time: self.clock.ns(ticks),
            process: self.process_of_header(record),
            thread: record.tid().map(|tid| self.population.named_thread_at(tid, cpu, ticks)),
            stack: None,
        }
    }

    /// The stack of an event of a provider that has a row in a table of its own. The table of events takes the same one.
    fn provider_stack(&mut self, record: &Record<'_>) -> Option<StackId> {
        let stack = self.event_stack(record, self.behind);
        self.taken = Some(stack);
        stack
    }

    /// A record that is kept as it was logged.
    fn event(&mut self, record: &Record<'_>) {
        let Some(mut table) = self.event_table.take() else { return };
        if let Some(facts) = table.facts(record, &mut self.schemas, &self.clock, &mut self.population) {
            let stack = self.event_stack(record, self.behind);
            table.event(facts, stack, record, self.sink);
        }
        self.event_table = Some(table);
    }

    /// The end of the recording, `end` nanoseconds after time zero.
    pub(crate) fn finish(mut self, end: i64) -> Finished {
        let mut last = self.rows.switches_behind(0);
        self.switches.finish(end, &mut self.population, &mut last);
        drop(last);
        self.finish_disks();
        self.finish_dns(end);
        self.finish_sockets(end);
        self.finish_processor_states(end);
        self.finish_network();
        self.finish_handles(end);
        self.finish_file_io(end);
        self.finish_filter_calls(end);
        self.finish_system_calls(end);
        self.finish_contention(end);
        self.finish_work(end);
        self.finish_windows(end);
        self.finish_gc(end);
        self.finish_compilations(end);
        self.finish_assemblies(end);
        self.finish_exceptions();
        self.finish_allocations(end);
        self.finish_memory(end);
        if let Some(table) = self.event_table {
            self.health.merge(&table.finish());
        }
        self.health.merge(&self.health_of_items);
        self.rows.finish();
        Finished {
            has_switches: self.switches.has_switches(),
            has_ready: self.switches.has_ready(),
            population: self.population,
            stacks: self.stacks,
            health: self.health,
            branches: self.branches,
            files: self.used_files.iter().map(|path| self.files.path(*path).to_owned()).collect(),
        }
    }

    fn decode<'a, T: Payload<'a>>(&mut self, record: &Record<'a>, version: u8) -> Option<T> {
        match T::parse(record.payload(), version, record.pointer_size()) {
            Ok(value) => Some(value),
            Err(error) => {
                count_undecodable(&mut self.health, record, &error);
                None
            }
        }
    }

    /// The stack of the event of `tid` at the record's time.
    fn stack_of(&mut self, record: &Record<'_>, tid: Option<u32>) -> Option<StackId> {
        if let Some(stack) = self.bound {
            self.taken = Some(stack);
            return stack;
        }
        let halves = self.binder.take(record.time(), tid, record.cpu(), UserHalves::Shared);
        self.stack_of_halves(halves)
    }

    fn stack_of_halves(&mut self, (kernel, user): (Option<HalfId>, Option<HalfId>)) -> Option<StackId> {
        let stack = self.stacks.stack(kernel, user, &mut self.health, self.sink);
        self.taken = Some(stack);
        stack
    }

    fn sampled_profile(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<SampledProfile>(record, version) else { return };
        let (thread, _, stack) = self.sampled(record, event.thread_id);
        let (ticks, cpu) = (record.time(), record.cpu());
        self.cpu_sample((ticks, cpu), &event, thread, stack);
    }

    fn sampled(&mut self, record: &Record<'_>, tid: u32) -> (ThreadId, ProcessId, Option<StackId>) {
        let thread = self.population.thread_at(tid, record.cpu(), record.time());
        (thread, self.population.process_of(thread), self.stack_of(record, Some(tid)))
    }

    fn mark(&mut self, record: &Record<'_>, version: u8) {
        let Some(mark) = self.decode::<Mark<'_>>(record, version) else { return };
        let (ticks, cpu) = (record.time(), record.cpu());
        let thread = record.tid().map(|tid| self.population.thread_at(tid, cpu, ticks));
        let process = match (record.pid(), thread) {
            (Some(pid), _) => Some(self.population.process_at(pid, ticks)),
            (None, thread) => thread.map(|thread| self.population.process_of(thread)),
        };
        let (time, cpu) = (self.clock.ns(ticks), cpu_number(record));
        self.sink.mark(&MarkRow { time, cpu, process, thread, text: mark.text.to_string() });
    }

    fn file(&mut self, key: u64, ticks: i64) -> Option<FileId> {
        let path = self.files.find(key, ticks)?;
        Some(self.file_of(path))
    }

    /// The file of a path.
    fn file_of(&mut self, path: PathId) -> FileId {
        *self.file_ids.entry(path).or_insert_with(|| {
            self.used_files.push(path);
            FileId::from_index(self.used_files.len() - 1)
        })
    }
}

/// What is left when all records are through.
pub(crate) struct Finished {
    pub(crate) has_switches: bool,
    pub(crate) has_ready: bool,
    pub(crate) population: Population,
    pub(crate) stacks: Stacks,
    pub(crate) health: Health,
    /// Recorded paths of the files that rows point at, by id.
    pub(crate) files: Vec<String>,
    pub(crate) branches: Branches,
}

fn cpu_number(record: &Record<'_>) -> i16 {
    i16::try_from(record.cpu()).unwrap_or(i16::MAX)
}
