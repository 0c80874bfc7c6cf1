//! The summary tables as a whole.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tracesift_analysis::{
    Bounds, MethodId, MethodName, MethodNames, RecordingFacts, Span, StackMethods, Summaries, Summary,
};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, Origin, StackRow, ThreadRow};
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

use crate::properties::simulation::{self, Machine};

fn name(method: MethodId) -> MethodName {
    MethodName { module: Some("module.dll".to_owned()), function: format!("Method{:02}", method.0) }
}

fn summarize(machine: &Machine, keep: usize) -> Summary {
    summarize_in_parts(machine, keep, 1)
}

fn summarize_in_parts(machine: &Machine, keep: usize, parts: usize) -> Summary {
    let sources = (0..parts).map(|_| machine.source()).collect();
    let mut summaries = Summaries::in_parts(machine.recording, Span::ALL, &machine.threads, sources, Bounds::default());
    machine.samples.iter().for_each(|row| summaries.sample(row));
    machine.switches.iter().rev().for_each(|row| summaries.switch(row));
    summaries.finish((0..4).map(ProcessId), keep, name)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn processes_add_up_their_threads_and_samples(seed in any::<u64>(), has_ready in any::<bool>()) {
        let machine = simulation::run(seed, has_ready);
        let summary = summarize(&machine, 200);
        prop_assert_eq!(summary.contradictions, 0);
        prop_assert_eq!(summary.processes.len(), 4);
        let sampled = summary.processes.iter().map(|row| row.cpu).sum::<i64>();
        prop_assert_eq!(sampled, machine.samples.iter().map(|row| row.weight).sum::<i64>());
        for row in &summary.processes {
            let threads = summary.threads.iter().filter(|account| account.process == row.process);
            let life = threads.map(|account| account.life.length()).sum::<i64>();
            let parts = [row.run, row.wait, row.open, row.unknown, row.ready.or(Some(0))];
            prop_assert_eq!(parts.into_iter().flatten().sum::<i64>(), life);
            let samples = machine.samples.iter().filter(|sample| sample.process == row.process).collect::<Vec<_>>();
            prop_assert_eq!(row.samples, samples.len() as i64);
            let bare = samples.iter().filter(|sample| sample.stack.is_none()).count();
            prop_assert_eq!(row.samples_without_stack, bare as i64);
            let priorities = samples.iter().filter_map(|sample| sample.priority).map(f64::from).collect::<Vec<_>>();
            if !priorities.is_empty() {
                let mean = priorities.iter().sum::<f64>() / priorities.len() as f64;
                prop_assert!((row.priority.expect("samples say") - mean).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn parts_with_processes_of_their_own_make_the_same_tables(seed in any::<u64>(), keep in 1usize..9, parts in 2usize..6) {
        let machine = simulation::run(seed, true);
        let (whole, in_parts) = (summarize(&machine, keep), summarize_in_parts(&machine, keep, parts));
        prop_assert_eq!(whole.methods.rows(), in_parts.methods.rows());
        prop_assert_eq!((whole.processes, whole.threads), (in_parts.processes, in_parts.threads));
    }

    #[test]
    fn the_cut_keeps_the_largest_and_says_what_it_left_out(seed in any::<u64>(), keep in 1usize..4) {
        let machine = simulation::run(seed, true);
        let all = summarize(&machine, usize::MAX).methods.rows();
        let some = summarize(&machine, keep);
        let mut kept: BTreeMap<ProcessId, i64> = BTreeMap::new();
        let kept_rows = some.methods.rows();
        for row in &kept_rows {
            prop_assert!(all.contains(row));
            *kept.entry(row.process).or_default() += 1;
        }
        for process in &some.processes {
            prop_assert_eq!(process.methods_kept, kept.get(&process.process).copied().unwrap_or(0));
            let rows = || all.iter().filter(|row| row.process == process.process);
            prop_assert!(rows().count() as i64 <= process.methods);
            let mut waits = rows().filter_map(|row| row.wait).filter(|&wait| wait > 0).collect::<Vec<_>>();
            waits.sort_unstable_by(|a, b| b.cmp(a));
            if let Some(&limit) = waits.get(..keep).and_then(|largest| largest.last()) {
                let above = |row: &&_| matches!(row, tracesift_trace::rows::MethodSummaryRow { wait: Some(wait), .. } if *wait > limit);
                prop_assert!(rows().filter(above).all(|row| kept_rows.contains(row)));
            }
        }
    }

    /// One thread in one method that runs, waits and is readied: CPU, wait and ready must fill the time between first
    /// and last.
    #[test]
    fn a_single_thread_leaves_no_time_between_first_and_last(
        parts in prop::collection::vec((1i64..6, 1i64..50, 0i64..20), 1..20),
        phase in 0i64..10,
    ) {
        const INTERVAL: i64 = 10;
        let thread = ThreadId(0);
        let mut stacks = StackMethods::new();
        let mut names = MethodNames::new();
        let work = names.function(Some("writer.exe"), "Work");
        stacks.add_frame(FrameId(0), &[work]);
        stacks.add_stack(&StackRow { stack: StackId(0), frames: vec![FrameId(0)] });
        let mut time = 0;
        let (mut samples, mut switches) = (Vec::new(), Vec::new());
        for (slices, wait, ready) in parts {
            // The clock of the samples stands still while the thread is off the CPU, so that each run has its samples.
            for slice in 0..slices {
                samples.push(CpuSampleRow {
                    time: time + slice * INTERVAL + phase,
                    cpu: 0,
                    process: ProcessId(0),
                    thread,
                    weight: INTERVAL,
                    stack: Some(StackId(0)),
                    frame: None,
                    priority: None,
                    flags: 0,
                });
            }
            time += slices * INTERVAL;
            switches.push(ContextSwitchRow {
                off_time: time,
                ready_time: Some(time + wait),
                time: time + wait + ready,
                cpu: Some(0),
                thread,
                wait_stack: Some(StackId(0)),
                ..ContextSwitchRow::default()
            });
            time += wait + ready;
        }
        let recording = RecordingFacts { span: Span::new(0, time), has_switches: true, has_ready: true };
        let mut summaries = Summaries::new(recording, Span::ALL, &[a_thread(thread)], stacks);
        samples.iter().for_each(|row| summaries.sample(row));
        switches.iter().rev().for_each(|row| summaries.switch(row));
        let summary = summaries.finish([], 200, |method| names.name(method));
        let row = &summary.methods.rows()[0];
        let busy = row.cpu + row.wait.expect("switches") + row.ready.expect("ready events");
        prop_assert!((busy - (row.last - row.first)).abs() <= INTERVAL);
    }
}

fn a_thread(thread: ThreadId) -> ThreadRow {
    ThreadRow { thread, process: ProcessId(0), tid: 4711, origin: Origin::Rundown, ..ThreadRow::default() }
}

#[test]
fn without_switches_nothing_is_said_of_wait_and_ready() {
    let recording = RecordingFacts { span: Span::new(0, 100), has_switches: false, has_ready: false };
    let mut stacks = StackMethods::new();
    stacks.add_frame(FrameId(0), &[MethodId(0)]);
    let mut summaries = Summaries::new(recording, Span::ALL, &[a_thread(ThreadId(0))], stacks);
    summaries.sample(&CpuSampleRow {
        time: 100,
        cpu: 3,
        process: ProcessId(0),
        thread: ThreadId(0),
        weight: 7,
        stack: None,
        frame: Some(FrameId(0)),
        priority: Some(9),
        flags: 0,
    });
    let summary = summaries.finish([], 200, name);
    let process = &summary.processes[0];
    assert_eq!((process.samples, process.samples_without_stack, process.cpu), (1, 1, 7));
    assert_eq!((process.run, process.wait, process.ready, process.unknown), (None, None, None, None));
    assert_eq!(
        (process.cores_used, process.priority, process.first, process.last),
        (1, Some(9.0), Some(100), Some(100))
    );
    let method = &summary.methods.rows()[0];
    assert_eq!((method.cpu, method.exclusive_cpu, method.threads), (7, 7, 1));
    assert_eq!((method.wait, method.ready, method.switches), (None, None, None));
}

#[test]
fn without_ready_events_ready_is_null_unless_preempted() {
    let machine = (0..).map(|seed| simulation::run(seed, false)).find(|machine| !machine.switches.is_empty());
    let mut machine = machine.expect("some machine switches");
    machine.switches.iter_mut().for_each(|row| row.flags &= !tracesift_trace::rows::switch_flags::PREEMPTED);
    let summary = summarize(&machine, 200);
    assert!(summary.processes.iter().all(|row| row.ready.is_none() && row.wait.is_some()));
    assert!(summary.methods.rows().iter().all(|row| row.ready.is_none() && row.wait.is_some()));
}

#[test]
fn recursion_counts_once() {
    let recording = RecordingFacts { span: Span::new(0, 100), has_switches: true, has_ready: true };
    let mut stacks = StackMethods::new();
    stacks.add_frame(FrameId(0), &[MethodId(0)]);
    stacks.add_frame(FrameId(1), &[MethodId(1)]);
    let frames = [1, 0, 1, 0, 0].map(FrameId).to_vec();
    stacks.add_stack(&StackRow { stack: StackId(0), frames });
    let mut summaries = Summaries::new(recording, Span::ALL, &[a_thread(ThreadId(0))], stacks);
    summaries.switch(&ContextSwitchRow {
        off_time: 10,
        ready_time: Some(40),
        time: 45,
        cpu: Some(0),
        thread: ThreadId(0),
        wait_stack: Some(StackId(0)),
        ..ContextSwitchRow::default()
    });
    let summary = summaries.finish([], 200, name);
    assert_eq!(summary.methods.len(), 2);
    for row in summary.methods.rows() {
        assert_eq!((row.wait, row.wait_sum, row.ready, row.ready_sum), (Some(30), Some(30), Some(5), Some(5)));
        assert_eq!((row.switches, row.threads, row.first, row.last), (Some(1), 1, 10, 45));
    }
}
