//! Run, wait and ready times, held against `perf sched timehist` on the same recording.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_trace::ThreadId;
use tracesift_trace::rows::{ContextSwitchRow, switch_flags};

use crate::extracted::Extracted;
use crate::perf::{self, Slice, Traced};

/// Starts and ends, sleeps, pipes, disk writes, and more work than CPUs.
const PROGRAMS: &str = "i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i+1)); done; \
    (i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done) & \
    (i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done) & \
    (i=0; while [ $i -lt 100 ]; do echo $i; sleep 0.002; i=$((i+1)); done | cat > /dev/null) & \
    dd if=/dev/zero of=/dev/null bs=1k count=200000 2>/dev/null; sleep 0.3; wait";

const SCHEDULER: [&str; 6] = ["-e", "sched:sched_switch", "-e", "sched:sched_waking", "-e", "sched:sched_wakeup_new"];

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

/// How often, by the text of the events, the thread that leaves a CPU is not the one that came last, and how often one
/// comes to a CPU while another has it: the clocks of two CPUs may differ by more than a thread takes to move.
fn missing_links(traced: &[Traced]) -> usize {
    let mut running: BTreeMap<i16, &str> = BTreeMap::new();
    let mut missing = 0;
    for line in traced.iter().filter(|line| line.event == "sched:sched_switch") {
        let field = |name: &str| line.text.split(name).nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
        let next = field("next_pid=");
        missing += usize::from(next != "0" && running.iter().any(|(cpu, on)| *cpu != line.cpu && *on == next));
        let before = running.insert(line.cpu, next);
        missing += usize::from(before.is_some_and(|before| before != field("prev_pid=")));
    }
    missing
}

#[test]
fn slices_are_those_of_timehist() {
    let arguments = [&["-a", "-g", "-e", "cpu-clock/freq=999/"][..], &SCHEDULER].concat();
    let Some(recorded) = perf::record(&arguments, &["sh", "-c", PROGRAMS]) else { return };
    let extracted = Extracted::of(&recorded.file);
    assert!(extracted.info.has_switches && extracted.info.has_ready);
    extracted.check_accounts();

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
    // Where a chain is broken the kernel's tools charge a thread with what others did.
    let gaps = extracted.switches.iter().filter(|row| row.flags & switch_flags::GAP != 0);
    let broken: BTreeSet<(i64, i64)> =
        gaps.map(|row| ((row.time + zero) / 1000, extracted.threads[row.thread.index()].tid)).collect();
    let is_broken = |slice: &Slice| (-1..=1).any(|shift| broken.contains(&(slice.end + shift, slice.tid)));
    let (mut equal, mut differ, mut unknown) = (0, Vec::new(), 0);
    for slice in &theirs {
        let ends = ours.range((slice.cpu, slice.end - 1)..=(slice.cpu, slice.end + 1));
        let found: Vec<&Own> = ends.flat_map(|(_, slices)| slices).collect();
        if found.iter().any(|found| near(found, slice)) {
            equal += 1;
        } else if is_broken(slice) {
            unknown += 1;
        } else {
            differ.push((slice, found));
        }
    }
    for (theirs, ours) in &differ {
        println!("perf: {theirs:?}\nours: {ours:?}");
    }
    println!("{equal} of {} slices agree, {unknown} at broken chains", theirs.len());
    // Each link that perf's own text lacks leaves two threads of unknown time: the one that goes and the one that was there.
    let missing = missing_links(&recorded.tracepoints());
    assert!(unknown <= 2 * missing, "{unknown} of {} are unknown at {missing} missing links", theirs.len());
    assert!(differ.len() * 100 <= theirs.len(), "{} of {} differ", differ.len(), theirs.len());
}

#[test]
fn stacks_of_waits_are_those_of_perf_script() {
    let arguments = [&["-a", "-g"][..], &SCHEDULER].concat();
    let Some(recorded) = perf::record(&arguments, &["sh", "-c", PROGRAMS]) else { return };
    let extracted = Extracted::of(&recorded.file);
    let zero = extracted.info.clock_zero;
    // By time and thread: two CPUs can have an event in the same nanosecond.
    let expected = |event: &str| -> BTreeMap<(i64, i64), Vec<(u64, String)>> {
        // Where perf met a word that is no address it discards the call chain.
        let samples = recorded.samples_of(event).into_iter().filter(|sample| !sample.frames.is_empty());
        samples.map(|sample| ((sample.time, sample.tid), sample.frames)).collect()
    };
    let tid = |thread: ThreadId| extracted.threads[thread.index()].tid;
    let (left, woken) = (expected("sched:sched_switch"), expected("sched:sched_waking"));
    let (mut waits, mut wakers) = (0, 0);
    for row in &extracted.switches {
        let seen = row.flags & (switch_flags::OPEN_LEFT | switch_flags::BROKEN) == 0;
        if let Some(frames) = left.get(&(row.off_time + zero, tid(row.thread))).filter(|_| seen) {
            assert_eq!(&extracted.stacks[row.wait_stack.unwrap().index()], frames, "{row:?}");
            waits += 1;
        }
        if let Some(frames) = row.ready_time.and_then(|time| woken.get(&(time + zero, tid(row.readier?)))) {
            assert_eq!(&extracted.stacks[row.ready_stack.unwrap().index()], frames, "{row:?}");
            wakers += 1;
        }
    }
    assert!(waits > 1000 && wakers > 300, "{waits} stacks of waits, {wakers} of wakers");
}

#[test]
fn switch_records_do_where_tracepoints_are_missing() {
    for arguments in [
        &["-a", "--switch-events", "-e", "cpu-clock"][..],
        &["--switch-events", "--sample-cpu", "-e", "task-clock"],
        &["--switch-events", "-e", "task-clock"],
    ] {
        let Some(recorded) = perf::record(arguments, &["sh", "-c", PROGRAMS]) else { return };
        let extracted = Extracted::of(&recorded.file);
        assert!(extracted.info.has_switches && !extracted.info.has_ready, "{arguments:?}");
        extracted.check_accounts();
        let tid = |thread: ThreadId| extracted.threads[thread.index()].tid;
        let zero = extracted.info.clock_zero;
        let switched_in = |row: &&ContextSwitchRow| row.flags & switch_flags::NO_SWITCH_IN == 0 && tid(row.thread) > 0;
        let rows = || extracted.switches.iter();
        let ours: BTreeSet<(i64, i64)> =
            rows().filter(switched_in).map(|row| (row.time + zero, tid(row.thread))).collect();
        let preempted: BTreeSet<(i64, i64)> = rows()
            .filter(|row| row.flags & switch_flags::PREEMPTED != 0 && tid(row.thread) > 0)
            .map(|row| (row.off_time + zero, tid(row.thread)))
            .collect();
        let expected = recorded.switch_records(arguments.contains(&"-a"));
        assert!(expected.comes.len() > 200, "{arguments:?}: {} switches", expected.comes.len());
        let differing: Vec<_> = expected.comes.symmetric_difference(&ours).collect();
        assert!(differing.is_empty(), "{arguments:?}: of {}: {differing:?}", ours.len());
        // Who is preempted and never comes back before its end has a closing row with another time.
        let differing = preempted.symmetric_difference(&expected.preempted).count();
        let preempted = expected.preempted.len();
        assert!(differing * 100 <= preempted, "{arguments:?}: {differing} of {preempted} differ");
    }
}

#[test]
fn sampled_switches_are_refused() {
    let arguments = ["-a", "-F", "99", "-e", "cpu-clock", "-e", "sched:sched_switch"];
    let Some(recorded) = perf::record(&arguments, &["sh", "-c", PROGRAMS]) else { return };
    let extracted = Extracted::of(&recorded.file);
    assert!(!extracted.info.has_switches && !extracted.info.has_ready);
    assert!(extracted.switches.is_empty());
    let stored = extracted.health.get("sampled_switches");
    assert!(stored > 0);
    let said = extracted.info.caveats.iter().find(|text| text.contains("sched:sched_switch")).unwrap();
    let total: i64 = said.split(&format!("{stored} of ")).nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert_eq!(total, recorded.weight_of("sched:sched_switch"), "{said}");
    assert!(total > stored, "{said}");
}

#[test]
fn switches_of_single_tasks_are_refused() {
    let Some(recorded) = perf::record(&["-e", "sched:sched_switch", "-e", "task-clock"], &["sh", "-c", PROGRAMS])
    else {
        return;
    };
    let extracted = Extracted::of(&recorded.file);
    assert!(!extracted.info.has_switches && extracted.switches.is_empty());
    assert!(extracted.info.caveats.iter().any(|text| text.contains("single tasks")), "{:?}", extracted.info.caveats);
}

#[test]
fn losses_leave_sound_tables() {
    // A buffer of a single page, and more than it can hold.
    let arguments = ["-m", "1", "-a", "-g", "-e", "cpu-clock/freq=20000/", "-e", "raw_syscalls:sys_enter"];
    let program = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=40000"];
    let Some(recorded) = perf::record_as_it_comes(&[&arguments[..], &SCHEDULER].concat(), &program) else { return };
    let extracted = Extracted::of(&recorded.file);
    extracted.check_accounts();
    assert!(extracted.switches.is_sorted_by_key(|row| row.time));
    let lost = extracted.info.events_lost;
    assert_eq!(lost, recorded.lost());
    // A machine with many idle CPUs may lose nothing.
    println!("{lost} lost, {} broken chains", extracted.health.get("broken_switch_chain"));
}
