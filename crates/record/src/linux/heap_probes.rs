//! Probes in the C library of one process that tell of each block of its heap.

use std::fs;
use std::path::{Path, PathBuf};

use super::probes::{self, Probes};

/// Functions that get probes: at the entry, and those that give a block at the return, too.
pub(super) const FUNCTIONS: [(&str, bool); 4] =
    [("malloc", true), ("calloc", true), ("realloc", true), ("free", false)];

/// Sets the probes in the C library of a process. Tells in words why that is not possible.
pub(super) fn set(pid: u32) -> Result<Probes, String> {
    let library = library_of(pid).ok_or_else(|| format!("process {pid} has no C library as a file, or is gone"))?;
    let functions = FUNCTIONS.map(|(function, _)| function);
    Probes::in_library(probes::HEAP, &library, functions, |registers, function| {
        let [first, second, _] = registers.arguments;
        let returns = FUNCTIONS.iter().any(|(known, returns)| *known == function && *returns);
        // At the entry of a function frame pointers lead past its caller.
        let entry = format!("first={first}:x64 second={second}:x64 sp=%sp:x64 caller={}:x64", registers.caller);
        (entry, returns.then_some("ret=$retval:x64"))
    })
}

/// The C library that a process has mapped, as this process sees the file.
fn library_of(pid: u32) -> Option<PathBuf> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let maps = fs::read_to_string(process.join("maps")).ok()?;
    let paths = maps.lines().filter_map(|line| line.find('/').and_then(|at| line.get(at..)));
    let path = paths.into_iter().find(|path| probes::is_c_library(Path::new(path)))?;
    Some(process.join("root").join(path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_of_a_process_is_found() {
        let found = library_of(std::process::id());
        assert!(found.is_none_or(|path| path.exists()), "musl or a static program has none");
        assert_eq!(library_of(4_000_000_001), None);
    }
}
