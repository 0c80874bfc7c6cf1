//! Probes that tell the paths of files that are opened.
//!
//! One probe in the kernel tells all of them. On a kernel that takes none, probes in the C library tell those that programs open by its
//! functions `open` and `openat`; many files are opened by other ways.

use std::fs::File;
use std::path::Path;

use tracesift_symbols::elf;

use super::probes::{self, Probes, Registers, libraries, registers};

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
    let registers = registers().ok_or("the registers of this processor are not known")?;
    let mut probes = Probes::in_table(probes::PROGRAMS, probes::PATHS)?;
    let mut failed = None;
    for (number, library) in libraries(registers.machine).iter().enumerate() {
        if let Err(why) = set_in(&mut probes, library, number, &registers) {
            failed = Some(format!("{}: {why}", library.display()));
        }
    }
    if probes.is_empty() {
        return Err(failed.unwrap_or_else(|| "no C library was found".to_owned()));
    }
    Ok(probes.watched())
}

fn set_in(probes: &mut Probes, library: &Path, number: usize, registers: &Registers) -> Result<(), String> {
    let file = File::open(library).map_err(|error| error.to_string())?;
    let offsets = elf::exported(std::io::BufReader::new(file), LIBRARY).map_err(|error| error.to_string())?;
    let [first, second, _] = registers.arguments;
    for (function, offset) in LIBRARY.iter().zip(offsets) {
        let Some(offset) = offset else { continue };
        let told = match *function {
            "open" => format!("filename={first}:x64 name=+0({first}):string"),
            _ => format!("dfd={first}:s32 filename={second}:x64 name=+0({second}):string"),
        };
        probes.set('p', number, function, &format!("{}:{offset:#x}", library.display()), &told)?;
    }
    Ok(())
}
