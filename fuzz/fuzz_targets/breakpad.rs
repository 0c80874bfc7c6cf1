//! A Breakpad symbol file. What its table names can be looked up, and the table comes back from its bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_symbols::breakpad::SymbolFile;
use tracesift_symbols::{Table, names};

fuzz_target!(|bytes: &[u8]| {
    let Ok(table) = SymbolFile::read(bytes, None).and_then(|file| file.table("id")) else { return };
    assert!(!table.is_empty());
    let again = Table::open(table.bytes().to_vec().into()).expect("a table opens");
    for (start, named) in table.code_ranges() {
        let frames: Vec<_> = table.frames(start).collect();
        assert_eq!(named, !frames.is_empty());
        assert!(again.frames(start).eq(frames.iter().copied()));
        for frame in frames {
            let _ = names::split(frame.function);
        }
    }
});
