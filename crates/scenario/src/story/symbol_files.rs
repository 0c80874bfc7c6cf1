//! Breakpad symbol files for the images of the story, laid out as a symbol store: so that the demo has names on any OS, without a server.
//!
//! What comes with .NET has arguments, lines and inlined calls, the rest only public symbols, as what vendors publish mostly has.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::machine::{Image, Pdb};

use super::cast::{Symbol, images};

/// A symbol file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolFile {
    /// Where it lies in the store: `name.pdb/GUIDAGE/name.sym`.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

impl SymbolFile {
    /// The file of an image of which only public symbols are known; `None` where it has no PDB.
    pub(crate) fn publics(image: &Image, lines: &[String]) -> Option<Self> {
        let pdb = image.pdb.as_ref()?;
        let stem = pdb.name.strip_suffix(".pdb").unwrap_or(&pdb.name);
        let id = digits(pdb);
        let code_id = format!("{:08X}{:x} {}", image.time_date_stamp, image.size, image.name);
        let head = format!("MODULE windows x86_64 {id} {}\nINFO CODE_ID {code_id}\n", pdb.name);
        Some(Self { path: [&pdb.name, &id, &format!("{stem}.sym")].iter().collect(), text: head + &lines.concat() })
    }
}

/// What is known of a function beyond its name.
struct Source {
    module: &'static str,
    function: &'static str,
    arguments: &'static str,
    file: &'static str,
    line: u32,
    /// Calls that were inlined at the address that stacks show, the outer one first: the function, and the line of its code.
    inlined: &'static [(&'static str, u32)],
}

const fn source(
    module: &'static str,
    function: &'static str,
    arguments: &'static str,
    file: &'static str,
    line: u32,
    inlined: &'static [(&'static str, u32)],
) -> Source {
    Source { module, function, arguments, file, line, inlined }
}

const VM: &str = r"D:\a\_work\1\s\src\coreclr\vm\assembly.cpp";
const THREADS: &str = r"D:\a\_work\1\s\src\coreclr\vm\threads.cpp";
const HELPERS: &str = r"D:\a\_work\1\s\src\coreclr\vm\jithelpers.cpp";
const JIT: &str = r"D:\a\_work\1\s\src\coreclr\jit\compiler.cpp";
const ALLOCATOR: &str = r"D:\a\_work\1\s\src\coreclr\jit\lsra.cpp";
const HOST: &str = r"D:\a\_work\1\s\src\native\corehost\hostpolicy.cpp";
const OWN: &str = r"D:\Source\FileWriter\apphost\main.cpp";

const SOURCES: &[Source] = &[
    source("coreclr.dll", "RunMain", "(MethodDesc *, short, int *, Array<String> *)", VM, 1_140, &[]),
    source("coreclr.dll", "Assembly::ExecuteMainMethod", "(Array<String> *, int)", VM, 1_275, &[]),
    source("coreclr.dll", "TieredCompilationBackgroundWorker::Run", "()", THREADS, 310, &[]),
    source("coreclr.dll", "EEStartup", "(unsigned int)", THREADS, 88, &[]),
    source("coreclr.dll", "ThreadNative::KickOffThread", "(void *)", THREADS, 2_040, &[]),
    source(
        "coreclr.dll",
        "JIT_New",
        "(MethodTable *)",
        HELPERS,
        2_310,
        &[("AllocateObject(MethodTable *, bool)", 1_012), ("AllocationContext::bump(unsigned __int64)", 57)],
    ),
    source("coreclr.dll", "CLREventWaitHelper", "(void *, unsigned long, bool)", THREADS, 3_405, &[]),
    source("clrjit.dll", "Compiler::compCompile", "(unsigned int, MethodInfo const *)", JIT, 4_711, &[]),
    source(
        "clrjit.dll",
        "LinearScan::allocateRegisters",
        "(std::vector<Interval, Arena<Interval> > &) const",
        ALLOCATOR,
        5_020,
        &[("Interval::operator<(Interval const &) const", 204)],
    ),
    source("hostfxr.dll", "hostfxr_main_startupinfo", "", HOST, 40, &[]),
    source("hostpolicy.dll", "corehost_main", "(int, wchar_t const **)", HOST, 380, &[]),
    source("FileWriter.exe", "wmain", "(int, wchar_t **)", OWN, 21, &[]),
];

/// The symbol files of all images of the story.
#[must_use]
pub fn symbol_files() -> Vec<SymbolFile> {
    images().filter_map(|(image, symbols)| symbol_file(&image, &symbols)).collect()
}

fn symbol_file(image: &Image, symbols: &[Symbol]) -> Option<SymbolFile> {
    let pdb = image.pdb.as_ref()?;
    let stem = pdb.name.strip_suffix(".pdb").unwrap_or(&pdb.name);
    let id = digits(pdb);
    Some(SymbolFile {
        path: [&pdb.name, &id, &format!("{stem}.sym")].iter().collect(),
        text: text(image, &pdb.name, &id, symbols),
    })
}

/// GUID and age as in the paths of symbol servers.
fn digits(pdb: &Pdb) -> String {
    format!("{}{:X}", pdb.guid.to_string().replace('-', "").to_uppercase(), pdb.age)
}

fn text(image: &Image, pdb: &str, id: &str, symbols: &[Symbol]) -> String {
    let sources: Vec<Option<&Source>> = symbols.iter().map(source_of).collect();
    let known = || sources.iter().flatten();
    let mut files: Vec<&str> = known().map(|source| source.file).collect();
    files.sort_unstable();
    files.dedup();
    let origins: Vec<&str> = known().flat_map(|source| source.inlined).map(|(function, _)| *function).collect();
    let mut text = format!("MODULE windows x86_64 {id} {pdb}\n");
    let mut put = |line: String| text.push_str(&(line + "\n"));
    put(format!("INFO CODE_ID {:08X}{:x} {}", image.time_date_stamp, image.size, image.name));
    files.iter().zip(0..).for_each(|(file, number)| put(format!("FILE {number} {file}")));
    origins.iter().zip(0..).for_each(|(origin, number)| put(format!("INLINE_ORIGIN {number} {origin}")));
    let place = |all: &[&str], one: &str| all.iter().position(|entry| *entry == one).unwrap_or_default();
    for (symbol, source) in symbols.iter().zip(sources) {
        let Some(source) = source else { continue };
        put(function(symbol, source, place(&files, source.file), |origin| place(&origins, origin)));
    }
    for symbol in symbols.iter().filter(|symbol| source_of(symbol).is_none()) {
        put(format!("PUBLIC {:x} 0 {}", symbol.rva, symbol.function));
    }
    text
}

fn source_of(symbol: &Symbol) -> Option<&'static Source> {
    SOURCES.iter().find(|source| source.module == symbol.module && source.function == symbol.function)
}

/// The records of a function: its head, then the code around the address that stacks show, where calls are inlined, then the rest. The byte
/// before that address, where whoever looks for the call will look, is at the same place.
fn function(symbol: &Symbol, source: &Source, file: usize, origin: impl Fn(&str) -> usize) -> String {
    let (start, end) = (symbol.rva, symbol.rva + symbol.size);
    let (from, to) = (symbol.return_rva - 0x20, symbol.return_rva + 0x20);
    let mut text = format!("FUNC {start:x} {:x} 0 {}{}", symbol.size, symbol.function, source.arguments);
    let call = source.line + 4;
    let mut line = call;
    for (level, (inlined, next)) in source.inlined.iter().enumerate() {
        // Formatting into a text cannot fail.
        let _ = write!(text, "\nINLINE {level} {line} {file} {} {from:x} {:x}", origin(inlined), to - from);
        line = *next;
    }
    for (from, to, line) in [(start, from, source.line), (from, to, line), (to, end, call + 3)] {
        let _ = write!(text, "\n{from:x} {:x} {line} {file}", to - from);
    }
    text
}
