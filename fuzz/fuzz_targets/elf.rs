//! An ELF file, alone and with itself as the file that it shares debug information with: identities, links, all of its names.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use tracesift_symbols::elf::{self, Companions};

fuzz_target!(|bytes: &[u8]| {
    let file = || Cursor::new(bytes);
    let id = elf::build_id(file()).ok().flatten();
    let _ = elf::debug_link(file());
    let _ = elf::debug_alt_link(file());
    for shared in [None, Some(file())] {
        let companions = Companions { image: None, supplementary: shared };
        let Ok(table) = elf::read(file(), companions, id.as_ref()) else { continue };
        assert!(!table.is_empty());
        for (start, named) in table.code_ranges() {
            assert_eq!(table.frames(start).next().is_some(), named, "at {start:#x}");
        }
    }
});
