//! Records that a merge tool wrote: image identities, version resources, the volume map.

use tracesift_etl::payload::{ImageId, SystemConfigEx};
use tracesift_etl::{Guid, Record, class};
use tracesift_trace::HealthKind;
use tracesift_trace::modules::{PdbIdentity, VersionFacts};

use super::Inventory;
use crate::event_kinds::is_injected;

impl Inventory {
    pub(super) fn injected(&mut self, record: &Record<'_>, guid: Guid, opcode: u8, version: u8) {
        match guid {
            class::IMAGE_ID => self.image_id(record, opcode, version),
            class::SYSTEM_CONFIG_EX => self.system_config_ex(record, opcode, version),
            class::LOST_EVENT => {
                self.health.count(HealthKind::LOSS_RECORD, Some(record.time()), || format!("kind {opcode}"));
            }
            _ if is_injected(guid) => {}
            _ => self.live(record.time()),
        }
    }

    fn image_id(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let parsed = ImageId::parse(record.payload(), opcode, version, record.pointer_size());
        let Some(id) = self.checked(record, parsed) else { return };
        let ticks = record.time();
        match id {
            ImageId::Info(info) => {
                let name = info.original_file_name.to_string();
                self.images.original_name(ticks, info.image_base, info.process_id, &name, info.time_date_stamp);
            }
            ImageId::Pdb(pdb) => {
                let identity =
                    PdbIdentity { name: pdb.pdb_file_name.to_string(), guid: pdb.guid.to_string(), age: pdb.age };
                self.images.native_pdb(ticks, pdb.image_base, pdb.process_id, identity);
            }
            ImageId::ManagedPdb(pdb) => {
                let identity =
                    PdbIdentity { name: pdb.pdb_file_name.to_string(), guid: pdb.guid.to_string(), age: pdb.age };
                self.images.managed_pdb(ticks, pdb.image_base, pdb.process_id, identity);
            }
            ImageId::FileVersion(file) => {
                let facts = VersionFacts {
                    original_file_name: file.original_file_name.to_string(),
                    file_version: file.file_version.to_string(),
                    binary_file_version: file.binary_file_version.to_string(),
                    product_version: file.product_version.to_string(),
                    product_name: file.product_name.to_string(),
                    company: file.company_name.to_string(),
                    description: file.file_description.to_string(),
                };
                self.images.version(file.time_date_stamp, u64::from(file.image_size), facts);
            }
            ImageId::NoDebugInfo(_)
            | ImageId::DbgFile(_)
            | ImageId::PortablePdb(_)
            | ImageId::PortablePdbId(_)
            | ImageId::Deterministic(_)
            | ImageId::Failure(_) => {}
        }
    }

    fn system_config_ex(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let parsed = SystemConfigEx::parse(record.payload(), opcode, version, record.pointer_size());
        match self.checked(record, parsed) {
            Some(SystemConfigEx::BuildInfo(build)) => self.machine.build(&build),
            Some(SystemConfigEx::SystemPaths(paths)) => {
                self.paths.windows_directory(&paths.windows_directory.to_string());
            }
            Some(SystemConfigEx::VolumeMapping(volume)) => {
                self.paths.volume(&volume.nt_path.to_string(), &volume.dos_path.to_string());
            }
            _ => {}
        }
    }
}
