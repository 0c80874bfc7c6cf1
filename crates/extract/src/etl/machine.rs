//! The machine as its recording describes it.

use tracesift_etl::Record;
use tracesift_etl::class::{EventClass, Group, SYSTEM_CONFIG_EX};
use tracesift_etl::payload::system_config::{Cpu, LogicalDisk, NetworkAdapter, PhysicalDisk, Processor};
use tracesift_etl::payload::{BuildInfo, SystemConfig, SystemConfigEx};
use tracesift_trace::info::{Disk, NetworkCard, TraceInfo};

/// Disks, volumes and network cards kept at most: machines have few, forged recordings have as many as they like.
const MAX_DEVICES: usize = 1024;

/// The size of the memory and of its pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemorySize {
    /// Bytes of a page: 4096, unless the recording says otherwise.
    pub(crate) page: i64,
    /// Bytes of the memory, where the recording says it.
    pub(crate) total: Option<i64>,
}

impl Default for MemorySize {
    fn default() -> Self {
        Self { page: 4096, total: None }
    }
}

/// Facts about the machine, from the records of the class `SystemConfig` and from the build that a merge tool wrote.
/// Parts of a merged recording repeat them; the first wins.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    name: Option<String>,
    os_name: Option<String>,
    cpu_mhz: Option<u32>,
    cpu_name: Option<String>,
    memory_mib: Option<u64>,
    page_size: Option<u32>,
    disks: Vec<Disk>,
    volumes: Vec<(u32, String)>,
    cards: Vec<NetworkCard>,
}

impl Machine {
    /// Takes any record. What describes no machine, or cannot be decoded, is passed over.
    pub fn record(&mut self, record: &Record<'_>) {
        let (payload, pointer_size) = (record.payload(), record.pointer_size());
        match record.class() {
            EventClass::Kernel { group: Group::SYSTEM_CONFIG, opcode, version } => {
                if let Ok(config) = SystemConfig::parse(payload, opcode, version, pointer_size) {
                    self.config(&config);
                }
            }
            EventClass::Classic { guid: SYSTEM_CONFIG_EX, opcode, version } => {
                if let Ok(SystemConfigEx::BuildInfo(build)) =
                    SystemConfigEx::parse(payload, opcode, version, pointer_size)
                {
                    self.build(&build);
                }
            }
            _ => {}
        }
    }

    /// Takes what a record of the class `SystemConfig` says.
    pub(crate) fn config(&mut self, config: &SystemConfig<'_>) {
        match config {
            SystemConfig::Cpu(cpu) => self.cpu(cpu),
            SystemConfig::Processor(processor) => self.processor(processor),
            SystemConfig::PhysicalDisk(disk) => self.disk(disk),
            SystemConfig::LogicalDisk(volume) => self.volume(volume),
            SystemConfig::NetworkAdapter(card) => self.card(card),
            _ => {}
        }
    }

    /// Takes the name of the operating system.
    pub(crate) fn build(&mut self, build: &BuildInfo<'_>) {
        keep_first(&mut self.os_name, &build.product_name.to_string());
    }

    /// The size of the memory.
    pub(crate) fn memory(&self) -> MemorySize {
        let page = self.page_size.map_or(MemorySize::default().page, i64::from);
        let total = self.memory_mib.and_then(|mib| i64::try_from(mib.saturating_mul(1 << 20)).ok());
        MemorySize { page, total }
    }

    /// Puts the facts into the description of the recording.
    pub fn describe(&self, info: &mut TraceInfo) {
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

    fn cpu(&mut self, cpu: &Cpu<'_>) {
        if self.name.is_none() {
            keep_first(&mut self.name, &cpu.computer_name.to_string());
            self.cpu_mhz = Some(cpu.mhz).filter(|mhz| *mhz > 0);
            self.memory_mib = Some(u64::from(cpu.memory_mib)).filter(|mib| *mib > 0);
            self.page_size = Some(cpu.page_size).filter(|size| size.is_power_of_two());
        }
    }

    fn processor(&mut self, processor: &Processor<'_>) {
        keep_first(&mut self.cpu_name, &processor.name.to_string());
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
}

/// Keeps the first text that says something.
fn keep_first(known: &mut Option<String>, text: &str) {
    let text = text.trim();
    if known.is_none() && !text.is_empty() {
        *known = Some(text.to_owned());
    }
}
