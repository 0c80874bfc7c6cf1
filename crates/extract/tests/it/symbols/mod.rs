//! Names from symbol files: whatever way they come into an archive, the same rows come out, and the summaries follow.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracesift_archive::Archive;
use tracesift_extract::symbols::{ModuleNames, NameSource, Named, Recorded, Wanted, load_symbols};
use tracesift_extract::{Options, Outcome, extract, unwatched};
use tracesift_scenario::{Knobs, Scenario};
use tracesift_symbols::TableBuilder;
use tracesift_testing::recording::{input_of, write_etl};
use tracesift_trace::rows::{
    FrameRow, HealthRow, MethodSummaryRow, ModuleRow, ProcessModuleRow, ProcessSummaryRow, StackRow, SymbolRow,
};

/// Bytes of code per function of [`Grid`].
const FUNCTION: u64 = 0x40;

/// Knows the modules whose names it accepts: every 64 bytes there are a function, and the upper half of each has another one inlined.
#[derive(Debug)]
struct Grid {
    source: &'static str,
    accepts: fn(&str) -> bool,
}

impl NameSource for Grid {
    fn names(&self, _: &Recorded<'_>, wanted: &[Wanted<'_>]) -> Vec<Result<ModuleNames, String>> {
        wanted.iter().map(|wanted| self.of(wanted)).collect()
    }
}

impl Grid {
    fn of(&self, wanted: &Wanted<'_>) -> Result<ModuleNames, String> {
        if !(self.accepts)(&wanted.module.name) {
            return Err("not in this grid".to_owned());
        }
        let mut builder = TableBuilder::new();
        let file = builder.file("grid.cpp");
        // Not from 0 on, so that an address that is taken for an offset goes astray.
        let base = wanted.kernel_base.unwrap_or(0x7_0000);
        for number in 0..u64::try_from(wanted.module.size).expect("a size") / FUNCTION {
            let start = base + number * FUNCTION;
            let function = builder.function(&format!("f{number}"), Some("(int)"), self.source);
            let inlined = builder.function("inlined", None, self.source);
            let line = u32::try_from(number).expect("small") + 1;
            let whole = builder.location(None, function, Some(file), line);
            let upper = builder.location(Some(whole), inlined, Some(file), 1_000_000);
            builder.add(start, start + FUNCTION, whole);
            builder.add(start + FUNCTION / 2, start + FUNCTION, upper);
        }
        Ok(ModuleNames { table: builder.finish(&wanted.module.name), base })
    }
}

/// What [`Grid`] says of an offset.
fn expected(offset: u64) -> Vec<(String, i32)> {
    let (number, within) = (offset / FUNCTION, offset % FUNCTION);
    let line = i32::try_from(number).expect("small") + 1;
    let inlined = (within >= FUNCTION / 2).then(|| ("inlined".to_owned(), 1_000_000));
    inlined.into_iter().chain([(format!("f{number}"), line)]).collect()
}

fn extracted(directory: &Path, symbols: Option<Arc<dyn NameSource>>) -> (PathBuf, Option<Named>) {
    let scenario = Scenario::random(7, &Knobs::random(7));
    std::fs::create_dir_all(directory).expect("directory");
    let file = directory.join("scenario.etl");
    // A file that is written again is another recording a second later.
    if !file.exists() {
        let _ = write_etl(&scenario, directory);
    }
    let options = Options { symbols, ..Options::default() };
    let extraction = extract(&input_of(&file), &options, &mut unwatched).expect("extracted");
    match &extraction.outcomes[..] {
        [Outcome::Extracted(report)] => (report.archive.clone(), report.named.clone()),
        [Outcome::Named(archive, named)] => (archive.clone(), Some(named.clone())),
        [Outcome::UpToDate(archive)] => (archive.clone(), None),
        _ => panic!("one recording"),
    }
}

fn rows<T: tracesift_archive::Table>(archive: &Path) -> Vec<T> {
    let archive = Archive::open(archive).expect("archive");
    archive.verify().expect("sound");
    archive.rows().expect("rows")
}

/// Kernel modules, by the addresses where they are mapped.
fn kernel_modules(archive: &Path) -> BTreeSet<i32> {
    let pointer_size = Archive::open(archive).expect("archive").info().pointer_size;
    let from = if pointer_size == 4 { 1_u64 << 31 } else { 1 << 63 };
    let mappings = rows::<ProcessModuleRow>(archive);
    mappings.iter().filter(|row| row.base.cast_unsigned() >= from).map(|row| row.module.0).collect()
}

/// Every frame's names, innermost first, checked against the grid; the names that the recording gave are as they were in `before`.
fn check_names(archive: &Path, before: &[SymbolRow], accepts: fn(&str) -> bool, source: &str) -> usize {
    let modules = rows::<ModuleRow>(archive);
    let frames = rows::<FrameRow>(archive);
    let kernel = kernel_modules(archive);
    let in_kernel: BTreeSet<i32> = frames
        .iter()
        .filter(|row| row.module.map_or(row.process.is_none(), |module| kernel.contains(&module.0)))
        .map(|row| row.frame.0)
        .collect();
    let mut callers = BTreeSet::new();
    for row in rows::<StackRow>(archive) {
        for (index, frame) in row.frames.iter().enumerate() {
            let enters = index > 0 && in_kernel.contains(&row.frames[index - 1].0) && !in_kernel.contains(&frame.0);
            if index > 0 && !enters {
                callers.insert(frame.0);
            }
        }
    }
    let recorded: BTreeSet<i32> = before.iter().map(|row| row.frame.0).collect();
    let mut found: BTreeMap<i32, Vec<SymbolRow>> = BTreeMap::new();
    for row in rows::<SymbolRow>(archive) {
        let names = found.entry(row.frame.0).or_default();
        assert_eq!(usize::try_from(row.depth).expect("a depth"), names.len(), "{row:?}");
        names.push(row);
    }
    let mut checked = 0;
    for row in &frames {
        let names = found.remove(&row.frame.0).unwrap_or_default();
        if recorded.contains(&row.frame.0) {
            let known: Vec<_> = before.iter().filter(|known| known.frame == row.frame).cloned().collect();
            assert_eq!(names, known);
            continue;
        }
        let module = row.module.map(|module| &modules[module.index()]).filter(|module| accepts(&module.name));
        let Some((module, rva)) = module.zip(row.rva) else {
            assert_eq!(names, []);
            continue;
        };
        let caller = callers.contains(&row.frame.0);
        let expected = expected(rva.cast_unsigned() - u64::from(caller));
        let names: Vec<_> = names
            .iter()
            .map(|name| {
                assert_eq!((name.module.as_deref(), &*name.source), (Some(&*module.name), source));
                assert_eq!(name.file.as_deref(), Some("grid.cpp"));
                assert_eq!(name.arguments.as_deref(), (name.function != "inlined").then_some("(int)"));
                (name.function.clone(), name.line.expect("a line"))
            })
            .collect();
        assert_eq!(names, expected, "{module:?} {rva:#x} {caller}");
        checked += 1;
    }
    assert_eq!(found, BTreeMap::new(), "names of frames that are none");
    checked
}

const ALL: fn(&str) -> bool = |_| true;
const NONE: fn(&str) -> bool = |_| false;
const KERNEL: fn(&str) -> bool = |name| name == "ntoskrnl.exe";

#[test]
fn an_extract_and_a_later_load_give_the_same() {
    let directory = tempfile::tempdir().expect("directory");
    let (plain, none) = extracted(&directory.path().join("plain"), None);
    assert_eq!(none, None);
    let before = rows::<SymbolRow>(&plain);
    let process_summary = rows::<ProcessSummaryRow>(&plain);
    let unnamed = rows::<MethodSummaryRow>(&plain);
    assert!(unnamed.iter().any(|row| row.function.contains("+0x")));

    let grid = Grid { source: "pdb", accepts: ALL };
    let later = load_symbols(&plain, &grid).expect("loaded");
    let (named, at_once) = extracted(&directory.path().join("named"), Some(Arc::new(grid)));
    assert_eq!(Some(&later), at_once.as_ref());
    assert_eq!((later.named, later.nameless.len()), (later.frames, 0), "{later:?}");

    let checked = check_names(&plain, &before, ALL, "pdb");
    assert!(checked > 20, "{checked} frames");
    assert_eq!(rows::<SymbolRow>(&named), rows::<SymbolRow>(&plain));
    let methods = rows::<MethodSummaryRow>(&plain);
    assert_eq!(rows::<MethodSummaryRow>(&named), methods);
    assert!(methods.iter().all(|row| !row.function.contains("+0x")), "{methods:?}");
    assert!(methods.iter().any(|row| row.function == "inlined"));
    assert_eq!(rows::<ProcessSummaryRow>(&plain), process_summary);
    assert!(Archive::open(&plain).expect("archive").info().symbols_loaded);
}

#[test]
fn an_archive_that_is_there_gets_its_names_once() {
    let directory = tempfile::tempdir().expect("directory");
    let grid = || Some(Arc::new(Grid { source: "pdb", accepts: KERNEL }) as Arc<dyn NameSource>);
    let (archive, _) = extracted(directory.path(), None);
    let before = rows::<SymbolRow>(&archive);
    let (_, named) = extracted(directory.path(), grid());
    assert_eq!(named.expect("named").modules, 1);
    check_names(&archive, &before, KERNEL, "pdb");
    assert_eq!(extracted(directory.path(), grid()).1, None);
}

#[test]
fn names_come_piece_by_piece_and_none_is_lost() {
    let directory = tempfile::tempdir().expect("directory");
    let (archive, _) = extracted(directory.path(), None);
    let before = rows::<SymbolRow>(&archive);
    let modified = |table: &str| {
        let path = archive.join(format!("{table}.parquet"));
        std::fs::metadata(path).and_then(|facts| facts.modified()).expect("a table")
    };
    let (frames, symbols) = (modified("frames"), modified("symbols"));

    // Nothing is found: nothing changes.
    let nothing = load_symbols(&archive, &Grid { source: "pdb", accepts: NONE }).expect("loaded");
    assert_eq!((nothing.modules, modified("symbols")), (0, symbols));
    let nameless: u64 = nothing.nameless.iter().map(|module| module.frames).sum();
    assert_eq!(nothing.named + nameless, nothing.frames);
    assert!(nothing.nameless.iter().all(|module| module.reason.as_deref() == Some("not in this grid")));
    assert!(nothing.nameless.is_sorted_by_key(|module| module.frames));

    // The kernel's exports, later its PDB, then everything else.
    let exports = load_symbols(&archive, &Grid { source: "export", accepts: KERNEL }).expect("loaded");
    assert_eq!(exports.modules, 1);
    check_names(&archive, &before, KERNEL, "export");
    let health = rows::<HealthRow>(&archive);
    let nameless = health.iter().find(|row| row.kind == "modules_without_symbols").expect("counted");
    assert_eq!(nameless.count, i64::try_from(exports.nameless.len()).expect("few"));
    load_symbols(&archive, &Grid { source: "pdb", accepts: KERNEL }).expect("loaded");
    check_names(&archive, &before, KERNEL, "pdb");
    let all = load_symbols(&archive, &Grid { source: "pdb", accepts: |name| !KERNEL(name) }).expect("loaded");
    assert_eq!(all.named, all.frames);
    check_names(&archive, &before, ALL, "pdb");
    assert!(rows::<HealthRow>(&archive).iter().all(|row| row.kind != "modules_without_symbols"));
    assert_eq!(modified("frames"), frames, "other tables stay the files they are");
}
