//! Probes that tell the paths of files that are opened.
//!
//! One probe in the kernel tells all of them. On a kernel that takes none, probes in the C library tell those that programs open by its
//! functions `open` and `openat`; many files are opened by other ways.

use super::probes::{self, Probes};

/// Functions of the kernel through which every file is opened, of newer and of older kernels. Both take a directory and a path first.
const KERNEL: [&str; 2] = ["do_sys_openat2", "do_sys_open"];
/// Functions of the C library that get probes.
const LIBRARY: [&str; 2] = ["open", "openat"];

/// Whether the kernel takes probes.
pub(super) fn are_in_kernel() -> bool {
    probes::table(probes::KERNEL).is_some()
}

/// Sets the probes. Tells in words why that is not possible.
pub(super) fn set() -> Result<Probes, String> {
    if are_in_kernel() { in_kernel().or_else(|_| in_library()) } else { in_library() }
}

fn in_kernel() -> Result<Probes, String> {
    let mut probes = Probes::in_table(probes::KERNEL, probes::PATHS)?;
    let told = "dfd=$arg1:s32 filename=$arg2:x64 name=+0($arg2):ustring";
    let [newer, older] = KERNEL;
    probes.set('p', 0, "openat", newer, told).or_else(|_| probes.set('p', 0, "openat", older, told))?;
    Ok(probes.watched())
}

fn in_library() -> Result<Probes, String> {
    Probes::in_libraries(probes::PATHS, LIBRARY, |registers, function| {
        let [first, second, _] = registers.arguments;
        let told = match function {
            "open" => format!("filename={first}:x64 name=+0({first}):string"),
            _ => format!("dfd={first}:s32 filename={second}:x64 name=+0({second}):string"),
        };
        (told, None)
    })
}
