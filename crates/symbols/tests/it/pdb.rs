//! PDBs of Microsoft's linker against llvm-symbolizer and pdb-addr2line.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use crate::common::second_opinion::second_opinion;
use crate::common::symbolizer::{frames_of, ours, publics_of, random_addresses, table_of, unknown};
use tracesift_fixtures::{cases, have};
use tracesift_symbols::pdb::Pdb;
use tracesift_symbols::pe::Image;
use tracesift_symbols::{Error, PdbId, Table};

/// The outermost function with its file and line, of each of 10,000 addresses.
///
/// Three differences have reasons:
/// * Where several lines begin at one address, llvm-symbolizer gives the first one for that byte and the last one from the next byte on. Only the
///   last one has code, and all of its code is at one line with us: so at such a byte we must say what it says of the next one in the function.
/// * It shows 0xf00f00 as a line, which stands for code without one.
/// * It names functions of modules only. At public symbols (the import stubs of the C library) it must give our name when it
///   is asked for decorated names, for which it looks at public symbols only.
fn functions_and_lines(image: &Path, table: &Table, addresses: &[u32]) -> BTreeMap<&'static str, usize> {
    let mut tally = BTreeMap::new();
    let theirs = frames_of(image, addresses, false, &|_, _| false);
    let next: Vec<u32> = addresses.iter().map(|address| address + 1).collect();
    let theirs_next = frames_of(image, &next, false, &|_, _| false);
    let publics = publics_of(image, addresses);
    for (at, address) in addresses.iter().enumerate() {
        let mine = ours(table, *address).pop().unwrap_or_else(unknown);
        let theirs = theirs[at].as_ref().expect("it crashes on inlined functions only").last().expect("a frame");
        let after = theirs_next[at].as_ref().expect("it crashes on inlined functions only").last().expect("a frame");
        let kind = if *theirs == mine {
            if mine.0 == "??" { "no function, both" } else { "the same" }
        } else if theirs.2 == Some(0xf0_0f00) && (&theirs.0, &theirs.1, None) == (&mine.0, &mine.1, mine.2) {
            "no line"
        } else if theirs.0 == "??" {
            assert_eq!(Some(&mine.0), publics[at].as_ref(), "at {address:#x}");
            assert_eq!((&mine.1, mine.2), (&theirs.1, theirs.2), "at {address:#x}");
            "a public symbol"
        } else {
            assert_eq!((&mine.0, &mine.1), (&theirs.0, &theirs.1), "at {address:#x}");
            // A function of one byte has no next one.
            assert!(mine == *after || mine.0 != after.0, "at {address:#x}: {mine:?}, {after:?}");
            assert!(table.code_ranges().any(|(start, _)| start == u64::from(*address)));
            "the line of the next byte"
        };
        *tally.entry(kind).or_insert(0) += 1;
    }
    tally
}

/// The inlined functions of each of 10,000 addresses.
///
/// llvm-symbolizer 14 takes an entry of a line program that no length follows for one byte long, where its end is the start of the next one, and
/// counts in a change of line that comes behind an entry. So it leaves inlined functions out, and it is wrong about lines; and it crashes
/// where link-time code generation took a function from another module. What it says of functions must be among ours, in our order. That
/// all of ours is right, pdb-addr2line is asked.
fn inlines(image: &Path, table: &Table, addresses: &[u32]) -> BTreeMap<&'static str, usize> {
    let mut tally = BTreeMap::new();
    let mut sorted = addresses.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let alike = |a: u32, b: u32| ours(table, a) == ours(table, b);
    for (address, theirs) in sorted.iter().zip(frames_of(image, &sorted, true, &alike)) {
        let mine = ours(table, *address);
        let kind = match theirs {
            None => "a crash",
            Some(theirs) if theirs.len() == 1 && mine.len() <= 1 => "nothing inlined, both",
            Some(theirs) if theirs == mine => "the same",
            Some(theirs) => {
                let mut rest = mine.iter();
                let found = theirs.iter().all(|frame| rest.any(|mine| (&mine.0, &mine.1) == (&frame.0, &frame.1)));
                assert!(found, "at {address:#x}: {theirs:?}, {mine:?}");
                if theirs.len() == mine.len() { "other lines" } else { "fewer functions" }
            }
        };
        *tally.entry(kind).or_insert(0) += 1;
    }
    tally
}

#[test]
fn names_agree_with_llvm_symbolizer() {
    let Some(cases) = cases("symbols") else { return };
    if !have(&["llvm-symbolizer"]) {
        return;
    }
    for name in ["crash", "CrashWithException"] {
        let image = cases.join(name).with_extension("exe");
        let pdb = image.with_extension("pdb");
        let table = table_of(&pdb);
        let addresses = random_addresses(&image, 10_000);
        let outer = functions_and_lines(&image, &table, &addresses);
        println!("{name}, functions and lines: {outer:?}");
        let inner = inlines(&image, &table, &addresses);
        println!("{name}, inlined functions: {inner:?}");
        println!("{name}, pdb-addr2line: {:?}", second_opinion(&pdb, &table, &addresses, name == "crash"));
    }
}

#[test]
fn a_pdb_knows_its_image() {
    let Some(cases) = cases("symbols") else { return };
    for image in ["crash.exe", "CrashWithException.exe", "test_vtables_omap.dll"] {
        let file = |name: &str| File::open(cases.join(name)).expect("it is there");
        let image = Image::read(file(image), None).expect("an image");
        let id = image.pdbs()[0].id.clone();
        let pdb = Pdb::read(file(&id.name), Some(&id)).expect("it is the one");
        assert_eq!((pdb.guid(), pdb.age()), (id.guid, id.age));
        for other in [
            PdbId { age: id.age + 1, ..id.clone() },
            PdbId { guid: tracesift_symbols::Guid::from_bytes([7; 16]), ..id.clone() },
        ] {
            assert!(matches!(Pdb::read(file(&id.name), Some(&other)), Err(Error::OtherBinary { .. })));
        }
    }
    for portable in ["portable.pdb", "crash.exe"] {
        let file = File::open(cases.join(portable)).expect("it is there");
        assert!(matches!(Pdb::read(file, None), Err(Error::OtherFormat(_))));
    }
}
