//! PDBs with random damage: an error, or other names; in bounded time, without a panic.

use std::fs;
use std::io::Cursor;
use std::time::{Duration, Instant};

use tracesift_fixtures::cases;
use tracesift_symbols::pdb::Pdb;

fn read(bytes: &[u8]) -> bool {
    let Ok(pdb) = Pdb::read(Cursor::new(bytes), None) else { return false };
    let Ok(table) = pdb.table("") else { return false };
    table.code_ranges().for_each(|(start, _)| table.frames(start).for_each(drop));
    true
}

#[test]
fn damaged_pdbs_are_no_trouble() {
    let Some(cases) = cases("symbols") else { return };
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    for name in ["CrashWithException.pdb", "crash.pdb", "test_vtables_omap.dll.pdb"] {
        let bytes = fs::read(cases.join(name)).expect("it is there");
        let mut readable = 0;
        let start = Instant::now();
        for round in 0..150 {
            let mut damaged = bytes.clone();
            // Many small ones, or a whole block.
            if round % 3 == 0 {
                let (from, to) = (next(bytes.len() / 4096) * 4096, next(bytes.len() / 4096) * 4096);
                damaged.copy_within(from..from + 4096, to);
            } else {
                for _ in 0..1 << next(12) {
                    let at = next(bytes.len());
                    damaged[at] = [0, 1, 0x7f, 0x80, 0xff, 0x11][next(6)];
                }
            }
            if round % 10 == 9 {
                damaged.truncate(next(bytes.len()));
            }
            readable += usize::from(read(&damaged));
        }
        println!("{name}: {readable} of 150 gave names");
        assert!(readable > 20 && start.elapsed() < Duration::from_secs(300), "{readable}");
    }
}

/// Headers and the directory of streams, byte by byte.
#[test]
fn every_byte_of_the_container_may_be_wrong() {
    let Some(cases) = cases("symbols") else { return };
    let bytes = fs::read(cases.join("CrashWithException.pdb")).expect("it is there");
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")) as usize;
    let (block, map) = (number(32), number(52));
    let directory = number(map * block) * block;
    for at in (32..56).chain(directory..directory + 64) {
        for value in [0, 1, 2, 0x10, 0x7f, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            read(&damaged);
        }
    }
}
