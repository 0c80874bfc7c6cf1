//! Recordings from inside a pid namespace: tracepoints have other ids than samples.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use tracesift_trace::rows::switch_flags;

use crate::extracted::Extracted;
use crate::shared;

fn switch_ins(extracted: &Extracted) -> usize {
    extracted.switches.iter().filter(|row| row.flags & switch_flags::NO_SWITCH_IN == 0).count()
}

#[test]
fn a_recording_of_wsl_has_no_broken_chain() {
    let Some(cases) = shared::cases() else { return };
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
        println!("skipped: perf cannot record in a pid namespace: {recorded:?}");
        return;
    }
    let text = Command::new("perf").args(["script", "--ns", "-F", "pid,tid,cpu,time,trace", "-i"]).arg(&file).output();
    let text = String::from_utf8(text.unwrap().stdout).unwrap();
    // `7/7 [001] 41699.262612966: sh:24030 [120] S ==> swapper/1:0 [120]`, or with `prev_pid=24030 … next_pid=0 …`.
    let (mut broken, mut running, mut leaves) = (0, BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (ids, cpu, time) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let id = |side: &str, name: &str| -> i64 {
            let named = side.split(name).nth(1).and_then(|rest| rest.split_whitespace().next());
            let id = named.unwrap_or_else(|| side.split(" [").next().unwrap().rsplit(':').next().unwrap());
            id.parse().unwrap()
        };
        let fields = line.split_once(time).unwrap().1;
        let (prev, next) = fields.split_once("==>").unwrap();
        let (prev, next) = (id(prev, "prev_pid="), id(next, "next_pid="));
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
