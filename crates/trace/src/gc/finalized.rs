//! Objects whose finalizers ran, by process and type.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::At;
use crate::ids::ProcessId;
use crate::rows::GcFinalizedRow;

/// Types that are counted at most, and names that are kept at most. Objects of further types count without a name.
const MOST: usize = 1 << 18;

/// A type of a runtime, by its address.
type Type = (ProcessId, i16, u64);

/// Objects that were finalized.
#[derive(Debug, Default)]
pub struct Finalized {
    /// Names of types that events tell of, whether objects of them are finalized or not.
    names: FxHashMap<Type, Box<str>>,
    /// By the address of the type.
    by_type: FxHashMap<Type, Counted>,
    /// By names, of events that have names.
    by_name: FxHashMap<(ProcessId, Box<str>), Counted>,
    /// Of types beyond the limit, by process.
    rest: FxHashMap<ProcessId, Counted>,
}

#[derive(Clone, Copy, Debug)]
struct Counted {
    count: i64,
    first: i64,
    last: i64,
}

impl Counted {
    fn one(time: i64) -> Self {
        Self { count: 1, first: time, last: time }
    }

    fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// Counts an object, of a key of its own as long as there is room.
fn count<K: Eq + std::hash::Hash>(
    counts: &mut FxHashMap<K, Counted>,
    key: K,
    rest: &mut FxHashMap<ProcessId, Counted>,
    at: At,
) {
    let one = Counted::one(at.time);
    if counts.len() < MOST || counts.contains_key(&key) {
        counts.entry(key).and_modify(|counted| counted.add(one)).or_insert(one);
    } else {
        rest.entry(at.process).and_modify(|counted| counted.add(one)).or_insert(one);
    }
}

impl Finalized {
    /// The finalizer of an object of a type ran.
    pub fn object(&mut self, at: At, type_id: u64) {
        count(&mut self.by_type, (at.process, at.runtime, type_id), &mut self.rest, at);
    }

    /// The finalizer of an object of a type of this name ran.
    pub fn object_of(&mut self, at: At, type_name: String) {
        count(&mut self.by_name, (at.process, type_name.into()), &mut self.rest, at);
    }

    /// A type has a name.
    pub fn name(&mut self, at: At, type_id: u64, name: impl FnOnce() -> String) {
        let key = (at.process, at.runtime, type_id);
        if self.names.len() < MOST && !self.names.contains_key(&key) {
            self.names.insert(key, name().into());
        }
    }

    /// The rows, by process and name.
    pub fn finish(&mut self) -> impl Iterator<Item = GcFinalizedRow> + use<> {
        let mut rows: BTreeMap<(ProcessId, Option<Box<str>>), Counted> = BTreeMap::new();
        let mut add = |process, name, counted| {
            rows.entry((process, name)).and_modify(|all: &mut Counted| all.add(counted)).or_insert(counted);
        };
        for (key, counted) in self.by_type.drain() {
            add(key.0, self.names.get(&key).cloned(), counted);
        }
        self.by_name.drain().for_each(|((process, name), counted)| add(process, Some(name), counted));
        self.rest.drain().for_each(|(process, counted)| add(process, None, counted));
        rows.into_iter().map(|((process, name), counted)| GcFinalizedRow {
            process,
            type_name: name.map(String::from),
            count: counted.count,
            first: counted.first,
            last: counted.last,
        })
    }
}
