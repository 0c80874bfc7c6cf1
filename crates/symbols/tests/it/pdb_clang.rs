//! PDBs of clang and lld-link against llvm-symbolizer and pdb-addr2line.

use std::collections::BTreeMap;

use crate::common::second_opinion::second_opinion;
use crate::common::symbolizer::{Frame, frames_of, ours, random_addresses, table_of, unknown};
use tracesift_fixtures::windows_program::{BIG, Plan, make};
use tracesift_fixtures::{have, skipped};

/// Every frame of 10,000 addresses of programs with functions that were inlined three deep.
///
/// llvm-symbolizer 14 gives inlined code the line of the place that begins at or behind its address, not of the one that it lies in: these lines
/// are compared with those of pdb-addr2line, everything else with both.
#[test]
fn every_frame_agrees_with_others() {
    if !have(&["clang", "lld-link", "llvm-symbolizer"]) {
        return;
    }
    for target in ["x86_64-pc-windows-msvc", "i686-pc-windows-msvc"] {
        for optimize in ["-O2", "-O0"] {
            let directory = tempfile::tempdir().expect("a directory");
            let plan = Plan { target, optimize, units: 2, classes: 10 };
            let image = make(directory.path(), plan).expect("clang and lld-link make a program");
            let pdb = image.with_extension("pdb");
            let table = table_of(&pdb);
            let addresses = random_addresses(&image, 10_000);
            let mut depths = BTreeMap::new();
            for (address, theirs) in addresses.iter().zip(frames_of(&image, &addresses, true, &|_, _| false)) {
                let mut mine = ours(&table, *address);
                *depths.entry(mine.len()).or_insert(0) += 1;
                if mine.is_empty() {
                    mine.push(unknown());
                }
                let mut theirs = theirs.expect("no crash");
                assert_eq!(mine.last(), theirs.last(), "at {address:#x} of {plan:?}");
                for frames in [&mut mine, &mut theirs] {
                    frames.iter_mut().for_each(|frame: &mut Frame| frame.2 = None);
                }
                assert_eq!(mine, theirs, "at {address:#x} of {plan:?}");
            }
            let second = second_opinion(&pdb, &table, &addresses, false);
            println!("{plan:?}: addresses by depth {depths:?}, pdb-addr2line: {second:?}");
            assert!(depths[&4] > 500 && second["the same"] > 9_000, "{depths:?}, {second:?}");
        }
    }
}

/// Some thousand of the addresses of a large program. Making it takes minutes: only with `TRACESIFT_BIG_PDB=1`.
#[test]
fn a_large_pdb_agrees_with_others() {
    if std::env::var_os("TRACESIFT_BIG_PDB").is_none() {
        return skipped("TRACESIFT_BIG_PDB is not set");
    }
    if !have(&["clang", "lld-link", "llvm-symbolizer"]) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let image = make(directory.path(), BIG).expect("clang and lld-link make a program");
    let pdb = image.with_extension("pdb");
    let size = pdb.metadata().expect("it is there").len();
    assert!(size >= 50_000_000, "{size}");
    let table = table_of(&pdb);
    let addresses = random_addresses(&image, 100_000);
    for (address, theirs) in addresses.iter().zip(frames_of(&image, &addresses, true, &|_, _| false)) {
        let mine = ours(&table, *address);
        let theirs = theirs.expect("no crash");
        assert_eq!(mine.last().unwrap_or(&unknown()), theirs.last().expect("a frame"), "at {address:#x}");
        assert_eq!(mine.len().max(1), theirs.len(), "at {address:#x}");
    }
    println!("{size} bytes of PDB, {table:?}: {:?}", second_opinion(&pdb, &table, &addresses[..10_000], false));
}
