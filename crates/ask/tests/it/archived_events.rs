//! An archive that keeps all events shows each of them as its recording does.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tracesift_archive::Archive;
use tracesift_ask::Ask as _;
use tracesift_ask::answer::Value;
use tracesift_ask::events::{Condition, EventFilter, EventLine, scan_archive};
use tracesift_ask::filter::{Lifetime, ProcessFilter, ProcessPatterns};
use tracesift_ask::question::process;
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_extract::{EventSelection, Options};
use tracesift_fixtures::cases;
use tracesift_grammar::Patterns;
use tracesift_testing::recording::try_extract;
use tracesift_trace::FrameId;
use tracesift_trace::rows::{CpuSampleRow, FrameRow, MethodSummaryRow, ProcessRow, ProcessSummaryRow, StackRow};

use crate::recorded::{self, events, linux_recordings, recordings};

/// All that a line says, its stack apart, which a recording does not know.
fn shown(event: &EventLine<'_>) -> String {
    let EventLine { time, cpu, pid, tid, process, provider, event: name, id, version, opcode, level, .. } = event;
    let mut fields = String::new();
    event.fields.write_json(&mut fields);
    format!(
        "{time} {cpu:?} {pid:?} {tid:?} {process:?} {provider} {name} {id:?} {version} {opcode} {level:?} {:?} {:?} {:?} {:?} {:?} {fields} {:?}",
        event.keyword,
        event.activity,
        event.related_activity,
        event.user,
        event.origin,
        event.raw(),
    )
}

fn archives(recording: &Path, out: &Path, selection: EventSelection) -> Vec<Archive> {
    let options = Options { out: Some(out.to_owned()), events: Some(selection), ..Options::default() };
    let reports = try_extract(recording, &options).expect("extracted");
    reports.iter().map(|report| Archive::open(&report.archive).expect("an archive")).collect()
}

fn stored(archive: &Archive, filter: &EventFilter, stacks: bool, mut visit: impl FnMut(&EventLine<'_>)) -> u64 {
    let scanned = scan_archive(archive, filter, stacks, &mut |event| {
        visit(event);
        ControlFlow::Continue(())
    });
    scanned.expect("it can be read").events
}

/// Holds every event of some recordings against those of their archives.
fn compare(recordings: &[PathBuf]) -> u64 {
    let out = tempfile::tempdir().expect("a directory");
    let mut events = 0;
    for path in recordings {
        let mut lines = Vec::new();
        recorded::events(path, &EventFilter::default(), |event| lines.push(shown(event)));
        let mut expected = lines.iter();
        for archive in archives(path, out.path(), EventSelection::All) {
            events += stored(&archive, &EventFilter::default(), false, |event| {
                assert_eq!(Some(&shown(event)), expected.next(), "{}", path.display());
            });
        }
        assert_eq!(expected.next(), None, "{}", path.display());
    }
    events
}

#[test]
fn every_event_of_every_recording_comes_back_from_its_archive() {
    let Some(cases) = cases("etl") else { return };
    compare(&recordings(&cases));
}

#[test]
fn every_event_of_every_linux_recording_comes_back_from_its_archive() {
    let Some(cases) = cases("perf") else { return };
    let recordings = linux_recordings(&cases);
    let samples_and_records = compare(&recordings);
    assert!(samples_and_records > 100_000, "{samples_and_records}");
}

#[test]
fn filters_mean_the_same_in_the_archive_of_a_linux_recording() {
    let Some(cases) = cases("perf") else { return };
    let path = cases.join("linuxtracepoints.perf.data");
    let out = tempfile::tempdir().expect("a directory");
    let archives = archives(&path, out.path(), EventSelection::All);
    let condition = |text: &str| vec![text.parse::<Condition>().expect("a condition")];
    let base = EventFilter::default;
    for filter in [
        EventFilter { provider: Patterns::parse("sched"), ..base() },
        EventFilter { provider: Patterns::parse("perf"), name: Patterns::parse("MMAP2"), ..base() },
        EventFilter { name: Patterns::parse("sched_switch"), conditions: condition("prev_pid=0"), ..base() },
        EventFilter { name: Patterns::parse("sched_switch"), conditions: condition("prev_state_name=S"), ..base() },
        EventFilter { name: Patterns::parse("sched_switch"), conditions: condition("next_comm=swapper*"), ..base() },
        EventFilter {
            name: Patterns::parse("KSYMBOL"),
            conditions: condition("address>=0xffff000000000000"),
            ..base()
        },
        EventFilter { name: Patterns::parse("sched_switch"), time: "5ms..".parse().expect("a range"), ..base() },
        EventFilter { processes: ProcessPatterns::parse("Idle").into(), ..base() },
        EventFilter { threads: "0".parse().expect("ids"), ..base() },
        EventFilter { ids: "3".parse().expect("ids"), ..base() },
    ] {
        let recorded = events(&path, &filter, |_| {})[0].events;
        assert!(recorded > 0, "{filter:?}");
        assert_eq!(stored(&archives[0], &filter, false, |_| {}), recorded, "{filter:?}");
    }
}

#[test]
fn filters_mean_the_same_in_an_archive() {
    let Some(cases) = cases("etl") else { return };
    let path = cases.join("net.4.5.2.x64.etl.zip");
    let out = tempfile::tempdir().expect("a directory");
    let archives = archives(&path, out.path(), EventSelection::All);
    let condition = |text: &str| vec![text.parse::<Condition>().expect("a condition")];
    let base = EventFilter::default;
    for filter in [
        EventFilter { class: Patterns::parse("Process"), ..base() },
        EventFilter { name: Patterns::parse("GC/Start"), conditions: condition("Count<=100"), ..base() },
        EventFilter { name: Patterns::parse("GC/Start"), conditions: condition("Type=NonConcurrentGC"), ..base() },
        EventFilter { provider: Patterns::parse("{e13c0d23-*"), time: "..5s".parse().expect("a range"), ..base() },
        EventFilter {
            name: Patterns::parse("DiskIO/*"),
            conditions: condition("FileKey>=0xfffff8a0028e0140"),
            ..base()
        },
        EventFilter { ids: "46".parse().expect("ids"), threads: "3680".parse().expect("ids"), ..base() },
        EventFilter { processes: ProcessPatterns::parse("PerfView").into(), ..base() },
    ] {
        let recorded = events(&path, &filter, |_| {})[0].events;
        assert!(recorded > 0, "{filter:?}");
        assert_eq!(stored(&archives[0], &filter, false, |_| {}), recorded, "{filter:?}");
    }
    // The number behind a name is not kept, and that is said.
    let by_number = EventFilter { name: Patterns::parse("GC/Start"), conditions: condition("Type=0"), ..base() };
    let scanned = scan_archive(&archives[0], &by_number, false, &mut |_| ControlFlow::Continue(())).expect("readable");
    assert_eq!(scanned.events, 0);
    assert_eq!(scanned.named_fields.get("Type").map(String::as_str), Some("NonConcurrentGC"));
}

/// The oracle is `dump process`, asked with the same filter.
#[test]
fn filters_of_processes_choose_those_of_dump_process() {
    let Some(cases) = cases("etl") else { return };
    let path = cases.join("net.4.5.2.x64.etl.zip");
    let out = tempfile::tempdir().expect("a directory");
    let archives = archives(&path, out.path(), EventSelection::All);
    let archive = std::fs::read_dir(out.path()).expect("a directory").flatten().next().expect("an archive").path();
    let recording = OpenRecording::open(&Source::archive(archive)).expect("an archive");
    let rows: Vec<ProcessRow> = recording.archive().rows().expect("processes");
    let of_some = |text: fn(&ProcessRow) -> Option<String>| rows.iter().find_map(text).expect("a process that has it");
    let parent = of_some(|row| row.parent_pid.filter(|_| row.start.is_some()).map(|pid| pid.to_string()));
    let command_line = Patterns::parse("*exe*;!*svchost*");
    let user = Patterns::parse(&of_some(|row| row.user.clone()));
    let session = Patterns::parse(&of_some(|row| row.session.map(|session| session.to_string())));
    let none = ProcessFilter::default;
    let pid = |value: &Value| if let Value::Int(pid) = value { u32::try_from(*pid).ok() } else { None };
    let mut owners: HashMap<u32, usize> = HashMap::new();
    rows.iter().filter_map(|row| u32::try_from(row.pid).ok()).for_each(|pid| *owners.entry(pid).or_default() += 1);
    for processes in [
        ProcessFilter { parent: ProcessPatterns::parse(&parent), ..none() },
        ProcessFilter { command_line, ..none() },
        ProcessFilter { user, ..none() },
        ProcessFilter { session, ..none() },
        ProcessFilter { lifetime: Some(Lifetime::Started), ..none() },
        ProcessFilter { lifetime: Some(Lifetime::Whole), process: ProcessPatterns::parse("!svchost"), ..none() },
    ] {
        let question = process::Question { filter: processes.clone(), ..Default::default() };
        let place = |key| question.columns().iter().position(|column| column.key == key).expect("a column");
        let (at, of_parent) = (place("pid"), place("parent_pid"));
        let section = question.section(&recording).expect("an answer");
        // `dump process` shows the parents that are asked for, too.
        let is_child =
            |creator: Option<u32>| processes.parent.is_empty() || creator.is_some_and(|pid| pid.to_string() == parent);
        let children = section.rows.iter().filter(|row| is_child(pid(&row[of_parent])));
        let pids: HashSet<u32> = children.filter_map(|row| pid(&row[at])).collect();
        // A number that several processes had tells nothing of a single event.
        let is_owned = |event: &EventLine<'_>| event.pid.filter(|pid| *pid != 0 && owners.get(pid) == Some(&1));
        let mut expected = 0;
        stored(&archives[0], &EventFilter::default(), false, |event| {
            expected += u64::from(is_owned(event).is_some_and(|pid| pids.contains(&pid)));
        });
        let filter = EventFilter { processes, ..EventFilter::default() };
        let mut owned = 0;
        let found = stored(&archives[0], &filter, false, |event| {
            assert!(is_owned(event).is_none_or(|pid| pids.contains(&pid)));
            owned += u64::from(is_owned(event).is_some());
        });
        assert!(expected > 0, "{filter:?}");
        assert_eq!(owned, expected, "{filter:?}");
        assert_eq!(events(&path, &filter, |_| {})[0].events, found, "{filter:?}");
    }
}

#[test]
fn stacks_are_shown_and_chosen() {
    let Some(cases) = cases("etl") else { return };
    let out = tempfile::tempdir().expect("a directory");
    let archive = &archives(&cases.join("net.4.5.2.x64.etl.zip"), out.path(), EventSelection::Default)[0];
    let collections = |stack: &str| EventFilter {
        name: Patterns::parse("GC/Start"),
        stack: Patterns::parse(stack),
        processes: ProcessPatterns::parse("Test.x64").into(),
        ..EventFilter::default()
    };
    let all = stored(archive, &collections(""), true, |event| {
        assert_eq!(event.stack.first().map(|leaf| leaf.split('+').next()), Some(Some("clr.dll")));
        assert!(event.stack.last().is_some_and(|root| root.starts_with("ntdll.dll+0x")), "{:?}", event.stack);
    });
    let count = |stack: &str| stored(archive, &collections(stack), false, |event| assert!(event.stack.is_empty()));
    assert_eq!(count("Test.x64.exe!Test.Program.Main"), count("Test.Program.Main"));
    let (with, without) = (count("clr.dll+0x4819ae"), count("!clr.dll+0x4819ae"));
    assert!(with > 0 && without > 0 && with + without == all, "{with} + {without} = {all}");
    assert_eq!(count("mscorlib.dll;Test.x64.exe"), all);
}

/// Ids are given out in another order; everything else in the other tables stays as it is.
#[test]
fn the_other_tables_do_not_depend_on_the_events_that_are_kept() {
    let Some(cases) = cases("etl") else { return };
    for name in ["net.4.5.2.x64.etl.zip", "net.4.5.2.x86.etl.zip"] {
        let tables = |selection: EventSelection| {
            let out = tempfile::tempdir().expect("a directory");
            let archive = &archives(&cases.join(name), out.path(), selection)[0];
            let processes: Vec<ProcessSummaryRow> = archive.rows().expect("summary");
            let methods: Vec<MethodSummaryRow> = archive.rows().expect("summary");
            (processes, methods, samples(archive))
        };
        let without = tables(EventSelection::None);
        assert!(without.2.len() > 70_000);
        for selection in [EventSelection::Default, EventSelection::All] {
            let with = tables(selection.clone());
            assert!(with.0 == without.0, "{name} {selection}: processes");
            assert!(with.1 == without.1, "{name} {selection}: methods");
            assert!(with.2 == without.2, "{name} {selection}: samples");
        }
    }
}

/// A frame by what does not depend on ids: module and RVA, or address.
type Place = (Option<i32>, Option<i64>);

/// The samples: time, CPU, weight, frames.
fn samples(archive: &Archive) -> Vec<(i64, i16, i64, Vec<Place>)> {
    let frames: Vec<FrameRow> = archive.rows().expect("frames");
    let stacks: Vec<StackRow> = archive.rows().expect("stacks");
    let place = |frame: &FrameId| -> Place {
        let row = &frames[frame.index()];
        (row.module.map(|module| module.0), row.rva.or(row.address))
    };
    let samples: Vec<CpuSampleRow> = archive.rows().expect("samples");
    let rows = samples.iter().map(|row| {
        let stack = row.stack.map_or(&[][..], |stack| &stacks[stack.index()].frames);
        (row.time, row.cpu, row.weight, stack.iter().chain(row.frame.as_ref()).map(place).collect())
    });
    rows.collect()
}
