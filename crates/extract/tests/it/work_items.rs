//! Work of .NET programs: in real recordings, against a pairing of their events by hand, and in events that are made from their layouts.

use tracesift_etl::payload::dotnet::{FRAMEWORK_PROVIDER, RUNTIME_PROVIDER, TASKS_PROVIDER};
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;
use tracesift_extract::Options;
use tracesift_fixtures::cases;
use tracesift_scenario::SplitMix64;
use tracesift_scenario::providers::{Logged, write};
use tracesift_testing::recording::{Recording, extract_file};
use tracesift_trace::rows::{EventRow, ProcessRow, ThreadRow, WorkItemRow, work_item_sources as sources};
use tracesift_trace::{ProcessId, ThreadId};

const MS: i64 = 1_000_000;

/// Begin, begin of the run, end of the run, source, id, thread, worker.
type Plain = (i64, Option<i64>, Option<i64>, i8, i64, Option<ThreadId>, Option<ThreadId>);

fn plain(row: &WorkItemRow) -> Plain {
    (row.start, row.started, row.ended, row.source, row.id, row.thread, row.worker)
}

/// A field of an event that is kept as text.
fn number(event: &EventRow, field: &str) -> i64 {
    let name = format!("\"{field}\":");
    let (_, rest) = event.fields.split_once(&name).unwrap_or_else(|| panic!("{field}: {}", event.fields));
    let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit() && c != '-').next().unwrap_or_default();
    digits.parse().unwrap_or_else(|error| panic!("{field}: {}: {error}", event.fields))
}

/// Source, what happens (0 queued, 1 taken, 2 done), and the id that an event tells.
fn told(event: &EventRow) -> Option<(i8, u8, i64)> {
    let id = event.id?;
    Some(match event.provider.as_str() {
        "System.Threading.Tasks.TplEventSource" if (7..=9).contains(&id) => {
            (sources::TASK, id as u8 - 7, number(event, "TaskID"))
        }
        "System.Diagnostics.Eventing.FrameworkEventSource" if (30..=31).contains(&id) => {
            (sources::FRAMEWORK, id as u8 - 30, number(event, "workID"))
        }
        _ => return None,
    })
}

/// The rows that events make: ids are used once in these recordings.
fn by_hand(events: &[EventRow]) -> Vec<Plain> {
    let all: Vec<(&EventRow, (i8, u8, i64))> = events.iter().filter_map(|event| Some((event, told(event)?))).collect();
    let with = |of: (i8, u8, i64), process: Option<ProcessId>| {
        let mut found = all.iter().filter(|(event, told)| *told == of && event.process == process);
        let first = found.next().map(|(event, _)| *event);
        assert!(found.next().is_none(), "{of:?} is there twice");
        first
    };
    let mut rows = Vec::new();
    for (queued, (source, _, id)) in all.iter().filter(|(_, told)| told.1 == 0) {
        let taken = with((*source, 1, *id), queued.process);
        let done = with((*source, 2, *id), queued.process);
        let time = |event: Option<&EventRow>| event.map(|event| event.time);
        rows.push((
            queued.time,
            time(taken),
            time(done),
            *source,
            *id,
            queued.thread,
            taken.and_then(|row| row.thread),
        ));
    }
    rows.sort_unstable();
    rows
}

/// Of each recording, by source: what was queued, taken, and done, as `tracesift events` lists the events.
const RECORDINGS: [(&str, &str, [[usize; 3]; 2]); 3] = [
    ("net.4.5.2.x64.etl.zip", "PerfView.exe", [[3, 3, 1], [3, 2, 0]]),
    ("net.4.5.2.x86.etl.zip", "PerfView.exe", [[3, 3, 1], [3, 3, 0]]),
    ("diaghub-dotnetcore3.1-win-x64-diagsession.zip", "locProject.exe", [[6, 6, 6], [0, 0, 0]]),
];

#[test]
fn work_of_real_recordings() {
    let Some(folder) = cases("etl") else { return };
    for (file, name, expected) in RECORDINGS {
        let out = tempfile::tempdir().expect("a directory");
        let options = Options { out: Some(out.path().to_owned()), ..Options::default() };
        let report = extract_file(&folder.join(file), &options);
        let archive = tracesift_archive::Archive::open(&report.archive).expect("an archive");
        let processes: Vec<ProcessRow> = archive.rows().expect("processes");
        let rows: Vec<WorkItemRow> = archive.rows().expect("work");
        assert!(rows.is_sorted_by_key(|row| row.time));
        let of = |source: i8| rows.iter().filter(move |row| row.source == source);
        let counts = [sources::TASK, sources::FRAMEWORK].map(|source| {
            let (taken, done) =
                (of(source).filter(|row| row.started.is_some()), of(source).filter(|row| row.ended.is_some()));
            [of(source).count(), taken.count(), done.count()]
        });
        assert_eq!(counts, expected, "{file}");
        assert!(rows.iter().all(|row| row.process.is_some_and(|process| processes[process.index()].name == name)));
        assert!(rows.iter().all(|row| row.open.is_some() == row.started.is_none()));
        let mut found: Vec<Plain> = rows.iter().map(plain).collect();
        found.sort_unstable();
        // The events stay where they were, and tell the same, with the same stacks.
        let events: Vec<EventRow> = archive.rows().expect("events");
        assert_eq!(found, by_hand(&events), "{file}");
        for row in &rows {
            let queued = events.iter().find(|event| {
                event.time == row.start && told(event).is_some_and(|told| told == (row.source, 0, row.id))
            });
            assert_eq!(queued.map(|event| event.stack), Some(row.stack), "{file}");
        }
        assert_eq!(report.health.get("fields_not_as_expected"), 0, "{file}");
        assert_eq!(report.health.get("work_items_without_enqueue"), 0, "{file}");
    }
}

/// What happens to work: 0 queued, 1 taken, 2 done.
#[derive(Clone, Copy, Debug)]
struct Step {
    time: i64,
    what: u8,
    source: i8,
    runtime: u16,
    id: u32,
    pid: u32,
    tid: u32,
}

const PROCESSES: [(u32, &str); 2] = [(7, "app.exe"), (9, "other.exe")];
const SECONDS: i64 = 2;

/// Few ids, so that they are used again while work of the same id waits.
fn steps(seed: u64) -> Vec<Step> {
    let mut rng = SplitMix64::new(seed);
    let mut steps = Vec::new();
    for place in 0..400 {
        let source = rng.below(3) as i8;
        let pid = PROCESSES[rng.index(PROCESSES.len())].0;
        steps.push(Step {
            time: (place + 1) * 4 * MS,
            what: rng.below(if source == sources::TASK { 3 } else { 2 }) as u8,
            source,
            runtime: if source == sources::RUNTIME { 9 + rng.below(2) as u16 } else { 0 },
            id: 1 + rng.below(4) as u32,
            pid,
            tid: pid * 100 + 4 * rng.below(3) as u32,
        });
    }
    steps
}

fn log(steps: &[Step], pointers: PointerSize) -> Vec<Logged> {
    let event = |step: &Step| {
        let mut payload = Bytes::new(pointers);
        let (provider, id, version) = match step.source {
            sources::RUNTIME => {
                payload.pointer(step.id.into());
                payload.u16(step.runtime);
                (RUNTIME_PROVIDER, 61 + u16::from(step.what), 0)
            }
            sources::TASK => {
                payload.u32(1);
                payload.u32(0);
                payload.u32(step.id);
                match step.what {
                    0 => [0, 8192, 1].into_iter().for_each(|value| payload.u32(value)),
                    2 => payload.u32(0),
                    _ => {}
                }
                (TASKS_PROVIDER, 7 + u16::from(step.what), u8::from(step.what != 1))
            }
            _ => {
                payload.u64(step.id.into());
                (FRAMEWORK_PROVIDER, 30 + u16::from(step.what), 0)
            }
        };
        let payload = payload.into_vec();
        Logged { time: step.time, cpu: 1, provider, id, version, pid: step.pid, tid: step.tid, payload }
    };
    steps.iter().map(event).collect()
}

/// Begin, begin of the run, end of the run, source, runtime, id, pid, tid, tid of the worker.
type Made = (i64, Option<i64>, Option<i64>, i8, Option<i32>, i64, u32, i64, Option<i64>);

/// The rows, and the number of steps that take unknown work: a list of what waits, first in, first out, and one of what runs.
fn naive(steps: &[Step]) -> (Vec<Made>, i64) {
    let (mut waiting, mut running, mut rows): (Vec<&Step>, Vec<(&Step, &Step)>, Vec<Made>) = Default::default();
    let is_same = |a: &Step, b: &Step| (a.source, a.runtime, a.id, a.pid) == (b.source, b.runtime, b.id, b.pid);
    let made = |queued: &Step, taken: Option<&Step>, done: Option<&Step>| -> Made {
        let runtime = (queued.source == sources::RUNTIME).then_some(queued.runtime.into());
        let time = |step: Option<&Step>| step.map(|step| step.time);
        let worker = taken.map(|taken| taken.tid.into());
        let (source, id) = (queued.source, queued.id.into());
        (queued.time, time(taken), time(done), source, runtime, id, queued.pid, queued.tid.into(), worker)
    };
    let mut unknown = 0;
    for step in steps {
        match step.what {
            0 => waiting.push(step),
            1 => match waiting.iter().position(|queued| is_same(queued, step)) {
                None => unknown += 1,
                Some(place) => {
                    let queued = waiting.remove(place);
                    if step.source != sources::TASK {
                        rows.push(made(queued, Some(step), None));
                        continue;
                    }
                    // The thread cannot run both.
                    let before = running.iter().position(|(_, taken)| is_same(taken, step) && taken.tid == step.tid);
                    if let Some((queued, taken)) = before.map(|place| running.remove(place)) {
                        rows.push(made(queued, Some(taken), None));
                    }
                    running.push((queued, step));
                }
            },
            _ => {
                let of_thread = running.iter().position(|(_, taken)| is_same(taken, step) && taken.tid == step.tid);
                if let Some((queued, taken)) = of_thread.map(|place| running.remove(place)) {
                    rows.push(made(queued, Some(taken), Some(step)));
                }
            }
        }
    }
    rows.extend(running.into_iter().map(|(queued, taken)| made(queued, Some(taken), None)));
    rows.extend(waiting.into_iter().map(|queued| made(queued, None, None)));
    rows.sort_unstable();
    (rows, unknown)
}

#[test]
fn work_is_that_which_was_written() {
    for (seed, pointers) in [(1, PointerSize::Four), (2, PointerSize::Eight), (3, PointerSize::Eight)] {
        let steps = steps(seed);
        let bytes = write(pointers, SECONDS, &PROCESSES, log(&steps, pointers)).expect("events");
        let extracted = Recording::of("work.etl", &bytes).extract();
        let threads: Vec<ThreadRow> = extracted.archive.rows().expect("threads");
        let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
        let rows: Vec<WorkItemRow> = extracted.archive.rows().expect("work");
        let tid = |thread: ThreadId| threads[thread.index()].tid;
        let made = |row: &WorkItemRow| {
            let pid = row.process.map_or(0, |process| processes[process.index()].pid as u32);
            let (by, worker) = (row.thread.map_or(-1, tid), row.worker.map(tid));
            (row.start, row.started, row.ended, row.source, row.runtime, row.id, pid, by, worker)
        };
        let mut found: Vec<Made> = rows.iter().map(made).collect();
        found.sort_unstable();
        let (expected, unknown) = naive(&steps);
        assert!(expected.len() > 100 && expected.iter().any(|row| row.1.is_none()) && unknown > 0);
        assert_eq!(found, expected, "seed {seed}");
        assert!(rows.is_sorted_by_key(|row| row.time));
        for row in &rows {
            let last = row.ended.or(row.started.filter(|_| row.source != sources::TASK));
            assert!(last.is_none_or(|last| row.time == last), "{row:?}");
            assert_eq!(row.open, row.started.is_none().then_some(true));
            assert!(row.started.is_some() || row.time == SECONDS * 1_000 * MS);
        }
        let health = &extracted.report.health;
        assert_eq!((health.get("work_items_without_enqueue"), health.get("fields_not_as_expected")), (unknown, 0));
    }
}
