//! Recordings from inside a pid namespace: tracepoints have other ids than samples.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use tracesift_fixtures::{cases, skipped};
use tracesift_trace::rows::switch_flags;

use crate::extracted::Extracted;

fn switch_ins(extracted: &Extracted) -> usize {
    extracted.switches.iter().filter(|row| row.flags & switch_flags::NO_SWITCH_IN == 0).count()
}

/// The kernel's ids of who goes and who comes: `sh:24030 [120] S ==> swapper/1:0 [120]`, or `prev_pid=24030 … next_pid=0 …`.
fn switched(fields: &str) -> (i64, i64) {
    let id = |side: &str, name: &str| -> i64 {
        let named = side.split(name).nth(1).and_then(|rest| rest.split_whitespace().next());
        let id = named.unwrap_or_else(|| side.split(" [").next().unwrap().rsplit(':').next().unwrap());
        id.parse().unwrap()
    };
    let (prev, next) = fields.split_once("==>").unwrap();
    (id(prev, "prev_pid="), id(next, "next_pid="))
}

#[test]
fn a_recording_of_wsl_has_no_broken_chain() {
    let Some(cases) = cases("") else { return };
    let extracted = Extracted::of(&cases.join("perf/linuxtracepoints.perf.data"));
    extracted.check_accounts();
    assert_eq!((switch_ins(&extracted), extracted.health.get("broken_switch_chain")), (285, 0));
}

#[test]
fn threads_of_a_pid_namespace_have_the_ids_of_their_samples() {
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("perf.data");
    let program = "i=0; while [ $i -lt 40 ]; do sleep 0.002; i=$((i+1)); done";
    let recorded = Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc", "perf", "record", "-a", "-e", "sched:sched_switch", "-o"])
        .arg(&file)
        .args(["--", "sh", "-c", program])
        .stdin(Stdio::null())
        .output();
    if !recorded.as_ref().is_ok_and(|output| output.status.success()) {
        return skipped(&format!("perf cannot record in a pid namespace: {recorded:?}"));
    }
    let text = Command::new("perf").args(["script", "--ns", "-F", "pid,tid,cpu,time,trace", "-i"]).arg(&file).output();
    let text = String::from_utf8(text.unwrap().stdout).unwrap();
    let (mut broken, mut running, mut leaves) = (0, BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (ids, cpu, time) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let (prev, next) = switched(line.split_once(time).unwrap().1);
        broken += i64::from(running.insert(cpu.to_owned(), next).is_some_and(|running| running != prev));
        let time: i64 = time.trim_end_matches(':').replace('.', "").parse().unwrap();
        let tid: i64 = ids.split_once('/').unwrap().1.parse().unwrap();
        if tid > 0 {
            assert_ne!(tid, prev, "{line}");
            leaves.insert((cpu.trim_matches(['[', ']']).parse::<i16>().unwrap(), time), tid);
        }
    }
    assert!(leaves.len() > 40, "{text}");

    let extracted = Extracted::of(&file);
    extracted.check_accounts();
    assert_eq!(extracted.health.get("broken_switch_chain"), broken);
    let zero = extracted.info.clock_zero;
    let mut seen = 0;
    for row in extracted.switches.iter().filter(|row| row.flags & switch_flags::NO_SWITCH_IN == 0) {
        let Some(prev) = row.prev_thread else { continue };
        if let Some(&tid) = leaves.get(&(row.cpu.unwrap(), row.time + zero)) {
            assert_eq!(extracted.threads[prev.index()].tid, tid, "{row:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, leaves.len());
}

/// Their samples have the ids of the idle thread, which is left out of sums.
#[test]
fn threads_outside_of_a_pid_namespace_have_their_samples() {
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("perf.data");
    let mut outside = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let recorded = Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc", "perf", "record", "-a"])
        .args(["-e", "cpu-clock/freq=500/", "-e", "sched:sched_switch", "-o"])
        .arg(&file)
        .args(["--", "sleep", "0.5"])
        .stdin(Stdio::null())
        .output();
    outside.kill().unwrap();
    outside.wait().unwrap();
    if !recorded.as_ref().is_ok_and(|output| output.status.success()) {
        return skipped(&format!("perf cannot record in a pid namespace: {recorded:?}"));
    }
    let text = Command::new("perf").args(["script", "--ns", "-F", "tid,cpu,event,trace", "-i"]).arg(&file).output();
    let text = String::from_utf8(text.unwrap().stdout).unwrap();
    // ` 0 [001] cpu-clock: ` and ` 0 [001] sched:sched_switch: …`, in order of time.
    let mut running: BTreeMap<&str, i64> = BTreeMap::new();
    let mut expected: BTreeMap<i64, usize> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (tid, cpu, event) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        if event.starts_with("sched:") {
            running.insert(cpu, switched(line.split_once(event).unwrap().1).1);
        } else if tid == "-1" {
            // The kernel has no id any more for a thread that is about to end.
            *expected.entry(-1).or_default() += 1;
        } else if let Some(&id) = running.get(cpu).filter(|id| tid == "0" && **id != 0) {
            *expected.entry(id).or_default() += 1;
        }
    }
    let id = i64::from(outside.id());
    assert!(expected.contains_key(&id), "{expected:?}");

    let extracted = Extracted::of(&file);
    extracted.check_accounts();
    let mut found: BTreeMap<i64, usize> = BTreeMap::new();
    for sample in extracted.samples.iter().filter(|sample| sample.pid == -1) {
        *found.entry(sample.tid).or_default() += 1;
    }
    assert_eq!(found, expected);
}
