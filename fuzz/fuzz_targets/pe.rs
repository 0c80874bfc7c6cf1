//! A Windows image: its identities, the portable PDB inside, its exports.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use tracesift_symbols::pe::Image;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut image) = Image::read(Cursor::new(bytes), None) else { return };
    let id = image.id("fuzz.dll");
    assert!(Image::read(Cursor::new(bytes), Some(&id)).is_ok());
    let _ = image.embedded_portable_pdb();
    let Ok(table) = image.exports("fuzz") else { return };
    for (start, named) in table.code_ranges() {
        assert_eq!(table.frames(start).next().is_some(), named, "at {start:#x}");
    }
});
