//! The image that each process runs.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{ModuleRow, ProcessModuleRow, ProcessRow};
use tracesift_trace::{ModuleId, ProcessId};

/// The kernel, under the names that its image had.
const KERNELS: [&str; 4] = ["ntoskrnl.exe", "ntkrnlmp.exe", "ntkrnlpa.exe", "ntkrpamp.exe"];
/// Process id of the System process, which runs the kernel.
const SYSTEM: i64 = 4;

/// The modules that processes are named after.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MainModules(FxHashMap<ProcessId, ModuleRow>);

impl MainModules {
    /// Finds them among the modules that were mapped.
    #[must_use]
    pub fn of(processes: &[ProcessRow], modules: &[ModuleRow], loads: &[ProcessModuleRow]) -> Self {
        let processes: FxHashMap<ProcessId, &ProcessRow> = processes.iter().map(|row| (row.process, row)).collect();
        let modules: FxHashMap<ModuleId, &ModuleRow> = modules.iter().map(|row| (row.module, row)).collect();
        let mut found = FxHashMap::default();
        for load in loads {
            if let (Some(process), Some(module)) = (processes.get(&load.process), modules.get(&load.module))
                && is_main(process, module)
            {
                found.entry(process.process).or_insert_with(|| (*module).clone());
            }
        }
        Self(found)
    }

    /// That of a process.
    #[must_use]
    pub fn get(&self, process: ProcessId) -> Option<&ModuleRow> {
        self.0.get(&process)
    }
}

fn is_main(process: &ProcessRow, module: &ModuleRow) -> bool {
    let is = |name: &str| module.name.eq_ignore_ascii_case(name);
    is(&process.name) || process.pid == SYSTEM && KERNELS.into_iter().any(is)
}
