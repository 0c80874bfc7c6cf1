//! Threads that end, in recordings of single tasks.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use tracesift_analysis::{Accounting, RecordingFacts, Span};

use crate::extracted::Extracted;
use crate::perf;

/// The program that is recorded: this one again, with only this test.
#[test]
#[ignore = "a program for another test"]
fn program_of_24_threads() {
    let work = || {
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(1));
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(1) {}
        }
    };
    let threads: Vec<_> = (0..24).map(|_| thread::spawn(work)).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// What perf's text says of the time that threads ran: from each switch-in to the switch-out, or to the exit.
fn run_times(text: &str) -> BTreeMap<i64, i64> {
    let (mut since, mut run) = (BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        let Some((head, what)) = line.split_once("PERF_RECORD_") else { continue };
        let words: Vec<&str> = head.split_whitespace().collect();
        let [ids, .., time] = words.as_slice() else { continue };
        let time: i64 = time.trim_end_matches(':').replace('.', "").parse().unwrap();
        let (pid, tid) = ids.split_once('/').unwrap();
        if pid == tid {
            // The first thread runs when the recording begins: nothing says since when.
            continue;
        }
        let tid: i64 = tid.parse().unwrap();
        let ends = what.starts_with("SWITCH OUT") || what.starts_with("EXIT");
        if what.starts_with("SWITCH IN") {
            since.insert(tid, time);
        } else if let Some(since) = since.remove(&tid).filter(|_| ends) {
            *run.entry(tid).or_default() += time - since;
        }
    }
    run
}

#[test]
fn a_thread_of_a_recording_of_single_tasks_runs_until_its_exit() {
    let program = std::env::current_exe().unwrap();
    let test = [program.to_str().unwrap(), "--exact", "exits::program_of_24_threads", "--ignored"];
    let arguments = ["--switch-events", "--sample-cpu", "-e", "task-clock"];
    let Some(recorded) = perf::record(&arguments, &test) else { return };
    let extracted = Extracted::of(&recorded.file);
    assert_eq!(extracted.health.get("broken_switch_chain"), 0);
    extracted.check_accounts();

    let text = recorded.script_of_tasks();
    let only = text.lines().filter(|line| line.contains("_SWITCH ") || line.contains("_EXIT"));
    let expected = run_times(&only.collect::<Vec<_>>().join("\n"));
    assert!(expected.len() >= 24, "{} threads", expected.len());
    let mut accounting = Accounting::new(&RecordingFacts::from(&extracted.info), Span::ALL, &extracted.threads);
    extracted.switches.iter().for_each(|row| accounting.switch(row, &mut |_| {}));
    let accounts = accounting.finish(&mut |_| {}).threads;
    let run = |tid: i64| -> i64 {
        let of_tid = extracted.threads.iter().filter(|thread| thread.tid == tid);
        of_tid.map(|thread| accounts[thread.thread.index()].run).sum()
    };
    for (&tid, &expected) in &expected {
        assert_eq!(run(tid), expected, "tid {tid}");
    }
}
