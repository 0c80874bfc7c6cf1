//! `symbols lookup` with addresses as other tools print them, and what the other commands on symbols say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_fixtures::skipped;

use crate::support::run;

const PROGRAM: &str = r#"
#include <stdio.h>
static inline __attribute__((always_inline)) int scaled(int value, int by)
{
	return value * by +
		by % 7;
}
__attribute__((noinline)) static int first(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += scaled(i, n);
	return sum;
}
__attribute__((noinline)) int second(int n)
{
	return first(n) + scaled(n, 3);
}
__attribute__((noinline)) int third(int n)
{
	return n > 3 ? second(n - 1) : first(n + 1);
}
int main(int argc, char **argv)
{
	printf("%d\n", third(argc) + second(argc));
	return 0;
}
"#;

/// Runs a tool; `None` where it is not installed.
fn tool(directory: &Path, name: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(name).current_dir(directory).args(arguments).output();
    let Ok(output) = output else {
        skipped(&format!("{name} is absent"));
        return None;
    };
    assert!(output.status.success(), "{name} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The program, linked with some options.
fn program(directory: &Path, options: &[&str]) -> Option<PathBuf> {
    std::fs::write(directory.join("a.c"), PROGRAM).unwrap();
    tool(directory, "gcc", &[&["-O1", "a.c", "-o", "a"], options].concat())?;
    Some(directory.join("a"))
}

/// The functions that `nm` lists with a size: address, size, name.
fn functions(directory: &Path) -> Option<Vec<(u64, u64, String)>> {
    let text = tool(directory, "nm", &["-S", "a"])?;
    let function = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[address, size, "t" | "T" | "w" | "W", name] = words.as_slice() else { return None };
        let number = |text| u64::from_str_radix(text, 16).unwrap();
        Some((number(address), number(size), name.to_owned()))
    };
    Some(text.lines().filter_map(function).filter(|(_, size, _)| *size > 0).collect())
}

/// What is known of each address: the rows of the answer, innermost function first.
fn looked_up(directory: &Path, arguments: &[&str]) -> BTreeMap<u64, Vec<Value>> {
    let output = Command::new(env!("CARGO_BIN_EXE_tracesift"))
        .current_dir(directory)
        .args(["symbols", "lookup", "--format", "json", "--symbol-cache", "cache"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let mut by_address: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for row in rows {
        by_address.entry(row["address"].as_u64().unwrap()).or_default().push(row);
    }
    by_address
}

/// Function and line of each address, as `addr2line` says.
fn addr2line(directory: &Path, addresses: &[String]) -> Option<Vec<(String, Option<u64>)>> {
    let arguments = ["-f", "-e", "a"].into_iter().chain(addresses.iter().map(String::as_str));
    let text = tool(directory, "addr2line", &arguments.collect::<Vec<_>>())?;
    let lines: Vec<&str> = text.lines().collect();
    let place = |pair: &[&str]| {
        let line = pair[1].rsplit_once(':').and_then(|(_, line)| line.split(' ').next()?.parse().ok());
        (pair[0].to_owned(), line.filter(|line| *line > 0))
    };
    Some(lines.chunks_exact(2).map(place).collect())
}

/// Whether an executable segment of `a` lies at another offset in the file than its address says.
fn is_moved(directory: &Path) -> Option<bool> {
    let text = tool(directory, "readelf", &["-lW", "a"])?;
    let mut code = text.lines().filter(|line| line.trim_start().starts_with("LOAD") && line.contains(" R E "));
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let moved = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        number(words[1]) != number(words[2])
    };
    Some(code.any(moved))
}

/// Every function of a program at its first byte, in its middle and at its last byte.
fn agrees_with_nm_and_addr2line(options: &[&str], moved: Option<bool>) {
    let place = TempDir::new().unwrap();
    let directory = place.path();
    if program(directory, options).is_none() {
        return;
    }
    let (Some(functions), Some(is_moved)) = (functions(directory), is_moved(directory)) else { return };
    if let Some(moved) = moved {
        assert_eq!(is_moved, moved, "{options:?}: the linker puts code elsewhere than the test takes for granted");
    }
    let asked: Vec<(u64, u64, &str)> = functions
        .iter()
        .flat_map(|(start, size, name)| [0, size / 2, size - 1].map(|offset| (start + offset, offset, name.as_str())))
        .collect();
    // As `nm` prints them.
    let printed: Vec<String> = asked.iter().map(|(address, ..)| format!("{address:016x}")).collect();
    let Some(expected) = addr2line(directory, &printed) else { return };
    let arguments: Vec<&str> = ["a"].into_iter().chain(printed.iter().map(String::as_str)).collect();
    let found = looked_up(directory, &arguments);
    let (mut lines, mut names) = (0, 0);
    for ((address, offset, name), (function, line)) in asked.iter().zip(&expected) {
        let rows = &found[address];
        let outermost = rows.last().unwrap();
        assert_eq!(outermost["function"], *name, "{options:?} {address:#x}");
        assert_eq!(outermost["offset"], *offset, "{options:?} {address:#x} in {name}");
        names += 1;
        if let Some(line) = line {
            assert_eq!(rows[0]["function"], *function, "{options:?} {address:#x}");
            assert_eq!(rows[0]["line"], *line, "{options:?} {address:#x} in {name}");
            lines += 1;
        }
    }
    assert!(names >= 12, "{names} addresses in functions: {functions:?}");
    assert_eq!(lines > 0, options.contains(&"-g"), "{lines} addresses with a line");
}

#[test]
fn an_address_of_a_position_independent_program_is_that_of_nm() {
    agrees_with_nm_and_addr2line(&["-g", "-fPIE", "-pie"], None);
}

#[test]
fn an_address_of_a_program_at_a_fixed_place_is_that_of_nm() {
    agrees_with_nm_and_addr2line(&["-g", "-fno-pie", "-no-pie"], Some(true));
}

#[test]
fn an_address_is_that_of_nm_where_code_lies_elsewhere_in_the_file() {
    for options in [&["-g", "-fPIE", "-pie"][..], &["-fPIE", "-pie"]] {
        agrees_with_nm_and_addr2line(
            &[options, &["-Wl,-z,separate-code,--section-start=.text=0x212340"]].concat(),
            None,
        );
    }
    agrees_with_nm_and_addr2line(&["-fno-pie", "-no-pie"], Some(true));
}

#[test]
fn offsets_in_an_elf_file_are_looked_up_where_that_is_asked() {
    let place = TempDir::new().unwrap();
    let directory = place.path();
    if program(directory, &["-fno-pie", "-no-pie"]).is_none() {
        return;
    }
    let Some(functions) = functions(directory) else { return };
    let (address, ..) = functions.iter().find(|(.., name)| name == "second").unwrap();
    // The linker's base for such programs, which is no part of the file.
    let offset = format!("{:#x}", address - 0x40_0000);
    let found = looked_up(directory, &["a", "--rva", &offset]);
    assert_eq!(found[&(address - 0x40_0000)][0]["function"], "second");
    let said = run(directory, &["symbols", "lookup", "a", &offset]);
    assert!(said.contains("(no function is known here)"), "{said}");
    assert!(said.contains("add --rva"), "{said}");
}

#[test]
fn a_directory_of_symbols_that_is_not_there_is_said() {
    let place = crate::support::archives();
    let said = run(place.path(), &["symbols", "load", "Slow.sift", "--symbols", "/nonexistent/symbols"]);
    assert!(said.contains("warning: --symbols: there is no directory /nonexistent/symbols"), "{said}");
    assert!(said.starts_with("exit: 0"), "{said}");
    let said = run(place.path(), &["symbols", "load", "Slow.sift", "--symbols", "."]);
    assert!(!said.contains("warning: --symbols"), "{said}");
}

#[test]
fn the_largest_tables_of_the_cache_are_listed() {
    let place = TempDir::new().unwrap();
    let directory = place.path();
    let mut made = 0;
    for functions in [1, 40, 400] {
        let name = format!("lib{functions}.so");
        let text: String = (0..functions).map(|n| format!("int f{n}(int n) {{ return n + {n}; }}\n")).collect();
        std::fs::write(directory.join("a.c"), text).unwrap();
        if tool(directory, "gcc", &["-shared", "-fPIC", "-Wl,--build-id", "a.c", "-o", &name]).is_none() {
            return;
        }
        looked_up(directory, &[&name, "0x1000"]);
        made += 1;
    }
    let list = |arguments: &[&str]| {
        run(directory, &[&["symbols", "cache", "list", "--symbol-cache", "cache"], arguments].concat())
    };
    let all = list(&[]);
    assert!(all.contains(&format!("tables {made}")), "{all}");
    // The largest stands last.
    let tables = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains(".elf ")).map(|line| line.trim().to_owned()).collect()
    };
    let one = list(&["--top", "1"]);
    assert_eq!((tables(&all).len(), tables(&one).len()), (made, 1), "{one}");
    let name = |lines: Vec<String>| lines.last().and_then(|line| line.split(' ').next().map(str::to_owned));
    assert_eq!(name(tables(&one)), name(tables(&all)));
    assert!(one.contains(&format!("tables {made}")), "the totals are those of all: {one}");
}
