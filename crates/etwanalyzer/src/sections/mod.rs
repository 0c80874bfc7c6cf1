//! The sections of an extract beside processes, CPU, modules and marks: disk operations,
//! hardware counters, connections, DNS queries, exceptions, memory, power settings, thread pools,
//! events of providers.
//!
//! Each file has what stands in a section of the document, and what it means as rows. Processes are resolved while a section is read;
//! the rows are made one by one when they are written, as they are larger than what they are made of.

mod branches;
mod code;
mod counters;
mod disk;
mod dns;
mod exceptions;
mod memory;
mod network;
mod power;
mod present;
mod thread_pool;
mod threads;
mod trace_logging;

pub use branches::Branches;
pub use counters::{Counter, Pmc};
pub use disk::{Asked, DiskActivity, PathData};
pub use dns::{DnsClient, DnsEvent};
pub use exceptions::{ExceptionStacks, Exceptions, Thrown};
pub use memory::{MemoryUsage, WorkingSet};
pub use network::{Connection, Endpoint, Network, Retransmission, Statistics, TcpData};
pub use power::{IdleConfiguration, ParkingConfiguration, PowerConfiguration};
pub use present::Content;
pub use thread_pool::{Starvation, ThreadPool};
pub use trace_logging::{Descriptor, LoggedEvent, Provider, TraceLogging};

use tracesift_trace::rows::BranchRow;
use tracesift_trace::{Health, HealthKind, RowSink};

use crate::document::{Document, Moment};
use crate::identity::Identities;
use crate::limits::TextBudget;
use code::NamedCode;
use counters::CounterRows;
use disk::DiskRows;
use dns::DnsRows;
use exceptions::ExceptionRows;
use memory::MemoryRows;
use network::NetworkRows;
use power::PowerRows;
use thread_pool::StarvationRows;
use threads::NamedThreads;
use trace_logging::TraceLoggingRows;

/// The sections as they become rows.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    network: NetworkRows,
    dns: DnsRows,
    memory: MemoryRows,
    power: PowerRows,
    thread_pool: StarvationRows,
    pub(crate) exceptions: ExceptionRows,
    events: TraceLoggingRows,
    pub(crate) threads: NamedThreads,
    /// Table `branches`.
    pub(crate) branches: Vec<BranchRow>,
    pub(crate) code: NamedCode,
    pub(crate) disk: DiskRows,
    pub(crate) counters: CounterRows,
}

impl Sections {
    /// Takes the sections out of a document. `end`: length of the session, ns. `None` when the texts of all rows exceed the budget.
    pub(crate) fn take(
        document: &mut Document,
        zero: Moment,
        end: i64,
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
        let exceptions = ExceptionRows::read(exceptions, zero, &mut code, &mut threads, identities, budget, health)?;
        let events = document.trace_logging.take().unwrap_or_default();
        let events = TraceLoggingRows::read(events, zero, &mut threads, identities, budget, health)?;
        Some(Self {
            network: tcp_data.map(|part| NetworkRows::read(part, zero, identities, health)).unwrap_or_default(),
            dns: dns_client.map(|part| DnsRows::read(part, zero, identities, health)).unwrap_or_default(),
            memory: document
                .memory_usage
                .take()
                .map(|part| MemoryRows::read(&part, end, identities, health))
                .unwrap_or_default(),
            disk: document.disk.as_mut().map(|part| DiskRows::read(part, identities, health)).unwrap_or_default(),
            counters: CounterRows::read(counters.0, end, &document.processes.0, identities, health),
            power: PowerRows::read(&document.power_configuration.0),
            thread_pool: document
                .thread_pool
                .take()
                .map(|part| StarvationRows::read(part, zero, identities, health))
                .unwrap_or_default(),
            exceptions,
            events,
            threads,
            branches,
            code,
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
    }
}

/// Counts a row that cannot be used.
fn unreadable(health: &mut Health, example: impl FnOnce() -> String) {
    health.count(HealthKind::UNREADABLE_SECTION_ROWS, None, example);
}
