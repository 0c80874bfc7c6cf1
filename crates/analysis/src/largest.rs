//! The largest methods of each process as rows of the table `method_summary`. Rows are made one at
//! a time, since a recording with thousands of processes has hundreds of thousands of them, each
//! with two names.

use std::cmp::Reverse;
use std::panic::resume_unwind;
use std::thread;

use tracesift_trace::ProcessId;
use tracesift_trace::rows::MethodSummaryRow;

use crate::RecordingFacts;
use crate::method_slots::OwnedSlots;
use crate::method_total::MethodCount;
use crate::names::{MethodId, MethodName};
use crate::top_methods;

/// Table `method_summary`: by process, in it the largest inclusive CPU first, then wait, then the name.
#[derive(Debug)]
pub struct LargestMethods {
    recording: RecordingFacts,
    /// Each with processes of its own.
    parts: Vec<Part>,
    names: RankedNames,
}

#[derive(Debug)]
struct Part {
    slots: OwnedSlots,
    /// The slots that are kept, by process, in each in the order of the rows.
    order: Vec<u32>,
}

impl LargestMethods {
    /// Keeps per process the methods that are among the `per_process` largest by inclusive CPU,
    /// exclusive CPU, wait or ready. Of equal methods the first by name is kept; a measure of 0
    /// keeps no method. Returns the number of methods before and after, too.
    pub(crate) fn of(
        parts: Vec<OwnedSlots>,
        recording: RecordingFacts,
        per_process: usize,
        name: impl FnMut(MethodId) -> MethodName,
    ) -> (Self, Vec<MethodCount>) {
        let names = RankedNames::of(parts.iter().flat_map(|part| part.slots.methods()), name);
        let cut = |slots| Part::of(slots, &recording, per_process, &names);
        let parts: Vec<(Part, Vec<MethodCount>)> = thread::scope(|scope| {
            let parts: Vec<_> = parts.into_iter().map(|slots| scope.spawn(|| cut(slots))).collect();
            parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let (parts, counts): (Vec<Part>, Vec<_>) = parts.into_iter().unzip();
        (Self { recording, parts, names }, counts.concat())
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.order.len()).sum()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.order.is_empty())
    }

    /// Shows each row in turn. Their names share memory: `visit` clones what it keeps.
    pub fn for_each(&self, mut visit: impl FnMut(&MethodSummaryRow)) {
        let mut name = MethodName { module: None, function: String::new() };
        let mut processes: Vec<_> = self.parts.iter().flat_map(Part::processes).collect();
        processes.sort_unstable_by_key(|(process, ..)| *process);
        for (_, slots, methods) in processes {
            for &slot in methods {
                let total = slots.total(slot);
                if let Some(MethodName { module, function }) = self.names.name(total.method) {
                    name.module.clone_from(module);
                    name.function.clone_from(function);
                }
                let row = total.row(total.owner, &self.recording, name);
                visit(&row);
                name = MethodName { module: row.module, function: row.function };
            }
        }
    }

    /// All rows at once.
    #[must_use]
    pub fn rows(&self) -> Vec<MethodSummaryRow> {
        let mut rows = Vec::with_capacity(self.len());
        self.for_each(|row| rows.push(row.clone()));
        rows
    }
}

impl Part {
    fn of(
        owned: OwnedSlots,
        recording: &RecordingFacts,
        per_process: usize,
        names: &RankedNames,
    ) -> (Self, Vec<MethodCount>) {
        let mut order = owned.in_order();
        let slots = &owned.slots;
        let process = |slot| owned.owner_of(slot);
        let rank = |slot| names.rank(slots.method_of(slot));
        let measures: [&dyn Fn(u32) -> i64; 4] =
            [&|slot| slots.sums(slot).cpu, &|slot| slots.exclusive(slot), &|slot| slots.wait_union(slot), &|slot| {
                slots.ready_union(slot)
            }];
        let counts = top_methods::keep_largest(&mut order, process, &measures, per_process, rank);
        let wait = |slot| if recording.has_switches { slots.wait_union(slot) } else { 0 };
        let mut placed = Vec::new();
        for methods in order.chunk_by_mut(|&a, &b| process(a) == process(b)) {
            placed.clear();
            placed.extend(methods.iter().map(|&slot| (Reverse((slots.sums(slot).cpu, wait(slot))), rank(slot), slot)));
            placed.sort_unstable();
            for (method, &(.., slot)) in methods.iter_mut().zip(&placed) {
                *method = slot;
            }
        }
        (Self { slots: owned, order }, counts)
    }

    /// The slots of each process that are kept.
    fn processes(&self) -> impl Iterator<Item = (ProcessId, &OwnedSlots, &[u32])> {
        let process = |slot| self.slots.owner_of(slot);
        let groups = self.order.chunk_by(move |&a, &b| process(a) == process(b));
        groups.map(move |group| (process(group[0]), &self.slots, group))
    }
}

/// The names of methods, each made once however many processes have it, and their order.
#[derive(Debug)]
struct RankedNames {
    /// By method.
    ranks: Vec<u32>,
    /// By rank.
    names: Vec<MethodName>,
}

impl RankedNames {
    fn of(methods: impl Iterator<Item = MethodId>, mut name: impl FnMut(MethodId) -> MethodName) -> Self {
        let mut seen: Vec<bool> = Vec::new();
        for MethodId(method) in methods {
            if seen.len() <= method as usize {
                seen.resize(method as usize + 1, false);
            }
            seen[method as usize] = true;
        }
        let seen_methods = (0..).map(MethodId).zip(&seen).filter(|(_, seen)| **seen);
        // Of two methods with the same name the lower number comes first.
        let mut named: Vec<(MethodName, MethodId)> = seen_methods.map(|(method, _)| (name(method), method)).collect();
        named.sort_unstable();
        let mut ranks = vec![u32::MAX; seen.len()];
        for (rank, (_, method)) in (0..).zip(&named) {
            ranks[method.0 as usize] = rank;
        }
        Self { ranks, names: named.into_iter().map(|(name, _)| name).collect() }
    }

    fn rank(&self, method: MethodId) -> u32 {
        self.ranks.get(method.0 as usize).copied().unwrap_or(u32::MAX)
    }

    fn name(&self, method: MethodId) -> Option<&MethodName> {
        self.names.get(self.rank(method) as usize)
    }
}
