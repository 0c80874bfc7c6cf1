//! Methods of managed code: JIT-compiled, or precompiled and named by rundown.

use rustc_hash::FxHashMap;

use crate::address_map::{AddressMap, Mapping};
use crate::ids::ProcessId;
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
    /// How it became known.
    pub edge: MethodEdge,
    /// First address of the code.
    pub start: u64,
    /// Bytes of code.
    pub size: u32,
    /// The runtime's number of the module.
    pub module: u64,
    /// `Namespace.Type.Method`.
    pub function: &'a str,
    /// Signature as recorded.
    pub arguments: &'a str,
}

/// A method in the frozen table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    function: (u32, u32),
    arguments: (u32, u32),
    module: u64,
    /// Named by rundown rather than seen when it was compiled.
    pub rundown: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    pid: u32,
    mapping: Mapping<Method>,
}

/// Collects method records. Fed in time order.
#[derive(Debug, Default)]
pub struct MethodsBuilder {
    entries: Vec<Entry>,
    /// Index of the living entry by pid and start address.
    open: FxHashMap<(u32, u64), usize>,
    text: String,
    interned: FxHashMap<String, (u32, u32)>,
    modules: FxHashMap<(u32, u64), String>,
}

/// All methods of a recording.
#[derive(Debug)]
pub struct Methods {
    text: String,
    addresses: AddressMap<ProcessId, Method>,
    modules: FxHashMap<(ProcessId, u64), String>,
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
        let slot = (record.pid, record.start);
        let alive = self.open.get(&slot).copied();
        if record.edge == MethodEdge::Unload
            && let Some(index) = alive
        {
            self.entries[index].mapping.until = record.ticks;
            self.open.remove(&slot);
            return true;
        }
        let (Some(function), Some(arguments)) = (self.intern(record.function), self.intern(record.arguments)) else {
            return false;
        };
        let end = record.start.saturating_add(u64::from(record.size));
        let rundown = record.edge == MethodEdge::Rundown;
        let what = Method { function, arguments, module: record.module, rundown };
        if let Some(index) = alive {
            let mapping = &mut self.entries[index].mapping;
            if rundown || mapping.what.function == function {
                mapping.end = mapping.end.max(end);
                return true;
            }
            // The code heap was reused without an unload record.
            mapping.until = record.ticks;
        }
        let from = if record.edge == MethodEdge::Load { record.ticks } else { i64::MIN };
        let until = if record.edge == MethodEdge::Unload { record.ticks } else { i64::MAX };
        if until == i64::MAX {
            self.open.insert(slot, self.entries.len());
        }
        self.entries.push(Entry { pid: record.pid, mapping: Mapping { start: record.start, end, from, until, what } });
        true
    }

    /// The runtime's number of a module and its file name.
    pub fn module(&mut self, pid: u32, module: u64, name: &str) {
        if !name.is_empty() {
            self.modules.entry((pid, module)).or_insert_with(|| name.to_owned());
        }
    }

    fn intern(&mut self, text: &str) -> Option<(u32, u32)> {
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

    /// Freezes the table; pids become processes.
    #[must_use]
    pub fn freeze(self, population: &mut Population) -> Methods {
        let mappings: Vec<_> = self
            .entries
            .into_iter()
            .map(|entry| {
                let at = if entry.mapping.from == i64::MIN { entry.mapping.until } else { entry.mapping.from };
                (population.process_at(entry.pid, at), entry.mapping)
            })
            .collect();
        let modules = self
            .modules
            .into_iter()
            .map(|((pid, module), name)| ((population.process_at(pid, i64::MAX), module), name))
            .collect();
        Methods { text: self.text, addresses: AddressMap::new(mappings), modules }
    }
}

impl Methods {
    /// The method at an address.
    #[must_use]
    pub fn find(&self, process: ProcessId, address: u64, ticks: i64) -> Option<Method> {
        self.addresses.find(process, address, ticks).map(|mapping| mapping.what)
    }

    /// See [`AddressMap::epoch`].
    #[must_use]
    pub fn epoch(&self, process: ProcessId, ticks: i64) -> u32 {
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
    pub fn module(&self, process: ProcessId, method: Method) -> Option<&str> {
        self.modules.get(&(process, method.module)).map(String::as_str)
    }

    fn slice(&self, (start, len): (u32, u32)) -> &str {
        let start = start as usize;
        self.text.get(start..start + len as usize).unwrap_or_default()
    }
}
