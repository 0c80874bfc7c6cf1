//! Methods of managed code: JIT-compiled, or precompiled and named by rundown.

use rustc_hash::FxHashMap;

use crate::address_map::{AddressMap, Epoch, Mapping};
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

/// A record with its names interned. What it means depends on the process, which is known when lifetimes are.
#[derive(Clone, Copy, Debug)]
struct Noted {
    ticks: i64,
    pid: u32,
    edge: MethodEdge,
    start: u64,
    size: u32,
    method: Method,
}

/// Collects method records. Fed in time order.
#[derive(Debug, Default)]
pub struct MethodsBuilder {
    records: Vec<Noted>,
    text: String,
    interned: FxHashMap<String, (u32, u32)>,
    /// Time, pid, the runtime's number and the file name of modules.
    modules: Vec<(i64, u32, u64, (u32, u32))>,
}

/// All methods of a recording.
#[derive(Debug)]
pub struct Methods {
    text: String,
    addresses: AddressMap<ProcessId, Method>,
    modules: FxHashMap<(ProcessId, u64), (u32, u32)>,
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
        let method = Method { function, arguments, module: record.module, rundown: record.edge == MethodEdge::Rundown };
        let MethodRecord { ticks, pid, edge, start, size, .. } = *record;
        self.records.push(Noted { ticks, pid, edge, start, size, method });
        true
    }

    /// The runtime's number of a module and its file name, told at `ticks`.
    pub fn module(&mut self, ticks: i64, pid: u32, module: u64, name: &str) {
        if name.is_empty() {
            return;
        }
        if let Some(name) = self.intern(name) {
            self.modules.push((ticks, pid, module, name));
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
        let mut mappings: Vec<(ProcessId, Mapping<Method>)> = Vec::new();
        // The living method at a start address.
        let mut open: FxHashMap<(ProcessId, u64), usize> = FxHashMap::default();
        for record in self.records {
            let process = population.process_at(record.pid, record.ticks);
            let slot = (process, record.start);
            let alive = open.get(&slot).copied();
            let end = record.start.saturating_add(u64::from(record.size));
            let unloads = record.edge == MethodEdge::Unload;
            if let Some(index) = alive {
                let mapping = &mut mappings[index].1;
                let same = mapping.what.function == record.method.function;
                if unloads {
                    mapping.until = record.ticks;
                    open.remove(&slot);
                    continue;
                }
                if same || record.edge == MethodEdge::Rundown {
                    mapping.end = mapping.end.max(end);
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
            mappings.push((process, Mapping { start: record.start, end, from, until, what: record.method }));
        }
        let mut modules = FxHashMap::default();
        for (ticks, pid, module, name) in self.modules {
            modules.entry((population.process_at(pid, ticks), module)).or_insert(name);
        }
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
    pub fn module(&self, process: ProcessId, method: Method) -> Option<&str> {
        self.modules.get(&(process, method.module)).map(|name| self.slice(*name))
    }

    fn slice(&self, (start, len): (u32, u32)) -> &str {
        let start = start as usize;
        self.text.get(start..start + len as usize).unwrap_or_default()
    }
}
