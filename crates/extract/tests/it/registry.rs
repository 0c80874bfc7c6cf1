//! Operations on the registry: the rows of events that are made from their layouts, against the operations that were written.

use tracesift_etl::write::PointerSize;
use tracesift_scenario::registry::{self, Operation};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{ProcessRow, RegistryRow, ThreadRow};

/// End, begin, CPU; pid and tid; operation, key and value; status, index, whether the begin is unknown.
type Plain = ((i64, i64, i16), (i64, i64), (i8, Option<String>, Option<String>), (i64, Option<i64>, Option<bool>));

fn expected(operations: &[Operation], version: u8, pointers: PointerSize) -> Vec<Plain> {
    let plain = |operation: &Operation| {
        (
            (operation.end, operation.start, operation.cpu as i16),
            (operation.by.0.into(), operation.by.1.into()),
            (operation.opcode as i8 - 10, Some(operation.key(version, pointers)), operation.value()),
            (operation.status.into(), (version > 0).then_some(operation.index.into()), Some(operation.begin_unknown)),
        )
    };
    let mut rows: Vec<Plain> = operations.iter().map(plain).collect();
    rows.sort();
    rows
}

fn found(extracted: &Extracted) -> Vec<Plain> {
    let archive = &extracted.archive;
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let threads: Vec<ThreadRow> = archive.rows().expect("threads");
    let rows: Vec<RegistryRow> = archive.rows().expect("operations");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let plain = |row: RegistryRow| {
        let pid = processes[row.process.expect("a process").index()].pid;
        let tid = threads[row.thread.expect("a thread").index()].tid;
        (
            (row.time, row.start, row.cpu),
            (pid, tid),
            (row.operation, row.key, row.value),
            (row.status, row.index, row.begin_unknown),
        )
    };
    let mut rows: Vec<Plain> = rows.into_iter().map(plain).collect();
    rows.sort();
    rows
}

#[test]
fn operations_are_those_that_were_written() {
    for seed in 1..=3 {
        for version in 0..=2 {
            let story = registry::story(seed, version);
            let has =
                |is: fn(&Operation) -> bool| story.operations.iter().filter(|operation| is(operation)).count() > 10;
            assert!(has(|operation| operation.begin_unknown) && has(|operation| operation.block.is_none()));
            assert!(has(|operation| operation.value().is_some_and(|value| value.is_empty())));
            for pointers in [PointerSize::Four, PointerSize::Eight] {
                let bytes = registry::write(&story, pointers).expect("a recording");
                let extracted = Recording::of("registry.etl", &bytes).extract();
                assert_eq!(found(&extracted), expected(&story.operations, version, pointers), "{version} {pointers:?}");
                let health = &extracted.report.health;
                let unknown = story.operations.iter().filter(|operation| operation.begin_unknown).count();
                assert_eq!(health.get("registry_without_begin"), unknown as i64, "{health:?}");
                assert_eq!(health.get("undecodable_payload"), 0, "{health:?}");
            }
        }
    }
}

/// A cut recording has rows of what is whole.
#[test]
fn cut_recordings_have_the_rows_before_the_cut() {
    let story = registry::story(4, 2);
    let whole = registry::write(&story, PointerSize::Eight).expect("a recording");
    for length in [whole.len() / 3, whole.len() / 2, whole.len() - 5_000] {
        let extracted = Recording::of("cut.etl", &whole[..length]).extract();
        assert!(extracted.archive.row_count::<RegistryRow>() <= story.operations.len() as u64);
    }
}

/// A recording without any has no table.
#[test]
fn a_recording_without_the_class_has_no_table() {
    let mut story = registry::story(5, 2);
    story.operations.clear();
    let bytes = registry::write(&story, PointerSize::Eight).expect("a recording");
    let extracted = Recording::of("none.etl", &bytes).extract();
    assert_eq!(extracted.archive.row_count::<RegistryRow>(), 0);
}
