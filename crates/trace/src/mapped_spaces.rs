//! What was mapped in each address space, packed: a build server starts hundreds of thousands of processes with dozens of files each,
//! and few of them are looked at at a time. A space is unpacked when somebody asks for it.

use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::address_map::{Epoch, Mapping, Space};
use crate::ids::{ModuleId, ProcessId};
use crate::modules::{AddressSpace, Mapped};
use crate::varint::{self, Reader};

/// Copies of copies that are followed; a forged recording must not make it endless.
const MAX_GENERATIONS: usize = 32;

/// Mappings that a space is looked at for to see whether memory without a file hides one of them. Processes have some hundreds;
/// a forged recording must not make it quadratic.
const MAX_LOOKED_AT: usize = 4096;

/// Mappings of a space that is cheap to unpack again. Others stay unpacked.
const FEW: usize = 256;
/// Mappings in unpacked spaces with few of them, about 20 MiB. Of processes that live at the same time hardly any machine has more.
const MAX_UNPACKED: usize = 1 << 18;

/// Bits of the first byte of a mapping.
const TIMED: u8 = 1;
const ENDS: u8 = 2;
const NAMED: u8 = 4;

/// The mappings that a process has from its creator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inherited {
    /// The creator.
    from: ProcessId,
    /// Raw time at which it was copied.
    at: i64,
}

/// Mappings by address space, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct MappedSpaces {
    packed: Vec<u8>,
    last: FxHashMap<AddressSpace, Last>,
    inherited: FxHashMap<ProcessId, Inherited>,
    unpacked: Mutex<Unpacked>,
}

/// The last mapping of a space. The others are found from it, each tells how far the one before is away.
#[derive(Clone, Copy, Debug)]
struct Last {
    place: usize,
    start: u64,
    from: i64,
}

#[derive(Debug, Default)]
struct Unpacked {
    spaces: FxHashMap<AddressSpace, Space<Mapped>>,
    /// Mappings in those spaces that have few.
    few: usize,
}

impl MappedSpaces {
    /// Adds a mapping to a space.
    pub(crate) fn add(&mut self, space: AddressSpace, mapping: &Mapping<Mapped>) {
        let Mapping { start, end, from, until, what: Mapped { module, offset } } = *mapping;
        if start >= end {
            return;
        }
        let place = self.packed.len();
        let before = self.last.insert(space, Last { place, start, from });
        let (distance, start_before, from_before) = before.map_or((0, 0, 0), |last| {
            (place - last.place, last.start, if last.from == i64::MIN { 0 } else { last.from })
        });
        let bit = |bit: u8, is_set: bool| if is_set { bit } else { 0 };
        let (timed, ends) = (from != i64::MIN, until != i64::MAX);
        let packed = &mut self.packed;
        packed.push(bit(TIMED, timed) | bit(ENDS, ends) | bit(NAMED, module.is_some()));
        varint::put(packed, distance as u64);
        varint::put_step(packed, start_before, start);
        varint::put(packed, end - start);
        if timed {
            varint::put_step(packed, from_before.cast_unsigned(), from.cast_unsigned());
        }
        if ends {
            varint::put_step(packed, from.cast_unsigned(), until.cast_unsigned());
        }
        if let Some(module) = module {
            varint::put(packed, u64::from(module.0.cast_unsigned()));
        }
        varint::put(packed, offset);
    }

    /// A process begins as a copy of another.
    pub(crate) fn inherit(&mut self, child: ProcessId, from: ProcessId, at: i64) {
        self.inherited.entry(child).or_insert(Inherited { from, at });
    }

    /// Gives back memory that was meant for more mappings.
    pub(crate) fn shrink(&mut self) {
        self.packed.shrink_to_fit();
        self.last.shrink_to_fit();
        self.inherited.shrink_to_fit();
    }

    /// The module at an address, and the offset in it.
    pub(crate) fn find(&self, mut space: AddressSpace, address: u64, mut ticks: i64) -> Option<(ModuleId, u64)> {
        for _ in 0..MAX_GENERATIONS {
            if let Some(mapping) = self.with(space, |space| space.find(address, ticks)).flatten() {
                let Mapped { module, offset } = mapping.what;
                return Some((module?, (address - mapping.start).wrapping_add(offset)));
            }
            let AddressSpace::Process(process) = space else { return None };
            let inherited = self.inherited.get(&process)?;
            (space, ticks) = (AddressSpace::Process(inherited.from), inherited.at);
        }
        None
    }

    /// The time between two changes of the space that `ticks` lies in.
    pub(crate) fn epoch(&self, space: AddressSpace, ticks: i64) -> Epoch {
        self.with(space, |space| space.epoch(ticks)).unwrap_or(Epoch::WHOLE)
    }

    /// Asks a space; `None` where it has nothing.
    fn with<Answer>(&self, space: AddressSpace, ask: impl FnOnce(&Space<Mapped>) -> Answer) -> Option<Answer> {
        // What it holds is whole at any time.
        let unpacked = &mut *self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = unpacked.spaces.get(&space) {
            return Some(ask(known));
        }
        let last = *self.last.get(&space)?;
        let mappings = self.unpack(space, last);
        let count = mappings.len();
        if count <= FEW {
            unpacked.few += count;
            if unpacked.few > MAX_UNPACKED {
                unpacked.few = count;
                unpacked.spaces.retain(|_, space| space.len() > FEW);
            }
        }
        match unpacked.spaces.entry(space) {
            Entry::Occupied(entry) => Some(ask(entry.get())),
            Entry::Vacant(place) => Some(ask(place.insert(Space::new(mappings)))),
        }
    }

    /// The mappings of a space in their order, but for memory without a file that hides nothing.
    fn unpack(&self, space: AddressSpace, last: Last) -> Vec<Mapping<Mapped>> {
        let mut places = vec![last.place];
        let mut place = last.place;
        loop {
            let distance = Reader::new(&self.packed, place + 1).next() as usize;
            if distance == 0 {
                break;
            }
            place -= distance;
            places.push(place);
        }
        let has_creator = matches!(space, AddressSpace::Process(process) if self.inherited.contains_key(&process));
        let mut mappings: Vec<Mapping<Mapped>> = Vec::with_capacity(places.len());
        let (mut start, mut time) = (0, 0);
        for place in places.into_iter().rev() {
            let bits = self.packed.get(place).copied().unwrap_or(0);
            let mut reader = Reader::new(&self.packed, place + 1);
            let _distance = reader.next();
            start = reader.next_step(start);
            let end = start.wrapping_add(reader.next());
            let from = if bits & TIMED == 0 { i64::MIN } else { reader.next_step(time).cast_signed() };
            time = if bits & TIMED == 0 { 0 } else { from.cast_unsigned() };
            let until = if bits & ENDS == 0 { i64::MAX } else { reader.next_step(from.cast_unsigned()).cast_signed() };
            let module = (bits & NAMED != 0).then(|| ModuleId::from_index(reader.next() as usize));
            let what = Mapped { module, offset: reader.next() };
            let hides = |other: &Mapping<Mapped>| other.what.module.is_some() && other.start < end && start < other.end;
            if module.is_some() || has_creator || mappings.len() > MAX_LOOKED_AT || mappings.iter().any(hides) {
                mappings.push(Mapping { start, end, from, until, what });
            }
        }
        mappings
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MAX_UNPACKED, MappedSpaces};
    use crate::address_map::{AddressMap, Mapping};
    use crate::ids::{ModuleId, ProcessId};
    use crate::modules::{AddressSpace, Mapped};

    fn mapping() -> impl Strategy<Value = (i32, Mapping<Mapped>)> {
        let from = prop_oneof![Just(i64::MIN), 0_i64..100, Just(i64::MAX / 2)];
        let until = prop_oneof![Just(i64::MAX), 0_i64..100];
        let start = prop_oneof![0_u64..50, Just(u64::MAX - 20)];
        (0..3, start, 0_u64..20, from, until, 0..4_i32, 0_u64..10).prop_map(
            |(process, start, size, from, until, module, offset)| {
                let what = Mapped { module: Some(ModuleId(module)), offset };
                (process, Mapping { start, end: start.saturating_add(size), from, until, what })
            },
        )
    }

    proptest! {
        #[test]
        fn answers_as_what_is_not_packed(mappings in prop::collection::vec(mapping(), 0..40)) {
            let space = |process: i32| AddressSpace::Process(ProcessId(process));
            let mut spaces = MappedSpaces::default();
            mappings.iter().for_each(|(process, mapping)| spaces.add(space(*process), mapping));
            let plain = AddressMap::new(mappings.iter().map(|(process, mapping)| (space(*process), *mapping)));
            for process in 0..4 {
                for ticks in [i64::MIN, 0, 10, 50, 99, i64::MAX / 2, i64::MAX] {
                    for address in (0..70).chain(u64::MAX - 20..=u64::MAX) {
                        let found = plain.find(space(process), address, ticks).map(|mapping| {
                            (mapping.what.module.expect("named"), address - mapping.start + mapping.what.offset)
                        });
                        prop_assert_eq!(spaces.find(space(process), address, ticks), found);
                    }
                    prop_assert_eq!(spaces.epoch(space(process), ticks), plain.epoch(space(process), ticks));
                }
            }
        }
    }

    #[test]
    fn few_spaces_are_unpacked_at_a_time() {
        let mut spaces = MappedSpaces::default();
        let count = i32::try_from(MAX_UNPACKED / 2).expect("small");
        let large = AddressSpace::Process(ProcessId(count));
        let at = |start: u64| {
            let what = Mapped { module: Some(ModuleId(7)), offset: 0 };
            Mapping { start, end: start + 10, from: i64::MIN, until: i64::MAX, what }
        };
        for process in 0..count {
            let start = 1000 * u64::from(process.cast_unsigned());
            (0..5).for_each(|index| spaces.add(AddressSpace::Process(ProcessId(process)), &at(start + 100 * index)));
        }
        (0..1000).for_each(|index| spaces.add(large, &at(100 * index)));
        for round in 0..2 {
            for process in 0..count {
                let (space, start) =
                    (AddressSpace::Process(ProcessId(process)), 1000 * u64::from(process.cast_unsigned()));
                assert_eq!(spaces.find(space, start + 105, 0), Some((ModuleId(7), 5)), "{process} in round {round}");
                assert_eq!(spaces.find(space, start + 50, 0), None);
            }
            assert_eq!(spaces.find(large, 99_904, 0), Some((ModuleId(7), 4)));
            let unpacked = spaces.unpacked.lock().expect("nobody has panicked");
            assert!(unpacked.few <= MAX_UNPACKED && unpacked.spaces.contains_key(&large));
        }
    }
}
