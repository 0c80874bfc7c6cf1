//! Run, wait and ready times, held against `perf sched timehist` on the same recording.

use std::collections::BTreeMap;

use tracesift_analysis::{Accounting, Recording, Span};
use tracesift_trace::ThreadId;
use tracesift_trace::rows::{ContextSwitchRow, switch_flags};

use crate::extracted::Extracted;
use crate::perf::{self, Slice};

/// Starts and ends, sleeps, pipes, disk writes, and more work than CPUs.
const PROGRAMS: &str = "i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i+1)); done; \
    (i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done) & \
    (i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done) & \
    (i=0; while [ $i -lt 100 ]; do echo $i; sleep 0.002; i=$((i+1)); done | cat > /dev/null) & \
    dd if=/dev/zero of=/dev/null bs=1k count=200000 2>/dev/null; sleep 0.3; wait";

const SCHEDULER: [&str; 6] =
    ["-e", "sched:sched_switch", "-e", "sched:sched_waking", "-e", "sched:sched_wakeup_new"];

/// A slice as the archive has it.
#[derive(Clone, Debug)]
struct Own {
    slice: Slice,
    /// It was off the CPU when the recording began: until its switch-in nothing is known of it, but perf takes a wake-up that
    /// it sees there for the start of a delay.
    open: bool,
}

/// The slice between a switch-in and the time at which the thread leaves, as timehist prints it.
fn own(tid: i64, on: &ContextSwitchRow, off: i64, zero: i64) -> Own {
    let open = on.flags & switch_flags::OPEN_LEFT != 0;
    // For the kernel's tools a thread that was preempted has no delay.
    let preempted = on.flags & switch_flags::PREEMPTED != 0;
    let delay = on.ready_time.filter(|_| !preempted).map_or(0, |ready| on.time - ready);
    let wait = if open { 0 } else { on.time - on.off_time };
    let (end, run) = ((off + zero) / 1000, (off - on.time) / 1000);
    let slice = Slice { end, cpu: on.cpu.unwrap(), tid, wait: wait / 1000, delay: delay / 1000, run };
    Own { slice, open: open && on.ready_time.is_none() }
}

/// The slices of a thread from its rows.
fn slices(tid: i64, rows: &[ContextSwitchRow], zero: i64) -> Vec<Own> {
    let mut slices = Vec::new();
    let mut running: Option<&ContextSwitchRow> = None;
    for row in rows {
        slices.extend(running.map(|on| own(tid, on, row.off_time, zero)));
        running = Some(row).filter(|row| row.flags & switch_flags::NO_SWITCH_IN == 0);
    }
    slices
}

/// Whether perf says the same of a slice.
fn near(ours: &Own, theirs: &Slice) -> bool {
    let near = |a: i64, b: i64| (a - b).abs() <= 1;
    let Own { slice, open } = ours;
    let run = slice.cpu == theirs.cpu && near(slice.end, theirs.end) && near(slice.run, theirs.run);
    // A thread that ends loses its id before it leaves the CPU: perf takes them all for one, with the waits of others.
    let nobody = theirs.tid < 0;
    let delay = *open || near(slice.delay, theirs.delay);
    run && (nobody || slice.tid == theirs.tid && near(slice.wait, theirs.wait) && delay)
}

#[test]
#[expect(clippy::print_stdout, reason = "what differs is listed")]
fn slices_are_those_of_timehist() {
    let arguments = [&["-a", "-g", "-e", "cpu-clock/freq=999/"][..], &SCHEDULER].concat();
    let Some(recorded) = perf::record(&arguments, &["sh", "-c", PROGRAMS]) else { return };
    let extracted = Extracted::of(&recorded.file);
    assert!(extracted.info.has_switches && extracted.info.has_ready);
    identity_holds(&extracted);

    let zero = extracted.info.clock_zero;
    let mut by_thread: BTreeMap<ThreadId, Vec<ContextSwitchRow>> = BTreeMap::new();
    for row in &extracted.switches {
        by_thread.entry(row.thread).or_default().push(row.clone());
    }
    let mut ours: BTreeMap<(i16, i64), Vec<Own>> = BTreeMap::new();
    for (thread, rows) in &by_thread {
        let tid = extracted.threads[thread.index()].tid;
        for own_slice in slices(tid, rows, zero) {
            ours.entry((own_slice.slice.cpu, own_slice.slice.end)).or_default().push(own_slice);
        }
    }
    let theirs = recorded.timehist();
    assert!(theirs.len() > 500, "{} slices", theirs.len());
    let (mut equal, mut differ) = (0, Vec::new());
    for slice in &theirs {
        let ends = ours.range((slice.cpu, slice.end - 1)..=(slice.cpu, slice.end + 1));
        let found: Vec<&Own> = ends.flat_map(|(_, slices)| slices).collect();
        if found.iter().any(|found| near(found, slice)) {
            equal += 1;
        } else {
            differ.push((slice, found));
        }
    }
    for (theirs, ours) in &differ {
        println!("perf: {theirs:?}\nours: {ours:?}");
    }
    println!("{:?}", extracted.health);
    println!("{equal} of {} slices agree, {} broken chains", theirs.len(), extracted.health.get("broken_switch_chain"));
    assert!(differ.len() * 100 <= theirs.len(), "{} of {} differ", differ.len(), theirs.len());
}

/// Run, wait, ready, open and unknown time add up to the life of every thread.
fn identity_holds(extracted: &Extracted) {
    let mut accounting = Accounting::new(&Recording::from(&extracted.info), Span::ALL, &extracted.threads);
    extracted.switches.iter().for_each(|row| accounting.switch(row, &mut |_| {}));
    let accounts = accounting.finish(&mut |_| {});
    assert_eq!(accounts.contradictions, 0);
    for account in &accounts.threads {
        let sum = account.run + account.wait + account.ready.unwrap_or(0) + account.open + account.unknown;
        assert_eq!(sum, account.life.end - account.life.start, "{account:?}");
    }
}
