//! Methods of managed code: JIT-compiled, or precompiled and named by rundown.
//!
//! A method has as many pieces of code as it was compiled times (tiers, rejit), each with a life of its own. Code that the JIT wrote is found by
//! process, address and time. Precompiled code lies in images: there a method is found by module and offset, so that what the rundown of one
//! process names is named in all.

use rustc_hash::FxHashMap;

use crate::address_map::{AddressMap, Epoch, Mapping};
use crate::ids::{ModuleId, ProcessId};
use crate::il_maps::{IlMapId, IlMaps};
use crate::modules::{AddressSpace, Modules, PdbIdentity, file_name};
use crate::population::Population;

/// How a method became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodEdge {
    /// Compiled or loaded now.
    Load,
    /// Unloaded now.
    Unload,
    /// Named by rundown: there, as far as known, from the start of the recording to its end.
    Rundown,
}

/// A method record: a range of code and its name. A method of many versions (tiers) has one record each.
#[derive(Clone, Copy, Debug)]
pub struct MethodRecord<'a> {
    /// Raw time.
    pub ticks: i64,
    /// Pid of the process.
    pub pid: u32,
    /// The thread that logged the record: records about one piece of code follow each other on it.
    pub tid: u32,
    /// How it became known.
    pub edge: MethodEdge,
    /// First address of the code.
    pub start: u64,
    /// Bytes of code.
    pub size: u32,
    /// The second range of a method whose rarely used code lies elsewhere.
    pub cold: bool,
    /// The runtime's number of the method.
    pub id: u64,
    /// The runtime's number of the module.
    pub module: u64,
    /// Metadata token of the method.
    pub token: u32,
    /// `Namespace.Type.Method`.
    pub function: &'a str,
    /// Signature as recorded.
    pub arguments: &'a str,
}

/// The first address of a precompiled method that is used for the first time. Where it ends is not recorded.
#[derive(Clone, Copy, Debug)]
pub struct EntryPointRecord<'a> {
    /// Raw time.
    pub ticks: i64,
    /// Pid of the process.
    pub pid: u32,
    /// First address of the code.
    pub start: u64,
    /// `Namespace.Type.Method`.
    pub function: &'a str,
    /// Signature as recorded.
    pub arguments: &'a str,
}

/// A module of managed code, as a record tells of it.
#[derive(Clone, Debug)]
pub struct ManagedModuleRecord<'a> {
    /// Raw time.
    pub ticks: i64,
    /// Pid of the process.
    pub pid: u32,
    /// The runtime's number of the module.
    pub module: u64,
    /// Path of the assembly, or a name.
    pub path: &'a str,
    /// PDB of the assembly, where the record says.
    pub pdb: Option<PdbIdentity>,
}

/// Where a name comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSource {
    /// Seen when it was compiled or loaded.
    Jit,
    /// Named by rundown.
    Rundown,
    /// Named when it was used for the first time.
    EntryPoint,
}

impl NameSource {
    /// The word in the archive.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Jit => "jit",
            Self::Rundown => "rundown",
            Self::EntryPoint => "entry-point",
        }
    }
}

/// A place in the names.
type Text = (u32, u32);

/// A piece of a method's code in the frozen table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// A number of its own: other code at the same address is another method.
    pub number: u32,
    /// Metadata token; one without a row number where the method has no metadata.
    pub token: u32,
    /// Where the name comes from.
    pub source: NameSource,
    function: Text,
    arguments: Text,
    /// Index of the module.
    module: Option<u32>,
    il_map: Option<IlMapId>,
    /// Bytes of code; 0 where that is not known.
    size: u32,
    /// Where the piece begins in the whole native code of the method.
    native_offset: u32,
}

/// A token of a method that has metadata, as those made at run time have not: table number, and a row number that is not 0.
const METHOD_DEFINITIONS: std::ops::RangeInclusive<u32> = 0x0600_0001..=0x06ff_ffff;

impl Method {
    /// Whether its token leads to a definition.
    #[must_use]
    pub fn is_defined(&self) -> bool {
        METHOD_DEFINITIONS.contains(&self.token)
    }

    /// Whether the byte at an offset is one of its code, as that of a return address need not be.
    #[must_use]
    pub fn has(&self, offset: u64) -> bool {
        offset < u64::from(self.size)
    }
}

/// A piece of code, and how far into it an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodAt {
    /// The piece.
    pub method: Method,
    /// Distance from its first byte. That of a return address may be one behind its last byte.
    pub offset: u64,
}

/// A record with its names interned. What it means depends on the process, which is known when lifetimes are.
#[derive(Clone, Copy, Debug)]
struct Noted {
    ticks: i64,
    pid: u32,
    edge: MethodEdge,
    start: u64,
    size: u32,
    module: u64,
    method: Method,
}

/// What the last records of a thread were about.
#[derive(Clone, Copy, Debug)]
struct Last {
    method: u64,
    hot: Option<usize>,
    cold: Option<usize>,
    map: Option<IlMapId>,
}

/// What was told of a module.
#[derive(Clone, Copy, Debug)]
struct NotedModule {
    ticks: i64,
    pid: u32,
    module: u64,
    path: Text,
    pdb: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct NotedEntryPoint {
    ticks: i64,
    pid: u32,
    start: u64,
    function: Text,
    arguments: Text,
}

/// Collects method records. Fed in time order.
#[derive(Debug, Default)]
pub struct MethodsBuilder {
    records: Vec<Noted>,
    entry_points: Vec<NotedEntryPoint>,
    text: String,
    interned: FxHashMap<String, Text>,
    modules: Vec<NotedModule>,
    pdbs: Vec<PdbIdentity>,
    pdb_numbers: FxHashMap<(String, u32), u32>,
    il_maps: IlMaps,
    /// By pid and tid.
    last: FxHashMap<(u32, u32), Last>,
}

/// Precompiled code of a module: offsets of its first byte and of the first one behind.
#[derive(Clone, Copy, Debug)]
struct InImage {
    module: ModuleId,
    start: u64,
    end: u64,
    method: Method,
}

/// Names of methods kept at most, bytes. Beyond it methods stay unnamed, which the caller counts.
const TEXT_BUDGET: usize = 96 << 20;

impl MethodsBuilder {
    /// Nothing known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A method record. Returns `false` when the budget for names is used up and the record was left out.
    pub fn method(&mut self, record: &MethodRecord<'_>) -> bool {
        let (Some(function), Some(arguments)) = (self.intern(record.function), self.intern(record.arguments)) else {
            return false;
        };
        let MethodRecord { ticks, pid, tid, edge, start, size, token, .. } = *record;
        let number = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        let source = if edge == MethodEdge::Rundown { NameSource::Rundown } else { NameSource::Jit };
        let mut method =
            Method { number, token, source, function, arguments, module: None, il_map: None, size, native_offset: 0 };
        if edge != MethodEdge::Unload {
            self.tie(pid, tid, record, &mut method);
        }
        self.records.push(Noted { ticks, pid, edge, start, size, module: record.module, method });
        true
    }

    /// Gives a piece of code the map that its thread logged in front of it, and waits for one behind it.
    fn tie(&mut self, pid: u32, tid: u32, record: &MethodRecord<'_>, method: &mut Method) {
        let index = self.records.len();
        let last = self.last.get(&(pid, tid)).copied().filter(|last| last.method == record.id);
        let mut now = Last { method: record.id, hot: Some(index), cold: None, map: None };
        match last {
            Some(Last { hot: Some(hot), .. }) if record.cold => {
                method.il_map = self.records[hot].method.il_map;
                method.native_offset = self.records[hot].size;
                now.hot = Some(hot);
                now.cold = Some(index);
            }
            Some(Last { map: Some(map), .. }) => method.il_map = Some(map),
            _ => {}
        }
        self.last.insert((pid, tid), now);
    }

    /// Which IL the code of a method was compiled from, as pairs of native and IL offsets. The runtime logs it right behind the method's record,
    /// a rundown right in front of it, each on the thread that logs the record. Returns `false` when the budget for maps is used up.
    pub fn il_map(&mut self, pid: u32, tid: u32, id: u64, pairs: impl Iterator<Item = (u32, u32)>) -> bool {
        let Ok(map) = self.il_maps.add(pairs) else { return false };
        if let Some(last) = self.last.get_mut(&(pid, tid)).filter(|last| last.method == id)
            && let Some(hot) = last.hot
            && self.records[hot].method.il_map.is_none()
        {
            for index in [Some(hot), last.cold].into_iter().flatten() {
                self.records[index].method.il_map = map;
            }
            return true;
        }
        self.last.insert((pid, tid), Last { method: id, hot: None, cold: None, map });
        true
    }

    /// An entry point. Returns `false` when the budget for names is used up and the record was left out.
    pub fn entry_point(&mut self, record: &EntryPointRecord<'_>) -> bool {
        let (Some(function), Some(arguments)) = (self.intern(record.function), self.intern(record.arguments)) else {
            return false;
        };
        let EntryPointRecord { ticks, pid, start, .. } = *record;
        self.entry_points.push(NotedEntryPoint { ticks, pid, start, function, arguments });
        true
    }

    /// What a record says of a module.
    pub fn module(&mut self, record: ManagedModuleRecord<'_>) {
        if record.path.is_empty() {
            return;
        }
        let Some(path) = self.intern(record.path) else { return };
        let pdb = record.pdb.map(|pdb| {
            let next = u32::try_from(self.pdbs.len()).unwrap_or(u32::MAX);
            *self.pdb_numbers.entry((pdb.guid.clone(), pdb.age)).or_insert_with(|| {
                self.pdbs.push(pdb);
                next
            })
        });
        let ManagedModuleRecord { ticks, pid, module, .. } = record;
        self.modules.push(NotedModule { ticks, pid, module, path, pdb });
    }

    fn intern(&mut self, text: &str) -> Option<Text> {
        if let Some(place) = self.interned.get(text) {
            return Some(*place);
        }
        if self.text.len() + text.len() > TEXT_BUDGET {
            return None;
        }
        let place = (u32::try_from(self.text.len()).ok()?, u32::try_from(text.len()).ok()?);
        self.text.push_str(text);
        self.interned.insert(text.to_owned(), place);
        Some(place)
    }

    /// Freezes the table; pids become processes, and code in images becomes a part of them.
    #[must_use]
    pub fn freeze(mut self, population: &mut Population, images: &Modules) -> Methods {
        let told = ToldModules::new(std::mem::take(&mut self.modules), population);
        let mut mappings: Vec<(ProcessId, Mapping<Method>)> = Vec::new();
        let mut in_images = Vec::new();
        // The living method at a start address.
        let mut open: FxHashMap<(ProcessId, u64), usize> = FxHashMap::default();
        for record in std::mem::take(&mut self.records) {
            let process = population.process_at(record.pid, record.ticks);
            let method = Method { module: told.at(process, record.module, record.ticks), ..record.method };
            if let Some((module, start)) = images.find(AddressSpace::Process(process), record.start, record.ticks) {
                let end = start.saturating_add(u64::from(record.size));
                in_images.push(InImage { module, start, end, method });
                continue;
            }
            let slot = (process, record.start);
            let alive = open.get(&slot).copied();
            let end = record.start.saturating_add(u64::from(record.size));
            let unloads = record.edge == MethodEdge::Unload;
            if let Some(index) = alive {
                let mapping = &mut mappings[index].1;
                let same = mapping.what.function == method.function;
                if unloads {
                    mapping.until = record.ticks;
                    open.remove(&slot);
                    continue;
                }
                if same || record.edge == MethodEdge::Rundown {
                    mapping.end = mapping.end.max(end);
                    mapping.what.il_map = mapping.what.il_map.or(method.il_map);
                    continue;
                }
                // The code heap was reused without an unload record.
                mapping.until = record.ticks;
            }
            let from = if record.edge == MethodEdge::Load { record.ticks } else { i64::MIN };
            let until = if unloads { record.ticks } else { i64::MAX };
            if !unloads {
                open.insert(slot, mappings.len());
            }
            mappings.push((process, Mapping { start: record.start, end, from, until, what: method }));
        }
        // Of several that name the same code, the one that knows its IL.
        in_images.sort_by_key(|code| (code.module, code.start, code.method.il_map.is_none()));
        in_images.dedup_by_key(|code| (code.module, code.start));
        Methods {
            addresses: AddressMap::new(mappings),
            in_images,
            entry_points: entry_points(&self.entry_points, population, images),
            told,
            pdbs: self.pdbs,
            il_maps: self.il_maps,
            text: self.text,
        }
    }
}

/// Entry points by process, module and offset.
///
/// Where the code behind one ends is not known. But a process that began inside of the recording reported every precompiled method that it ever
/// ran, so none lies between an address and the entry point in front of it. Other processes' are of no use.
fn entry_points(
    records: &[NotedEntryPoint],
    population: &mut Population,
    images: &Modules,
) -> Vec<(ProcessId, ModuleId, u64, Method)> {
    let mut found = Vec::new();
    for (record, number) in records.iter().zip(0_u32..) {
        let process = population.process_at(record.pid, record.ticks);
        if !population.is_born_inside(process) {
            continue;
        }
        if let Some((module, start)) = images.find(AddressSpace::Process(process), record.start, record.ticks) {
            let method = Method {
                number,
                token: 0,
                source: NameSource::EntryPoint,
                function: record.function,
                arguments: record.arguments,
                module: None,
                il_map: None,
                size: 0,
                native_offset: 0,
            };
            found.push((process, module, start, method));
        }
    }
    found.sort_by_key(|(process, module, start, _)| (*process, *module, *start));
    found.dedup_by_key(|(process, module, start, _)| (*process, *module, *start));
    found
}

/// Modules by process and the runtime's number, each with the times at which it was told of.
#[derive(Debug)]
struct ToldModules {
    modules: Vec<ManagedModule>,
    by_number: FxHashMap<(ProcessId, u64), Vec<(i64, u32)>>,
}

#[derive(Clone, Copy, Debug)]
struct ManagedModule {
    path: Text,
    pdb: Option<u32>,
}

impl ToldModules {
    fn new(records: Vec<NotedModule>, population: &mut Population) -> Self {
        let mut told = Self { modules: Vec::new(), by_number: FxHashMap::default() };
        for record in records {
            let process = population.process_at(record.pid, record.ticks);
            let lives = told.by_number.entry((process, record.module)).or_default();
            // The same one again: perhaps a record that says more.
            if let Some((_, last)) = lives.last()
                && let Some(module) = told.modules.get_mut(*last as usize)
                && module.path == record.path
                && (module.pdb.is_none() || record.pdb.is_none() || module.pdb == record.pdb)
            {
                module.pdb = module.pdb.or(record.pdb);
                continue;
            }
            lives.push((record.ticks, u32::try_from(told.modules.len()).unwrap_or(u32::MAX)));
            told.modules.push(ManagedModule { path: record.path, pdb: record.pdb });
        }
        told
    }

    /// The module that has a number at a time: the last one that was told of before it, else the first one after.
    fn at(&self, process: ProcessId, number: u64, ticks: i64) -> Option<u32> {
        let lives = self.by_number.get(&(process, number))?;
        let before = lives.partition_point(|(from, _)| *from <= ticks);
        lives.get(before.saturating_sub(1)).map(|(_, module)| *module)
    }
}

/// All methods of a recording.
#[derive(Debug)]
pub struct Methods {
    addresses: AddressMap<ProcessId, Method>,
    in_images: Vec<InImage>,
    entry_points: Vec<(ProcessId, ModuleId, u64, Method)>,
    told: ToldModules,
    pdbs: Vec<PdbIdentity>,
    il_maps: IlMaps,
    text: String,
}

impl Methods {
    /// File name of the module that has a number of the runtime at a time.
    #[must_use]
    pub fn module_of_number(&self, process: ProcessId, number: u64, ticks: i64) -> Option<&str> {
        let module = self.told.modules.get(self.told.at(process, number, ticks)? as usize)?;
        Some(file_name(self.slice(module.path)))
    }

    /// The method at an address outside of all images. Where none is there, the one that ends right in front of it: a call that never
    /// returns may be the last instruction, and its return address lies behind it.
    #[must_use]
    pub fn find(&self, process: ProcessId, address: u64, ticks: i64) -> Option<MethodAt> {
        let at = |address| self.addresses.find(process, address, ticks);
        let mapping = at(address).or_else(|| at(address.checked_sub(1)?))?;
        Some(MethodAt { method: mapping.what, offset: address - mapping.start })
    }

    /// The precompiled method at an offset in an image, or right in front of it.
    #[must_use]
    pub fn find_in_image(&self, process: ProcessId, module: ModuleId, rva: u64) -> Option<MethodAt> {
        let behind = self.in_images.partition_point(|code| (code.module, code.start) <= (module, rva));
        let before =
            behind.checked_sub(1).and_then(|index| self.in_images.get(index)).filter(|code| code.module == module);
        if let Some(code) = before.filter(|code| rva <= code.end) {
            return Some(MethodAt { method: code.method, offset: rva - code.start });
        }
        let key = (process, module, rva);
        let behind =
            self.entry_points.partition_point(|(process, module, start, _)| (*process, *module, *start) <= key);
        let (of_process, of_module, start, method) = *self.entry_points.get(behind.checked_sub(1)?)?;
        let ends_before = before.is_some_and(|code| code.start > start);
        ((of_process, of_module) == (process, module) && !ends_before).then(|| MethodAt { method, offset: rva - start })
    }

    /// See [`AddressMap::epoch`].
    #[must_use]
    pub fn epoch(&self, process: ProcessId, ticks: i64) -> Epoch {
        self.addresses.epoch(process, ticks)
    }

    /// `Namespace.Type.Method`.
    #[must_use]
    pub fn function(&self, method: Method) -> &str {
        self.slice(method.function)
    }

    /// The argument list from the recorded signature, with its parentheses.
    #[must_use]
    pub fn arguments(&self, method: Method) -> Option<&str> {
        let signature = self.slice(method.arguments);
        signature.find('(').map(|open| &signature[open..])
    }

    /// File name of the method's module.
    #[must_use]
    pub fn module(&self, method: Method) -> Option<&str> {
        self.module_path(method).map(file_name)
    }

    /// Path of the method's module.
    #[must_use]
    pub fn module_path(&self, method: Method) -> Option<&str> {
        let module = self.told.modules.get(method.module? as usize)?;
        Some(self.slice(module.path))
    }

    /// PDB of the method's module.
    #[must_use]
    pub fn pdb(&self, method: Method) -> Option<&PdbIdentity> {
        let module = self.told.modules.get(method.module? as usize)?;
        self.pdbs.get(module.pdb? as usize)
    }

    /// The IL that the instruction at an offset in a piece of code was compiled from; `None` where that was not recorded, or where there is none.
    #[must_use]
    pub fn il_offset(&self, method: Method, offset: u64) -> Option<u32> {
        let offset = u32::try_from(offset.checked_add(u64::from(method.native_offset))?).ok()?;
        self.il_maps.find(method.il_map?, offset)
    }

    fn slice(&self, (start, len): Text) -> &str {
        let start = start as usize;
        self.text.get(start..start + len as usize).unwrap_or_default()
    }
}
