//! Names in a recording: of mapped files, and the identities that the recorder listed at its end.

use rustc_hash::FxHashMap;
use tracesift_perf::{BuildIdEntry, is_of_a_guest};

/// The kernel, as the recorder's list of identities calls it.
const KERNEL: &str = "[kernel.kallsyms]";

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
