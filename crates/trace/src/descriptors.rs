//! Descriptors of Linux processes: what a number stands for, from calls that make and close descriptors, from forks and from looks at
//! `/proc`.
//!
//! Fed in the order of time. `P` names a process, `L` is whatever its user keeps of a descriptor.

use std::collections::BTreeMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Numbers that are followed at most, of all processes. Beyond that new ones are not followed.
const MOST: usize = 4 << 20;

/// What a call does to the descriptors of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A number stands for something new.
    Made {
        /// The number.
        number: i32,
        /// Whether it goes when the process starts another program.
        close_on_exec: bool,
    },
    /// A number stands for the same as another one.
    Duplicated {
        /// The other one.
        from: i32,
        /// The number. What it stood for before is closed.
        to: i32,
        /// Whether it goes when the process starts another program.
        close_on_exec: bool,
    },
    /// A number that stood for something stands for nothing.
    Closed {
        /// The number.
        number: i32,
    },
    /// All numbers of a range stand for nothing, whatever they stood for.
    ClosedRange {
        /// The lowest one.
        first: i32,
        /// The highest one.
        last: i32,
    },
    /// Whether the numbers of a range go when the process starts another program.
    Marked {
        /// The lowest one.
        first: i32,
        /// The highest one.
        last: i32,
        /// Whether they go.
        close_on_exec: bool,
    },
}

/// What a number stood for that is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken<L> {
    /// This.
    Life(L),
    /// Nothing that is known. The process did not have it when all of its descriptors were known, or has closed the number before: it was
    /// made in the recording, by something that is not recorded.
    Made,
    /// Nothing that is known.
    Unknown,
}

/// What is known of a number that a look at the process found.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen<'a, L> {
    /// It stood for this before and during the look.
    Life(&'a mut L),
    /// It changed while the process was looked at, so that the look may mean what it stood for before.
    Changed,
    /// Nothing: it was made by something that is not recorded. `closed`: it was closed in the recording before.
    New {
        /// Whether the recording has its close.
        closed: bool,
    },
}

/// Follows descriptors.
#[derive(Debug)]
pub struct Descriptors<P, L> {
    tables: FxHashMap<P, Table<L>>,
    /// Numbers in all tables.
    numbers: usize,
    most: usize,
    left_out: u64,
}

#[derive(Clone, Debug)]
struct Table<L> {
    /// By number; also those that were closed.
    slots: BTreeMap<i32, Slot<L>>,
    /// Every descriptor that the process had at some time was known then.
    complete: bool,
}

impl<L> Default for Table<L> {
    fn default() -> Self {
        Self { slots: BTreeMap::new(), complete: false }
    }
}

#[derive(Clone, Debug)]
struct Slot<L> {
    /// When it was made or closed.
    since: i64,
    open: Option<Open<L>>,
}

#[derive(Clone, Debug)]
struct Open<L> {
    close_on_exec: bool,
    life: L,
}

impl<P: Copy + Eq + Hash, L> Default for Descriptors<P, L> {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl<P: Copy + Eq + Hash, L> Descriptors<P, L> {
    fn with_most(most: usize) -> Self {
        Self { tables: FxHashMap::default(), numbers: 0, most, left_out: 0 }
    }

    /// What a number stands for.
    #[must_use]
    pub fn get(&self, process: P, number: i32) -> Option<&L> {
        Some(&self.tables.get(&process)?.slots.get(&number)?.open.as_ref()?.life)
    }

    /// As [`Self::get`], to change what is known of it.
    pub fn get_mut(&mut self, process: P, number: i32) -> Option<&mut L> {
        Some(&mut self.tables.get_mut(&process)?.slots.get_mut(&number)?.open.as_mut()?.life)
    }

    /// Since when a number stands for what it stands for, and for what.
    #[must_use]
    pub fn get_since(&self, process: P, number: i32) -> Option<(i64, &L)> {
        let slot = self.tables.get(&process)?.slots.get(&number)?;
        Some((slot.since, &slot.open.as_ref()?.life))
    }

    /// A number stands for something new. Gives what it stood for before, whose close is not known.
    pub fn set(&mut self, process: P, number: i32, close_on_exec: bool, life: L, time: i64) -> Option<L> {
        let slots = &mut self.tables.entry(process).or_default().slots;
        let open = Some(Open { close_on_exec, life });
        if let Some(slot) = slots.get_mut(&number) {
            slot.since = time;
            return std::mem::replace(&mut slot.open, open).map(|open| open.life);
        }
        if self.numbers >= self.most {
            self.left_out += 1;
            return None;
        }
        self.numbers += 1;
        slots.insert(number, Slot { since: time, open });
        None
    }

    /// A number is closed.
    pub fn take(&mut self, process: P, number: i32, time: i64) -> Taken<L> {
        let has_room = self.numbers < self.most;
        let table = self.tables.entry(process).or_default();
        let Some(slot) = table.slots.get_mut(&number) else {
            if has_room {
                self.numbers += 1;
                table.slots.insert(number, Slot { since: time, open: None });
            }
            return if table.complete { Taken::Made } else { Taken::Unknown };
        };
        slot.since = time;
        slot.open.take().map_or(Taken::Made, |open| Taken::Life(open.life))
    }

    /// The numbers of a range are closed. Gives what they stood for, in order.
    pub fn take_range(&mut self, process: P, first: i32, last: i32, time: i64) -> Vec<(i32, L)> {
        let Some(table) = self.tables.get_mut(&process).filter(|_| first <= last) else { return Vec::new() };
        let close = |(number, slot): (&i32, &mut Slot<L>)| {
            let open = slot.open.take()?;
            slot.since = time;
            Some((*number, open.life))
        };
        table.slots.range_mut(first..=last).filter_map(close).collect()
    }

    /// Whether the numbers of a range go when the process starts another program.
    pub fn mark(&mut self, process: P, first: i32, last: i32, close_on_exec: bool) {
        let Some(table) = self.tables.get_mut(&process).filter(|_| first <= last) else { return };
        let open = table.slots.range_mut(first..=last).filter_map(|(_, slot)| slot.open.as_mut());
        open.for_each(|open| open.close_on_exec = close_on_exec);
    }

    /// A process starts another program. Gives what goes with the one before, in order of the numbers.
    pub fn exec(&mut self, process: P, time: i64) -> Vec<(i32, L)> {
        let Some(table) = self.tables.get_mut(&process) else { return Vec::new() };
        let close = |(number, slot): (&i32, &mut Slot<L>)| {
            let open = slot.open.take_if(|open| open.close_on_exec)?;
            slot.since = time;
            Some((*number, open.life))
        };
        table.slots.iter_mut().filter_map(close).collect()
    }

    /// A process begins with the descriptors of its creator. `inherit` makes of each the one of the new process.
    pub fn fork(&mut self, parent: P, child: P, time: i64, mut inherit: impl FnMut(i32, &L) -> L) {
        drop(self.end(child));
        let Some(table) = self.tables.get(&parent) else { return };
        let mut slots = BTreeMap::new();
        for (number, slot) in &table.slots {
            let Some(open) = &slot.open else { continue };
            if self.numbers >= self.most {
                self.left_out += 1;
                continue;
            }
            self.numbers += 1;
            let open = Open { close_on_exec: open.close_on_exec, life: inherit(*number, &open.life) };
            slots.insert(*number, Slot { since: time, open: Some(open) });
        }
        let complete = table.complete;
        self.tables.insert(child, Table { slots, complete });
    }

    /// A process ends. Gives what its numbers stood for, in order.
    pub fn end(&mut self, process: P) -> Vec<(i32, L)> {
        let slots = self.tables.remove(&process).map(|table| table.slots).unwrap_or_default();
        self.numbers -= slots.len();
        slots.into_iter().filter_map(|(number, slot)| Some((number, slot.open?.life))).collect()
    }

    /// A look at a process that began at `from` found a number.
    pub fn seen(&mut self, process: P, number: i32, from: i64) -> Seen<'_, L> {
        let slot = self.tables.get_mut(&process).and_then(|table| table.slots.get_mut(&number));
        match slot {
            None => Seen::New { closed: false },
            Some(slot) if slot.since >= from => Seen::Changed,
            Some(Slot { open: Some(open), .. }) => Seen::Life(&mut open.life),
            Some(_) => Seen::New { closed: true },
        }
    }

    /// A look at a process that began at `from` found these numbers and no others; `numbers` is sorted. Gives what the others stood for:
    /// they are closed.
    pub fn only(&mut self, process: P, numbers: &[i32], from: i64) -> Vec<(i32, L)> {
        let table = self.tables.entry(process).or_default();
        table.complete = true;
        let close = |(number, slot): (&i32, &mut Slot<L>)| {
            if slot.since >= from || numbers.binary_search(number).is_ok() {
                return None;
            }
            let open = slot.open.take()?;
            slot.since = from;
            Some((*number, open.life))
        };
        table.slots.iter_mut().filter_map(close).collect()
    }

    /// Whether all descriptors of a process were known at some time.
    #[must_use]
    pub fn is_complete(&self, process: P) -> bool {
        self.tables.get(&process).is_some_and(|table| table.complete)
    }

    /// Forgets everything: calls were lost.
    pub fn forget(&mut self) {
        self.tables.clear();
        self.numbers = 0;
    }

    /// What is open, in no order.
    pub fn finish(&mut self) -> impl Iterator<Item = (P, i32, L)> + use<P, L> {
        self.numbers = 0;
        let tables = std::mem::take(&mut self.tables);
        tables.into_iter().flat_map(|(process, table)| {
            let open = |(number, slot): (i32, Slot<L>)| Some((process, number, slot.open?.life));
            table.slots.into_iter().filter_map(open).collect::<Vec<_>>()
        })
    }

    /// Descriptors that were not followed, as too many were open.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Event {
        Change(u8, Change),
        Exec(u8),
        Fork(u8, u8),
        End(u8),
    }

    /// The event that made what a number stands for before the event at a place, and whether it goes with the program: looked for backwards.
    fn naive(events: &[Event], process: u8, number: i32) -> Option<(usize, bool)> {
        let (place, event) = events.iter().enumerate().next_back()?;
        let before = &events[..place];
        let is_in = |first: i32, last: i32| (first..=last).contains(&number);
        match *event {
            Event::Change(of, change) if of == process => match change {
                Change::Made { number: made, close_on_exec } if made == number => Some((place, close_on_exec)),
                Change::Duplicated { from, to, close_on_exec } if to == number && from != to => {
                    Some((place, close_on_exec))
                }
                Change::Closed { number: closed } if closed == number => None,
                Change::ClosedRange { first, last } if is_in(first, last) => None,
                Change::Marked { first, last, close_on_exec } if is_in(first, last) => {
                    naive(before, process, number).map(|(life, _)| (life, close_on_exec))
                }
                _ => naive(before, process, number),
            },
            Event::Exec(of) if of == process => naive(before, process, number).filter(|(_, goes)| !goes),
            Event::Fork(parent, child) if child == process && parent != child => naive(before, parent, number),
            Event::End(of) if of == process => None,
            _ => naive(before, process, number),
        }
    }

    fn event() -> impl Strategy<Value = Event> {
        let number = 0..6_i32;
        let change = prop_oneof![
            4 => (number.clone(), any::<bool>()).prop_map(|(number, close_on_exec)| Change::Made { number, close_on_exec }),
            2 => (number.clone(), number.clone(), any::<bool>())
                .prop_map(|(from, to, close_on_exec)| Change::Duplicated { from, to, close_on_exec }),
            3 => number.clone().prop_map(|number| Change::Closed { number }),
            1 => (number.clone(), number.clone()).prop_map(|(first, last)| Change::ClosedRange { first, last }),
            1 => (number.clone(), number, any::<bool>())
                .prop_map(|(first, last, close_on_exec)| Change::Marked { first, last, close_on_exec }),
        ];
        let process = 0..4_u8;
        prop_oneof![
            8 => (process.clone(), change).prop_map(|(process, change)| Event::Change(process, change)),
            1 => process.clone().prop_map(Event::Exec),
            2 => (process.clone(), process.clone()).prop_map(|(parent, child)| Event::Fork(parent, child)),
            1 => process.prop_map(Event::End),
        ]
    }

    fn apply(model: &mut Descriptors<u8, usize>, event: Event, place: usize) {
        let time = place as i64;
        match event {
            Event::Change(process, change) => match change {
                Change::Made { number, close_on_exec } => drop(model.set(process, number, close_on_exec, place, time)),
                Change::Duplicated { from, to, close_on_exec } if from != to => {
                    model.set(process, to, close_on_exec, place, time);
                }
                Change::Duplicated { .. } => {}
                Change::Closed { number } => drop(model.take(process, number, time)),
                Change::ClosedRange { first, last } => drop(model.take_range(process, first, last, time)),
                Change::Marked { first, last, close_on_exec } => model.mark(process, first, last, close_on_exec),
            },
            Event::Exec(process) => drop(model.exec(process, time)),
            Event::Fork(parent, child) if parent != child => model.fork(parent, child, time, |_, life| *life),
            Event::Fork(..) => {}
            Event::End(process) => drop(model.end(process)),
        }
    }

    proptest! {
        #[test]
        fn a_number_stands_for_what_was_made_last(events in prop::collection::vec(event(), 0..80)) {
            let mut model = Descriptors::default();
            for (place, event) in events.iter().enumerate() {
                apply(&mut model, *event, place);
                for process in 0..4 {
                    for number in 0..6 {
                        let expected = naive(&events[..=place], process, number).map(|(life, _)| life);
                        prop_assert_eq!(model.get(process, number).copied(), expected, "{} {}", process, number);
                    }
                }
                let slots: usize = model.tables.values().map(|table| table.slots.len()).sum();
                prop_assert_eq!(model.numbers, slots);
            }
            let mut open: Vec<_> = model.finish().collect();
            open.sort_unstable();
            let all = (0..4).flat_map(|process| (0..6).map(move |number| (process, number)));
            let expected: Vec<_> = all
                .filter_map(|(process, number)| Some((process, number, naive(&events, process, number)?.0)))
                .collect();
            prop_assert_eq!(open, expected);
        }
    }

    #[test]
    fn a_look_adds_what_is_not_known_and_leaves_what_changed_meanwhile() {
        let mut model = Descriptors::default();
        model.set(1, 3, false, "old", 10);
        model.set(1, 4, false, "missed close", 10);
        model.take(1, 5, 12);
        model.set(1, 6, false, "made meanwhile", 25);
        model.take(1, 7, 25);
        let from = 20;
        assert_eq!(model.seen(1, 3, from), Seen::Life(&mut "old"));
        assert_eq!(model.seen(1, 5, from), Seen::New { closed: true });
        assert_eq!(model.seen(1, 6, from), Seen::Changed);
        assert_eq!(model.seen(1, 7, from), Seen::Changed);
        assert_eq!(model.seen(1, 8, from), Seen::New { closed: false });
        assert!(!model.is_complete(1));
        assert_eq!(model.only(1, &[3, 5, 7, 8], from), [(4, "missed close")]);
        assert!(model.is_complete(1));
        assert_eq!((model.get(1, 3), model.get(1, 4), model.get(1, 6)), (Some(&"old"), None, Some(&"made meanwhile")));
    }

    #[test]
    fn what_is_closed_and_not_known_was_made_where_all_was_known() {
        let mut model: Descriptors<u32, &str> = Descriptors::default();
        assert_eq!(model.take(1, 9, 5), Taken::Unknown);
        assert_eq!(model.take(1, 9, 6), Taken::Made);
        model.only(2, &[], 0);
        assert_eq!(model.take(2, 9, 5), Taken::Made);
        model.fork(2, 3, 6, |_, life| life);
        assert_eq!(model.take(3, 4, 7), Taken::Made);
        model.set(3, 5, false, "x", 8);
        assert_eq!(model.take(3, 5, 9), Taken::Life("x"));
    }

    #[test]
    fn no_more_are_followed_than_there_is_room_for() {
        let mut model = Descriptors::with_most(10);
        for number in 0..30 {
            model.set(1_u32, number, false, number, 0);
        }
        model.fork(1, 2, 1, |_, life| *life);
        assert_eq!((model.numbers, model.left_out()), (10, 30));
        assert_eq!(model.end(1).len(), 10);
        model.set(2, 1, false, 1, 2);
        assert_eq!(model.get(2, 1), Some(&1));
        assert_eq!(model.finish().count(), 1);
    }
}
