//! The table `symbols` of an archive: the names that it had before, and the names that symbol files
//! add.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::{SummarySample, SummarySwitch, ThreadLifetime};
use tracesift_archive::{Archive, Error};
use tracesift_symbols::Table;
use tracesift_trace::rows::{
    BranchRow, EntryFrameRow, FrameRow, ManagedCodeRow, ModuleRow, ProcessModuleRow, SymbolRow,
};
use tracesift_trace::{FrameId, ModuleId, ProcessId, StackId, view};

use super::callers::callers;
use super::jit_code::{CodeOutsideModules, JitNames};
use super::managed;
use super::source::{ModuleNames, NameSource, Recorded, Wanted};
use super::time::at;
use crate::summary_source::{FrameInModule, SummarySource, Times};

view! {
    /// The source of the name of a frame.
    #[derive(Clone, Debug)]
    struct SourceOfName of SymbolRow { frame, source }
}

view! {
    /// The base address of a mapped module.
    #[derive(Clone, Copy, Debug)]
    struct BaseOfModule of ProcessModuleRow { module, base }
}

view! {
    /// The target of a branch.
    #[derive(Clone, Copy, Debug)]
    struct TargetOfBranch of BranchRow { to }
}

/// Sources of names that are the recording itself. Such a name is final.
const RECORDED: [&str; 3] = ["jit", "rundown", "entry-point"];
/// Sources of names that are rough: the name of the next known address below. A later search looks
/// for a better name.
const ROUGH: [&str; 3] = ["export", "elf", "kallsyms"];

/// The name of the module of JIT code.
const JIT: &str = "[jit]";

/// The names that frames have before the search.
#[derive(Clone, Copy)]
pub(crate) enum Earlier<'a> {
    /// The names in a recording that is being extracted.
    Rows(&'a [SymbolRow]),
    /// The names in the archive.
    Stored,
}

/// The result of the search for an archive's frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Frames in modules, and frames outside of modules that have a name.
    pub frames: u64,
    /// The number of these frames that have a name now.
    pub named: u64,
    /// Modules whose symbols were found.
    pub modules: u64,
    /// Frames of managed code whose line comes from a portable PDB.
    pub lines: u64,
    /// Modules with frames without a name; the module with most such frames comes last.
    pub nameless: Vec<Nameless>,
}

/// A module without symbols, or with symbols that lack names of some frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nameless {
    /// Module name without path.
    pub module: String,
    /// Its frames that have no name.
    pub frames: u64,
    /// The reason. `None` if symbols were found but have no name at these frames.
    pub reason: Option<String>,
}

/// The rows of the table `symbols`. They are made on request, since there may be millions.
pub(crate) struct Names<'a> {
    archive: &'a Archive,
    earlier: Earlier<'a>,
    frames: Vec<NamedFrame>,
    replaced: FxHashSet<FrameId>,
    /// Modules by their number, then other code.
    tables: Vec<Option<(String, Table)>>,
    /// Of frames that the recording names: file, by its number in `files`, and line.
    lines: FxHashMap<FrameId, (u32, i32)>,
    files: Vec<String>,
    named: Named,
}

/// A frame whose names a symbol file knows.
struct NamedFrame {
    frame: FrameId,
    /// Number of the table.
    table: u32,
    /// In that table.
    address: u64,
}

impl<'a> Names<'a> {
    /// Asks `source` for the names of the archive's frames. `recording` is [`Recorded::path`].
    ///
    /// # Errors
    /// The archive cannot be read.
    pub(crate) fn find(
        archive: &'a Archive,
        earlier: Earlier<'a>,
        recording: &Path,
        source: &dyn NameSource,
    ) -> Result<Self, Error> {
        let info = archive.info();
        let recorded = Recorded { path: recording, machine: info.machine.as_deref(), began: at(info, info.start_ns) };
        let modules: Vec<ModuleRow> = archive.rows()?;
        let kernel = KernelBases::of(archive)?;
        let known = known_frames(archive, earlier)?;
        let Frames { in_modules: frames, outside, of_kernel } = Frames::of(archive, &modules, &kernel, &known)?;
        let tables = tables(&modules, &kernel, &frames, &known, &recorded, source);
        let jit_names = JitNames::find(archive, &modules, &outside, &recorded, source)?;
        let mut managed: Vec<ManagedCodeRow> = Vec::new();
        archive.scan(None, |row: &ManagedCodeRow| managed.push(row.clone()))?;
        // All stacks tell which frames are callers: nobody needs that where nothing was found.
        let callers = match managed.is_empty() && jit_names.is_empty() && !tables.iter().flatten().any(Result::is_ok) {
            true => FxHashSet::default(),
            false => callers(archive, |frame| of_kernel.contains(&frame))?,
        };
        let mut names = Names {
            archive,
            earlier,
            frames: Vec::new(),
            replaced: FxHashSet::default(),
            tables: Vec::new(),
            lines: FxHashMap::default(),
            files: Vec::new(),
            named: Named { frames: frames.len() as u64, ..Named::default() },
        };
        names.add_modules(modules, frames, tables, &known, &callers);
        names.add_jit_code(&outside, &jit_names, &callers);
        names.find_lines(managed, &callers, &recorded, source);
        names.named.nameless.sort_by(|a, b| a.frames.cmp(&b.frames).then_with(|| b.module.cmp(&a.module)));
        Ok(names)
    }

    /// Names of code in modules.
    fn add_modules(
        &mut self,
        modules: Vec<ModuleRow>,
        frames: Vec<(FrameId, ModuleId, i64)>,
        tables: Vec<Option<Result<ModuleNames, String>>>,
        known: &FxHashMap<FrameId, Known>,
        callers: &FxHashSet<FrameId>,
    ) {
        let mut without = vec![0_u64; modules.len()];
        for (frame, module, rva) in frames {
            let known = known.get(&frame).copied();
            let found = tables[module.index()].as_ref().and_then(|found| found.as_ref().ok());
            let address = found.and_then(|found| {
                let address = found.base.wrapping_add_signed(rva).wrapping_sub(u64::from(callers.contains(&frame)));
                found.table.frames(address).next().map(|_| address)
            });
            match address.filter(|_| known != Some(Known::Recorded)) {
                Some(address) => {
                    let table = u32::try_from(module.index()).unwrap_or(u32::MAX);
                    self.frames.push(NamedFrame { frame, table, address });
                    if known.is_some() {
                        self.replaced.insert(frame);
                    }
                }
                None if known.is_none() => without[module.index()] += 1,
                None => {}
            }
        }
        self.named.named = self.named.frames - without.iter().sum::<u64>();
        for (index, (row, found)) in modules.into_iter().zip(tables).enumerate() {
            if without[index] > 0 {
                let reason = found.as_ref().and_then(|found| found.as_ref().err()).cloned();
                let (module, frames) = (row.name.clone(), without[index]);
                self.named.nameless.push(Nameless { module, frames, reason });
            }
            let found = found.and_then(Result::ok);
            self.named.modules += u64::from(found.is_some());
            self.tables.push(found.map(|found| (row.name, found.table)));
        }
    }

    /// Names of JIT code.
    fn add_jit_code(&mut self, outside: &[CodeOutsideModules], jit_names: &JitNames, callers: &FxHashSet<FrameId>) {
        let mut first: FxHashMap<ProcessId, usize> = FxHashMap::default();
        for (process, tables) in jit_names.tables() {
            first.insert(process, self.tables.len());
            self.tables.extend(tables.iter().map(|table| Some((JIT.to_owned(), table.clone()))));
        }
        for CodeOutsideModules { frame, process, address } in outside {
            let address = address.wrapping_sub(u64::from(callers.contains(frame)));
            if let (Some(first), Some(known)) = (first.get(process), jit_names.at(*process, address)) {
                let table = u32::try_from(first + known.table).unwrap_or(u32::MAX);
                self.frames.push(NamedFrame { frame: *frame, table, address: known.address });
                self.named.frames += 1;
                self.named.named += 1;
            }
        }
    }

    /// Lines of managed code, whose names the recording has.
    fn find_lines(
        &mut self,
        rows: Vec<ManagedCodeRow>,
        callers: &FxHashSet<FrameId>,
        recorded: &Recorded<'_>,
        source: &dyn NameSource,
    ) {
        let (lines, files) = (&mut self.lines, &mut self.files);
        let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
        managed::lines(
            rows,
            |frame| callers.contains(&frame),
            |assemblies| source.lines(recorded, assemblies),
            |found| {
                let Ok(line) = i32::try_from(found.line) else { return };
                let file = *numbers.entry(found.file.to_owned()).or_insert_with(|| {
                    files.push(found.file.to_owned());
                    u32::try_from(files.len() - 1).unwrap_or(u32::MAX)
                });
                lines.insert(found.frame, (file, line));
            },
        );
        self.named.lines = self.lines.len() as u64;
    }

    /// What was found.
    pub(crate) fn named(&self) -> &Named {
        &self.named
    }

    /// Whether no symbol file has a name.
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.lines.is_empty()
    }

    /// Table `entry_frames`: of the frames that branches go to, the first instructions of their functions.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub(crate) fn entries(&self) -> Result<Vec<EntryFrameRow>, Error> {
        let mut targets: FxHashSet<FrameId> = FxHashSet::default();
        self.archive.scan(None, |row: &TargetOfBranch| _ = targets.insert(row.to))?;
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let mut entries: BTreeSet<FrameId> = BTreeSet::new();
        self.archive.scan(None, |row: &EntryFrameRow| _ = entries.insert(row.frame))?;
        let is_entry = |named: &&NamedFrame| {
            let table = self.tables.get(named.table as usize).and_then(Option::as_ref);
            targets.contains(&named.frame)
                && table.is_some_and(|(_, table)| table.start(named.address) == Some(named.address))
        };
        entries.extend(self.frames.iter().filter(is_entry).map(|named| named.frame));
        Ok(entries.into_iter().map(|frame| EntryFrameRow { frame }).collect())
    }

    /// All rows. The rows of a frame stand together, the function itself first.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&SymbolRow)) -> Result<(), Error> {
        let mut lined = SymbolRow::default();
        let mut keep = |row: &SymbolRow| {
            if self.replaced.contains(&row.frame) {
                return;
            }
            let line = self.lines.get(&row.frame).filter(|_| row.depth == 0);
            match line.and_then(|(file, line)| Some((self.files.get(*file as usize)?, *line))) {
                Some((file, line)) => {
                    lined.clone_from(row);
                    put(&mut lined.file, Some(file));
                    lined.line = Some(line);
                    visit(&lined);
                }
                None => visit(row),
            }
        };
        match self.earlier {
            Earlier::Rows(rows) => rows.iter().for_each(&mut keep),
            Earlier::Stored => self.archive.scan(None, &mut keep)?,
        }
        let mut row = SymbolRow::default();
        for NamedFrame { frame, table, address } in &self.frames {
            let Some((module, table)) = self.tables.get(*table as usize).and_then(Option::as_ref) else { continue };
            row.frame = *frame;
            put(&mut row.module, Some(module));
            for (depth, function) in (0..).zip(table.frames(*address)) {
                row.depth = depth;
                row.function.clear();
                row.function.push_str(function.function);
                put(&mut row.arguments, function.arguments);
                put(&mut row.file, function.file);
                row.line = function.line.and_then(|line| i32::try_from(line).ok());
                row.source.clear();
                row.source.push_str(function.source);
                visit(&row);
            }
        }
        Ok(())
    }
}

/// Replaces a text and keeps its memory.
fn put(place: &mut Option<String>, text: Option<&str>) {
    match (place.as_mut(), text) {
        (Some(place), Some(text)) => {
            place.clear();
            place.push_str(text);
        }
        (_, text) => *place = text.map(str::to_owned),
    }
}

/// The frames that may need a name.
struct Frames {
    /// Those in modules, with their offset there.
    in_modules: Vec<(FrameId, ModuleId, i64)>,
    /// Those in none whose name is not known.
    outside: Vec<CodeOutsideModules>,
    of_kernel: FxHashSet<FrameId>,
}

impl Frames {
    fn of(
        archive: &Archive,
        modules: &[ModuleRow],
        kernel: &KernelBases,
        known: &FxHashMap<FrameId, Known>,
    ) -> Result<Self, Error> {
        let (mut in_modules, mut outside, mut of_kernel) = (Vec::new(), Vec::new(), FxHashSet::default());
        archive.scan(None, |row: &FrameRow| {
            let is_kernel = match row.module {
                Some(module) => kernel.of_module(module).is_some(),
                None => row.process.is_none(),
            };
            if is_kernel {
                of_kernel.insert(row.frame);
            }
            if let (Some(module), Some(rva)) = (row.module, row.rva)
                && modules.get(module.index()).is_some()
            {
                in_modules.push((row.frame, module, rva));
            }
            if let (None, Some(process), Some(address)) = (row.module, row.process, row.address)
                && !known.contains_key(&row.frame)
            {
                outside.push(CodeOutsideModules { frame: row.frame, process, address: address.cast_unsigned() });
            }
        })?;
        Ok(Self { in_modules, outside, of_kernel })
    }
}

/// The state of a frame's name before the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// The recording has the name.
    Recorded,
    /// A symbol file gave the name.
    Exactly,
    /// The name is rough, and a better one is looked for.
    Roughly,
}

/// The frames that have a name.
fn known_frames(archive: &Archive, earlier: Earlier<'_>) -> Result<FxHashMap<FrameId, Known>, Error> {
    let mut known = FxHashMap::default();
    let mut note = |frame: FrameId, source: &str| {
        let how = match source {
            source if RECORDED.contains(&source) => Known::Recorded,
            source if ROUGH.contains(&source) => Known::Roughly,
            _ => Known::Exactly,
        };
        known.insert(frame, how);
    };
    match earlier {
        Earlier::Rows(rows) => rows.iter().for_each(|row| note(row.frame, &row.source)),
        Earlier::Stored => archive.scan(None, |row: &SourceOfName| note(row.frame, &row.source))?,
    }
    Ok(known)
}

/// The names of modules that have frames without a name or with a rough name, by module.
fn tables(
    modules: &[ModuleRow],
    kernel: &KernelBases,
    frames: &[(FrameId, ModuleId, i64)],
    known: &FxHashMap<FrameId, Known>,
    recorded: &Recorded<'_>,
    source: &dyn NameSource,
) -> Vec<Option<Result<ModuleNames, String>>> {
    let mut needs_names = vec![false; modules.len()];
    for (frame, module, _) in frames {
        needs_names[module.index()] |= matches!(known.get(frame), None | Some(Known::Roughly));
    }
    let wanted: Vec<usize> = (0..modules.len()).filter(|index| needs_names[*index]).collect();
    let asked: Vec<Wanted<'_>> = wanted
        .iter()
        .map(|&index| Wanted { module: &modules[index], kernel_base: kernel.of_module(ModuleId::from_index(index)) })
        .collect();
    let mut tables: Vec<Option<Result<ModuleNames, String>>> = modules.iter().map(|_| None).collect();
    for (index, found) in wanted.into_iter().zip(source.names(recorded, &asked)) {
        tables[index] = Some(found);
    }
    tables
}

/// The modules of the kernel and their addresses.
struct KernelBases(FxHashMap<ModuleId, u64>);

impl KernelBases {
    fn of(archive: &Archive) -> Result<Self, Error> {
        // The upper half of the addresses is the kernel's: of 64 bits what is negative in the archive.
        let from: u64 = if archive.info().pointer_size == 4 { 1 << 31 } else { 1 << 63 };
        let mut bases = FxHashMap::default();
        archive.scan(None, |row: &BaseOfModule| {
            if row.base.cast_unsigned() >= from {
                bases.entry(row.module).or_insert(row.base.cast_unsigned());
            }
        })?;
        Ok(Self(bases))
    }

    fn of_module(&self, module: ModuleId) -> Option<u64> {
        self.0.get(&module).copied()
    }
}

/// The rows of a source, with these names in place of the source's names.
pub(crate) struct WithNames<'a, Source> {
    pub(crate) rows: &'a Source,
    pub(crate) names: &'a Names<'a>,
}

impl<Source: SummarySource> SummarySource for WithNames<'_, Source> {
    fn modules(&self) -> Result<Cow<'_, [ModuleRow]>, Error> {
        self.rows.modules()
    }

    fn processes(&self) -> Result<Vec<ProcessId>, Error> {
        self.rows.processes()
    }

    fn threads(&self, visit: impl FnMut(&ThreadLifetime)) -> Result<(), Error> {
        self.rows.threads(visit)
    }

    fn frames(&self, visit: impl FnMut(&FrameInModule)) -> Result<(), Error> {
        self.rows.frames(visit)
    }

    fn symbols(&self, mut visit: impl FnMut(FrameId, Option<&str>, &str)) -> Result<(), Error> {
        self.names.for_each(|row| visit(row.frame, row.module.as_deref(), &row.function))
    }

    fn stacks(&self, visit: impl FnMut(StackId, &[FrameId])) -> Result<(), Error> {
        self.rows.stacks(visit)
    }

    fn samples(&self, times: Times, visit: impl FnMut(&SummarySample)) -> Result<(), Error> {
        self.rows.samples(times, visit)
    }

    fn switches_newest_first(&self, times: Times, visit: impl FnMut(&SummarySwitch)) -> Result<(), Error> {
        self.rows.switches_newest_first(times, visit)
    }
}
