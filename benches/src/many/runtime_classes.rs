//! Rows about runtimes and programs as a whole: collections, assemblies, windows, branches, events.

use tracesift_scenario::SplitMix64;
use tracesift_trace::rows::{
    AssemblyRow, BranchRow, EntryFrameRow, EventRow, FrameRow, GcCollectionRow, SymbolRow, UiDelayRow,
};
use tracesift_trace::{FrameId, ModuleId, ProcessId};

use super::archives::LENGTH;
use super::code_classes::who_manages;
use super::made::{Made, skewed, span, who};

/// The first frame of a function that branches.
const FIRST: usize = 2_000;
/// Functions that branch.
const FUNCTIONS: usize = 500;
/// Instructions of each.
const INSTRUCTIONS: usize = 4;

/// Writes the rows.
pub(super) fn write(made: &mut Made<'_>) {
    made.rows(2_000, collection, |row| row.time);
    made.rows(3_000, assembly, |row| row.time);
    made.rows(400, ui_delay, |row| row.time);
    made.each((0..FUNCTIONS * INSTRUCTIONS).map(frame));
    made.each((0..FUNCTIONS * INSTRUCTIONS).map(symbol));
    made.each((0..FUNCTIONS).map(|function| EntryFrameRow { frame: frame_of(function * INSTRUCTIONS) }));
    let mut branches: Vec<BranchRow> = (0..5_000).map(|_| branch(&mut made.random)).collect();
    branches.sort_by_key(|row| (row.process, row.from, row.to));
    branches.dedup_by_key(|row| (row.process, row.from, row.to));
    made.writer.write_table(&branches);
    made.rows(20_000, event, |row| row.time);
}

fn collection(random: &mut SplitMix64, index: usize) -> GcCollectionRow {
    let ((process, thread), (start, time)) = (who_manages(random), span(random, 20_000_000));
    GcCollectionRow {
        time,
        start,
        process,
        thread: Some(thread),
        number: index as i32,
        generation: random.below(3) as i8,
        reason: random.below(2) as i8,
        suspend_start: Some(start),
        suspended: Some(start),
        restart: Some(time),
        resumed: Some(time),
        pause: Some(time - start),
        pauses: Some(vec![start, time]),
        suspensions: 1,
        suspending: Some(0),
        ..GcCollectionRow::default()
    }
}

fn assembly(random: &mut SplitMix64, _: usize) -> AssemblyRow {
    let ((process, thread), start) = (who_manages(random), random.between(0, LENGTH));
    let is_there = random.chance(40);
    AssemblyRow {
        time: LENGTH,
        start: if is_there { 0 } else { start },
        process: Some(process),
        thread: Some(thread),
        name: format!("Contoso.Shop{}, Version=1.0.0.0, Culture=neutral", skewed(random, 300)),
        there: Some(is_there),
        open: Some(true),
        ..AssemblyRow::default()
    }
}

fn ui_delay(random: &mut SplitMix64, _: usize) -> UiDelayRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 3_000_000_000));
    UiDelayRow { time, start, process: Some(process), thread: Some(thread), kind: 36, ..UiDelayRow::default() }
}

fn frame_of(place: usize) -> FrameId {
    FrameId((FIRST + place) as i32)
}

fn frame(place: usize) -> FrameRow {
    let rva = Some((place * 16) as i64);
    FrameRow { frame: frame_of(place), module: Some(ModuleId((place % 40) as i32)), rva, ..FrameRow::default() }
}

fn symbol(place: usize) -> SymbolRow {
    SymbolRow {
        frame: frame_of(place),
        module: Some(format!("driver{}.sys", place / INSTRUCTIONS % 40)),
        function: format!("Function{}", place / INSTRUCTIONS),
        ..SymbolRow::default()
    }
}

fn branch(random: &mut SplitMix64) -> BranchRow {
    let (from, to) = (skewed(random, FUNCTIONS * INSTRUCTIONS), skewed(random, FUNCTIONS) * INSTRUCTIONS);
    BranchRow {
        process: Some(ProcessId(2 + skewed(random, 40) as i32)),
        from: frame_of(from),
        to: frame_of(to),
        count: random.between(1, 1_000),
        ..BranchRow::default()
    }
}

fn event(random: &mut SplitMix64, _: usize) -> EventRow {
    let ((process, thread), number) = (who(random), skewed(random, 200));
    EventRow {
        time: random.between(0, LENGTH),
        process: Some(process),
        thread: Some(thread),
        provider: format!("Contoso-Shop-{}", number % 20),
        event: format!("Order/Step{number}"),
        id: Some(number as i32),
        fields: format!(r#"{{"Size":{},"Order":"{number}"}}"#, random.below(100_000)),
        guid: format!("{{{:08x}-0000-0000-0000-000000000000}}", number % 20),
        ..EventRow::default()
    }
}
