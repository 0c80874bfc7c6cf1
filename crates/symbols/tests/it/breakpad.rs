//! Breakpad symbol files: the shared ones against a plain reading of their lines and against `llvm-symbolizer` on the images of the same
//! builds, made ones against brute force.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use tracesift_fixtures::{cases, skipped};
use tracesift_symbols::breakpad::SymbolFile;
use tracesift_symbols::fetch::{Options, Silence, Symbols};
use tracesift_symbols::pdb::Pdb;
use tracesift_symbols::search::{Image, SearchPath, ShortNames};
use tracesift_symbols::{BuildId, Error, FormatReaders, Guid, PdbId, Table, names};

fn read(text: &[u8], wanted: Option<&PdbId>) -> Result<Table, Error> {
    SymbolFile::read(text, wanted)?.table("id")
}

fn shared(name: &str) -> Option<PathBuf> {
    cases(&format!("symbols/{name}"))
}

/// A text and the image of its build.
const PAIRS: [(&str, &str); 2] = [("crash.sym", "crash.exe"), ("CrashWithException.pdb.sym", "CrashWithException.exe")];

/// A text as its lines say, one after the other.
#[derive(Debug, Default)]
struct Plain {
    functions: Vec<PlainFunction>,
    publics: Vec<(u64, String)>,
}

#[derive(Debug)]
struct PlainFunction {
    start: u64,
    size: u64,
    name: String,
    /// Several functions share the code.
    multiple: bool,
    lines: Vec<(u64, u64, String, u32)>,
}

/// A line; 0 where the compiler wrote that there is none.
fn line_number(text: &str) -> u32 {
    match text.parse().expect("a line") {
        0xf0_0f00 | 0xfe_efee => 0,
        line => line,
    }
}

fn plain(text: &str) -> Plain {
    let hex = |field: &str| u64::from_str_radix(field, 16).expect("an address");
    let mut plain = Plain::default();
    let mut files = HashMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let multiple = words.get(1) == Some(&"m");
        let fields = &words[if multiple { 2 } else { 1 }..];
        match words[0] {
            "MODULE" | "INFO" | "STACK" => {}
            "FILE" => drop(files.insert(words[1], words[2..].join(" "))),
            "FUNC" => plain.functions.push(PlainFunction {
                start: hex(fields[0]),
                size: hex(fields[1]),
                name: fields[3..].join(" "),
                multiple,
                lines: Vec::new(),
            }),
            "PUBLIC" => plain.publics.push((hex(fields[0]), fields[2..].join(" "))),
            _ => {
                let line = (hex(words[0]), hex(words[1]), files[words[3]].clone(), line_number(words[2]));
                plain.functions.last_mut().expect("a function").lines.push(line);
            }
        }
    }
    plain
}

impl Plain {
    fn function(&self, address: u64) -> Option<&PlainFunction> {
        self.functions.iter().rfind(|function| (function.start..function.start + function.size).contains(&address))
    }

    /// Name and place.
    fn find(&self, address: u64) -> Option<(&str, Option<(String, u32)>)> {
        if let Some(function) = self.function(address) {
            let holds = |(start, size, ..): &&(u64, u64, String, u32)| (*start..start + size).contains(&address);
            let line = function.lines.iter().rfind(holds);
            return Some((&function.name, line.map(|(_, _, file, line)| (file.clone(), *line))));
        }
        let (start, public) =
            self.publics.iter().filter(|(start, _)| *start <= address).max_by_key(|(start, _)| *start)?;
        let hidden = self.functions.iter().any(|function| (*start..=address).contains(&function.start));
        (!hidden).then_some((public, None))
    }
}

fn only_frame(table: &Table, address: u64) -> Option<(String, Option<(String, u32)>)> {
    let mut frames = table.frames(address);
    let frame = frames.next()?;
    assert!(frames.next().is_none(), "{address:x}: these texts have no inlined functions");
    assert_eq!(frame.source, "breakpad");
    let place = frame.file.map(|file| (file.to_owned(), frame.line.unwrap_or(0)));
    Some((format!("{}{}", frame.function, frame.arguments.unwrap_or_default()), place))
}

#[test]
fn every_address_is_named_as_the_text_says() {
    for (text, _) in PAIRS {
        let Some(path) = shared(text) else { return };
        let bytes = std::fs::read(path).expect("the text");
        let table = read(&bytes[..], None).expect("a table");
        let text = String::from_utf8(bytes).expect("a text");
        let text = plain(&text);
        let (mut in_functions, mut named) = (0, 0);
        for address in 0xff0..0x3900 {
            let expected = text.find(address).map(|(name, place)| {
                let (name, arguments) = names::split(name);
                (format!("{name}{}", arguments.unwrap_or_default()), place)
            });
            in_functions += usize::from(text.function(address).is_some());
            named += usize::from(expected.is_some());
            assert_eq!(only_frame(&table, address), expected, "{address:x}");
        }
        println!("{in_functions} addresses in functions, {} behind public symbols", named - in_functions);
        assert!(in_functions > 3900 && named - in_functions > 200);
    }
}

/// What `llvm-symbolizer` says of addresses in an image with its PDB: function, file, line.
fn symbolize(image: &Path, addresses: &[u64]) -> Option<Vec<(String, String, u32)>> {
    let mut child = Command::new("llvm-symbolizer")
        .arg("--obj")
        .arg(image)
        .args(["--relative-address", "--no-inlines"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| skipped(&format!("llvm-symbolizer: {error}")))
        .ok()?;
    let mut stdin = child.stdin.take().expect("its input");
    let asked: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let writer = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let output = child.wait_with_output().expect("its output");
    writer.join().expect("the writer").expect("all addresses are taken");
    let text = String::from_utf8(output.stdout).expect("a text");
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let (pairs, _) = lines.as_chunks::<2>();
    assert_eq!(pairs.len(), addresses.len());
    let answer = |[function, place]: &[&str; 2]| {
        let place = place.rsplit_once(':').expect("a column").0;
        let (file, line) = place.rsplit_once(':').expect("a line");
        (function.to_string(), file.replace("??", ""), line_number(line))
    };
    Some(pairs.iter().map(answer).collect())
}

/// The name as both write it: `struct` and `class`, spaces, leading underscores and the word for a destructor differ.
fn normal(function: &str) -> String {
    let (name, _) = names::split(function);
    let name = name
        .replace("struct ", "")
        .replace("class ", "")
        .replace("enum ", "")
        .replace("deleting dtor", "deleting destructor");
    name.trim_start_matches('_').replace(' ', "")
}

#[test]
fn functions_and_lines_are_those_of_the_pdb() {
    for (text, image) in PAIRS {
        let (Some(path), Some(image)) = (shared(text), shared(image)) else { return };
        let text = std::fs::read_to_string(path).expect("the text");
        let table = read(text.as_bytes(), None).expect("a table");
        let text = plain(&text);
        let addresses: Vec<u64> = (0x1000..0x3720).filter(|address| text.function(*address).is_some()).collect();
        let Some(answers) = symbolize(&image, &addresses) else { return };
        let mut at_starts = 0;
        for (address, (function, file, line)) in addresses.iter().zip(answers) {
            let (found, (name, place)) = text.function(*address).zip(only_frame(&table, *address)).expect("a function");
            // Of functions that share their code either may be named; `guard_check_icall_nop` and its like.
            if !found.multiple {
                assert_eq!(normal(&name), normal(&function), "{address:x}");
            }
            let (own_file, own_line) = place.unwrap_or_default();
            assert_eq!(own_file, file, "{address:x}");
            // A function's first address mostly has two lines: that of its head and that of its body.
            if own_line != line {
                assert_eq!(*address, found.start, "line {own_line}, {line} in the PDB");
                at_starts += 1;
            }
        }
        let compared = addresses.len();
        println!("{}: {compared} addresses agree, {at_starts} but for the line of a first address", image.display());
        assert!(compared > 3900 && at_starts < 40);
    }
}

#[test]
fn texts_and_pdbs_make_the_same_tables() {
    for (text, image) in PAIRS {
        let (Some(path), Some(pdb)) = (shared(text), shared(&image.replace(".exe", ".pdb"))) else { return };
        let text = std::fs::read_to_string(path).expect("the text");
        let file = SymbolFile::read(text.as_bytes(), None).expect("a symbol file");
        let pdb = Pdb::read(File::open(pdb).expect("the PDB"), Some(file.id())).expect("the PDB of the same build");
        let (table, pdb) = (file.table("id").expect("a table"), pdb.table("id").expect("a table"));
        let text = plain(&text);
        let (mut compared, mut inlined, mut at_starts) = (0, 0, 0);
        for address in 0x1000..0x3720 {
            let (Some(found), Some(frame)) = (text.function(address), table.frames(address).next()) else { continue };
            let of_pdb: Vec<_> = pdb.frames(address).collect();
            let (Some(innermost), Some(function)) = (of_pdb.first(), of_pdb.last()) else {
                panic!("{address:x}: no name in the PDB");
            };
            compared += 1;
            if !found.multiple {
                assert_eq!(normal(frame.function), normal(function.function), "{address:x}");
            }
            // Whoever wrote these texts knew of no inlined functions: their lines are those of the calls.
            inlined += usize::from(of_pdb.len() > 1);
            if frame.line != function.line {
                assert!(address == found.start, "{address:x}: {frame:?} {innermost:?} {function:?}");
                at_starts += 1;
            }
            assert_eq!(frame.file, function.file, "{address:x}");
        }
        println!(
            "{image}: {compared} addresses agree, {inlined} in inlined functions, {at_starts} but for a first line"
        );
        assert!(compared > 3900);
    }
}

fn id(name: &str, guid: &str, age: u32) -> PdbId {
    PdbId { name: name.to_owned(), guid: guid.parse::<Guid>().expect("a GUID"), age }
}

#[test]
fn another_build_is_refused_by_its_first_line() {
    let guid = "3249D99D0C4049318610F4E4FB0B6936";
    let text = format!("MODULE windows x86_64 {guid}1 a.pdb\nFUNC 10 4 0 f\n");
    assert!(read(text.as_bytes(), Some(&id("other name.pdb", guid, 1))).is_ok());
    for wanted in [id("a.pdb", guid, 2), id("a.pdb", "3249D99D0C4049318610F4E4FB0B6937", 1)] {
        let refused = read(text.as_bytes(), Some(&wanted));
        assert!(matches!(refused, Err(Error::OtherBinary { .. })), "{refused:?}");
    }
    let head = text.lines().next().expect("a line");
    assert!(matches!(read(head.as_bytes(), None), Err(Error::Empty)));
    for other in ["<html>404</html>", "", "\n", "MODULE windows x86_64 3249 a.pdb\n", "\u{0}\u{ff}"] {
        assert!(matches!(read(other.as_bytes(), None), Err(Error::OtherFormat(_))), "{other}");
    }
}

#[test]
fn a_line_that_is_not_understood_costs_itself_only() {
    let mut text = b"MODULE windows x86_64 3249D99D0C4049318610F4E4FB0B69361 a.pdb\r\nFILE 1 a.cpp\r\n".to_vec();
    text.extend_from_slice(b"FUNC 10 10 0 f(int)\r\n10 8 7 1\r\nnonsense\r\n18 8 8 1\r\n");
    text.extend_from_slice(b"FUNC 20 zz 0 lost\r\n18 8 99 1\r\nFUNC 30 4 0 \xff\xfe\r\n");
    let long = format!("FUNC 40 4 0 {}\n", "long".repeat(100_000));
    text.extend_from_slice(long.as_bytes());
    text.extend_from_slice(b"FUNC 50 4 0 last");
    let table = read(&text[..], None).expect("a table");
    let at = |address| only_frame(&table, address);
    assert_eq!(at(0x10), Some(("f(int)".to_owned(), Some(("a.cpp".to_owned(), 7)))));
    assert_eq!(at(0x18), Some(("f(int)".to_owned(), Some(("a.cpp".to_owned(), 8)))));
    assert_eq!(at(0x20), None);
    assert_eq!(at(0x30), Some(("\u{fffd}\u{fffd}".to_owned(), None)));
    assert!(at(0x40).is_some_and(|(name, _)| name.len() < 0x1_0000 && name.starts_with("longlong")));
    assert_eq!(at(0x50), Some(("last".to_owned(), None)));
}

proptest! {
    #[test]
    fn damaged_texts_give_names_or_an_error(cuts in prop::collection::vec((0_usize..2000, 0_usize..40, "[ -Z\\na-f]{0,20}"), 1..8)) {
        let mut text = include_str!("../../../../fuzz/corpus/breakpad/inlines").to_owned();
        for (at, length, put) in cuts {
            let start = at % text.len();
            text.replace_range(start..(start + length).min(text.len()), &put);
            text.push(' ');
        }
        if let Ok(table) = read(text.as_bytes(), None) {
            let named = table.code_ranges().filter(|(_, named)| *named).map(|(start, _)| start);
            for start in named {
                prop_assert!(table.frames(start).next().is_some());
            }
        }
    }
}

/// A function of a made text: lines and inlined calls anywhere in it.
#[derive(Clone, Debug)]
struct Made {
    gap: u64,
    size: u64,
    lines: Vec<(u64, u64, u32)>,
    /// Levels, each a list of stretches with the line of the call and the origin; stretches of a level do not overlap.
    inlines: Vec<Vec<(u64, u64, u32, usize)>>,
}

fn made() -> impl Strategy<Value = Made> {
    let lines = prop::collection::vec((0_u64..4, 1_u64..8, 1_u32..50), 0..6);
    let level = prop::collection::vec((0_u64..6, 1_u64..12, 1_u32..50, 0_usize..4), 0..4);
    let inlines = prop::collection::vec(level, 0..4);
    (0_u64..8, 1_u64..40, lines, inlines).prop_map(|(gap, size, lines, inlines)| {
        let mut end = 0;
        let lines = lines.into_iter().map(|(gap, size, line)| {
            let start = end + gap;
            end = start + size;
            (start, size, line)
        });
        let lines = lines.collect();
        let place = |level: Vec<(u64, u64, u32, usize)>| {
            let mut end = 0;
            let stretches = level.into_iter().map(|(gap, size, line, origin)| {
                let start = end + gap;
                end = start + size;
                (start, size, line, origin)
            });
            stretches.collect()
        };
        Made { gap, size, lines, inlines: inlines.into_iter().map(place).collect() }
    })
}

proptest! {
    #[test]
    fn inlined_calls_nest_by_level(functions in prop::collection::vec(made(), 1..5), publics in prop::collection::vec(0_u64..200, 0..5)) {
        let mut text = "MODULE windows x86_64 3249D99D0C4049318610F4E4FB0B69361 a.pdb\nFILE 0 a.cpp\n".to_owned();
        for origin in 0..4 {
            text += &format!("INLINE_ORIGIN {origin} inlined{origin}(int)\n");
        }
        // Address to frames, each with its line, innermost first.
        let mut expected: HashMap<u64, Vec<(String, Option<u32>)>> = HashMap::new();
        let mut starts = Vec::new();
        let mut end = 0x1000;
        for (index, made) in functions.iter().enumerate() {
            let start = end + made.gap;
            end = start + made.size;
            starts.push(start);
            text += &format!("FUNC {start:x} {:x} 0 f{index}(int)\n", made.size);
            for (level, stretches) in made.inlines.iter().enumerate() {
                for (at, size, line, origin) in stretches {
                    text += &format!("INLINE {level} {line} 0 {origin} {:x} {size:x}\n", start + at);
                }
            }
            for (at, size, line) in &made.lines {
                text += &format!("{:x} {size:x} {line} 0\n", start + at);
            }
            for offset in 0..made.size {
                let mut frames = vec![];
                let mut name = format!("f{index}");
                for stretches in &made.inlines {
                    let holds = |(at, size, _, _): &&(u64, u64, u32, usize)| (*at..at + size).contains(&offset);
                    let Some((_, _, line, origin)) = stretches.iter().find(holds) else { break };
                    frames.push((name, Some(*line)));
                    name = format!("inlined{origin}");
                }
                let line = made.lines.iter().find(|(at, size, _)| (*at..at + size).contains(&offset));
                frames.push((name, line.map(|(_, _, line)| *line)));
                frames.reverse();
                expected.insert(start + offset, frames);
            }
        }
        for at in &publics {
            text += &format!("PUBLIC {:x} 0 public{at}\n", 0x1000 + at);
            starts.push(0x1000 + at);
        }
        for address in 0x1000..0x1100_u64 {
            let last = starts.iter().filter(|start| **start <= address).max();
            let public = publics.iter().find(|at| last == Some(&(0x1000 + **at)));
            if let (None, Some(at)) = (expected.get(&address), public) {
                // It lies in no function itself.
                if !expected.get(&(0x1000 + at)).is_some_and(|frames| frames.last().is_some_and(|(name, _)| name.starts_with('f'))) {
                    expected.insert(address, vec![(format!("public{at}"), None)]);
                }
            }
        }
        let table = read(text.as_bytes(), None).expect("a table");
        for address in 0xff0..0x1100_u64 {
            let frames: Vec<_> = table.frames(address).map(|frame| (frame.function.to_owned(), frame.line)).collect();
            let expected = expected.remove(&address).unwrap_or_default();
            prop_assert_eq!(frames, expected, "{:x}\n{}", address, text);
        }
    }
}

/// The texts of ELF files are told from those of other builds, and used for none: their addresses are not offsets in the file.
#[test]
fn a_text_of_an_elf_file_is_refused_with_the_reason() {
    let place = tempfile::tempdir().expect("a directory");
    let build = BuildId((0..20).map(|byte| 0xa0 + byte).collect());
    let image = Image { name: "libx.so".to_owned(), build_id: Some(build), ..Image::default() };
    let path = SearchPath::parse(&place.path().to_string_lossy(), &ShortNames::builtin()).expect("a path");
    let why = |digits: &str| {
        let text = format!("MODULE Linux x86_64 {digits} libx.so\nFUNC 1000 10 0 f\n");
        std::fs::write(place.path().join("libx.so.sym"), text).expect("a text");
        let symbols = Symbols::new(&path, Options { offline: true, ..Options::new(place.path().join("own")) });
        let found =
            symbols.resolve(std::slice::from_ref(&image), &FormatReaders, &Silence, &AtomicBool::new(false)).remove(0);
        assert!(found.table.is_none());
        let text = found.tried.iter().map(ToString::to_string).find(|line| line.contains("libx.so.sym"));
        text.expect("it was there")
    };
    let right = why("A3A2A1A0A5A4A7A6A8A9AAABACADAEAF0");
    assert!(right.ends_with("where in the file its addresses lie, the text does not say"), "{right}");
    let other = why("B3A2A1A0A5A4A7A6A8A9AAABACADAEAF0");
    assert!(other.contains("belongs to B3A2A1A0"), "{other}");
}
