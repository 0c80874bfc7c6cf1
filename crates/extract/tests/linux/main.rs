//! Recordings that perf makes while the test runs, held against what perf itself says of them.
//!
//! Where perf or the right to record everything is missing, the tests are skipped and say why.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod branches;
mod calls;
mod cores;
mod counters;
mod descriptors;
mod disk;
mod events;
mod exits;
mod extracted;
mod idle;
mod interrupts;
#[cfg(target_os = "linux")]
mod known;
mod limits;
mod locks;
mod names;
mod namespaces;
mod network;
mod page_cache;
mod perf;
mod reclaims;
mod shared;
mod signals;
mod switches;
mod synthetic;
mod unwinding;

use std::collections::BTreeMap;

use extracted::Extracted;
use perf::Recorded;

/// Shells that start programs that end soon, a busy one, and system calls.
const PROGRAMS: &str = "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done; \
    (i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done) & \
    dd if=/dev/zero of=/dev/null bs=1k count=200000 2>/dev/null; wait";

#[test]
fn every_sample_and_its_stack_are_those_of_perf_script() {
    for arguments in [
        &["-a", "-g", "-e", "cpu-clock/freq=999/"][..],
        &["-a", "-g", "-e", "cpu-clock/freq=999/", "-e", "sched:sched_switch", "--buildid-mmap"],
        &["--sample-cpu", "-g", "-F", "5000", "-e", "task-clock"],
        &["-a", "-c", "250000", "-e", "cpu-clock"],
    ] {
        let Some(recorded) = perf::record(arguments, &["sh", "-c", PROGRAMS]) else { return };
        compare(&recorded, arguments);
    }
}

#[test]
fn the_event_of_cpu_time_can_be_chosen() {
    let arguments = ["-a", "-e", "cpu-clock/freq=999/", "-e", "task-clock/freq=500/", "-e", "page-faults/period=1/"];
    let Some(recorded) = perf::record(&arguments, &["sh", "-c", PROGRAMS]) else { return };
    let best = Extracted::of(&recorded.file);
    assert_eq!(best.info.cpu_event.as_deref(), Some("cpu-clock/freq=999/"));
    for name in ["task-clock", "TASK-CLOCK/freq=500/"] {
        let chosen = Extracted::with_cpu_event(&recorded.file, name).unwrap();
        let weight: i64 = chosen.samples.iter().map(|sample| sample.weight).sum();
        assert_eq!(weight, recorded.weight_of("task-clock/freq=500/"), "{name}");
    }
    for name in ["page-faults", "cycles"] {
        let error = Extracted::with_cpu_event(&recorded.file, name).err().unwrap().to_string();
        assert!(error.contains("task-clock/freq=500/"), "{error}");
    }
}

#[test]
fn threads_have_their_names() {
    let program = std::env::current_exe().unwrap();
    let workload = [program.to_str().unwrap(), "--exact", "spinning_threads", "--ignored"];
    let arguments = ["--sample-cpu", "-g", "-e", "cpu-clock/freq=999/"];
    let Some(recorded) = perf::record(&arguments, &workload) else { return };
    let extracted = compare(&recorded, &arguments);
    let sampled = extracted.cpu_by(|sample| sample.thread_name.clone().unwrap_or_default());
    for number in 0..3 {
        let spun = sampled.get(&format!("spinner-{number}")).copied().unwrap_or(0);
        assert!(spun > 20, "{number}: {sampled:?}");
    }
}

#[test]
fn programs_have_their_whole_names() {
    const NAME: &str = "a-program-with-a-long-name";
    let directory = tempfile::TempDir::new().unwrap();
    let program = directory.path().join(NAME);
    std::fs::copy("/bin/sleep", &program).unwrap();
    let program = program.to_str().unwrap();
    let shell = format!("'{program}' 0.01; '{program}' 0.01");
    for (arguments, path) in [
        (&["-a", "--namespaces", "-e", "cpu-clock/freq=99/", "-e", "sched:sched_process_exec"][..], Some(program)),
        (&["-a", "-e", "cpu-clock/freq=99/"], None),
    ] {
        let Some(recorded) = perf::record(arguments, &["sh", "-c", &shell]) else { return };
        let extracted = Extracted::of(&recorded.file);
        let processes: Vec<_> = extracted.processes.iter().filter(|row| row.name == NAME).collect();
        assert_eq!(processes.len(), 2, "{arguments:?}");
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap();
        let inode =
            namespace.to_str().unwrap().trim_matches(|letter: char| !letter.is_ascii_digit()).parse::<i64>().unwrap();
        for process in processes {
            assert_eq!(process.command_line.as_deref(), path);
            assert_eq!(process.pid_namespace, path.map(|_| inode));
        }
    }
}

/// What is recorded, not a test.
#[test]
#[ignore = "the program that another test records"]
fn spinning_threads() {
    let spin = || {
        // Work and not time: how long it takes depends on who else wants the CPUs. It is enough of it that a machine which
        // loses most of its timer interrupts to others still takes the samples that the test needs.
        for turn in 0..2_000_000_000_u64 {
            std::hint::black_box(turn);
        }
    };
    std::thread::scope(|scope| {
        for number in 0..3 {
            std::thread::Builder::new().name(format!("spinner-{number}")).spawn_scoped(scope, spin).unwrap();
        }
    });
}

/// Holds an extract against perf's own reading of the same file.
fn compare(recorded: &Recorded, arguments: &[&str]) -> Extracted {
    let extracted = Extracted::of(&recorded.file);
    let mut expected = recorded.samples();
    let mut samples: Vec<_> = extracted.samples.iter().map(|sample| sample.as_perf_has_it()).collect();
    if !arguments.contains(&"-g") {
        // Without call chains perf prints where the file was mapped and not the place in it.
        let frames = samples.iter_mut().chain(&mut expected).flat_map(|sample| &mut sample.frames);
        frames.for_each(|frame| frame.0 = 0);
    }
    assert!(expected.len() > 100, "{arguments:?}: {} samples", expected.len());
    assert_eq!(extracted.samples.len(), expected.len(), "{arguments:?}");
    let mut discarded = 0;
    for (mut found, expected) in samples.into_iter().zip(&expected) {
        // Where an unwinder that lost its way left a word that looks like a mark, perf discards the whole call chain;
        // up to there it is as good as any. Its leaf is held against the report below.
        if expected.frames.is_empty() {
            discarded += 1;
            found.frames.clear();
        }
        assert_eq!(found, *expected, "{arguments:?}");
    }
    assert!(discarded * 4 < expected.len(), "{arguments:?}: {discarded} of {} without a call chain", expected.len());
    assert_eq!(extracted.cpu_by(|sample| sample.tid), recorded.report_by_tid(), "{arguments:?}");
    assert_eq!(extracted.cpu_by(|sample| sample.short_module()), recorded.report_by_module(), "{arguments:?}");
    let mut by_pid: BTreeMap<i64, u64> = BTreeMap::new();
    for sample in &expected {
        *by_pid.entry(sample.pid).or_default() += 1;
    }
    assert_eq!(extracted.cpu_by(|sample| sample.pid), by_pid, "{arguments:?}");
    extracted
}
