//! Where names come from.

use std::fmt;
use std::path::Path;

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
pub struct Found {
    /// Names by address.
    pub table: Table,
    /// The table's address of the module's offset 0: 0 where the table has offsets, too.
    pub base: u64,
}

/// Finds names of modules.
pub trait NameSource: fmt::Debug + Send + Sync {
    /// The names of each module, or in a few words why there are none; in the same order. `recording` is where the recording lies, or
    /// would lie beside its archive: recorders leave symbol files beside it.
    fn names(&self, recording: &Path, wanted: &[Wanted<'_>]) -> Vec<Result<Found, String>>;

    /// The lines of each portable PDB, as [`tracesift_symbols::portable::table`] makes them; in the same order.
    fn lines(&self, recording: &Path, pdbs: &[PdbId]) -> Vec<Option<Table>> {
        let _ = recording;
        pdbs.iter().map(|_| None).collect()
    }
}
