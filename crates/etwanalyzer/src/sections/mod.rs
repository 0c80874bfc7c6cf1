//! The sections of an extract beside processes, CPU, modules and marks: disk operations,
//! hardware counters, connections, DNS queries, memory, power settings, thread pools.
//!
//! Each file has what stands in a section of the document, and what it means as rows. Processes are resolved while a section is read;
//! the rows are made one by one when they are written, as they are larger than what they are made of.

mod counters;
mod disk;
mod dns;
mod memory;
mod network;
mod power;
mod present;
mod thread_pool;

pub use counters::{Counter, Pmc};
pub use disk::{Asked, DiskActivity, PathData};
pub use dns::{DnsClient, DnsEvent};
pub use memory::{MemoryUsage, WorkingSet};
pub use network::{Connection, Endpoint, Network, Retransmission, Statistics, TcpData};
pub use power::{IdleConfiguration, ParkingConfiguration, PowerConfiguration};
pub use present::{Content, Exceptions};
pub use thread_pool::{Starvation, ThreadPool};

use tracesift_trace::{Health, HealthKind, RowSink};

use crate::document::{Document, Moment};
use crate::identity::Identities;
use counters::CounterRows;
use disk::DiskRows;
use dns::DnsRows;
use memory::MemoryRows;
use network::NetworkRows;
use power::PowerRows;
use thread_pool::StarvationRows;

/// The sections as they become rows.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    network: NetworkRows,
    dns: DnsRows,
    memory: MemoryRows,
    power: PowerRows,
    thread_pool: StarvationRows,
    pub(crate) disk: DiskRows,
    pub(crate) counters: CounterRows,
}

impl Sections {
    /// Takes the sections out of a document. `end`: length of the session, ns.
    pub(crate) fn take(
        document: &mut Document,
        zero: Moment,
        end: i64,
        identities: &mut Identities,
        health: &mut Health,
    ) -> Self {
        let counters = document.pmc.as_mut().map(|part| std::mem::take(&mut part.counters.0)).unwrap_or_default();
        let Network { dns_client, tcp_data } = document.network.take().unwrap_or_default();
        Self {
            network: tcp_data.map(|part| NetworkRows::read(part, zero, identities, health)).unwrap_or_default(),
            dns: dns_client.map(|part| DnsRows::read(part, zero, identities, health)).unwrap_or_default(),
            memory: document
                .memory_usage
                .take()
                .map(|part| MemoryRows::read(&part, end, identities, health))
                .unwrap_or_default(),
            disk: document.disk.as_mut().map(|part| DiskRows::read(part, identities, health)).unwrap_or_default(),
            counters: CounterRows::read(counters, end, &document.processes.0, identities, health),
            power: PowerRows::read(&document.power_configuration.0),
            thread_pool: document
                .thread_pool
                .take()
                .map(|part| StarvationRows::read(part, zero, identities, health))
                .unwrap_or_default(),
        }
    }

    /// Writes the rows, each table in the order of its time.
    pub(crate) fn write(&self, sink: &mut impl RowSink) {
        self.network.write(sink);
        self.dns.write(sink);
        self.memory.write(sink);
        self.power.write(sink);
        self.thread_pool.write(sink);
    }
}

/// Counts a row that cannot be used.
fn unreadable(health: &mut Health, example: impl FnOnce() -> String) {
    health.count(HealthKind::UNREADABLE_SECTION_ROWS, None, example);
}
