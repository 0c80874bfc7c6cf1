//! One program in every shape that tools give to its debug information: the names are the same in all.

use std::fs::File;
use std::path::Path;

use tracesift_fixtures::have;
use tracesift_symbols::elf::{self, Companions, DebugAltLink};
use tracesift_symbols::{BuildId, Error, Table};

use crate::elf::tools::{program, run, table};

/// Function, arguments, file and line of each frame.
type Names = Vec<(String, Option<String>, Option<String>, Option<u32>, String)>;

fn names(table: &Table, offset: u64) -> Names {
    let text = |text: Option<&str>| text.map(str::to_owned);
    let frames = table.frames(offset);
    let names = frames.map(|frame| {
        (frame.function.to_owned(), text(frame.arguments), text(frame.file), frame.line, frame.source.to_owned())
    });
    names.collect()
}

/// All that a table says; stubs aside, which only the binary itself has.
fn all(table: &Table) -> Vec<(u64, Names)> {
    let named = table.code_ranges().map(|(start, _)| (start, names(table, start)));
    let is_stub = |names: &Names| names.iter().any(|name| name.0.ends_with("@plt"));
    let mut all: Vec<(u64, Names)> =
        named.map(|(start, names)| (start, if is_stub(&names) { Vec::new() } else { names })).collect();
    all.dedup_by(|next, before| next.1 == before.1);
    all
}

fn read(path: &Path, image: Option<&Path>, shared: Option<&Path>) -> Result<Table, Error> {
    let open = |path: &Path| File::open(path).unwrap();
    elf::read(open(path), Companions { image: image.map(open), supplementary: shared.map(open) }, None)
}

#[test]
fn compressed_debug_information_is_the_same() {
    if !have(&["g++", "objcopy"]) {
        return;
    }
    let (directory, program) = program("g++", "-g");
    let at = directory.path();
    let expected = all(&table(&program));
    assert!(expected.iter().filter(|(_, names)| names.len() > 1).count() > 100);
    for kind in ["zlib", "zlib-gnu", "zstd"] {
        run(at, "objcopy", &[&format!("--compress-debug-sections={kind}"), "program", kind]);
        assert!(std::fs::metadata(at.join(kind)).unwrap().len() < std::fs::metadata(&program).unwrap().len());
        assert_eq!(all(&table(&at.join(kind))), expected, "{kind}");
    }
}

#[test]
fn debug_information_in_a_file_of_its_own_is_the_same() {
    if !have(&["g++", "objcopy", "strip"]) {
        return;
    }
    for flags in ["-g", "-g -no-pie", "-g -Wl,-z,separate-code", "-g -Wl,-z,noseparate-code"] {
        let (directory, program) = program("g++", flags);
        let at = directory.path();
        let expected = all(&table(&program));
        run(at, "objcopy", &["--only-keep-debug", "program", "program.debug"]);
        run(at, "strip", &["-o", "stripped", "program"]);
        run(at, "objcopy", &["--add-gnu-debuglink=program.debug", "stripped"]);
        let (stripped, debug) = (at.join("stripped"), at.join("program.debug"));
        assert_eq!(all(&read(&debug, Some(&stripped), None).unwrap()), expected, "{flags}");
        assert_eq!(
            all(&read(&debug, None, None).unwrap()),
            expected,
            "{flags}: the layout is known without the binary"
        );
        let link = elf::debug_link(File::open(&stripped).unwrap()).unwrap().unwrap();
        let crc = crc32fast::hash(&std::fs::read(&debug).unwrap());
        assert_eq!((link.name.as_str(), link.crc), ("program.debug", crc));
        let id = |path| elf::build_id(File::open(path).unwrap()).unwrap();
        assert!(id(&debug).is_some() && id(&debug) == id(&stripped));
        if have(&["eu-strip"]) {
            run(at, "eu-strip", &["-f", "eu.debug", "-o", "eu-stripped", "program"]);
            let debug = at.join("eu.debug");
            assert_eq!(all(&read(&debug, Some(&at.join("eu-stripped")), None).unwrap()), expected, "{flags}");
            assert_eq!(all(&read(&debug, None, None).unwrap()), expected, "{flags}");
        }
    }
}

#[test]
fn what_several_files_share_is_found() {
    if !have(&["g++", "dwz"]) {
        return;
    }
    let (directory, program) = program("g++", "-g -gdwarf-4");
    let at = directory.path();
    let expected = all(&table(&program));
    for copy in ["one", "two"] {
        std::fs::copy(&program, at.join(copy)).unwrap();
    }
    run(at, "dwz", &["-m", "shared.dwz", "-M", "/usr/lib/debug/.dwz/shared.dwz", "one", "two"]);
    let (one, shared) = (at.join("one"), at.join("shared.dwz"));
    let found = elf::debug_alt_link(File::open(&one).unwrap()).unwrap();
    let build_id = elf::build_id(File::open(&shared).unwrap()).unwrap().unwrap();
    assert_eq!(found, Some(DebugAltLink { path: "/usr/lib/debug/.dwz/shared.dwz".to_owned(), build_id }));
    assert_eq!(all(&read(&one, None, Some(&shared)).unwrap()), expected);
    // Without it less is known, but nothing else.
    let alone = read(&one, None, None).unwrap();
    for (start, names) in all(&alone) {
        let outer = names.last().map(|name| &name.0);
        let symbol = expected.iter().rev().find(|(at, _)| *at <= start).and_then(|(_, names)| names.last());
        assert!(outer.is_none() || symbol.is_some(), "{start:#x}: {names:?}");
    }
}

#[test]
fn another_build_is_refused() {
    if !have(&["g++"]) {
        return;
    }
    let (_directory, program) = program("g++", "-g");
    let open = || File::open(&program).unwrap();
    let id = elf::build_id(open()).unwrap().unwrap();
    let read = |wanted: &BuildId| elf::read(open(), Companions::default(), Some(wanted));
    assert!(!read(&id).unwrap().is_empty());
    // Recorders have room for 20 bytes and may fill it up.
    let padded = BuildId(id.0.iter().copied().chain([0; 4]).take(20).collect());
    assert!(read(&padded).is_ok());
    let mut other = id.clone();
    other.0[3] ^= 1;
    assert!(matches!(read(&other), Err(Error::OtherBinary { .. })));
    assert!(matches!(read(&BuildId(vec![0; 20])), Err(Error::OtherBinary { .. })));
}
