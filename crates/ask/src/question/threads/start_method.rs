//! The functions in which threads began.

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{FrameRow, ModuleRow, ProcessModuleRow, SymbolRow};
use tracesift_trace::{FrameId, ModuleId, ProcessId, view};

use super::columns::Row;

view! {
    /// The place of a frame in its module.
    #[derive(Clone, Copy, Debug)]
    struct PlaceOfFrame of FrameRow { frame, module, rva }
}

view! {
    /// The function of a frame.
    #[derive(Clone, Debug)]
    struct FunctionOfFrame of SymbolRow { frame, module, function }
}

/// Names of start addresses.
#[derive(Debug, Default)]
pub(super) struct StartMethods(FxHashMap<(ProcessId, i64), String>);

impl StartMethods {
    /// Finds the modules of the rows' start addresses, and the names of those addresses that are on a stack, too.
    pub(super) fn of(archive: &Archive, rows: &[Row]) -> Result<Self, Error> {
        let mut places: FxHashMap<(ProcessId, i64), (ModuleId, i64)> = FxHashMap::default();
        let wanted: Vec<(ProcessId, i64)> = rows
            .iter()
            .filter_map(|row| Some((row.thread.process, row.thread.start_address.filter(|address| *address != 0)?)))
            .collect();
        if wanted.is_empty() {
            return Ok(Self::default());
        }
        let loads: Vec<ProcessModuleRow> = archive.rows()?;
        let mut by_process: FxHashMap<ProcessId, Vec<&ProcessModuleRow>> = FxHashMap::default();
        for load in &loads {
            by_process.entry(load.process).or_default().push(load);
        }
        let inside = |load: &ProcessModuleRow, address: i64| {
            address.checked_sub(load.base).filter(|rva| (0..load.size).contains(rva))
        };
        for (process, address) in wanted {
            let own = by_process.get(&process).into_iter().flatten().copied();
            // Threads of the kernel start in modules that are mapped in one process only.
            let found = own.chain(&loads).find_map(|load| Some((load.module, inside(load, address)?)));
            places.extend(found.map(|place| ((process, address), place)));
        }
        let modules: FxHashMap<ModuleId, String> =
            archive.rows::<ModuleRow>()?.into_iter().map(|row| (row.module, row.name)).collect();
        let mut frames: FxHashMap<FrameId, (ModuleId, i64)> = FxHashMap::default();
        let wanted: rustc_hash::FxHashSet<(ModuleId, i64)> = places.values().copied().collect();
        archive.scan(None, |row: &PlaceOfFrame| {
            if let (Some(module), Some(rva)) = (row.module, row.rva)
                && wanted.contains(&(module, rva))
            {
                frames.insert(row.frame, (module, rva));
            }
        })?;
        let mut functions: FxHashMap<(ModuleId, i64), String> = FxHashMap::default();
        archive.scan(None, |row: &FunctionOfFrame| {
            // The function itself stands last, behind what was inlined into it.
            if let Some(place) = frames.get(&row.frame) {
                let module = row.module.as_deref().unwrap_or_default();
                functions.insert(*place, format!("{module}!{}", row.function));
            }
        })?;
        let name = |(module, rva): (ModuleId, i64)| {
            let module_name = modules.get(&module).map_or("", String::as_str);
            functions.get(&(module, rva)).cloned().unwrap_or_else(|| format!("{module_name}!{module_name}+{rva:#x}"))
        };
        Ok(Self(places.into_iter().map(|(key, place)| (key, name(place))).collect()))
    }

    pub(super) fn name(&self, row: &Row) -> Option<String> {
        self.0.get(&(row.thread.process, row.thread.start_address?)).cloned()
    }
}
