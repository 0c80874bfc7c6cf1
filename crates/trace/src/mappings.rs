//! Files and where they were mapped, as Linux records it: mappings appear, nothing says when they go. A later mapping hides
//! what lay below it, a new process has those of its creator.
//!
//! A new program replaces all mappings. They stay below its own nevertheless: while the kernel starts it, the user's registers, which
//! end the stacks of that time, are still those of the program before.

use rustc_hash::FxHashMap;

use crate::address_map::Mapping;
use crate::clock::Clock;
use crate::ids::{ModuleId, ProcessId};
use crate::mapped_spaces::MappedSpaces;
use crate::mapping_facts::{Fact, Facts, MapFact};
use crate::modules::{AddressSpace, Mapped, Modules, file_name};
use crate::population::Population;
use crate::rows::{ModuleRow, ProcessModuleRow};

/// What is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappedFile<'a> {
    /// A file, the kernel, one of its modules or what else has a name and code.
    Named {
        /// Path, or name in brackets.
        path: &'a str,
        /// What tells it from other files of its path: the build id in hex digits where it is known.
        build_id: Option<&'a str>,
    },
    /// Memory without a file.
    Anonymous,
}

/// A mapping record.
#[derive(Clone, Copy, Debug)]
pub struct MappingRecord<'a> {
    /// Raw time; `None`: it was there when the recording began.
    pub ticks: Option<i64>,
    /// The process; `None` for the kernel.
    pub pid: Option<u32>,
    /// First address.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// Offset in the file of the first byte.
    pub offset: u64,
    /// What lies there.
    pub file: MappedFile<'a>,
    /// Bytes behind it that belong to it too where nothing else lies: of the kernel the recorder knows the main part.
    pub tail: u64,
}

/// Path and build id: what tells files apart.
type FileKey = (String, Option<String>);

/// Collects mapping records. Fed in time order.
#[derive(Debug, Default)]
pub struct Mappings {
    facts: Facts,
    /// Bytes of each file, as far as they are mapped.
    sizes: Vec<u64>,
    files: FxHashMap<FileKey, u32>,
}

impl Mappings {
    /// Nothing known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A mapping appears, or is told of.
    pub fn map(&mut self, record: &MappingRecord<'_>) {
        let &MappingRecord { ticks, pid, start, size, offset, file, tail } = record;
        let end = start.saturating_add(size);
        let file = match file {
            MappedFile::Named { path, build_id } => {
                let file = self.file(path, build_id);
                let known = &mut self.sizes[file as usize];
                *known = offset.saturating_add(end - start).max(*known);
                Some(file)
            }
            MappedFile::Anonymous => None,
        };
        let end = end.saturating_add(tail);
        self.facts.map(&MapFact { ticks, pid, start, end, offset, file });
    }

    /// A process comes to be as a copy of another.
    pub fn fork(&mut self, ticks: i64, child: u32, parent: u32) {
        self.facts.fork(ticks, child, parent);
    }

    /// A process replaces its program.
    pub fn exec(&mut self, ticks: i64, pid: u32) {
        self.facts.exec(ticks, pid);
    }

    /// First address of what is mapped for the kernel.
    #[must_use]
    pub fn kernel_start(&self) -> Option<u64> {
        let starts = self.facts.iter().filter_map(|fact| match fact {
            Fact::Map(MapFact { pid: None, start, .. }) => Some(start),
            _ => None,
        });
        starts.min()
    }

    /// The build id that a record has of the file at a path; the first by its digits, if there are several.
    #[must_use]
    pub fn build_id_of(&self, path: &str) -> Option<String> {
        self.files.keys().filter(|(known, _)| known == path).filter_map(|(_, build_id)| build_id.clone()).min()
    }

    fn file(&mut self, path: &str, build_id: Option<&str>) -> u32 {
        let next = u32::try_from(self.sizes.len()).unwrap_or(u32::MAX);
        let id = *self.files.entry((path.to_owned(), build_id.map(str::to_owned))).or_insert(next);
        if id == next {
            self.sizes.push(0);
        }
        id
    }

    /// Gives out ids and freezes the mappings. `build_id` knows identities of files by their paths that no record has; `visit` gets the
    /// rows of table `process_modules`, by time of load.
    #[must_use]
    pub fn freeze(
        self,
        clock: Clock,
        population: &mut Population,
        build_id: impl Fn(&str) -> Option<String>,
        visit: impl FnMut(&ProcessModuleRow),
    ) -> Modules {
        let (spaces, execs, has_kernel) = self.spaces(population);
        let kernel = has_kernel.then(|| population.kernel_process());
        Rows { mappings: &self, clock, kernel, execs }.show(population, visit);
        let Self { sizes, files, .. } = self;
        let module = |((path, known), id): (FileKey, u32)| ModuleRow {
            module: ModuleId::from_index(id as usize),
            name: file_name(&path).to_owned(),
            build_id: known.or_else(|| build_id(&path)),
            path,
            size: sizes[id as usize].cast_signed(),
            ..ModuleRow::default()
        };
        let mut modules: Vec<ModuleRow> = files.into_iter().map(module).collect();
        modules.sort_unstable_by_key(|row| row.module);
        Modules { modules, spaces }
    }

    /// Puts the mappings in place. Tells also when processes replaced their programs, and whether the kernel has mappings.
    fn spaces(&self, population: &mut Population) -> (MappedSpaces, Execs, bool) {
        let mut spaces = MappedSpaces::default();
        let mut execs = Vec::new();
        let mut has_kernel = false;
        for (position, fact) in self.facts.iter().enumerate() {
            match fact {
                Fact::Map(MapFact { ticks, pid, start, end, offset, file }) => {
                    let from = ticks.unwrap_or(i64::MIN);
                    let space =
                        pid.map_or(AddressSpace::Kernel, |pid| AddressSpace::Process(population.process_at(pid, from)));
                    has_kernel |= space == AddressSpace::Kernel && file.is_some();
                    // What the kernel maps has a name.
                    if file.is_some() || space != AddressSpace::Kernel {
                        let what = Mapped { module: file.map(|file| ModuleId::from_index(file as usize)), offset };
                        spaces.add(space, &Mapping { start, end, from, until: i64::MAX, what });
                    }
                }
                Fact::Fork { ticks, child, parent } => {
                    let (child, from) = (population.process_at(child, ticks), population.process_at(parent, ticks));
                    if child != from {
                        spaces.inherit(child, from, ticks);
                    }
                }
                Fact::Exec { ticks, pid } => execs.push((population.process_at(pid, ticks), position, ticks)),
            }
        }
        spaces.shrink();
        (spaces, Execs::new(execs), has_kernel)
    }
}

/// When processes replaced their programs.
struct Execs(Vec<(ProcessId, usize, i64)>);

impl Execs {
    fn new(mut execs: Vec<(ProcessId, usize, i64)>) -> Self {
        execs.sort_unstable();
        Self(execs)
    }

    /// The first time behind a position among the facts.
    fn behind(&self, process: ProcessId, position: usize) -> Option<i64> {
        let index = self.0.partition_point(|&(of, at, _)| (of, at) < (process, position));
        self.0.get(index).filter(|(of, ..)| *of == process).map(|&(.., ticks)| ticks)
    }
}

/// Makes the rows of table `process_modules`.
struct Rows<'a> {
    mappings: &'a Mappings,
    clock: Clock,
    kernel: Option<ProcessId>,
    execs: Execs,
}

impl Rows<'_> {
    /// Facts stand in the order of time, but for those without one: these come first.
    fn show(&self, population: &mut Population, mut visit: impl FnMut(&ProcessModuleRow)) {
        let mut alike: Vec<ProcessModuleRow> = Vec::new();
        for timed in [false, true] {
            for (position, fact) in self.mappings.facts.iter().enumerate() {
                let Fact::Map(fact) = fact else { continue };
                let Some(row) = self.row(position, &fact, population).filter(|row| row.load.is_some() == timed) else {
                    continue;
                };
                if alike.last().is_some_and(|before| before.load != row.load) {
                    show_sorted(&mut alike, &mut visit);
                }
                alike.push(row);
            }
        }
        show_sorted(&mut alike, &mut visit);
    }

    fn row(&self, position: usize, fact: &MapFact, population: &mut Population) -> Option<ProcessModuleRow> {
        let module = ModuleId::from_index(fact.file? as usize);
        let (process, size, unload) = match fact.pid {
            None => (self.kernel?, self.mappings.sizes[module.index()], None),
            Some(pid) => {
                let process = population.process_at(pid, fact.ticks.unwrap_or(i64::MIN));
                let size = (fact.end - fact.start).saturating_add(fact.offset);
                (process, size, self.execs.behind(process, position))
            }
        };
        Some(ProcessModuleRow {
            process,
            module,
            base: fact.start.wrapping_sub(fact.offset).cast_signed(),
            size: size.cast_signed(),
            load: fact.ticks.filter(|ticks| *ticks != i64::MIN).map(|ticks| self.clock.ns(ticks)),
            unload: unload.map(|ticks| self.clock.ns(ticks)),
        })
    }
}

/// Shows rows of the same time of load.
fn show_sorted(rows: &mut Vec<ProcessModuleRow>, visit: &mut impl FnMut(&ProcessModuleRow)) {
    rows.sort_by_key(|row| (row.process, row.base));
    rows.drain(..).for_each(|row| visit(&row));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::{Edge, Lifetimes, Platform, ProcessFacts};

    fn file(ticks: Option<i64>, pid: u32, start: u64, path: &str) -> MappingRecord<'_> {
        let file = MappedFile::Named { path, build_id: None };
        MappingRecord { ticks, pid: Some(pid), start, size: 0x1000, offset: 0x200, file, tail: 0 }
    }

    #[test]
    fn copied_hidden_and_replaced() {
        let mut lifetimes = Lifetimes::of(Platform::Linux);
        lifetimes.process(0, 1, Edge::AliveAtStart, ProcessFacts::default());
        lifetimes.process(100, 2, Edge::Start, ProcessFacts { parent_pid: Some(1), ..ProcessFacts::default() });
        let mut mappings = Mappings::new();
        mappings.map(&file(None, 1, 0x10_000, "/bin/sh"));
        mappings.fork(100, 2, 1);
        let kernel = MappingRecord { pid: None, ..file(None, 0, 0x9_0000, "/lib/modules/x.ko") };
        // What the creator maps afterwards is its own.
        mappings.map(&file(Some(110), 1, 0x20_000, "/lib/late.so"));
        let hides = MappingRecord { file: MappedFile::Anonymous, ..file(Some(120), 2, 0x10_800, "") };
        mappings.map(&hides);
        mappings.exec(200, 2);
        mappings.map(&file(Some(210), 2, 0x10_000, "/bin/dd"));
        mappings.map(&kernel);
        let file = MappedFile::Named { path: "vmlinux", build_id: None };
        mappings.map(&MappingRecord { start: 0x8_0000, offset: 0, file, tail: 0x1_8000, ..kernel });
        let mut population = lifetimes.freeze(Clock::new(0, 1_000_000_000), 0);
        let build_id = |path: &str| (path == "/bin/dd").then(|| "abcd".to_owned());
        let mut rows = Vec::new();
        let visit = |row: &ProcessModuleRow| rows.push(row.clone());
        let modules = mappings.freeze(Clock::new(0, 1_000_000_000), &mut population, build_id, visit);
        let mut find = |pid: u32, address: u64, ticks: i64| {
            let space = AddressSpace::Process(population.process_at(pid, ticks));
            let (module, offset) = modules.find(space, address, ticks)?;
            Some((modules.modules[module.index()].path.as_str(), offset))
        };
        assert_eq!(find(1, 0x10_010, 50), Some(("/bin/sh", 0x210)));
        assert_eq!(find(2, 0x10_810, 110), Some(("/bin/sh", 0xa10)));
        assert_eq!(find(2, 0x10_810, 130), None, "hidden");
        assert_eq!(find(2, 0x10_010, 130), Some(("/bin/sh", 0x210)));
        assert_eq!(find(2, 0x20_010, 130), None, "not copied");
        assert_eq!(find(1, 0x20_010, 130), Some(("/lib/late.so", 0x210)));
        assert_eq!(find(2, 0x10_010, 205), Some(("/bin/sh", 0x210)), "the new program is not mapped yet");
        assert_eq!(find(2, 0x10_010, 210), Some(("/bin/dd", 0x210)));
        assert_eq!(find(2, 0x10_810, 210), Some(("/bin/dd", 0xa10)));
        let space = AddressSpace::Process(population.process_at(2, 150));
        assert_ne!(modules.epoch(space, 209), modules.epoch(space, 210));
        let unloads: Vec<Option<i64>> = rows.iter().map(|row| row.unload).collect();
        assert_eq!(unloads, [None; 5], "what is copied has no row");
        let kernel = |address: u64, ticks: i64| {
            let (module, offset) = modules.find(AddressSpace::Kernel, address, ticks)?;
            Some((modules.modules[module.index()].name.as_str(), offset))
        };
        assert_eq!(kernel(0x8_0010, 0), Some(("vmlinux", 0x10)));
        assert_eq!(kernel(0x8_f000, 0), Some(("vmlinux", 0xf000)), "behind its main part");
        assert_eq!(kernel(0x9_0010, 0), Some(("x.ko", 0x210)));
        assert_eq!(kernel(0x7_0000, 0), None);
        assert_eq!(modules.modules[2].build_id.as_deref(), Some("abcd"));
    }
}
