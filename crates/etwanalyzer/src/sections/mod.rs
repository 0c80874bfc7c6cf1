//! The sections of an extract beside processes, CPU, modules and marks: operations on disks and
//! files, hardware counters, connections, DNS queries, exceptions, memory, allocations, handles,
//! power settings, thread pools, events of providers.
//!
//! Each file has what stands in a section of the document, and what it means as rows. Processes are resolved while a section is read;
//! the rows are made one by one when they are written, as they are larger than what they are made of.

mod allocations;
mod branches;
mod code;
mod counters;
mod disk;
mod dns;
mod exceptions;
mod file_io;
mod files;
mod handles;
mod memory;
mod network;
mod power;
mod stacks;
mod thread_pool;
mod threads;
mod trace_logging;
mod who;

pub use allocations::{AllocationStatistics, Commit, VirtualAlloc};
pub use branches::Branches;
pub use counters::{Counter, Pmc};
pub use disk::{Asked, DiskActivity, PathData};
pub use dns::{DnsClient, DnsEvent};
pub use exceptions::{ExceptionStacks, Exceptions, Thrown};
pub use file_io::{
    FileCloses, FileCount, FileIo, FileOfProcesses, FileOpens, FileSecurity, FileStatistics, FileTransfers,
};
pub use handles::{Change, ExistingHandle, HandleData, HandleEvent, ObjectTrace, ViewEvent};
pub use memory::{MemoryUsage, WorkingSet};
pub use network::{Connection, Endpoint, Network, Retransmission, Statistics, TcpData};
pub use power::{IdleConfiguration, ParkingConfiguration, PowerConfiguration};
pub use stacks::StackList;
pub use thread_pool::{Starvation, ThreadPool};
pub use trace_logging::{Descriptor, LoggedEvent, Provider, TraceLogging};

use tracesift_trace::rows::BranchRow;
use tracesift_trace::{Health, HealthKind, RowSink};

use crate::document::{Document, Moment, Parts};
use crate::identity::Identities;
use crate::limits::TextBudget;
use allocations::AllocationRows;
use code::NamedCode;
use counters::CounterRows;
use disk::DiskRows;
use dns::DnsRows;
use exceptions::ExceptionRows;
use file_io::FileSums;
use files::NamedFiles;
use handles::HandleRows;
use memory::MemoryRows;
use network::NetworkRows;
use power::PowerRows;
use stacks::NamedStacks;
use thread_pool::StarvationRows;
use threads::NamedThreads;
use trace_logging::TraceLoggingRows;
use who::Who;

/// The sections as they become rows.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    network: NetworkRows,
    dns: DnsRows,
    memory: MemoryRows,
    power: PowerRows,
    thread_pool: StarvationRows,
    exceptions: ExceptionRows,
    handles: HandleRows,
    pub(crate) allocations: AllocationRows,
    events: TraceLoggingRows,
    pub(crate) threads: NamedThreads,
    /// Table `branches`.
    pub(crate) branches: Vec<BranchRow>,
    pub(crate) code: NamedCode,
    pub(crate) stacks: NamedStacks,
    pub(crate) files: NamedFiles,
    pub(crate) disk: DiskRows,
    pub(crate) file_sums: FileSums,
    pub(crate) counters: CounterRows,
}

impl Sections {
    /// Takes the sections out of the documents. `end`: length of the session, ns. `None` when the texts of all rows exceed the budget.
    pub(crate) fn take(
        document: &mut Document,
        parts: &mut Parts,
        (zero, end): (Moment, i64),
        identities: &mut Identities,
        budget: &mut TextBudget,
        health: &mut Health,
    ) -> Option<Self> {
        let Pmc { counters, lbr_data } = document.pmc.take().unwrap_or_default();
        let mut code = NamedCode::default();
        let branches = branches::rows(&lbr_data, &mut code, identities, health);
        let Network { dns_client, tcp_data } = document.network.take().unwrap_or_default();
        let mut threads = NamedThreads::default();
        let exceptions = document.exceptions.take().unwrap_or_default();
        let (mut stacks, mut files) = (NamedStacks::default(), NamedFiles::default());
        let mut who = Who::new(&document.processes.0, zero, identities, &mut threads, health);
        let exceptions = ExceptionRows::read(exceptions, zero, &mut code, &mut stacks, &mut who, budget)?;
        let mut events = parts.trace_logging.take().or(document.trace_logging.take()).unwrap_or_default();
        let of_events = stacks.places(parts.trace_logging_stacks.take().or(events.stacks.take()), &mut code);
        let events = TraceLoggingRows::read(events, zero, &of_events, &mut who, budget)?;
        let mut commits = parts.virtual_alloc.take().or(document.virtual_alloc_data.take()).unwrap_or_default();
        let of_commits = stacks.places(parts.virtual_alloc_stacks.take().or(commits.stacks.take()), &mut code);
        let allocations = AllocationRows::read(commits, end, &of_commits, &mut who);
        let mut handles = parts.handles.take().or(document.handle_data.take()).unwrap_or_default();
        let of_handles = stacks.places(parts.handle_stacks.take().or(handles.stacks.take()), &mut code);
        let handles = HandleRows::read(handles, end, &of_handles, &mut who, budget)?;
        let file_io = parts.file_io.take().or(document.file_io.take()).unwrap_or_default();
        let disk = document.disk.as_mut();
        Some(Self {
            network: tcp_data.map(|part| NetworkRows::read(part, zero, identities, health)).unwrap_or_default(),
            dns: dns_client.map(|part| DnsRows::read(part, zero, identities, health)).unwrap_or_default(),
            memory: document
                .memory_usage
                .take()
                .map(|part| MemoryRows::read(&part, end, identities, health))
                .unwrap_or_default(),
            disk: disk.map(|part| DiskRows::read(part, &mut files, identities, health)).unwrap_or_default(),
            file_sums: FileSums::read(file_io, &mut files, identities, health),
            counters: CounterRows::read(counters.0, end, &document.processes.0, identities, health),
            power: PowerRows::read(&document.power_configuration.0),
            thread_pool: document
                .thread_pool
                .take()
                .map(|part| StarvationRows::read(part, zero, identities, health))
                .unwrap_or_default(),
            exceptions,
            events,
            handles,
            allocations,
            threads,
            branches,
            code,
            stacks,
            files,
        })
    }

    /// Writes the rows, each table in the order of its time.
    pub(crate) fn write(&self, sink: &mut impl RowSink) {
        self.network.write(sink);
        self.dns.write(sink);
        self.memory.write(sink);
        self.power.write(sink);
        self.thread_pool.write(sink);
        self.exceptions.write(sink);
        self.events.write(sink);
        self.allocations.write(sink);
        self.handles.write(sink);
    }
}

/// Counts a row that cannot be used.
fn unreadable(health: &mut Health, example: impl FnOnce() -> String) {
    health.count(HealthKind::UNREADABLE_SECTION_ROWS, None, example);
}
