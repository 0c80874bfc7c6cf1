//! Symbol tables, held against `nm` and `perf`.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use tracesift_fixtures::have;
use tracesift_symbols::elf::{self, Companions};
use tracesift_symbols::{Error, demangle, names};

use crate::elf::tools::{code_segment, nm, program, run, table};

#[test]
fn without_debug_information_functions_have_the_names_of_their_symbols() {
    if !have(&["g++", "nm", "readelf"]) {
        return;
    }
    let (_directory, program) = program("g++", "-g0");
    let (segment, offset, _) = code_segment(&program);
    let table = table(&program);
    let symbols = nm(&program, &[]);
    let mut checked = 0;
    for (address, size, _, _) in symbols.iter().filter(|symbol| symbol.1 > 0) {
        let named = |frame: Option<tracesift_symbols::Frame<'_>>| frame.map(|frame| frame.function.to_owned());
        let aliases = symbols.iter().filter(|alias| alias.0 == *address);
        let aliases: Vec<String> = aliases.map(|alias| names::split(&demangle(&alias.3)).0.to_owned()).collect();
        for at in [*address, address + size - 1] {
            let mut frames = table.frames(at - segment + offset);
            let found = named(frames.next());
            assert!(found.as_ref().is_some_and(|found| aliases.contains(found)), "{at:#x}: {found:?}, not {aliases:?}");
            assert!(frames.next().is_none());
        }
        checked += 1;
    }
    assert!(checked > 50, "{checked}");
}

const ALIASES: &str = r"
	.text
	.globl strong, longer_strong, __under
	.weak weak_and_much_longer
	.type strong, @function
	.type longer_strong, @function
	.type __under, @function
	.type weak_and_much_longer, @function
	.type local_and_very_much_longer, @function
strong:
longer_strong:
__under:
weak_and_much_longer:
local_and_very_much_longer:
label_and_longest_of_all_of_these:
	dec %ecx
	jnz strong
	.size strong, 4
	.size longer_strong, 4
	.size __under, 4
	.size weak_and_much_longer, 4
	.size local_and_very_much_longer, 4
	.size label_and_longest_of_all_of_these, 4
	.globl no_size
	.type no_size, @function
no_size:
	mov $60, %eax
	syscall
	.globl outer, inner
	.type outer, @function
	.type inner, @function
outer:
	nop
inside:
	nop
inner:
	nop
	nop
	.size inner, 1
	.size outer, 4
	nop
after:
	nop
	.globl _start
	.type _start, @function
_start:
	mov $600000000, %ecx
	mov $strong, %eax
	jmp *%rax
	.size _start, 12
";

#[test]
fn of_several_symbols_the_one_is_chosen_that_perf_chooses() {
    if !have(&["gcc", "nm", "readelf"]) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("aliases.s"), ALIASES).unwrap();
    run(directory.path(), "gcc", &["-nostdlib", "-static", "aliases.s", "-o", "aliases"]);
    let program = directory.path().join("aliases");
    let table = table(&program);
    let (segment, offset, _) = code_segment(&program);
    let first = nm(&program, &[]).iter().find(|symbol| symbol.3 == "strong").unwrap().0 - segment + offset;
    let found: Vec<&str> =
        (first..first + 18).map(|at| table.frames(at).next().map_or("", |frame| frame.function)).collect();
    let expected = [
        "longer_strong",
        "longer_strong",
        "longer_strong",
        "longer_strong",
        "no_size",
        "no_size",
        "no_size",
        "no_size",
        "no_size",
        "no_size",
        "no_size",
        "outer",
        "outer",
        "inner",
        "outer",
        "",
        "after",
        "_start",
    ];
    assert_eq!(found, expected);
    // The program spins there. Where nothing may be recorded there is nothing to compare.
    let recorded = || {
        let mut perf = Command::new("perf");
        perf.args(["record", "-q", "-e", "cpu-clock:u", "-o", "spun", "./aliases"]);
        perf.current_dir(directory.path()).output().is_ok_and(|output| output.status.success())
    };
    if have(&["perf"]) && recorded() {
        let report = run(directory.path(), "perf", &["report", "-i", "spun", "--stdio", "-F", "overhead,sym"]);
        assert!(report.contains("[.] longer_strong"), "{report}");
    }
}

#[test]
fn stubs_are_named_after_what_they_call() {
    if !have(&["g++", "objdump", "readelf"]) {
        return;
    }
    for flags in ["-g", "-g -fcf-protection=full", "-g -Wl,-z,now", "-g -no-pie"] {
        let (_directory, program) = program("g++", flags);
        let (segment, offset, _) = code_segment(&program);
        let table = table(&program);
        let text = run(Path::new("."), "objdump", &["-d", program.to_str().unwrap()]);
        let stubs: Vec<(u64, &str)> = text
            .lines()
            .filter_map(|line| line.strip_suffix("@plt>:")?.split_once(" <"))
            .map(|(address, name)| (u64::from_str_radix(address, 16).unwrap(), name))
            .filter(|(_, name)| !name.starts_with('*'))
            .collect();
        assert!(stubs.len() > 10, "{stubs:?}");
        for (address, name) in stubs {
            let frame = table.frames(address - segment + offset).next();
            let name = demangle(name);
            let name = names::split(&name).0;
            let found = frame.map(|frame| frame.function.to_owned());
            assert_eq!(found, Some(format!("{name}@plt")), "{flags}: {address:#x}");
        }
    }
}

#[test]
fn what_is_left_after_stripping_is_used() {
    if !have(&["g++", "strip", "nm", "readelf", "objcopy", "xz"]) {
        return;
    }
    let (directory, program) = program("g++", "-g -rdynamic");
    let at = directory.path();
    let (segment, offset, _) = code_segment(&program);
    let name = |table: &tracesift_symbols::Table, address: u64| {
        table.frames(address - segment + offset).last().map(|frame| frame.function.to_owned()).unwrap_or_default()
    };
    let address = |symbols: &[(u64, u64, char, String)], name: &str| {
        symbols.iter().find(|symbol| symbol.3 == name).unwrap_or_else(|| panic!("{name} in {symbols:?}")).0
    };
    let symbols = nm(&program, &[]);
    let (exported, local) = (address(&symbols, "list_sum"), symbols.iter().find(|symbol| symbol.3 == "main.cold"));
    run(at, "objcopy", &["--keep-symbol=main.cold", "--strip-debug", "-S", "program", "small"]);
    run(at, "strip", &["--strip-all", "-o", "stripped", "program"]);
    let stripped = table(&at.join("stripped"));
    assert_eq!(name(&stripped, exported), "list_sum");
    if let Some((local, ..)) = local {
        assert_eq!(name(&stripped, *local), "");
        // As distributions do it: the rest of the symbols in a packed file inside.
        run(at, "objcopy", &["-S", "--keep-symbol=main.cold", "program", "small"]);
        run(at, "xz", &["-k", "small"]);
        run(at, "objcopy", &["--add-section", ".gnu_debugdata=small.xz", "stripped", "packed"]);
        let packed = table(&at.join("packed"));
        assert_eq!(name(&packed, exported), "list_sum");
        assert_eq!(name(&packed, *local), "main.cold");
    }
}

#[test]
fn other_files_are_refused() {
    let read = |bytes: &[u8]| elf::read(std::io::Cursor::new(bytes), Companions::default(), None);
    for other in [&b""[..], b"\x7fELF", b"MZ and so on and so on", b"#!/bin/sh\n"] {
        assert!(matches!(read(other), Err(Error::OtherFormat(_))), "{other:?}");
    }
    if have(&["gcc"]) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.c"), "int f(int a) { return a + 1; }").unwrap();
        run(directory.path(), "gcc", &["-g", "-c", "a.c"]);
        let object = File::open(directory.path().join("a.o")).unwrap();
        assert!(matches!(elf::read(object, Companions::default(), None), Err(Error::OtherFormat(_))));
    }
}
