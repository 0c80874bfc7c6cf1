//! Interrupts and deferred procedure calls: the rows of events that are made from their layouts, against the runs that were written.

use tracesift_etl::write::PointerSize;
use tracesift_extract::{Budget, Options, TableChoice};
use tracesift_scenario::interrupts::{self, DRIVERS, Run, opcodes};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{
    ContextSwitchRow, FrameRow, InterruptRow, ModuleRow, ProcessRow, ThreadRow, interrupt_kinds as kinds,
};

/// End, begin, CPU; kind, driver and offset of the routine; vector, whether claimed; time in the queue, exclusive time; pid and tid.
type Plain =
    ((i64, i64, i16), (i8, String, i64), (Option<i32>, Option<bool>), (Option<i64>, Option<i64>), Option<(i64, i64)>);

fn expected(runs: &[Run], version: u8) -> Vec<Plain> {
    let plain = |run: &Run| {
        let kind = match run.opcode {
            opcodes::THREADED_DPC => kinds::THREADED_DPC,
            opcodes::DPC => kinds::DPC,
            opcodes::TIMER_DPC => kinds::TIMER_DPC,
            _ => kinds::ISR,
        };
        let of_interrupt = run.is_interrupt();
        (
            (run.end, run.start, run.cpu as i16),
            (kind, DRIVERS[run.driver].to_owned(), run.offset as i64),
            ((of_interrupt && version >= 2).then_some(i32::from(run.vector)), of_interrupt.then_some(run.claimed)),
            (
                run.queued.map(|queued| run.start - queued),
                (!run.is_in_a_thread()).then_some(run.end - run.start - run.inside),
            ),
            run.by.map(|(pid, tid)| (pid.into(), tid.into())),
        )
    };
    let mut rows: Vec<Plain> = runs.iter().map(plain).collect();
    rows.sort();
    rows
}

fn found(extracted: &Extracted) -> Vec<Plain> {
    let archive = &extracted.archive;
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let threads: Vec<ThreadRow> = archive.rows().expect("threads");
    let modules: Vec<ModuleRow> = archive.rows().expect("modules");
    let frames: Vec<FrameRow> = archive.rows().expect("frames");
    let rows: Vec<InterruptRow> = archive.rows().expect("interrupts");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let plain = |row: InterruptRow| {
        let frame = frames[row.frame.expect("a routine").index()];
        assert_eq!(frame.module, row.module);
        let driver = modules[row.module.expect("a driver").index()].name.clone();
        let pid = row.process.map(|process| processes[process.index()].pid);
        let tid = row.thread.map(|thread| threads[thread.index()].tid);
        (
            (row.time, row.start, row.cpu),
            (row.kind, driver, frame.rva.expect("in a module")),
            (row.vector, row.claimed),
            (row.queued, row.exclusive),
            pid.zip(tid),
        )
    };
    let mut rows: Vec<Plain> = rows.into_iter().map(plain).collect();
    rows.sort();
    rows
}

#[test]
fn runs_are_those_that_were_written() {
    for seed in 1..=4 {
        let story = interrupts::story(seed);
        let has = |is: fn(&Run) -> bool| story.runs.iter().filter(|run| is(run)).count() > 20;
        assert!(has(|run| run.inside > 0) && has(|run| run.queued.is_some()) && has(|run| run.framework));
        assert!(has(Run::is_in_a_thread) && has(|run| !run.claimed && run.is_interrupt()));
        for pointers in [PointerSize::Four, PointerSize::Eight] {
            for version in [1, 2] {
                let bytes = interrupts::write(&story, pointers, version).expect("a recording");
                let extracted = Recording::of("interrupts.etl", &bytes).extract();
                assert_eq!(found(&extracted), expected(&story.runs, version), "{pointers:?}, {version}");
                let health = &extracted.report.health;
                assert_eq!(health.get("interrupts_without_begin"), 0, "{health:?}");
                assert_eq!(health.get("undecodable_payload"), 0, "{health:?}");
                // The time of threads is what the switches say, whatever interrupts them.
                assert!(extracted.archive.row_count::<ContextSwitchRow>() >= story.switches.len() as u64);
            }
        }
    }
}

/// Who was interrupted is told by switches, also where their table is not wanted.
#[test]
fn rows_name_who_ran_without_the_table_of_switches() {
    let story = interrupts::story(6);
    let bytes = interrupts::write(&story, PointerSize::Eight, 2).expect("a recording");
    for slice_records in [None, Some(7)] {
        let budget = Budget { slice_records, ..Budget::default() };
        let options = Options { tables: TableChoice::only(&["interrupts"]), budget, ..Options::default() };
        let extracted = Recording::of("interrupts.etl", &bytes).extract_with(&options);
        assert_eq!(found(&extracted), expected(&story.runs, 2), "{slice_records:?}");
        assert_eq!(extracted.archive.row_count::<ContextSwitchRow>(), 0);
    }
}

/// A begin outside of the recording is none: the event has no row, and its time does not become one.
#[test]
fn a_begin_outside_of_the_recording_has_no_row() {
    let mut story = interrupts::story(5);
    let count = story.runs.len();
    for (number, run) in story.runs.iter_mut().enumerate() {
        run.queued = None;
        match number {
            7 => run.start = -1_000_000,
            9 => run.start = run.end + 1_000,
            _ => {}
        }
    }
    let bytes = interrupts::write(&story, PointerSize::Eight, 2).expect("a recording");
    let extracted = Recording::of("outside.etl", &bytes).extract();
    assert_eq!(extracted.archive.row_count::<InterruptRow>(), count as u64 - 2);
    assert_eq!(extracted.report.health.get("interrupts_without_begin"), 2);
}

/// A cut event costs that event.
#[test]
fn cut_events_cost_themselves() {
    let story = interrupts::story(3);
    let whole = interrupts::write(&story, PointerSize::Eight, 2).expect("a recording");
    for length in [whole.len() / 3, whole.len() / 2, whole.len() - 5_000] {
        let extracted = Recording::of("cut.etl", &whole[..length]).extract();
        assert!(extracted.archive.row_count::<InterruptRow>() <= story.runs.len() as u64);
    }
}
