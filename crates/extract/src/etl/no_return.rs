//! System calls that never return, by the names of their routines: symbol files tell, before rows are made.

use tracesift_trace::ModuleId;
use tracesift_trace::rows::ModuleRow;

use crate::symbols::{ModuleNames, NameSource, Recorded, Wanted};

/// Files of the kernel, of machines with one and several processors, without and with large memory.
const KERNELS: [&str; 4] = ["ntoskrnl.exe", "ntkrnlmp.exe", "ntkrnlpa.exe", "ntkrpamp.exe"];

/// Routines that end a thread, or go on elsewhere: in a callback's caller, an exception handler, what an APC interrupted.
const NEVER_RETURN: [&str; 4] = ["NtCallbackReturn", "NtContinue", "NtRaiseException", "NtTerminateThread"];

/// The names of the kernel's routines.
#[derive(Debug, Default)]
pub(crate) struct NoReturn {
    kernels: Vec<(ModuleId, ModuleNames)>,
}

impl NoReturn {
    /// Asks for the names of the kernels among the modules.
    pub(super) fn find(source: &dyn NameSource, recorded: &Recorded<'_>, modules: &[ModuleRow]) -> Self {
        let is_kernel = |row: &&ModuleRow| KERNELS.iter().any(|name| row.name.eq_ignore_ascii_case(name));
        let kernels: Vec<&ModuleRow> = modules.iter().filter(is_kernel).collect();
        let wanted: Vec<Wanted<'_>> = kernels.iter().map(|row| Wanted { module: row, kernel_base: None }).collect();
        let names = if wanted.is_empty() { Vec::new() } else { source.names(recorded, &wanted) };
        let named = kernels.iter().zip(names).filter_map(|(row, names)| Some((row.module, names.ok()?)));
        Self { kernels: named.collect() }
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// Whether calls of the routine at this offset of a module never return.
    pub(crate) fn has(&self, (module, rva): (ModuleId, u64)) -> bool {
        let Some((_, names)) = self.kernels.iter().find(|(kernel, _)| *kernel == module) else { return false };
        let name = names.table.frames(names.base.wrapping_add(rva)).last();
        name.is_some_and(|frame| NEVER_RETURN.contains(&frame.function))
    }
}
