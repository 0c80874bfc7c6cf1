//! Methods and modules of the .NET runtime: compiled during the recording, or named by rundown.

use tracesift_etl::payload::WideStr;
use tracesift_etl::payload::dotnet::{
    DomainModuleLoad, EntryPoint, MethodIlToNativeMap, MethodLoadVerbose, ModuleLoad, ModulePdb, RUNDOWN_PROVIDER,
};
use tracesift_etl::{Guid, Record};
use tracesift_trace::HealthKind;
use tracesift_trace::methods::{EntryPointRecord, ManagedModuleRecord, MethodEdge, MethodRecord};
use tracesift_trace::modules::PdbIdentity;

use super::Inventory;

impl Inventory {
    pub(super) fn dotnet(&mut self, record: &Record<'_>, provider: Guid, id: u16, version: u8) {
        let Some(pid) = record.pid() else { return };
        let rundown = provider == RUNDOWN_PROVIDER;
        // Each provider numbers its events in its own way, but for those of methods.
        match (id, rundown) {
            (MethodLoadVerbose::LOAD_ID | MethodLoadVerbose::UNLOAD_ID, true) => {
                self.method(record, pid, MethodEdge::Rundown, version);
            }
            (MethodLoadVerbose::LOAD_ID, false) => self.method(record, pid, MethodEdge::Load, version),
            (MethodLoadVerbose::UNLOAD_ID, false) => self.method(record, pid, MethodEdge::Unload, version),
            (MethodIlToNativeMap::ID, false)
            | (MethodIlToNativeMap::DC_START_ID | MethodIlToNativeMap::DC_END_ID, true) => {
                self.il_map(record, pid, version);
            }
            (EntryPoint::ID, false) => self.entry_point(record, pid, version),
            (DomainModuleLoad::LOAD_ID, _) | (DomainModuleLoad::DC_END_ID, true) => {
                let Some(module) = self.decode::<DomainModuleLoad<'_>>(record, version) else { return };
                self.module(record, pid, module.module_id, module.il_path, None);
            }
            (ModuleLoad::LOAD_ID | ModuleLoad::UNLOAD_ID, false)
            | (ModuleLoad::DC_START_ID | ModuleLoad::DC_END_ID, true) => {
                let Some(module) = self.decode::<ModuleLoad<'_>>(record, version) else { return };
                self.module(record, pid, module.module_id, module.il_path, module.managed_pdb);
            }
            _ => {}
        }
    }

    fn module(&mut self, record: &Record<'_>, pid: u32, module: u64, path: WideStr<'_>, pdb: Option<ModulePdb<'_>>) {
        let pdb = pdb.filter(|pdb| pdb.signature != Guid::from_u128(0)).map(|pdb| PdbIdentity {
            name: pdb.path.to_text(),
            guid: pdb.signature.to_string(),
            age: pdb.age,
        });
        self.methods.module(ManagedModuleRecord { ticks: record.time(), pid, module, path: &path.to_text(), pdb });
    }

    fn method(&mut self, record: &Record<'_>, pid: u32, edge: MethodEdge, version: u8) {
        let Some(method) = self.decode::<MethodLoadVerbose<'_>>(record, version) else { return };
        let function = qualified(method.namespace, method.name);
        let known = self.methods.method(&MethodRecord {
            ticks: record.time(),
            pid,
            tid: record.tid().unwrap_or(0),
            edge,
            start: method.code.start_address,
            size: method.code.size,
            cold: method.code.is_cold(),
            id: method.code.method_id,
            module: method.code.module_id,
            token: method.code.token,
            function: &function,
            arguments: &method.signature.to_text(),
        });
        if !known {
            self.health.count(HealthKind::METHODS_OVER_BUDGET, Some(record.time()), || function);
        }
    }

    fn il_map(&mut self, record: &Record<'_>, pid: u32, version: u8) {
        let Some(map) = self.decode::<MethodIlToNativeMap<'_>>(record, version) else { return };
        if !self.methods.il_map(pid, record.tid().unwrap_or(0), map.method_id, map.pairs()) {
            let example = || format!("method {:#x} of process {pid}", map.method_id);
            self.health.count(HealthKind::IL_MAPS_OVER_BUDGET, Some(record.time()), example);
        }
    }

    fn entry_point(&mut self, record: &Record<'_>, pid: u32, version: u8) {
        let Some(entry) = self.decode::<EntryPoint<'_>>(record, version) else { return };
        let function = qualified(entry.namespace, entry.name);
        let known = self.methods.entry_point(&EntryPointRecord {
            ticks: record.time(),
            pid,
            start: entry.address,
            function: &function,
            arguments: &entry.signature.to_text(),
        });
        if !known {
            self.health.count(HealthKind::METHODS_OVER_BUDGET, Some(record.time()), || function);
        }
    }
}

/// `Namespace.Type.Method`.
fn qualified(namespace: WideStr<'_>, name: WideStr<'_>) -> String {
    let mut text = namespace.to_text();
    if !namespace.is_empty() {
        text.push('.');
    }
    name.append_to(&mut text);
    text
}
