//! Functions, inlined functions, files and lines, held against `addr2line` of the GNU binutils.

use std::collections::BTreeMap;
use std::path::Path;

use tracesift_symbols::{Table, names};

use crate::tools::{code_segment, have, nm, program, run_with, table};

/// A function, its file, its line (0 for none).
type Frame = (String, String, u32);

fn frames(table: &Table, offset: u64) -> Vec<Frame> {
    let frame = |frame: tracesift_symbols::Frame<'_>| {
        (frame.function.to_owned(), frame.file.unwrap_or("??").to_owned(), frame.line.unwrap_or(0))
    };
    table.frames(offset).map(frame).collect()
}

/// What `addr2line` says of addresses.
fn addr2line(program: &Path, addresses: &[u64]) -> BTreeMap<u64, Vec<Frame>> {
    let input: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let arguments = ["-a", "-i", "-f", "-C", "-e", program.to_str().unwrap()];
    let text = run_with(Path::new("."), "addr2line", &arguments, &input);
    let mut said: BTreeMap<u64, Vec<Frame>> = BTreeMap::new();
    let mut lines = text.lines().peekable();
    while let Some(address) = lines.next() {
        let address = u64::from_str_radix(address.strip_prefix("0x").unwrap(), 16).unwrap();
        let said = said.entry(address).or_default();
        said.clear();
        while let Some(function) = lines.next_if(|line| !line.starts_with("0x")) {
            let place = lines.next().unwrap();
            let place = place.split(" (discriminator").next().unwrap();
            let (file, line) = place.rsplit_once(':').unwrap();
            // It writes return types where names are mangled with them.
            let (function, _) = names::split(function);
            said.push((function.to_owned(), file.to_owned(), line.parse().unwrap_or(0)));
        }
    }
    said
}

/// Addresses in functions, as many as are wanted, evenly spread.
fn addresses(program: &Path, wanted: usize) -> Vec<u64> {
    let mut all: Vec<u64> =
        nm(program, &[]).into_iter().flat_map(|(address, size, _, _)| address..address + size).collect();
    all.sort_unstable();
    all.dedup();
    assert!(all.len() >= wanted, "only {} addresses", all.len());
    let step = all.len() / wanted;
    all.into_iter().step_by(step).collect()
}

#[track_caller]
fn agrees(compiler: &str, flags: &str) {
    if !have(&[compiler, "addr2line", "nm", "readelf"]) {
        return;
    }
    let (_directory, program) = program(compiler, flags);
    let (segment, offset, _) = code_segment(&program);
    let table = table(&program);
    let addresses = addresses(&program, 10_000);
    let said = addr2line(&program, &addresses);
    let mut differ = Vec::new();
    let mut inlined = 0;
    for (address, expected) in &said {
        let found = frames(&table, address - segment + offset);
        inlined += usize::from(found.len() > 1);
        if found != *expected {
            differ.push(format!("{address:#x}\n    {found:?}\n not {expected:?}"));
        }
    }
    assert!(inlined > 1000, "{inlined} addresses in inlined functions");
    let count = differ.len();
    differ.truncate(8);
    assert_eq!(count, 0, "of {}: {}", said.len(), differ.join("\n"));
    println!("{compiler} {flags}: {} addresses, {inlined} in inlined functions", said.len());
}

#[test]
fn gcc_dwarf_5_agrees_with_addr2line() {
    agrees("g++", "-g -gdwarf-5");
}

#[test]
fn gcc_dwarf_4_without_pie_agrees_with_addr2line() {
    agrees("g++", "-g -gdwarf-4 -no-pie");
}

#[test]
fn clang_dwarf_5_without_pie_agrees_with_addr2line() {
    agrees("clang++", "-g -gdwarf-5 -no-pie");
}

#[test]
fn clang_dwarf_4_agrees_with_addr2line() {
    agrees("clang++", "-g -gdwarf-4 -fPIE -pie");
}
