//! Names of code, held against those that perf gives: of programs, libraries and the kernel, and of JIT code.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use tracesift_extract::Options;
use tracesift_extract::symbols::Finder;
use tracesift_fixtures::skipped;
use tracesift_symbols::fetch::{Observer, Options as SearchOptions};
use tracesift_symbols::search::{SearchPath, ShortNames};
use tracesift_symbols::{demangle, names};
use tracesift_trace::rows::{CpuSampleRow, StackRow, SymbolRow};
use tracesift_trace::{FrameId, StackId};

use crate::extracted::Extracted;
use crate::perf::{self, Recorded};

/// Nobody looks.
#[derive(Debug)]
struct Quiet;

impl Observer for Quiet {}

/// This machine's files, and a cache that is gone after the test.
fn of_this_machine(cache: &TempDir) -> Options {
    let mut options = SearchOptions::new(cache.path().to_owned());
    options.roots = vec![PathBuf::from("/")];
    let path = SearchPath::parse("", &ShortNames::default()).unwrap();
    let finder = Finder::new(path, options, Arc::new(Quiet), Arc::new(AtomicBool::new(false)));
    Options { symbols: Some(Arc::new(finder)), ..Options::default() }
}

/// Compiles a program; prints why and gives `None` where that is not possible.
fn compiled(directory: &Path, compiler: &str, name: &str, source: &str, flags: &[&str]) -> Option<String> {
    let file = directory.join(if compiler == "g++" { format!("{name}.cpp") } else { format!("{name}.c") });
    std::fs::write(&file, source).unwrap();
    let program = directory.join(name);
    match Command::new(compiler).args(flags).arg(&file).arg("-o").arg(&program).output() {
        Err(_) => {
            skipped(&format!("{compiler} is absent"));
            None
        }
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(program.to_str().unwrap().to_owned())
        }
    }
}

/// The function around each frame that has a name, with the module and the source of the name.
fn functions(extracted: &Extracted) -> HashMap<FrameId, SymbolRow> {
    let mut functions: HashMap<FrameId, SymbolRow> = HashMap::new();
    for row in extracted.archive.rows::<SymbolRow>().unwrap() {
        let outer = functions.get(&row.frame).is_none_or(|known| known.depth < row.depth);
        if outer {
            functions.insert(row.frame, row);
        }
    }
    functions
}

/// The process id of a program.
fn pid_of(extracted: &Extracted, name: &str) -> i64 {
    extracted.processes.iter().find(|row| row.name == name).unwrap().pid
}

/// Samples in a process by the function of their leaf; `""` where it has no name.
fn by_function(extracted: &Extracted, pid: i64) -> BTreeMap<String, u64> {
    let functions = functions(extracted);
    let stacks: HashMap<StackId, FrameId> = extracted
        .archive
        .rows::<StackRow>()
        .unwrap()
        .into_iter()
        .filter_map(|row| Some((row.stack, *row.frames.first()?)))
        .collect();
    let mut counts = BTreeMap::new();
    let is_of = |sample: &CpuSampleRow| extracted.processes[sample.process.index()].pid == pid;
    for sample in extracted.archive.rows::<CpuSampleRow>().unwrap().into_iter().filter(is_of) {
        let leaf = sample.stack.and_then(|stack| stacks.get(&stack));
        let name = leaf.and_then(|leaf| functions.get(leaf)).map_or("", |row| row.function.as_str());
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    counts
}

/// What perf counts, by names as they are written here. Compilers mark parts and copies of functions behind a point.
fn by_symbol(recorded: &Recorded, pid: i64) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (symbol, count) in recorded.report_by_symbol(pid) {
        let is_unknown = symbol.starts_with("0x");
        let name = demangle(&symbol);
        let name = names::split(&name).0.to_owned();
        *counts.entry(if is_unknown { String::new() } else { name }).or_default() += count;
    }
    counts
}

/// Names of the kernel that stand at the same address as an earlier one, with that one. Which of them a tool shows is its own choice: perf happens to
/// take the last.
fn aliases() -> HashMap<String, String> {
    let text = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let symbols = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.nth(1)?))
    });
    let mut first: HashMap<&str, &str> = HashMap::new();
    let mut places: HashMap<&str, Vec<&str>> = HashMap::new();
    for (address, name) in symbols {
        first.entry(address).or_insert(name);
        places.entry(name).or_default().push(address);
    }
    // A name of several functions is an alias of none.
    let single = places.into_iter().filter_map(|(name, places)| match places[..] {
        [address] => Some((name.to_owned(), first[address].to_owned())),
        _ => None,
    });
    single.collect()
}

const SORTS: &str = r#"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace work {
template <typename T> struct Sorter {
    std::vector<T> values;
    __attribute__((noinline)) void fill(unsigned seed) {
        values.clear();
        for (int i = 0; i < 200000; i++)
            values.push_back(static_cast<T>((seed = seed * 1664525 + 1013904223) >> 8));
    }
    __attribute__((noinline)) void sort() { std::sort(values.begin(), values.end()); }
};
__attribute__((noinline)) static double roots(int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += std::sin(i) * std::sqrt(i);
    return sum;
}
} // namespace work

int main() {
    work::Sorter<int> ints;
    work::Sorter<double> doubles;
    double sum = 0;
    std::map<std::string, int> words;
    for (int turn = 0; turn < 12; turn++) {
        for (int again = 0; again < 5; again++)
            ints.fill(turn);
        ints.sort();
        doubles.fill(turn);
        doubles.sort();
        sum += work::roots(400000);
        for (int i = 0; i < 20000; i++)
            words[std::to_string(i * turn % 7919)]++;
        FILE *file = std::fopen("/dev/null", "w");
        for (int i = 0; i < 20000; i++) {
            std::fprintf(file, "%d\n", ints.values[i]);
            std::fflush(file);
        }
        std::fclose(file);
    }
    std::printf("%f %zu\n", sum, words.size());
}
"#;

#[test]
#[cfg(target_os = "linux")]
fn functions_are_those_of_perf_report() {
    let (directory, cache) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    // One has a build id, the other has none: it is known by lying where it lay, unchanged. The libraries are in the program, as debug files for them that a
    // machine may have call their functions otherwise than their symbols do.
    for flags in [&["-O2", "-g", "-static", "-Wl,--build-id"][..], &["-O1", "-static-pie", "-Wl,--build-id=none"]] {
        let Some(program) = compiled(directory.path(), "g++", "sorts", SORTS, flags) else { return };
        let Some(recorded) = perf::record(&["-a", "-g", "-e", "cpu-clock/freq=1999/"], &[&program]) else { return };
        let extracted = Extracted::with(&recorded.file, of_this_machine(&cache));
        let pid = pid_of(&extracted, "sorts");
        let (found, expected) = (by_function(&extracted, pid), by_symbol(&recorded, pid));
        assert!(found["work::Sorter<int>::fill"] > 5, "{found:?}");
        // perf lists a symbol of its own for each part of a function, and has `_init` go on over the stubs behind it.
        let aliases = aliases();
        let whole = |counts: &BTreeMap<String, u64>| {
            let mut merged: BTreeMap<String, u64> = BTreeMap::new();
            for (name, count) in counts {
                let known = name.find('.').filter(|at| *at > 0).map_or(name.as_str(), |at| &name[..at]);
                let known = if known == "_init" || known.ends_with("@plt") { "" } else { known };
                let known = aliases.get(known).map_or(known, String::as_str);
                *merged.entry(known.to_owned()).or_default() += count;
            }
            merged
        };
        let (found, expected) = (whole(&found), whole(&expected));
        let differ: Vec<(&String, u64, u64)> = found
            .keys()
            .chain(expected.keys())
            .map(|name| (name, found.get(name).copied().unwrap_or(0), expected.get(name).copied().unwrap_or(0)))
            .filter(|(_, found, expected)| found != expected)
            .collect();
        assert_eq!(differ, [], "{flags:?}");
        let unknown = expected.get("").copied().unwrap_or(0);
        assert!(unknown * 2 < expected.values().sum::<u64>(), "{expected:?}");
        let lined = functions(&extracted).values().filter(|row| row.line.is_some()).count();
        assert!(lined > 20 || !flags.contains(&"-g"), "{lined} frames with a line");
    }
}

/// Puts the same loop to three places and tells of two of them in a map, of the third, with its line, in a dump.
const MAKES_CODE: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>

static const unsigned char LOOP[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}; /* dec %rdi; jnz; ret */

static void put(FILE *file, uint64_t value, int bytes) { fwrite(&value, bytes, 1, file); }

int main(int count, char **arguments)
{
    unsigned char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 3; i++)
        memcpy(code + 64 * i, LOOP, sizeof LOOP);
    char name[200];
    snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(name, "w");
    fprintf(map, "%lx 20 LazyCompile:*first(int) /a b.js:1:2\n", (unsigned long)code);
    fprintf(map, "0x%lx 0x20 _ZN4made6secondEi\n", (unsigned long)code + 64);
    fclose(map);
    snprintf(name, sizeof name, "%s/jit-%d.dump", arguments[1], getpid());
    FILE *dump = fopen(name, "w+");
    put(dump, 0x4a695444, 4), put(dump, 1, 4), put(dump, 40, 4), put(dump, 62, 4), put(dump, 0, 4);
    put(dump, getpid(), 4), put(dump, 0, 8), put(dump, 0, 8);
    put(dump, 2, 4), put(dump, 16 + 16 + 16 + 7, 4), put(dump, 1, 8);
    put(dump, (uint64_t)code + 128, 8), put(dump, 1, 8);
    put(dump, (uint64_t)code + 128, 8), put(dump, 42, 4), put(dump, 0, 4), fwrite("src.xy", 7, 1, dump);
    put(dump, 0, 4), put(dump, 16 + 40 + 6 + sizeof LOOP, 4), put(dump, 1, 8);
    put(dump, getpid(), 4), put(dump, getpid(), 4), put(dump, (uint64_t)code + 128, 8), put(dump, (uint64_t)code + 128, 8);
    put(dump, sizeof LOOP, 8), put(dump, 1, 8), fwrite("third", 6, 1, dump), fwrite(LOOP, sizeof LOOP, 1, dump);
    fflush(dump);
    mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
    for (int i = 0; i < 3; i++)
        ((void (*)(long))(code + 64 * i))(400000000);
    return 0;
}
"#;

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn code_that_a_process_made_is_named_as_it_says() {
    let (directory, cache) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let Some(program) = compiled(directory.path(), "gcc", "makes-code", MAKES_CODE, &["-O1"]) else { return };
    let place = directory.path().to_str().unwrap();
    // The shell goes on, so that the program is a process of its own whose begin is seen.
    let line = format!("'{program}' '{place}'; true");
    let arguments = ["-g", "-e", "cpu-clock/freq=999/"];
    let Some(recorded) = perf::record(&arguments, &["sh", "-c", &line]) else { return };
    let extracted = Extracted::with(&recorded.file, of_this_machine(&cache));
    let pid = pid_of(&extracted, "makes-code");
    let (found, expected) = (by_function(&extracted, pid), by_symbol(&recorded, pid));
    let map = format!("/tmp/perf-{pid}.map");
    // The language's own name stays whole, a mangled one does not.
    for (name, in_perf) in
        [("LazyCompile:*first(int) /a b.js:1:2", "LazyCompile:*first"), ("made::second", "made::second")]
    {
        assert!(found[name] > 20, "{found:?}");
        assert_eq!(found.get(name), expected.get(in_perf), "{expected:?}");
    }
    // perf wants dumps to be worked into a recording before it reads it.
    assert!(found["third"] > 20, "{found:?}");
    let functions = functions(&extracted);
    let third = functions.values().find(|row| row.function == "third").unwrap();
    assert_eq!((third.source.as_str(), third.file.as_deref(), third.line), ("jitdump", Some("src.xy"), Some(42)));
    let second = functions.values().find(|row| row.function == "made::second").unwrap();
    assert_eq!(
        (second.source.as_str(), second.module.as_deref(), second.arguments.as_deref()),
        ("perf-map", Some("[jit]"), Some("(int)"))
    );

    // A map of another process that had the number before, or has it later, is none of this one's.
    let written = std::fs::File::options().write(true).open(&map).unwrap();
    for wrong in [-3600_i64, 3600] {
        let now = std::time::SystemTime::now();
        let distance = std::time::Duration::from_secs(wrong.unsigned_abs());
        written.set_modified(if wrong < 0 { now - distance } else { now + distance }).unwrap();
        let other = Extracted::with(&recorded.file, of_this_machine(&cache));
        assert!(!by_function(&other, pid).contains_key("made::second"), "{wrong}");
    }
    std::fs::remove_file(map).unwrap();
}
