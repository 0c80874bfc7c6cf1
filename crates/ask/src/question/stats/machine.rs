//! The machine as a raw recording describes it, for statistics without an extract.

use tracesift_etl::class::SYSTEM_CONFIG_EX;
use tracesift_etl::payload::system_config::{NetworkAdapter, PhysicalDisk};
use tracesift_etl::payload::{SystemConfig, SystemConfigEx};
use tracesift_etl::{EventClass, Group, Record};
use tracesift_trace::info::{Disk, NetworkCard};

use super::Row;

/// Devices kept at most: machines have few, forged recordings have as many as they like.
const MAX_DEVICES: usize = 1024;

/// Facts about the machine. Merged recordings repeat them; the first wins.
#[derive(Clone, Debug, Default)]
pub(super) struct Machine {
    row: Row,
    /// Disk numbers with their drive letters.
    drives: Vec<(u32, String)>,
}

impl Machine {
    /// Takes a record; all but descriptions of the system are passed over.
    pub(super) fn record(&mut self, record: &Record<'_>) {
        let payload = record.payload();
        match record.class() {
            EventClass::Kernel { group: Group::SYSTEM_CONFIG, opcode, version } => {
                // What cannot be decoded is counted when the recording is extracted.
                if let Ok(config) = SystemConfig::parse(payload, opcode, version, record.pointer_size()) {
                    self.config(&config);
                }
            }
            EventClass::Classic { guid: SYSTEM_CONFIG_EX, opcode, version } => {
                let parsed = SystemConfigEx::parse(payload, opcode, version, record.pointer_size());
                if let Ok(SystemConfigEx::BuildInfo(build)) = parsed {
                    keep(&mut self.row.os_name, &build.product_name.to_string());
                }
            }
            _ => {}
        }
    }

    /// Puts the facts into a row.
    pub(super) fn describe(mut self, row: &mut Row) {
        for disk in &mut self.row.disks {
            let drives = self.drives.iter().filter(|(number, _)| *number == disk.number);
            disk.drives = drives.map(|(_, letter)| letter.clone()).collect();
        }
        row.os_name = self.row.os_name;
        row.machine = self.row.machine;
        row.cpu_name = self.row.cpu_name;
        row.cpu_mhz = self.row.cpu_mhz.or(row.cpu_mhz);
        row.memory_mib = self.row.memory_mib;
        row.disks = self.row.disks;
        row.network_cards = self.row.network_cards;
    }

    fn config(&mut self, config: &SystemConfig<'_>) {
        match config {
            SystemConfig::Cpu(cpu) if self.row.machine.is_none() => {
                keep(&mut self.row.machine, &cpu.computer_name.to_string());
                self.row.cpu_mhz = Some(cpu.mhz).filter(|mhz| *mhz > 0);
                self.row.memory_mib = Some(u64::from(cpu.memory_mib)).filter(|mib| *mib > 0);
            }
            SystemConfig::Processor(processor) => keep(&mut self.row.cpu_name, &processor.name.to_string()),
            SystemConfig::PhysicalDisk(disk) => {
                let disk = physical_disk(disk);
                let is_known = self.row.disks.iter().any(|known| known.number == disk.number);
                if !is_known && self.row.disks.len() < MAX_DEVICES {
                    self.row.disks.push(disk);
                }
            }
            SystemConfig::LogicalDisk(volume) => {
                let drive = (volume.disk_number, volume.drive_letter.to_string());
                if !drive.1.is_empty() && self.drives.len() < MAX_DEVICES && !self.drives.contains(&drive) {
                    self.drives.push(drive);
                }
            }
            SystemConfig::NetworkAdapter(adapter) => {
                let card = network_card(adapter);
                if self.row.network_cards.len() < MAX_DEVICES && !self.row.network_cards.contains(&card) {
                    self.row.network_cards.push(card);
                }
            }
            _ => {}
        }
    }
}

/// Keeps the first text that says something.
fn keep(known: &mut Option<String>, text: &str) {
    let text = text.trim();
    if known.is_none() && !text.is_empty() {
        *known = Some(text.to_owned());
    }
}

fn physical_disk(disk: &PhysicalDisk<'_>) -> Disk {
    let track = u64::from(disk.bytes_per_sector).saturating_mul(u64::from(disk.sectors_per_track));
    let cylinder = track.saturating_mul(u64::from(disk.tracks_per_cylinder));
    Disk {
        number: disk.disk_number,
        model: disk.manufacturer.to_string().trim().to_owned(),
        size: cylinder.saturating_mul(disk.cylinders),
        drives: Vec::new(),
    }
}

fn network_card(adapter: &NetworkAdapter<'_>) -> NetworkCard {
    let addresses = adapter.addresses.as_ref();
    let length = usize::try_from(adapter.physical_address_length).unwrap_or(usize::MAX);
    let bytes = addresses.map_or(0, |addresses| addresses.physical_address).to_le_bytes();
    let mac: Vec<String> = bytes.iter().take(length).map(|byte| format!("{byte:02x}")).collect();
    NetworkCard {
        description: adapter.description.to_string(),
        addresses: addresses.map(|addresses| addresses.ip_addresses.to_string()).unwrap_or_default(),
        dns_servers: addresses.map(|addresses| addresses.dns_servers.to_string()).unwrap_or_default(),
        mac: mac.join(":"),
    }
}
