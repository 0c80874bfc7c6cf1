//! Records that describe the machine and its services.

use tracesift_etl::Record;
use tracesift_etl::payload::SystemConfig;

use super::Inventory;

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
            Some(SystemConfig::Service(service)) => {
                if let Some(tag) = service.sub_process_tag.filter(|tag| *tag != 0) {
                    self.lifetimes.service(service.process_id, tag, service.name.to_string());
                }
            }
            Some(config) => self.machine.config(&config),
            None => {}
        }
    }
}
