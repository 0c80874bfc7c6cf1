//! Methods and modules of the .NET runtime: compiled during the recording, or named by rundown.

use tracesift_etl::payload::dotnet::{DomainModuleLoad, MethodLoadVerbose, ModuleLoad, RUNDOWN_PROVIDER};
use tracesift_etl::{Guid, Record};
use tracesift_trace::methods::{MethodEdge, MethodRecord};
use tracesift_trace::modules::file_name;

use super::Inventory;

impl Inventory {
    pub(super) fn dotnet(&mut self, record: &Record<'_>, provider: Guid, id: u16, version: u8) {
        let Some(pid) = record.pid() else { return };
        let rundown = provider == RUNDOWN_PROVIDER;
        match id {
            MethodLoadVerbose::LOAD_ID | MethodLoadVerbose::UNLOAD_ID => {
                let edge = match (rundown, id) {
                    (true, _) => MethodEdge::Rundown,
                    (false, MethodLoadVerbose::LOAD_ID) => MethodEdge::Load,
                    _ => MethodEdge::Unload,
                };
                self.method(record, pid, edge, version);
            }
            // Each provider numbers its module events in its own way.
            DomainModuleLoad::LOAD_ID if !rundown => self.domain_module(record, pid, version),
            DomainModuleLoad::LOAD_ID | DomainModuleLoad::DC_END_ID if rundown => {
                self.domain_module(record, pid, version);
            }
            ModuleLoad::LOAD_ID | ModuleLoad::UNLOAD_ID | ModuleLoad::DC_END_ID => {
                let Some(module) = self.decode::<ModuleLoad<'_>>(record, version) else { return };
                self.methods.module(record.time(), pid, module.module_id, file_name(&module.il_path.to_string()));
            }
            _ => {}
        }
    }

    fn domain_module(&mut self, record: &Record<'_>, pid: u32, version: u8) {
        let Some(module) = self.decode::<DomainModuleLoad<'_>>(record, version) else { return };
        self.methods.module(record.time(), pid, module.module_id, file_name(&module.il_path.to_string()));
    }

    fn method(&mut self, record: &Record<'_>, pid: u32, edge: MethodEdge, version: u8) {
        let Some(method) = self.decode::<MethodLoadVerbose<'_>>(record, version) else { return };
        let (namespace, name) = (method.namespace.to_string(), method.name.to_string());
        let function = if namespace.is_empty() { name } else { format!("{namespace}.{name}") };
        let known = self.methods.method(&MethodRecord {
            ticks: record.time(),
            pid,
            edge,
            start: method.code.start_address,
            size: method.code.size,
            module: method.code.module_id,
            function: &function,
            arguments: &method.signature.to_string(),
        });
        if !known {
            self.health.count("methods_over_budget", Some(record.time()), || function);
        }
    }
}
