//! What names code that lies in no file: the kernel's list of symbols, maps and dumps of JIT code. The first byte says which.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_symbols::jit_code::JitCode;
use tracesift_symbols::{Table, kallsyms};

fn check(table: &Table) {
    for (start, named) in table.code_ranges() {
        assert_eq!(table.frames(start).next().is_some(), named, "at {start:#x}");
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    if kind % 2 == 0 {
        let Ok(parts) = kallsyms::read(bytes) else { return };
        parts.iter().for_each(|part| check(&part.table));
        return;
    }
    let mut made = JitCode::default();
    // A dump of another process is refused: its number stands where the header has it.
    let process = bytes.get(20..24).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let _ = made.add_dump(bytes, process);
    let _ = made.add_map(bytes);
    made.tables().iter().for_each(check);
    for word in bytes.chunks_exact(8).filter_map(|word| word.first_chunk()).take(1000) {
        if let Some(known) = made.find(u64::from_le_bytes(*word)) {
            assert!(made.tables()[known.table].frames(known.address).next().is_some());
        }
    }
});
