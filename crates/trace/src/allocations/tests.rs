use std::ops::Range;

use proptest::prelude::*;

use super::{Allocations, Area, Maker, Place};
use crate::dns::Caller;
use crate::ids::{ProcessId, StackId, ThreadId};
use crate::rows::AllocationRow;

/// Pages of a place.
const PAGES: u64 = 24;

#[derive(Clone, Debug)]
enum Step {
    Add(usize, Range<u64>),
    Replace(usize, Range<u64>),
    Cut(usize, Range<u64>),
    Move(usize, Range<u64>, u64),
    Exit(i32),
}

const PLACES: [Place; 4] = [
    Place { process: Some(ProcessId(0)), area: Area::Committed },
    Place { process: Some(ProcessId(0)), area: Area::Heap(7) },
    Place { process: Some(ProcessId(1)), area: Area::Mapped },
    Place { process: None, area: Area::Pool },
];

fn step() -> impl Strategy<Value = Step> {
    let place = || 0..PLACES.len();
    let range = || (0..PAGES, 0..9_u64).prop_map(|(start, length)| start..(start + length).min(PAGES));
    prop_oneof![
        6 => (place(), range()).prop_map(|(place, range)| Step::Add(place, range)),
        2 => (place(), range()).prop_map(|(place, range)| Step::Replace(place, range)),
        5 => (place(), range()).prop_map(|(place, range)| Step::Cut(place, range)),
        2 => (place(), 0..12_u64, 0..9_u64, 12..16_u64)
            .prop_map(|(place, start, length, to)| Step::Move(place, start..(start + length).min(12), to)),
        1 => (0..2_i32).prop_map(Step::Exit),
    ]
}

fn caller(time: i64) -> Caller {
    let id = time as i32;
    Caller { time, process: None, thread: Some(ThreadId(id + 1000)), stack: Some(StackId(id + 2000)) }
}

fn maker(place: usize, time: i64) -> Maker {
    let tag = (place == 3).then_some(*b"Ab\x01c");
    Maker { by: caller(time), process: ProcessId(9), kind: place as i8, tag, there: time % 5 == 0 }
}

/// The same as a list of pages, each with its block.
#[derive(Default)]
struct Plain {
    /// The block of each page: its number and the time at which it was made.
    pages: [[Option<(i32, i64)>; PAGES as usize]; 4],
    next: i32,
    parts: Vec<i32>,
    rows: Vec<AllocationRow>,
}

impl Plain {
    fn add(&mut self, place: usize, range: Range<u64>, time: i64) {
        let pages = &mut self.pages[place][range.start as usize..range.end.max(range.start) as usize];
        if pages.iter().all(Option::is_some) {
            return;
        }
        pages.iter_mut().filter(|page| page.is_none()).for_each(|page| *page = Some((self.next, time)));
        self.next += 1;
        self.parts.push(0);
    }

    /// Takes pages away and writes the rows of their blocks.
    fn take(&mut self, wanted: impl Fn(usize, usize) -> bool, row: &AllocationRow) {
        let mut taken = Vec::new();
        for (place, pages) in self.pages.iter_mut().enumerate() {
            for (number, page) in pages.iter_mut().enumerate().filter(|(number, _)| wanted(place, *number)) {
                taken.extend(page.take().map(|(block, start)| (block, number as i64, place, start)));
            }
        }
        taken.sort_unstable();
        for pages in taken.chunk_by(|page, other| page.0 == other.0) {
            let (block, base, place, start) = pages[0];
            let left = self.pages.iter().flatten().flatten().any(|(other, _)| *other == block);
            let Maker { by, process, kind, tag, there } = maker(place, start);
            self.rows.push(AllocationRow {
                start,
                process,
                thread: by.thread,
                stack: by.stack,
                kind,
                block,
                part: self.parts[block as usize],
                last: Some(!left),
                base,
                size: pages.len() as i64,
                there: Some(there),
                heap: (place == 1).then_some(7),
                tag: tag.map(|_| "Ab.c".to_owned()),
                ..row.clone()
            });
            self.parts[block as usize] += 1;
        }
    }

    fn cut(&mut self, place: usize, range: &Range<u64>, time: i64) {
        let Caller { thread, stack, .. } = caller(time);
        let row = AllocationRow { free_thread: thread, free_stack: stack, ..row(time) };
        self.take(|other, page| other == place && range.contains(&(page as u64)), &row);
    }

    fn step(&mut self, time: i64, step: &Step) {
        match step {
            Step::Add(place, range) => self.add(*place, range.clone(), time),
            Step::Replace(place, range) => {
                self.cut(*place, range, time);
                self.add(*place, range.clone(), time);
            }
            Step::Cut(place, range) => self.cut(*place, range, time),
            Step::Move(place, range, to) => {
                let target = *to..to + (range.end.saturating_sub(range.start));
                self.cut(*place, &target, time);
                let pages = &mut self.pages[*place];
                for (from, to) in range.clone().zip(target) {
                    pages[to as usize] = pages[from as usize].take();
                }
            }
            Step::Exit(process) => {
                let row = AllocationRow { by_exit: Some(true), ..row(time) };
                self.take(|place, _| PLACES[place].process == Some(ProcessId(*process)), &row);
            }
        }
    }
}

fn row(time: i64) -> AllocationRow {
    AllocationRow { time, by_exit: Some(false), open: Some(false), ..AllocationRow::default() }
}

fn tracked(allocations: &mut Allocations, steps: &[Step]) -> Vec<AllocationRow> {
    let mut rows = Vec::new();
    let mut write = |row: &AllocationRow| rows.push(row.clone());
    for (time, step) in steps.iter().enumerate() {
        let by = caller(time as i64);
        match step {
            Step::Add(place, range) => {
                allocations.add(PLACES[*place], range.clone(), &maker(*place, by.time), &mut write);
            }
            Step::Replace(place, range) => {
                allocations.replace(PLACES[*place], range.clone(), &maker(*place, by.time), &mut write);
            }
            Step::Cut(place, range) => {
                allocations.cut(PLACES[*place], range.clone(), &by, &mut write);
            }
            Step::Move(place, range, to) => {
                allocations.relocate(PLACES[*place], range.clone(), *to, &by, &mut write);
            }
            Step::Exit(process) => allocations.process_ended(by.time, ProcessId(*process), &mut write),
        }
    }
    allocations.finish(steps.len() as i64, &mut write);
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn blocks_are_as_pages_tell(steps in prop::collection::vec(step(), 0..60)) {
        let mut plain = Plain::default();
        steps.iter().enumerate().for_each(|(time, step)| plain.step(time as i64, step));
        plain.take(|_, _| true, &AllocationRow { open: Some(true), ..row(steps.len() as i64) });
        let mut allocations = Allocations::default();
        prop_assert_eq!(tracked(&mut allocations, &steps), plain.rows);
        prop_assert_eq!(allocations.dropped(), 0);
        prop_assert_eq!(allocations.pieces.len(), allocations.free.len());
        prop_assert!(allocations.spaces.is_empty() && allocations.blocks.is_empty());
    }

    /// However little is followed, bytes that are followed have one row.
    #[test]
    fn the_number_of_pieces_is_bounded(steps in prop::collection::vec(step(), 0..60), most in 1..5_usize) {
        let mut allocations = Allocations::new(most);
        let rows = tracked(&mut allocations, &steps);
        prop_assert!(allocations.pieces.len() <= most + PAGES as usize);
        let lasts = |block: i32| rows.iter().filter(|row| row.block == block && row.last == Some(true)).count();
        prop_assert!(rows.iter().all(|row| lasts(row.block) == 1));
        prop_assert!(rows.is_sorted_by_key(|row| row.time));
    }
}

#[test]
fn the_largest_addresses_do_no_harm() {
    let mut rows = Vec::new();
    let mut write = |row: &AllocationRow| rows.push((row.base.cast_unsigned(), row.size));
    let mut allocations = Allocations::default();
    let place = PLACES[0];
    let end = u64::MAX - 0xFFF;
    allocations.add(place, 0..u64::MAX, &maker(0, 1), &mut write);
    allocations.add(place, end..u64::MAX, &maker(0, 2), &mut write);
    allocations.relocate(place, 0..end, end, &caller(3), &mut write);
    allocations.cut(place, end..u64::MAX, &caller(4), &mut write);
    allocations.clear(place, &caller(5), &mut write);
    assert_eq!(rows, [(end, 0xFFF), (0, i64::MAX)]);
}
