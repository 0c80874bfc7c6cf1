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
    /// Where offset 0 of a module of the kernel lies, in the kernel's addresses; `None` for modules of programs.
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
    /// Where it was on the machine of the recording: the PDB may be inside of it.
    pub path: String,
}

/// The recording that names are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// Where it lies, or would lie beside its archive: recorders leave symbol files beside it.
    pub path: &'a Path,
    /// The machine that it was made on.
    pub machine: Option<&'a str>,
    /// When it began.
    pub began: Option<SystemTime>,
}

/// A process that ran code which lies in no file: probably JIT code of its own.
#[derive(Clone, Debug)]
pub struct JitProcess {
    /// Process id of the operating system.
    pub pid: u32,
    /// When it began and ended, where that is inside of the recording.
    pub began: Option<SystemTime>,
    /// See `began`.
    pub ended: Option<SystemTime>,
    /// Path of the dump that it wrote its code to (`jit-PID.dump`), where it is known to have mapped one for the recorder to see.
    pub dump: Option<String>,
}

/// Finds names of code.
pub trait NameSource: fmt::Debug + Send + Sync {
    /// The names of each module, or in a few words why there are none; in the same order.
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
