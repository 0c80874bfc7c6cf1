//! A table of symbols as it lies in the cache, with the checksum put right.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_symbols::{Table, TableError};

/// What the checksum is of.
const SUMMED: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= SUMMED {
        let sum = crc32fast::hash(&bytes[SUMMED..]).to_le_bytes();
        bytes[SUMMED - 4..SUMMED].copy_from_slice(&sum);
    }
    let table = match Table::open(bytes.into()) {
        Ok(table) => table,
        Err(TableError::NoTable | TableError::Version(_) | TableError::Damaged) => return,
    };
    assert!(table.identity().len() <= table.bytes().len());
    let starts: Vec<u64> = table.code_ranges().map(|(start, _)| start).take(4096).collect();
    let near = starts.iter().flat_map(|start| [start.wrapping_sub(1), *start, start.wrapping_add(1)]);
    for address in near.chain([0, 1, u64::from(u32::MAX), u64::MAX]) {
        let mut depth = 0;
        for frame in table.frames(address) {
            depth += 1 + usize::from(frame.function.len() > table.bytes().len());
        }
        assert!(depth <= 256);
    }
    let again = Table::open(table.bytes().to_vec().into()).expect("its own bytes");
    assert_eq!(again.identity(), table.identity());
});
