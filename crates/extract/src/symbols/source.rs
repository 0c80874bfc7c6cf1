//! Where names come from.

use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use tracesift_symbols::jit_code::JitCode;
use tracesift_symbols::{PdbId, Table};
use tracesift_trace::rows::ModuleRow;

/// A module whose code needs names.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The module.
    pub module: &'a ModuleRow,
    /// The kernel address of offset 0, for a module of the kernel; `None` for modules of programs.
    pub kernel_base: Option<u64>,
}

/// The names of a module.
#[derive(Clone, Debug)]
pub struct ModuleNames {
    /// Names by address.
    pub table: Table,
    /// The table's address of the module's offset 0: 0 where the table has offsets, too.
    pub base: u64,
}

/// An assembly whose managed code needs lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// Its portable PDB.
    pub pdb: PdbId,
    /// Its path on the recorded machine: the PDB may be inside of the assembly.
    pub path: String,
}

/// The recording whose frames need names.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// Its path, or the path that it would have beside its archive: recorders leave symbol files
    /// there.
    pub path: &'a Path,
    /// The recorded machine.
    pub machine: Option<&'a str>,
    /// Start of the recording.
    pub began: Option<SystemTime>,
}

/// A process that ran code outside of all files, probably JIT code.
#[derive(Clone, Debug)]
pub struct JitProcess {
    /// Process id of the operating system.
    pub pid: u32,
    /// Start of the process, if it lies inside of the recording.
    pub began: Option<SystemTime>,
    /// End of the process, if it lies inside of the recording.
    pub ended: Option<SystemTime>,
    /// Path of the dump that the process wrote (`jit-PID.dump`), if the recording shows that the
    /// process mapped one.
    pub dump: Option<String>,
}

/// Finds the names of code.
pub trait NameSource: fmt::Debug + Send + Sync {
    /// The names of each module, or the reason why there are none, in the order of `wanted`.
    fn names(&self, recorded: &Recorded<'_>, wanted: &[Wanted<'_>]) -> Vec<Result<ModuleNames, String>>;

    /// The lines of each assembly, as [`tracesift_symbols::portable::table`] makes them; in the same order.
    fn lines(&self, recorded: &Recorded<'_>, assemblies: &[Assembly]) -> Vec<Option<Table>> {
        let _ = recorded;
        assemblies.iter().map(|_| None).collect()
    }

    /// The names of the JIT code of each process; in the same order.
    fn jit_code(&self, recorded: &Recorded<'_>, processes: &[JitProcess]) -> Vec<JitCode> {
        let _ = recorded;
        processes.iter().map(|_| JitCode::default()).collect()
    }
}
