//! The machine as its recording describes it.

use tracesift_etl::Record;
use tracesift_etl::payload::system_config::{Cpu, LogicalDisk, NetworkAdapter, PhysicalDisk, Processor};
use tracesift_etl::payload::{BuildInfo, SystemConfig};
use tracesift_trace::info::{Disk, NetworkCard, TraceInfo};

use super::Inventory;

/// Disks, volumes and network cards kept at most: machines have few, forged recordings have as many as they like.
const MAX_DEVICES: usize = 1024;

/// Facts about the machine. Parts of a merged recording repeat them; the first wins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    name: Option<String>,
    os_name: Option<String>,
    cpu_mhz: Option<u32>,
    cpu_name: Option<String>,
    memory_mib: Option<u64>,
    disks: Vec<Disk>,
    volumes: Vec<(u32, String)>,
    cards: Vec<NetworkCard>,
}

impl Machine {
    pub(super) fn build(&mut self, build: &BuildInfo<'_>) {
        let name = build.product_name.to_string();
        if self.os_name.is_none() && !name.is_empty() {
            self.os_name = Some(name);
        }
    }

    fn cpu(&mut self, cpu: &Cpu<'_>) {
        if self.name.is_none() {
            self.name = Some(cpu.computer_name.to_string()).filter(|name| !name.is_empty());
            self.cpu_mhz = Some(cpu.mhz).filter(|mhz| *mhz > 0);
            self.memory_mib = Some(u64::from(cpu.memory_mib)).filter(|mib| *mib > 0);
        }
    }

    fn processor(&mut self, processor: &Processor<'_>) {
        if self.cpu_name.is_none() {
            self.cpu_name = Some(processor.name.to_string().trim().to_owned()).filter(|name| !name.is_empty());
        }
    }

    fn disk(&mut self, disk: &PhysicalDisk<'_>) {
        if self.disks.len() >= MAX_DEVICES || self.disks.iter().any(|known| known.number == disk.disk_number) {
            return;
        }
        let track = u64::from(disk.bytes_per_sector).saturating_mul(u64::from(disk.sectors_per_track));
        let cylinder = track.saturating_mul(u64::from(disk.tracks_per_cylinder));
        self.disks.push(Disk {
            number: disk.disk_number,
            model: disk.manufacturer.to_string().trim().to_owned(),
            size: cylinder.saturating_mul(disk.cylinders),
            drives: Vec::new(),
        });
    }

    fn volume(&mut self, volume: &LogicalDisk<'_>) {
        let letter = volume.drive_letter.to_string();
        let entry = (volume.disk_number, letter);
        if !entry.1.is_empty() && self.volumes.len() < MAX_DEVICES && !self.volumes.contains(&entry) {
            self.volumes.push(entry);
        }
    }

    fn card(&mut self, card: &NetworkAdapter<'_>) {
        let addresses = card.addresses.as_ref();
        let mac = addresses.map_or(0, |addresses| addresses.physical_address);
        let length = (card.physical_address_length as usize).min(8);
        let mac: Vec<String> = mac.to_le_bytes()[..length].iter().map(|byte| format!("{byte:02x}")).collect();
        let card = NetworkCard {
            description: card.description.to_string(),
            addresses: addresses.map(|addresses| addresses.ip_addresses.to_string()).unwrap_or_default(),
            dns_servers: addresses.map(|addresses| addresses.dns_servers.to_string()).unwrap_or_default(),
            mac: mac.join(":"),
        };
        if self.cards.len() < MAX_DEVICES && !self.cards.contains(&card) {
            self.cards.push(card);
        }
    }

    /// Puts the facts into the description of the recording.
    pub(crate) fn describe(&self, info: &mut TraceInfo) {
        info.machine = self.name.clone();
        info.os_name = self.os_name.clone();
        info.cpu_name = self.cpu_name.clone();
        info.memory_mib = self.memory_mib;
        info.cpu_mhz = self.cpu_mhz.or(info.cpu_mhz);
        info.disks = self.disks.clone();
        for disk in &mut info.disks {
            let drives = self.volumes.iter().filter(|(number, _)| *number == disk.number);
            disk.drives = drives.map(|(_, letter)| letter.clone()).collect();
        }
        info.network_cards = self.cards.clone();
    }
}

impl Inventory {
    pub(super) fn system_config(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        match opcode {
            SystemConfig::CPU
            | SystemConfig::PHYSICAL_DISK
            | SystemConfig::LOGICAL_DISK
            | SystemConfig::NETWORK_ADAPTER
            | SystemConfig::SERVICE
            | SystemConfig::PROCESSOR => {}
            _ => return,
        }
        let parsed = SystemConfig::parse(record.payload(), opcode, version, record.pointer_size());
        match self.checked(record, parsed) {
            Some(SystemConfig::Cpu(cpu)) => self.machine.cpu(&cpu),
            Some(SystemConfig::Processor(processor)) => self.machine.processor(&processor),
            Some(SystemConfig::PhysicalDisk(disk)) => self.machine.disk(&disk),
            Some(SystemConfig::LogicalDisk(volume)) => self.machine.volume(&volume),
            Some(SystemConfig::NetworkAdapter(card)) => self.machine.card(&card),
            Some(SystemConfig::Service(service)) => {
                if let Some(tag) = service.sub_process_tag.filter(|tag| *tag != 0) {
                    self.lifetimes.service(service.process_id, tag, service.name.to_string());
                }
            }
            _ => {}
        }
    }
}
