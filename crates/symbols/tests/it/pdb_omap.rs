//! A PDB of a rearranged image, against a table made from the texts of llvm-pdbutil.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use tracesift_fixtures::{cases, have};

use crate::common::symbolizer::table_of;

/// What a stream of addresses holds: pairs of them.
fn stream(pdb: &Path, number: u32) -> Vec<(u32, u32)> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let status = Command::new("llvm-pdbutil")
        .arg("export")
        .arg(format!("--stream={number}"))
        .arg(format!("--out={}", file.path().display()))
        .arg(pdb)
        .output()
        .expect("it runs")
        .status;
    assert!(status.success());
    let bytes = std::fs::read(file.path()).expect("it was written");
    let (pairs, rest) = bytes.as_chunks::<8>();
    assert!(rest.is_empty());
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
    pairs.iter().map(|pair| (number(&pair[..4]), number(&pair[4..]))).collect()
}

/// Functions by their addresses in the original image: start, length, name; from the text of the symbols, with the sections' addresses from
/// that of the headers.
fn functions(pdb: &Path) -> Vec<(u32, u32, String)> {
    let dump = |what: &str| {
        let output = Command::new("llvm-pdbutil").args(["dump", what]).arg(pdb).output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let headers = dump("-section-headers");
    let hex = |text: &str| u32::from_str_radix(text.trim(), 16).expect("digits");
    let sections: Vec<u32> =
        headers.lines().filter_map(|line| line.trim().strip_suffix("virtual address").map(hex)).collect();
    let symbols = dump("-symbols");
    let mut functions = Vec::new();
    let mut lines = symbols.lines();
    while let Some(line) = lines.next() {
        if !line.contains("| S_GPROC32 ") && !line.contains("| S_LPROC32 ") {
            continue;
        }
        let name = line.split_once('`').expect("a name").1.trim_end_matches('`');
        let (_, place) = lines.next().and_then(|line| line.split_once("addr = ")).expect("an address");
        let (place, length) = place.split_once(", code size = ").expect("a size");
        let (section, offset) = place.split_once(':').expect("section and offset");
        let section: usize = section.parse().expect("a number");
        let offset: u32 = offset.parse().expect("a number");
        functions.push((sections[section - 1] + offset, length.parse().expect("a number"), name.to_owned()));
    }
    functions
}

/// Each address of the code of the rearranged image is looked up in our table, and, through its map to the source, among the functions of the
/// original. The other map must agree with the first one where it leads back.
#[test]
fn addresses_go_through_the_map_to_the_source() {
    let Some(cases) = cases("symbols") else { return };
    if !have(&["llvm-pdbutil"]) {
        return;
    }
    let pdb = cases.join("test_vtables_omap.dll.pdb");
    let (to_source, from_source) = (stream(&pdb, 166), stream(&pdb, 167));
    assert!(to_source.is_sorted_by_key(|(image, _)| *image));
    let translate = |map: &[(u32, u32)], address: u32| {
        let before = map.partition_point(|(from, _)| *from <= address).checked_sub(1)?;
        let (from, to) = map[before];
        (to != 0).then(|| to + (address - from))
    };
    let functions = functions(&pdb);
    assert!(functions.len() > 100, "{}", functions.len());
    let at = |source: u32| {
        functions.iter().find(|(start, length, _)| (*start..start + length).contains(&source)).map(|(.., name)| name)
    };
    let table = table_of(&pdb);
    let mut tally = BTreeMap::new();
    // .text of the image, whose header says so.
    for address in 0x1000..0x1000 + 0xa157 {
        let source = translate(&to_source, address);
        let theirs = source.and_then(at);
        let ours = table.frames(address.into()).last();
        let kind = match (theirs, ours) {
            (None, None) => "no function, both",
            (Some(theirs), Some(ours)) => {
                assert_eq!(ours.function, theirs, "at {address:#x}");
                "the same"
            }
            // Public symbols are no functions of a module: they name code between those.
            (None, Some(_)) if source.is_some() => "a public symbol",
            (theirs, ours) => panic!("at {address:#x}: {theirs:?}, {ours:?}"),
        };
        if source.is_some_and(|source| translate(&from_source, source) == Some(address)) {
            *tally.entry("leads back").or_insert(0) += 1;
        }
        *tally.entry(kind).or_insert(0) += 1;
    }
    println!("{tally:?}");
    assert!(tally["the same"] > 30_000 && tally["leads back"] > 30_000, "{tally:?}");
}
