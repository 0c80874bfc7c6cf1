//! Mapping records on their way, packed: a dozen bytes each, since neighbours are of the same process and at nearly the same time,
//! and most of them map a part of a file that others have mapped, too.

use rustc_hash::FxHashMap;

use crate::varint::{self, Reader};

/// A mapping record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MapFact {
    /// Raw time; `None`: it was there when the recording began.
    pub(crate) ticks: Option<i64>,
    /// The process; `None` for the kernel.
    pub(crate) pid: Option<u32>,
    pub(crate) start: u64,
    /// Never below the start.
    pub(crate) end: u64,
    /// Offset in the file of the first byte.
    pub(crate) offset: u64,
    /// Number of the file; `None` for memory without one.
    pub(crate) file: Option<u32>,
}

/// What changes the mappings of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    Map(MapFact),
    Fork { ticks: i64, child: u32, parent: u32 },
    Exec { ticks: i64, pid: u32 },
}

/// What is mapped, wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Part {
    size: u64,
    offset: u64,
    file: Option<u32>,
}

/// Kinds of facts, in the low bits of their first byte.
const MAP: u8 = 0;
const FORK: u8 = 1;
const EXEC: u8 = 2;
const KIND: u8 = 3;
/// Further bits of a mapping.
const TIMED: u8 = 4;
const KERNEL: u8 = 8;

/// Facts in their order.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    packed: Vec<u8>,
    parts: Vec<Part>,
    numbers: FxHashMap<Part, u32>,
    before: Before,
}

/// What the next fact is told from.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    ticks: u64,
    pid: u64,
    start: u64,
}

impl Facts {
    pub(crate) fn map(&mut self, fact: &MapFact) {
        let MapFact { ticks, pid, start, end, offset, file } = *fact;
        let part = Part { size: end.saturating_sub(start), offset, file };
        let next = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(part).or_insert(next);
        if number == next {
            self.parts.push(part);
        }
        let bit = |bit: u8, is_set: bool| if is_set { bit } else { 0 };
        self.packed.push(MAP | bit(TIMED, ticks.is_some()) | bit(KERNEL, pid.is_none()));
        if let Some(ticks) = ticks {
            self.ticks(ticks);
        }
        if let Some(pid) = pid {
            self.pid(pid);
        }
        varint::put_step(&mut self.packed, self.before.start, start);
        varint::put(&mut self.packed, number.into());
        self.before.start = start;
    }

    pub(crate) fn fork(&mut self, ticks: i64, child: u32, parent: u32) {
        self.packed.push(FORK);
        self.ticks(ticks);
        self.pid(parent);
        self.pid(child);
    }

    pub(crate) fn exec(&mut self, ticks: i64, pid: u32) {
        self.packed.push(EXEC);
        self.ticks(ticks);
        self.pid(pid);
    }

    fn ticks(&mut self, ticks: i64) {
        let ticks = ticks.cast_unsigned();
        varint::put_step(&mut self.packed, self.before.ticks, ticks);
        self.before.ticks = ticks;
    }

    fn pid(&mut self, pid: u32) {
        varint::put_step(&mut self.packed, self.before.pid, pid.into());
        self.before.pid = pid.into();
    }

    /// All of them, in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Fact> {
        let mut reader = Reader::new(&self.packed, 0);
        let mut before = Before::default();
        std::iter::from_fn(move || {
            let bits = reader.byte()?;
            let mut ticks = || {
                before.ticks = reader.next_step(before.ticks);
                before.ticks.cast_signed()
            };
            let ticks = (bits & KIND != MAP || bits & TIMED != 0).then(&mut ticks);
            let mut pid = || {
                before.pid = reader.next_step(before.pid);
                before.pid as u32
            };
            Some(match (bits & KIND, ticks) {
                (FORK, Some(ticks)) => {
                    let parent = pid();
                    Fact::Fork { ticks, child: pid(), parent }
                }
                (EXEC, Some(ticks)) => Fact::Exec { ticks, pid: pid() },
                (_, ticks) => {
                    let pid = (bits & KERNEL == 0).then(pid);
                    let start = reader.next_step(before.start);
                    before.start = start;
                    let Part { size, offset, file } = *self.parts.get(reader.next() as usize)?;
                    Fact::Map(MapFact { ticks, pid, start, end: start.wrapping_add(size), offset, file })
                }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Fact, Facts, MapFact};

    fn fact() -> impl Strategy<Value = Fact> {
        let map =
            (any::<Option<i64>>(), any::<Option<u32>>(), any::<(u64, u64)>(), 0_u64..3, prop::option::of(0_u32..3));
        prop_oneof![
            map.prop_map(|(ticks, pid, (a, b), offset, file)| {
                Fact::Map(MapFact { ticks, pid, start: a.min(b), end: a.max(b), offset, file })
            }),
            any::<(i64, u32, u32)>().prop_map(|(ticks, child, parent)| Fact::Fork { ticks, child, parent }),
            any::<(i64, u32)>().prop_map(|(ticks, pid)| Fact::Exec { ticks, pid }),
        ]
    }

    proptest! {
        #[test]
        fn come_back_as_they_were(all in prop::collection::vec(fact(), 0..50)) {
            let mut facts = Facts::default();
            for fact in &all {
                match fact {
                    Fact::Map(fact) => facts.map(fact),
                    Fact::Fork { ticks, child, parent } => facts.fork(*ticks, *child, *parent),
                    Fact::Exec { ticks, pid } => facts.exec(*ticks, *pid),
                }
            }
            prop_assert_eq!(facts.iter().collect::<Vec<_>>(), all);
        }
    }
}
