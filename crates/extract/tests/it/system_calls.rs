//! System calls of Windows: the rows of events that are made from their layouts, against the calls that were made.

use std::sync::Arc;

use tracesift_etl::write::PointerSize;
use tracesift_extract::Options;
use tracesift_extract::symbols::{ModuleNames, NameSource, Recorded, Wanted};
use tracesift_scenario::system_calls::{self, Call, KERNEL, ROUTINES};
use tracesift_symbols::TableBuilder;
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{FrameRow, ProcessRow, SymbolRow, SyscallRow, ThreadRow};

/// Names of the routines of the kernel.
#[derive(Debug)]
struct KernelNames;

impl NameSource for KernelNames {
    fn names(&self, _: &Recorded<'_>, wanted: &[Wanted<'_>]) -> Vec<Result<ModuleNames, String>> {
        let of = |wanted: &Wanted<'_>| {
            if wanted.module.name != KERNEL {
                return Err("another module".to_owned());
            }
            let mut builder = TableBuilder::new();
            for (number, (name, _)) in ROUTINES.iter().enumerate() {
                let function = builder.function(name, None, "pdb");
                let location = builder.location(None, function, None, 0);
                let start = 0x7_0000 + system_calls::offset(number);
                builder.add(start, start + 0x40, location);
            }
            Ok(ModuleNames { table: builder.finish(KERNEL), base: 0x7_0000 })
        };
        wanted.iter().map(of).collect()
    }
}

/// End, begin; pid and tid; offset of the routine; NTSTATUS, and that of a failure; CPU.
type Plain = ((i64, i64), (i64, i64), i64, (Option<i64>, Option<i64>), i16);

fn expected(calls: &[Call]) -> Vec<Plain> {
    let plain = |call: &Call| {
        let status = call.status.map(i64::from);
        let failed = status.filter(|status| *status >= 0x8000_0000);
        let by = (i64::from(call.by.0), i64::from(call.by.1));
        ((call.end, call.start), by, system_calls::offset(call.routine) as i64, (status, failed), call.cpu as i16)
    };
    let mut rows: Vec<Plain> = calls.iter().map(plain).collect();
    rows.sort_unstable();
    rows
}

fn found(extracted: &Extracted) -> Vec<Plain> {
    let archive = &extracted.archive;
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let threads: Vec<ThreadRow> = archive.rows().expect("threads");
    let frames: Vec<FrameRow> = archive.rows().expect("frames");
    let rows: Vec<SyscallRow> = archive.rows().expect("calls");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let plain = |row: &SyscallRow| {
        let frame = row.frame.expect("a routine");
        assert_eq!(frame.0, row.number);
        let by = (processes[row.process.index()].pid, threads[row.thread.index()].tid);
        let rva = frames[frame.index()].rva.expect("in the kernel");
        ((row.time, row.start), by, rva, (row.result, row.error), row.cpu)
    };
    let mut rows: Vec<Plain> = rows.iter().map(plain).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn calls_are_those_that_were_made() {
    for seed in 1..=4 {
        for callbacks in [false, true] {
            let story = system_calls::story(seed, callbacks);
            let is_nested = |call: &&Call| {
                story.calls.iter().any(|other| {
                    other.by == call.by && other.start < call.start && call.end < other.end && other.status.is_some()
                })
            };
            let migrates = story.waits.iter().filter(|(_, wait)| *wait > 0).count();
            assert!(story.calls.iter().filter(is_nested).count() > 20 && migrates > 20, "{}", story.calls.len());
            for pointers in [PointerSize::Four, PointerSize::Eight] {
                let bytes = system_calls::write(&story, pointers, false).expect("a recording");
                let options = Options { symbols: Some(Arc::new(KernelNames)), ..Options::default() };
                let extracted = Recording::of("calls.etl", &bytes).extract_with(&options);
                assert_eq!(found(&extracted), expected(&story.calls), "{seed} {pointers:?} {callbacks}");
                let health = &extracted.report.health;
                assert_eq!(health.get("syscalls_without_exit"), story.without_exit as i64, "{health:?}");
                let others = ["syscalls_without_entry", "syscalls_without_thread", "undecodable_payload"];
                assert_eq!(others.map(|word| health.get(word)), [0; 3], "{health:?}");
                let names: Vec<SymbolRow> = extracted.archive.rows().expect("names");
                assert!(names.iter().any(|row| row.function == "NtQueryValueKey"), "{names:?}");
                if !callbacks {
                    // Nobody needs names to know which call returns.
                    let extracted = Recording::of("calls.etl", &bytes).extract();
                    assert_eq!(found(&extracted), expected(&story.calls), "{seed} {pointers:?}");
                }
            }
        }
    }
}

/// Without names, a call that never returns takes the return of the call around it, whose own end is then unknown.
#[test]
fn calls_that_never_return_are_told_by_their_names() {
    let story = system_calls::story(2, true);
    let bytes = system_calls::write(&story, PointerSize::Eight, false).expect("a recording");
    let extracted = Recording::of("calls.etl", &bytes).extract();
    let (found, expected) = (found(&extracted), expected(&story.calls));
    assert!(found.len() < expected.len());
    assert!(extracted.report.health.get("syscalls_without_exit") > story.without_exit as i64);
}

/// Where switches are missing, what their threads have called is not followed.
#[test]
fn threads_whose_switches_are_lost_have_open_calls_forgotten() {
    let story = system_calls::story(3, false);
    let bytes = system_calls::write(&story, PointerSize::Eight, true).expect("a recording");
    let extracted = Recording::of("lost.etl", &bytes).extract();
    let health = &extracted.report.health;
    assert!(health.get("broken_switch_chain") > 0 && health.get("syscalls_without_exit") > 0, "{health:?}");
    let (found, expected) = (found(&extracted), expected(&story.calls));
    let right = found.iter().filter(|row| expected.binary_search(row).is_ok()).count();
    assert!(found.iter().all(|row| row.0.1 <= row.0.0) && right * 2 > found.len(), "{right} of {}", found.len());
    // A recording without switches names no thread at all.
    let kernel_only = system_calls::write_without_switches(&story, PointerSize::Eight).expect("a recording");
    let extracted = Recording::of("alone.etl", &kernel_only).extract();
    assert_eq!(extracted.archive.row_count::<SyscallRow>(), 0);
    assert!(extracted.report.health.get("syscalls_without_thread") > 100);
}
