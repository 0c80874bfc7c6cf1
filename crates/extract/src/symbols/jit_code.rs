//! Names of frames outside of all modules: these may be JIT code of their process.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{ModuleRow, ProcessModuleRow, ProcessRow};
use tracesift_trace::{FrameId, ModuleId, ProcessId, view};

use super::source::{JitProcess, NameSource, Recorded};
use super::time::at;
use tracesift_symbols::Table;
use tracesift_symbols::jit_code::{JitCode, Known};

view! {
    /// The process that mapped a module.
    #[derive(Clone, Copy, Debug)]
    struct MappedBy of ProcessModuleRow { process, module }
}

view! {
    /// The columns of a process by which its code is found.
    #[derive(Clone, Copy, Debug)]
    struct CodeMaker of ProcessRow { process, pid, start, end }
}

/// A frame of a process in no module.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeOutsideModules {
    pub(super) frame: FrameId,
    pub(super) process: ProcessId,
    pub(super) address: u64,
}

/// Names of the JIT code of the processes of a recording.
pub(super) struct JitNames(FxHashMap<ProcessId, JitCode>);

impl JitNames {
    /// Asks for the JIT code of the processes of these frames.
    pub(super) fn find(
        archive: &Archive,
        modules: &[ModuleRow],
        outside: &[CodeOutsideModules],
        recorded: &Recorded<'_>,
        source: &dyn NameSource,
    ) -> Result<Self, Error> {
        let asked: FxHashSet<ProcessId> = outside.iter().map(|frame| frame.process).collect();
        if asked.is_empty() {
            return Ok(Self(FxHashMap::default()));
        }
        let dumps: FxHashMap<ModuleId, &str> = (0..)
            .zip(modules)
            .filter(|(_, row)| row.name.starts_with("jit-") && row.name.ends_with(".dump"))
            .map(|(index, row)| (ModuleId::from_index(index), row.path.as_str()))
            .collect();
        let mut mapped: FxHashMap<ProcessId, &str> = FxHashMap::default();
        if !dumps.is_empty() {
            archive.scan(None, |row: &MappedBy| {
                if let Some(path) = dumps.get(&row.module) {
                    mapped.insert(row.process, path);
                }
            })?;
        }
        let (mut processes, mut jit_processes) = (Vec::new(), Vec::new());
        let time = |ns: Option<i64>| ns.and_then(|ns| at(archive.info(), ns));
        archive.scan(None, |row: &CodeMaker| {
            if let (true, Ok(pid)) = (asked.contains(&row.process), u32::try_from(row.pid)) {
                processes.push(row.process);
                let dump = mapped.get(&row.process).map(|path| (*path).to_owned());
                jit_processes.push(JitProcess { pid, began: time(row.start), ended: time(row.end), dump });
            }
        })?;
        let code = processes.into_iter().zip(source.jit_code(recorded, &jit_processes));
        Ok(Self(code.filter(|(_, code)| !code.is_empty()).collect()))
    }

    /// Whether no process wrote down any JIT code.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place of the name of a process's code: the number of its table among
    /// [`JitNames::tables`] of the process, and the address in that table.
    pub(super) fn at(&self, process: ProcessId, address: u64) -> Option<Known> {
        self.0.get(&process)?.find(address)
    }

    /// The tables of a process.
    pub(super) fn tables(&self) -> impl Iterator<Item = (ProcessId, &[Table])> {
        self.0.iter().map(|(process, code)| (*process, code.tables()))
    }
}
