//! Code of this machine: its kernel, the kernel's modules, and the code that the kernel maps into
//! every process.
//!
//! None of these is a file that could be searched. They tell their build ids, so names are given only to what was recorded here, or on a machine with
//! the very same kernel.

#[cfg(target_os = "linux")]
mod vdso;

use std::fs::{self, File};
use std::io::{BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::elf::{self, Companions};
use crate::kallsyms::{self, KernelPart};
use crate::text::hex_number;
use crate::{BuildId, Error, Table};

/// How the code is called that the kernel maps into every process.
pub const VDSO: &str = "[vdso]";
/// How the kernel is called.
pub const KERNEL: &str = "[kernel.kallsyms]";

/// Names, and the table's address of the code's offset 0.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Names by address.
    pub table: Table,
    /// Where offset 0 lies.
    pub base: u64,
}

/// This machine, or what a directory has of one.
#[derive(Debug)]
pub struct Machine {
    root: PathBuf,
    symbols: OnceLock<Result<Vec<KernelPart>, Error>>,
}

impl Default for Machine {
    fn default() -> Self {
        Self::at("/")
    }
}

impl Machine {
    /// The machine whose `/proc` and `/sys` lie below `root`.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), symbols: OnceLock::new() }
    }

    /// The names of the running kernel, by `kallsyms`; offset 0 is where its code begins.
    ///
    /// # Errors
    /// [`Error::OtherBinary`] if another kernel runs; [`Error::Malformed`] if it hides its addresses.
    pub fn kernel(&self, wanted: &BuildId) -> Result<Placed, Error> {
        self.is_same("sys/kernel/notes", wanted)?;
        let part = self.part(None)?;
        let base = part.text.ok_or_else(|| Error::Malformed("it does not say where the code begins".to_owned()))?;
        Ok(Placed { table: part.table.clone(), base })
    }

    /// The names of a module of the running kernel; offset 0 is where it was loaded.
    ///
    /// # Errors
    /// As [`Machine::kernel`], and [`Error::Empty`] if it is not loaded.
    pub fn kernel_module(&self, name: &str, wanted: &BuildId) -> Result<Placed, Error> {
        // It becomes part of a path.
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(Error::Empty);
        }
        self.is_same(&format!("sys/module/{name}/notes/.note.gnu.build-id"), wanted)?;
        let modules = fs::read_to_string(self.root.join("proc/modules"))?;
        let line = modules.lines().find(|line| line.split(' ').next() == Some(name)).ok_or(Error::Empty)?;
        let base = line.split(' ').nth(5).and_then(hex_number).filter(|base| *base > 0);
        let base = base.ok_or_else(|| Error::Malformed("/proc/modules hides its address".to_owned()))?;
        Ok(Placed { table: self.part(Some(name))?.table.clone(), base })
    }

    /// The names of the code that the kernel maps into every process, by offset.
    ///
    /// # Errors
    /// [`Error::OtherBinary`] if this machine's is another one, [`Error::Empty`] if it has none.
    pub fn vdso(&self, wanted: &BuildId) -> Result<Table, Error> {
        let bytes = vdso_bytes().ok_or(Error::Empty)?;
        elf::read(Cursor::new(bytes), Companions::default(), Some(wanted))
    }

    /// Whether this machine runs the kernel with that build id.
    #[must_use]
    pub fn runs(&self, kernel: &BuildId) -> bool {
        self.is_same("sys/kernel/notes", kernel).is_ok()
    }

    fn part(&self, module: Option<&str>) -> Result<&KernelPart, Error> {
        let read = || kallsyms::read(BufReader::new(File::open(self.root.join("proc/kallsyms"))?));
        let parts = self.symbols.get_or_init(read).as_ref().map_err(|error| match error {
            Error::Malformed(why) => Error::Malformed(why.clone()),
            error => Error::Malformed(error.to_string()),
        })?;
        parts.iter().find(|part| part.module.as_deref() == module).ok_or(Error::Empty)
    }

    fn is_same(&self, notes: &str, wanted: &BuildId) -> Result<(), Error> {
        let found = fs::read(self.root.join(notes)).ok().and_then(|notes| elf::build_id_of_notes(&notes));
        if found.as_ref().is_some_and(|found| found.is_recorded_as(wanted)) {
            return Ok(());
        }
        let found = found.map_or("nothing that says its build id".to_owned(), |found| found.to_string());
        Err(Error::OtherBinary { wanted: wanted.to_string(), found })
    }
}

/// The module of the kernel that a recording calls so, by its name there: recorders have `[e1000e]`, or the path of its file.
#[must_use]
pub fn kernel_module_name(recorded: &str) -> Option<String> {
    let name = match recorded.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(name) if name.contains('.') || name == "vdso" => return None,
        Some(name) => name,
        None => {
            let file = recorded.rsplit('/').next()?;
            let bare = [".gz", ".xz", ".zst"].into_iter().find_map(|packed| file.strip_suffix(packed)).unwrap_or(file);
            bare.strip_suffix(".ko")?
        }
    };
    Some(name.replace('-', "_")).filter(|name| !name.is_empty())
}

/// The ELF file that this machine's kernel maps into every process.
#[must_use]
pub fn vdso_bytes() -> Option<Vec<u8>> {
    #[cfg(target_os = "linux")]
    return vdso::bytes();
    #[cfg(not(target_os = "linux"))]
    None
}

/// The name of this machine, as recorders have it.
#[must_use]
pub fn host_name() -> Option<String> {
    let name = fs::read_to_string(Path::new("/proc/sys/kernel/hostname")).ok()?;
    Some(name.trim_end().to_owned()).filter(|name| !name.is_empty())
}
