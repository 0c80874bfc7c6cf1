//! Images and where they were mapped, from load, unload and rundown records.

use rustc_hash::FxHashMap;

use crate::address_map::{Epoch, Mapping};
use crate::clock::Clock;
use crate::ids::{ModuleId, ProcessId};
use crate::mapped_spaces::MappedSpaces;
use crate::population::Population;
use crate::rows::{ModuleRow, ProcessModuleRow};

/// Which edge of a mapping's life a record reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageEdge {
    /// Mapped now.
    Load,
    /// Unmapped now.
    Unload,
    /// Mapped when the recording began.
    AliveAtStart,
    /// Mapped when the recording ended.
    AliveAtEnd,
}

/// Identity of a PDB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PdbIdentity {
    /// Name, with the path as recorded.
    pub name: String,
    /// GUID, lower case with dashes.
    pub guid: String,
    /// Age.
    pub age: u32,
}

/// The version resource of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionFacts {
    /// Original file name.
    pub original_file_name: String,
    /// File version text.
    pub file_version: String,
    /// Binary file version.
    pub binary_file_version: String,
    /// Product version text.
    pub product_version: String,
    /// Product name.
    pub product_name: String,
    /// Company.
    pub company: String,
    /// Description.
    pub description: String,
}

#[derive(Clone, Copy, Debug)]
struct ImageRecord {
    ticks: i64,
    pid: u32,
    edge: ImageEdge,
    base: u64,
    size: u64,
    checksum: u32,
    time_date_stamp: u32,
    path: u32,
}

/// Key that ties an identity record to its image record.
type Tie = (i64, u64, u32);

/// Collects image records and the identities that a merge tool wrote beside them. Fed in time order.
#[derive(Debug, Default)]
pub struct Images {
    records: Vec<ImageRecord>,
    paths: Vec<String>,
    path_ids: FxHashMap<String, u32>,
    native: FxHashMap<Tie, u32>,
    managed: FxHashMap<Tie, u32>,
    names: FxHashMap<Tie, (u32, u32)>,
    pdbs: Vec<PdbIdentity>,
    pdb_ids: FxHashMap<(String, u32), u32>,
    versions: FxHashMap<(String, u32, u64), VersionFacts>,
}

/// The space that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Kernel mode: the same in every process.
    Kernel,
    /// User mode of one process.
    Process(ProcessId),
}

/// What a mapping shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The module; `None` for memory without a file, which hides what lay there.
    pub module: Option<ModuleId>,
    /// Offset in the module of the first mapped byte.
    pub offset: u64,
}

/// What a record says of an image and where it lies.
#[derive(Clone, Copy, Debug)]
pub struct ImageMapping<'a> {
    /// Raw time.
    pub ticks: i64,
    /// The process; 0 for the kernel's images.
    pub pid: u32,
    /// Whether it comes or goes.
    pub edge: ImageEdge,
    /// Address of its first byte.
    pub base: u64,
    /// Bytes that it takes there.
    pub size: u64,
    /// Checksum in its header; 0 where the record has none.
    pub checksum: u32,
    /// Time stamp in its header; 0 where the record has none.
    pub time_date_stamp: u32,
    /// Path as recorded.
    pub path: &'a str,
}

/// All images of a recording.
#[derive(Debug)]
pub struct Modules {
    /// Table `modules`, by id.
    pub modules: Vec<ModuleRow>,
    pub(crate) spaces: MappedSpaces,
}

impl Modules {
    /// The module at an address, and the offset in it.
    #[must_use]
    pub fn find(&self, space: AddressSpace, address: u64, ticks: i64) -> Option<(ModuleId, u64)> {
        self.spaces.find(space, address, ticks)
    }

    /// A number that changes whenever a space changed before `ticks`: part of the key of caches.
    #[must_use]
    pub fn epoch(&self, space: AddressSpace, ticks: i64) -> Epoch {
        self.spaces.epoch(space, ticks)
    }
}

impl Images {
    /// Nothing known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An image record.
    pub fn image(&mut self, image: &ImageMapping<'_>) {
        let ImageMapping { ticks, pid, edge, base, size, checksum, time_date_stamp, path } = *image;
        let path = self.intern(path);
        self.records.push(ImageRecord { ticks, pid, edge, base, size, checksum, time_date_stamp, path });
    }

    /// The native PDB of the image at `base`, tied by the time of its image record.
    pub fn native_pdb(&mut self, ticks: i64, base: u64, pid: u32, pdb: PdbIdentity) {
        let pdb = self.intern_pdb(pdb);
        self.native.insert((ticks, base, pid), pdb);
    }

    /// The managed PDB of a precompiled image.
    pub fn managed_pdb(&mut self, ticks: i64, base: u64, pid: u32, pdb: PdbIdentity) {
        let pdb = self.intern_pdb(pdb);
        self.managed.insert((ticks, base, pid), pdb);
    }

    /// The original name and time stamp of the image at `base`: the key of its version resource.
    pub fn original_name(&mut self, ticks: i64, base: u64, pid: u32, name: &str, time_date_stamp: u32) {
        let name = self.intern(&name.to_lowercase());
        self.names.insert((ticks, base, pid), (name, time_date_stamp));
    }

    /// A version resource, written once per original name, time stamp and image size.
    pub fn version(&mut self, time_date_stamp: u32, size: u64, facts: VersionFacts) {
        let key = (facts.original_file_name.to_lowercase(), time_date_stamp, size);
        self.versions.entry(key).or_insert(facts);
    }

    /// The recorded paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    fn intern(&mut self, text: &str) -> u32 {
        if let Some(id) = self.path_ids.get(text) {
            return *id;
        }
        let id = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        self.paths.push(text.to_owned());
        self.path_ids.insert(text.to_owned(), id);
        id
    }

    fn intern_pdb(&mut self, pdb: PdbIdentity) -> u32 {
        let key = (pdb.guid.clone(), pdb.age);
        if let Some(id) = self.pdb_ids.get(&key) {
            return *id;
        }
        let id = u32::try_from(self.pdbs.len()).unwrap_or(u32::MAX);
        self.pdbs.push(pdb);
        self.pdb_ids.insert(key, id);
        id
    }

    /// Gives out ids and freezes the mappings. `display` turns a recorded path into the one that users know;
    /// `is_kernel` tells kernel addresses; `visit` gets the rows of table `process_modules`, by time of load.
    #[must_use]
    pub fn freeze(
        self,
        clock: Clock,
        population: &mut Population,
        display: impl Fn(&str) -> String,
        is_kernel: impl Fn(u64) -> bool,
        visit: impl FnMut(&ProcessModuleRow),
    ) -> Modules {
        let mut freezer = Freezer {
            ids: FxHashMap::default(),
            modules: Vec::new(),
            shown: self.paths.iter().map(|path| display(path)).collect(),
            open: FxHashMap::default(),
            mappings: Vec::new(),
        };
        for record in &self.records {
            let space = if is_kernel(record.base) {
                AddressSpace::Kernel
            } else {
                AddressSpace::Process(population.process_at(record.pid, record.ticks))
            };
            let module = freezer.module(&self, record);
            freezer.edge(space, module, record);
        }
        let kernel_process = if freezer.mappings.iter().any(|(space, _)| *space == AddressSpace::Kernel) {
            population.kernel_process()
        } else {
            ProcessId(0)
        };
        let mut process_modules: Vec<_> = freezer
            .mappings
            .iter()
            .filter_map(|(space, mapping)| Some((space, mapping, mapping.what.module?)))
            .map(|(space, mapping, module)| ProcessModuleRow {
                process: match space {
                    AddressSpace::Kernel => kernel_process,
                    AddressSpace::Process(process) => *process,
                },
                module,
                base: mapping.start.cast_signed(),
                size: mapping.end.wrapping_sub(mapping.start).cast_signed(),
                load: (mapping.from != i64::MIN).then(|| clock.ns(mapping.from)),
                unload: (mapping.until != i64::MAX).then(|| clock.ns(mapping.until)),
            })
            .collect();
        process_modules.sort_by_key(|row| (row.load, row.process, row.base));
        process_modules.iter().for_each(visit);
        let mut spaces = MappedSpaces::default();
        freezer.mappings.iter().for_each(|(space, mapping)| spaces.add(*space, mapping));
        Modules { modules: freezer.modules, spaces }
    }
}

/// What makes two records speak of the same image file.
type ModuleKey = (u32, u64, u32, Option<u32>);

struct Freezer {
    ids: FxHashMap<ModuleKey, ModuleId>,
    modules: Vec<ModuleRow>,
    shown: Vec<String>,
    /// Index of the mapping that is alive at a base.
    open: FxHashMap<(AddressSpace, u64), usize>,
    mappings: Vec<(AddressSpace, Mapping<Mapped>)>,
}

impl Freezer {
    fn module(&mut self, images: &Images, record: &ImageRecord) -> ModuleId {
        let tie = (record.ticks, record.base, record.pid);
        let native = images.native.get(&tie).copied();
        // The same file is one module, also where only some of its records carry an identity.
        let anonymous: ModuleKey = (record.path, record.size, record.time_date_stamp, None);
        let key = if native.is_some() { (record.path, record.size, record.time_date_stamp, native) } else { anonymous };
        let id = match self.ids.get(&key).or_else(|| self.ids.get(&anonymous)) {
            Some(id) if native.is_none() || self.accepts(*id, images, native) => *id,
            _ => {
                let id = ModuleId::from_index(self.modules.len());
                let path = self.shown[record.path as usize].clone();
                self.modules.push(ModuleRow {
                    module: id,
                    name: file_name(&path).to_owned(),
                    path,
                    size: record.size.cast_signed(),
                    time_date_stamp: (record.time_date_stamp != 0).then_some(i64::from(record.time_date_stamp)),
                    checksum: (record.checksum != 0).then_some(i64::from(record.checksum)),
                    ..ModuleRow::default()
                });
                self.ids.insert(key, id);
                self.ids.insert(anonymous, id);
                id
            }
        };
        self.ids.insert(key, id);
        self.identify(id, images, &tie, record.size);
        id
    }

    /// Whether a module without a PDB, or with this very PDB, can be the one of the record.
    fn accepts(&self, id: ModuleId, images: &Images, native: Option<u32>) -> bool {
        let Some(pdb) = native.map(|pdb| &images.pdbs[pdb as usize]) else { return true };
        let row = &self.modules[id.index()];
        row.pdb_guid.as_ref().is_none_or(|guid| *guid == pdb.guid && row.pdb_age == Some(pdb.age.cast_signed()))
    }

    fn identify(&mut self, id: ModuleId, images: &Images, tie: &Tie, size: u64) {
        let row = &mut self.modules[id.index()];
        if row.pdb_guid.is_none()
            && let Some(pdb) = images.native.get(tie).map(|pdb| &images.pdbs[*pdb as usize])
        {
            row.pdb_name = Some(pdb.name.clone());
            row.pdb_guid = Some(pdb.guid.clone());
            row.pdb_age = Some(pdb.age.cast_signed());
        }
        if row.managed_pdb_guid.is_none()
            && let Some(pdb) = images.managed.get(tie).map(|pdb| &images.pdbs[*pdb as usize])
        {
            row.managed_pdb_name = Some(pdb.name.clone());
            row.managed_pdb_guid = Some(pdb.guid.clone());
            row.managed_pdb_age = Some(pdb.age.cast_signed());
        }
        if row.original_file_name.is_none()
            && let Some((name, stamp)) = images.names.get(tie)
        {
            let name = &images.paths[*name as usize];
            row.original_file_name = Some(name.clone()).filter(|name| !name.is_empty());
            if let Some(facts) = images.versions.get(&(name.clone(), *stamp, size)) {
                let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
                row.original_file_name = some(&facts.original_file_name);
                row.file_version = some(&facts.file_version);
                row.binary_file_version = some(&facts.binary_file_version);
                row.product_version = some(&facts.product_version);
                row.product_name = some(&facts.product_name);
                row.company = some(&facts.company);
                row.description = some(&facts.description);
            }
        }
    }

    fn edge(&mut self, space: AddressSpace, module: ModuleId, record: &ImageRecord) {
        let slot = (space, record.base);
        let alive = self.open.get(&slot).copied();
        let end = record.base.saturating_add(record.size);
        match record.edge {
            ImageEdge::Load | ImageEdge::AliveAtStart | ImageEdge::AliveAtEnd => {
                if let Some(index) = alive {
                    let mapping = &mut self.mappings[index].1;
                    if mapping.what.module == Some(module) {
                        mapping.end = mapping.end.max(end);
                        return;
                    }
                    // Something else lies there now: the unload record is missing.
                    mapping.until = record.ticks;
                }
                let from = match record.edge {
                    ImageEdge::Load => record.ticks,
                    // Without a load record it was there from the start, or since the previous one at this base went.
                    _ => alive.map_or(i64::MIN, |_| record.ticks),
                };
                self.open.insert(slot, self.mappings.len());
                let what = Mapped { module: Some(module), offset: 0 };
                self.mappings.push((space, Mapping { start: record.base, end, from, until: i64::MAX, what }));
            }
            ImageEdge::Unload => {
                let index = match alive {
                    Some(index) => index,
                    None => {
                        let what = Mapped { module: Some(module), offset: 0 };
                        let mapping = Mapping { start: record.base, end, from: i64::MIN, until: i64::MAX, what };
                        self.mappings.push((space, mapping));
                        self.mappings.len() - 1
                    }
                };
                self.mappings[index].1.until = record.ticks;
                self.open.remove(&slot);
            }
        }
    }
}

/// The file name at the end of a path with either separator.
#[must_use]
pub fn file_name(path: &str) -> &str {
    path.rsplit(['\\', '/']).next().unwrap_or(path)
}
