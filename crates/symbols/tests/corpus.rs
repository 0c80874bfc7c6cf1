//! Inputs that fuzzing starts from are what their names say; `WRITE_CORPUS=1` writes them anew.

use std::fs;
use std::path::PathBuf;

use tracesift_symbols::search::{SearchPath, ShortNames};
use tracesift_symbols::{Table, TableBuilder};

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
