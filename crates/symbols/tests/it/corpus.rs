//! Inputs that fuzzing starts from are what their names say; `WRITE_CORPUS=1` writes them anew.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use tracesift_symbols::jit_code::JitCode;
use tracesift_symbols::search::{SearchPath, ShortNames};
use tracesift_symbols::{Table, TableBuilder, elf, kallsyms};

/// The content of an input, which is first written when that is wanted.
fn seed(target: &str, name: &str, content: &[u8]) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target).join(name);
    if std::env::var_os("WRITE_CORPUS").is_some() {
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(&path, content).expect("written");
    }
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn search_paths() {
    for (name, path, rest) in [
        ("chain", "srv*/near*/far*https://h/s;cache*/c;/plain", "a.pdb\nC:\\x\\a.dll\n----ffnyy"),
        ("linux", "debuginfod*http://h;elfutils;/d", "libx.so\n/usr/lib/libx.so\n-----fwfn"),
        ("pointer", "/store", "a.dll\nPATH:/store/x/a.dll\n-fFftfpn"),
        ("network", r"srv*\\server\share;symsrv*symsrv.dll*http://h", "..\\nul\n\\\\server\\x\n-u-r"),
    ] {
        let content = seed("search_path", name, format!("{path}\n{rest}").as_bytes());
        let text = String::from_utf8(content).expect("a text");
        let first = text.lines().next().expect("a line");
        let parsed = SearchPath::parse(first, &ShortNames::builtin()).expect("a path");
        assert_eq!(SearchPath::parse(&parsed.to_string(), &ShortNames::builtin()), Ok(parsed), "{name}");
    }
}

#[test]
fn tables() {
    let mut builder = TableBuilder::new();
    let outer = builder.function("outer", Some("(int)"), "pdb");
    let inner = builder.function("inner", None, "pdb");
    let file = builder.file("a.cpp");
    let call = builder.location(None, outer, Some(file), 7);
    let inlined = builder.location(Some(call), inner, Some(file), 9);
    builder.add(0x1000, 0x1040, call);
    builder.add(0x1010, 0x1020, inlined);
    let table = builder.finish("a.pdb.1");
    for (name, expected) in [("inlined", &table), ("empty", &TableBuilder::new().finish("x"))] {
        let opened = Table::open(seed("symbol_table", name, expected.bytes()).into()).expect("a table");
        assert_eq!(opened.bytes(), expected.bytes(), "{name}: a table of another version; write the corpus anew");
    }
}

/// Made by a compiler: from a function that another one is inlined into, and one that calls it.
#[test]
fn elf_files() {
    for (name, inlined) in [("version-5", true), ("version-4-compressed", true), ("stripped", false)] {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/elf").join(name);
        let bytes = fs::read(&path).expect("an input");
        let table = elf::read(Cursor::new(bytes), elf::Companions::default(), None).expect("names");
        let all = || table.code_ranges().flat_map(|(start, _)| table.frames(start));
        assert!(all().any(|frame| frame.function == "outer"), "{name}");
        assert_eq!(all().any(|frame| frame.function == "twice" && frame.line == Some(1)), inlined, "{name}");
    }
}

#[test]
fn texts_of_symbols() {
    let listed = b"\0ffffffff81000000 T _text\nffffffff81000100 t f\nffffffffc0001000 t g\t[m]\n";
    let parts = kallsyms::read(&seed("symbol_texts", "kallsyms", listed)[1..]).expect("a list");
    assert_eq!((parts.len(), parts[0].text), (2, Some(0xffff_ffff_8100_0000)));

    let map = seed("symbol_texts", "map", b"\x011000 20 LazyCompile:*f(int) /a.js:1:2\n0x1010 0x20 _ZN1A1gEi\n");
    let mut made = JitCode::default();
    made.add_map(&map[1..]).expect("a map");
    assert!(made.find(0x102f).is_some() && made.find(0x1030).is_none());

    let mut dump = vec![1];
    let put = |dump: &mut Vec<u8>, numbers: &[(u64, usize)]| {
        for (number, bytes) in numbers {
            dump.extend(&number.to_le_bytes()[..*bytes]);
        }
    };
    put(&mut dump, &[(0x4a69_5444, 4), (1, 4), (40, 4), (62, 4), (0, 4), (77, 4), (0, 8), (0, 8)]);
    put(&mut dump, &[(2, 4), (16 + 16 + 16 + 7, 4), (1, 8), (0x1000, 8), (1, 8), (0x1000, 8), (42, 4), (0, 4)]);
    dump.extend(b"src.xy\0");
    put(&mut dump, &[(0, 4), (16 + 40 + 2 + 4, 4), (1, 8), (77, 4), (77, 4)]);
    put(&mut dump, &[(0x1000, 8), (0x1000, 8), (4, 8), (1, 8)]);
    dump.extend(b"f\0\x90\x90\x90\xc3");
    let mut made = JitCode::default();
    made.add_dump(&seed("symbol_texts", "dump", &dump)[1..], 77).expect("a dump");
    let known = made.find(0x1003).expect("code");
    let line = made.tables()[known.table].frames(known.address).next().and_then(|frame| frame.line);
    assert_eq!(line, Some(42));
    assert!(JitCode::default().add_dump(&dump[1..], 78).is_err(), "of another process");
}
