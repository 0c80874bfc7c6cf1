//! Probes in the C library that tell which names programs look up, and how that ended.

use std::path::PathBuf;

use super::probes::{self, Probes, Registers, registers};

/// Functions that get probes.
const FUNCTIONS: [&str; 4] = ["getaddrinfo", "gethostbyname", "gethostbyname2", "getnameinfo"];

impl Registers {
    /// What the probes of a function tell: at its entry, and at its return.
    fn told(&self, function: &str) -> (String, &'static str) {
        let [first, second, third] = self.arguments;
        match function {
            "getaddrinfo" => {
                (format!("name=+0({first}):string flags=+0({third}):s32 family=+4({third}):s32"), "ret=$retval:s32")
            }
            "gethostbyname2" => (format!("name=+0({first}):string family={second}:s32"), "ret=$retval:x64"),
            "getnameinfo" => (
                format!(
                    "family=+0({first}):u16 v4=+4({first}):u32 v6=+8({first}):u64 v6_rest=+16({first}):u64 flags={}:s32",
                    self.seventh
                ),
                "ret=$retval:s32",
            ),
            _ => (format!("name=+0({first}):string"), "ret=$retval:x64"),
        }
    }
}

/// The table of probes, if it may be changed.
pub(super) fn table() -> Option<PathBuf> {
    registers()?;
    probes::table(probes::PROGRAMS)
}

/// Sets probes in the C libraries of this machine. Tells in words why that is not possible.
pub(super) fn set() -> Result<Probes, String> {
    Probes::in_libraries(probes::NAMES, FUNCTIONS, |registers, function| {
        let (entry, result) = registers.told(function);
        (entry, Some(result))
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use tracesift_symbols::elf;

    use super::*;
    use crate::linux::probes::libraries;

    #[test]
    fn the_library_of_this_machine_is_found() {
        let Some(registers) = registers() else {
            return tracesift_fixtures::skipped("the registers of this processor are not known");
        };
        let libraries = libraries(registers.machine);
        let Some(library) = libraries.first() else {
            return tracesift_fixtures::skipped("there is no C library as a file");
        };
        let offsets = elf::exported(File::open(library).unwrap(), FUNCTIONS).unwrap();
        assert!(offsets[0].is_some(), "{library:?}: {offsets:?}");
    }
}
