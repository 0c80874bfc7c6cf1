//! A PDB, or a module of one: read whole, with look-ups at its stretches.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use tracesift_symbols::pdb::Pdb;

fuzz_target!(|bytes: &[u8]| {
    let Ok(pdb) = Pdb::read(Cursor::new(bytes), None) else { return };
    let Ok(table) = pdb.table("fuzz") else { return };
    for (start, named) in table.code_ranges() {
        assert_eq!(table.frames(start).next().is_some(), named, "at {start:#x}");
    }
});
