//! Functions, inlined functions, files and lines, held against `addr2line` of the GNU binutils.

use std::collections::BTreeMap;
use std::path::Path;

use tracesift_fixtures::have;
use tracesift_symbols::{Table, demangle, names};

use crate::elf::tools::{code_segment, nm, program, run, run_with, table};

/// A function, its file, its line (0 for none).
type Frame = (String, String, u32);

/// Without a line the file says nothing: it is the unit's first one.
fn placed(function: &str, file: &str, line: u32) -> Frame {
    (function.to_owned(), if line == 0 { "??" } else { file }.to_owned(), line)
}

fn frames(table: &Table, offset: u64) -> Vec<Frame> {
    let frame = |frame: tracesift_symbols::Frame<'_>| {
        placed(frame.function, frame.file.unwrap_or_default(), frame.line.unwrap_or(0))
    };
    table.frames(offset).map(frame).collect()
}

/// What a tool says of addresses. `addr2line` of the binutils and of LLVM take the same arguments and print alike.
fn said_by(tool: &str, program: &Path, addresses: &[u64]) -> BTreeMap<u64, Vec<Frame>> {
    let input: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    // Without -C: names as the linker has them have one reading, what a tool makes of them has many.
    let arguments = ["-a", "-i", "-f", "-e", program.to_str().unwrap()];
    let text = run_with(Path::new("."), tool, &arguments, &input);
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
            said.push(placed(function, file, line.parse().unwrap_or(0)));
        }
    }
    said
}

/// The name of a function from what the linker calls it, or a part of it that the compiler moved elsewhere.
fn function(linked: &str) -> String {
    let linked = linked.strip_suffix(".cold").unwrap_or(linked);
    names::split(&demangle(linked)).0.to_owned()
}

/// The symbol that covers an address.
fn symbol(symbols: &[(u64, u64, char, String)], address: u64) -> &str {
    let covers = |symbol: &&(u64, u64, char, String)| (symbol.0..symbol.0 + symbol.1).contains(&address);
    symbols.iter().find(covers).map_or("", |symbol| &symbol.3)
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

/// Holds frames against `addr2line`, and those on which it differs against LLVM's, which may be as many as `others`.
#[track_caller]
fn agrees(compiler: &str, flags: &str, others: usize) {
    if !have(&[compiler, "addr2line", "nm", "readelf"]) {
        return;
    }
    let (_directory, program) = program(compiler, flags);
    program_agrees(&program, &format!("{compiler} {flags}"), others);
}

#[track_caller]
fn program_agrees(program: &Path, what: &str, others: usize) {
    let (segment, offset, _) = code_segment(program);
    let table = table(program);
    let addresses = addresses(program, 10_000);
    let symbols = nm(program, &[]);
    let said = said_by("addr2line", program, &addresses);
    let (mut inlined, mut differ) = (0, Vec::new());
    for (address, raw) in &said {
        let found = frames(&table, address - segment + offset);
        inlined += usize::from(found.len() > 1);
        if found != expected(raw, symbol(&symbols, *address)) {
            differ.push(*address);
        }
    }
    println!("{what}: {} addresses, {inlined} inlined, {} as LLVM says", said.len(), differ.len());
    assert!(inlined > 1000, "{inlined} addresses in inlined functions");
    assert!(differ.len() <= others, "{}: {:x?}", differ.len(), &differ[..8.min(differ.len())]);
    if differ.is_empty() || !have(&["llvm-addr2line"]) {
        return;
    }
    let mut wrong = Vec::new();
    for (address, raw) in said_by("llvm-addr2line", program, &differ) {
        let found = frames(&table, address - segment + offset);
        let expected = expected(&raw, symbol(&symbols, address));
        if found != expected {
            wrong.push(format!("{address:#x}\n    {found:?}\n not {expected:?}\n nor {:?}", said[&address]));
        }
    }
    let count = wrong.len();
    wrong.truncate(8);
    assert_eq!(count, 0, "of {}: {}", said.len(), wrong.join("\n"));
}

/// What the table should say where a tool says `raw`, and `symbol` lies at the address.
fn expected(raw: &[Frame], symbol: &str) -> Vec<Frame> {
    let mut frames = raw.to_vec();
    frames.iter_mut().for_each(|frame| frame.0 = function(&frame.0));
    // Where debug information has only the word in the source for a function, its symbol has the whole name.
    if let (Some(frame), Some(raw)) = (frames.last_mut(), raw.last())
        && symbol.starts_with("_Z")
        && !raw.0.starts_with("_Z")
    {
        frame.0 = function(symbol);
    }
    frames
}

// The binutils give the symbol's name to the innermost frame if debug information has only the word in the source for it, even where that was
// inlined into the symbol's function.

#[test]
fn gcc_dwarf_5_agrees_with_addr2line() {
    agrees("g++", "-g -gdwarf-5", 125);
}

#[test]
fn gcc_dwarf_4_without_pie_agrees_with_addr2line() {
    agrees("g++", "-g -gdwarf-4 -no-pie", 125);
}

#[test]
fn clang_dwarf_4_agrees_with_addr2line() {
    agrees("clang++", "-g -gdwarf-4 -fPIE -pie", 125);
}

#[test]
fn clang_dwarf_5_without_pie_agrees_with_addr2line() {
    // Binutils 2.40 miss the ranges that clang writes into version 5, and all that was inlined there.
    agrees("clang++", "-g -gdwarf-5 -no-pie", usize::MAX);
}

const RUST: &str = r#"
use std::collections::{BTreeMap, HashMap};

mod shapes {
    pub trait Shape {
        fn area(&self) -> f64;
    }
    pub struct Circle(pub f64);
    pub struct Square<T>(pub T);
    impl Shape for Circle {
        fn area(&self) -> f64 {
            3.14 * self.0 * self.0
        }
    }
    impl<T: Copy + Into<f64>> Shape for Square<T> {
        fn area(&self) -> f64 {
            let side: f64 = self.0.into();
            side * side
        }
    }
}
use shapes::{Circle, Shape, Square};

#[inline(never)]
fn areas(count: usize) -> f64 {
    let mut shapes: Vec<Box<dyn Shape>> = Vec::new();
    for number in 0..count {
        shapes.push(if number % 2 == 0 { Box::new(Circle(number as f64)) } else { Box::new(Square(number as f32)) });
    }
    shapes.sort_by(|a, b| a.area().total_cmp(&b.area()));
    shapes.iter().map(|shape| shape.area()).sum()
}

fn main() {
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    let mut lengths: HashMap<usize, Vec<String>> = HashMap::new();
    for word in std::env::args() {
        *words.entry(word.clone()).or_default() += 1;
        lengths.entry(word.len()).or_default().push(word);
    }
    for (length, mut words) in lengths {
        words.sort_by_key(|word| std::cmp::Reverse(word.clone()));
        println!("{length}: {}", words.join(" ").to_uppercase());
    }
    println!("{words:?} {}", areas(words.len() * 10));
}
"#;

#[test]
fn rust_agrees_with_addr2line() {
    if !have(&["rustc", "addr2line", "nm", "readelf"]) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("main.rs"), RUST).unwrap();
    run(directory.path(), "rustc", &["-g", "-O", "--edition", "2024", "main.rs", "-o", "program"]);
    program_agrees(&directory.path().join("program"), "rustc", 125);
}
