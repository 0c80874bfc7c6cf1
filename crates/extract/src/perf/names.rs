//! Names in a recording: of mapped files, and the identities that the recorder listed at its end.

use rustc_hash::FxHashMap;
use tracesift_perf::{BuildIdEntry, is_of_a_guest};
use tracesift_symbols::machine::{KERNEL, VDSO};

/// What a mapping's name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapped<'a> {
    /// The kernel itself.
    Kernel(&'a str),
    /// A file, or what else has a name of its own.
    Named(&'a str),
    /// Memory without a file.
    Anonymous,
}

/// The code that the kernel maps into 32-bit programs on a 64-bit machine, which is another file than [`VDSO`], as perf calls it.
const VDSO_32: &str = "[vdso32]";
/// Where 32-bit programs end.
const FOUR_GIB: u64 = 1 << 32;

/// Reads the name of what a program has mapped up to `end`.
pub(crate) fn mapped_by_program(name: &str, end: u64) -> Mapped<'_> {
    match mapped(name) {
        Mapped::Named(VDSO) if end <= FOUR_GIB => Mapped::Named(VDSO_32),
        mapped => mapped,
    }
}

/// Reads a mapping's name. The kernel's is followed by the symbol at its start: `[kernel.kallsyms]_text`.
pub(crate) fn mapped(name: &str) -> Mapped<'_> {
    const ANONYMOUS: [&str; 7] = ["//anon", "/anon_hugepage", "/dev/zero", "/SYSV", "[anon", "[heap", "[stack"];
    if name.starts_with(KERNEL) {
        Mapped::Kernel(KERNEL)
    } else if name.is_empty() || ANONYMOUS.iter().any(|start| name.starts_with(start)) {
        Mapped::Anonymous
    } else {
        Mapped::Named(name)
    }
}

/// Identities by path.
pub(crate) struct BuildIds<'a>(FxHashMap<&'a str, &'a BuildIdEntry>);

impl<'a> BuildIds<'a> {
    /// Those of the recorded machine, not of virtual ones on it.
    pub(crate) fn of(entries: &'a [BuildIdEntry]) -> Self {
        let host = entries.iter().filter(|entry| !is_of_a_guest(entry.mode));
        Self(host.map(|entry| (entry.name.as_str(), entry)).collect())
    }

    /// The identity of the file at a path, in hex digits.
    pub(crate) fn of_path(&self, path: &str) -> Option<String> {
        self.0.get(path).map(|entry| entry.id.to_string()).filter(|id| !id.is_empty())
    }
}
