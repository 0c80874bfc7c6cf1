//! Linux recordings hold what was counted, in order, and no switch is impossible.

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::sync::Arc;

use tracesift_perf::{Kind, MergeOptions, Payload, PerfFile};
use tracesift_scenario::linux::{Figures, Knobs, write};

const CPU_CLOCK: usize = 0;
const SWITCH: usize = 1;
const WAKING: usize = 2;

fn recording(knobs: &Knobs) -> (PerfFile, Figures) {
    let mut bytes = Cursor::new(Vec::new());
    let figures = write(&mut bytes, knobs).expect("written");
    (PerfFile::new(Arc::new(bytes.into_inner())).expect("it is a recording"), figures)
}

fn small() -> Knobs {
    Knobs { bytes: 24 << 20, events_per_birth: 100, processes: 40, threads: 300, ..Knobs::default() }
}

#[test]
fn the_file_holds_what_was_counted() {
    for stream in [false, true] {
        let (file, figures) = recording(&Knobs { stream, ..small() });
        let mut merged = file.merged(MergeOptions::default());
        let (mut samples, mut forks, mut exits, mut programs) = ([0; 4], 0, 0, 0);
        let mut span = (u64::MAX, 0);
        while let Some(record) = merged.next() {
            match record.payload().expect("it can be read") {
                Payload::Sample(_) => samples[record.event().expect("an event")] += 1,
                Payload::Fork(_) => forks += u64::from(record.time().is_some()),
                Payload::Exit(_) => exits += 1,
                Payload::Comm(comm) => programs += u64::from(comm.exec),
                _ => {}
            }
            if let Some(time) = record.time() {
                assert!(time >= span.1, "in order");
                span = (span.0.min(time), time);
            }
        }
        assert!(merged.damage().is_empty() && file.damage().is_empty(), "{:?}", merged.damage());
        assert_eq!(samples[..3], [figures.samples, figures.switches, figures.wakings].map(|count| count));
        assert_eq!((forks, exits, programs), (figures.births, figures.deaths, figures.programs));
        assert!(figures.births > 500 && figures.deaths > 400 && figures.programs > 300, "{figures:?}");
        let events = (figures.samples + figures.switches + figures.wakings) as f64;
        for (count, share) in [(figures.samples, 0.1), (figures.switches, 0.5), (figures.wakings, 0.4)] {
            assert!((count as f64 / events - share).abs() < 0.02, "{figures:?}");
        }
        let names: Vec<String> = (0..3).map(|event| merged.metadata().event_name(event)).collect();
        assert_eq!(names, ["cpu-clock/freq=999/", "sched:sched_switch", "sched:sched_waking"]);
    }
}

#[test]
fn every_switch_is_possible() {
    let (file, figures) = recording(&small());
    let mut merged = file.merged(MergeOptions::default());
    let tracing = file.metadata().tracing.clone().expect("formats");
    let field = |event: &str, name: &str, raw: &[u8]| {
        let format = tracing.by_name("sched", event).expect("a format");
        format.field(name).expect("a field").signed(raw, tracing.endian).expect("a value")
    };
    let mut running: HashMap<u32, i64> = HashMap::new();
    let mut runnable: HashSet<i64> = HashSet::new();
    let mut dead: HashSet<i64> = HashSet::new();
    while let Some(record) = merged.next() {
        if record.kind() == Kind::Fork && record.time().is_some() {
            let Ok(Payload::Fork(task)) = record.payload() else { panic!("a fork") };
            runnable.insert(task.tid.into());
        }
        if record.kind() != Kind::Sample {
            continue;
        }
        let sample = record.sample().expect("a sample");
        let (cpu, event) = (sample.cpu.expect("a CPU"), record.event().expect("an event"));
        let on_cpu = running.get(&cpu).copied().unwrap_or(0);
        match event {
            CPU_CLOCK => assert_eq!(sample.tid.map(i64::from), Some(on_cpu)),
            SWITCH => {
                let raw = sample.raw.expect("raw data");
                let get = |name| field("sched_switch", name, raw);
                let (old, new, state) = (get("prev_pid"), get("next_pid"), get("prev_state"));
                assert!(old == on_cpu && old != new, "{old} leaves CPU {cpu} where {on_cpu} runs for {new}");
                assert!(new == 0 || runnable.remove(&new), "{new} is not runnable");
                assert!(sample.tid.map(i64::from) == Some(old) || dead.contains(&old) || state == 0x10);
                match state {
                    0x100 => _ = runnable.insert(old),
                    0x10 | 0x20 => assert!(dead.insert(old), "{old} ends twice"),
                    _ => {}
                }
                running.insert(cpu, new);
            }
            WAKING => _ = runnable.insert(field("sched_waking", "pid", sample.raw.expect("raw data"))),
            _ => panic!("a sample of {event}"),
        }
    }
    // Some have said that they end and have not left the CPU yet.
    let ending = figures.deaths - dead.len() as u64;
    assert!(ending < 64 && figures.deaths > 400, "{} of {figures:?}", dead.len());
}

#[test]
fn every_kind_of_record_can_be_read() {
    let knobs = Knobs { cpus: 2, processes: 3, threads: 6, events_per_birth: 10, bytes: 1 << 18, ..small() };
    let (file, _) = recording(&Knobs { every_kind: true, ..knobs });
    let mut merged = file.merged(MergeOptions::default());
    let mut kinds = HashSet::new();
    while let Some(record) = merged.next() {
        assert!(record.payload().is_ok(), "{:?}: {:?}", record.kind(), record.payload());
        kinds.insert(record.kind());
    }
    assert!(merged.damage().is_empty(), "{:?}", merged.damage());
    assert_eq!(merged.stop(), None);
    let expected = (1..=22).chain([68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 82, 200]).map(Kind::of);
    for kind in expected {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_file() {
    let bytes = |seed| {
        let mut bytes = Cursor::new(Vec::new());
        write(&mut bytes, &Knobs { bytes: 4 << 20, seed, ..small() }).expect("written");
        bytes.into_inner()
    };
    assert!(bytes(7) == bytes(7));
    assert!(bytes(7) != bytes(8));
}
