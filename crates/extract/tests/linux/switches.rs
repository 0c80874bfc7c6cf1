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

/// A slice as the archive has it, in ns since time zero.
#[derive(Clone, Copy, Debug)]
struct OwnSlice {
    cpu: i16,
    /// Switch-in; `None`: it ran when the recording began.
    start: Option<i64>,
    end: i64,
    off: i64,
    ready: Option<i64>,
    flags: i16,
}

impl OwnSlice {
    /// The slice as timehist prints it.
    fn as_timehist(&self, tid: i64, zero: i64) -> Option<Slice> {
        let start = self.start?;
        let open = self.flags & switch_flags::OPEN_LEFT != 0;
        let preempted = self.flags & switch_flags::PREEMPTED != 0;
        Some(Slice {
            end: (self.end + zero) / 1000,
            cpu: self.cpu,
            tid,
            wait: if open { 0 } else { (start - self.off) / 1000 },
            // For the kernel's tools a thread that was preempted has no delay.
            delay: self.ready.filter(|_| !preempted).map_or(0, |ready| start - ready) / 1000,
            run: (self.end - start) / 1000,
        })
    }
}

/// The slices of a thread from its rows.
fn slices(rows: &[ContextSwitchRow]) -> Vec<OwnSlice> {
    let mut slices = Vec::new();
    let mut running: Option<&ContextSwitchRow> = None;
    for row in rows {
        if let Some(on) = running {
            slices.push(OwnSlice {
                cpu: on.cpu.unwrap(),
                start: Some(on.time),
                end: row.off_time,
                off: on.off_time,
                ready: on.ready_time,
                flags: on.flags,
            });
        }
        running = Some(row).filter(|row| row.flags & switch_flags::NO_SWITCH_IN == 0);
    }
    slices
}

fn near(ours: &Slice, theirs: &Slice) -> bool {
    let near = |a: i64, b: i64| (a - b).abs() <= 1;
    near(ours.end, theirs.end)
        && near(ours.wait, theirs.wait)
        && near(ours.delay, theirs.delay)
        && near(ours.run, theirs.run)
        && ours.cpu == theirs.cpu
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
    // By CPU and end: there a single thread leaves, also one whose id perf does not know any more.
    let mut own: BTreeMap<(i16, i64), Slice> = BTreeMap::new();
    for (thread, rows) in &by_thread {
        let tid = extracted.threads[thread.index()].tid;
        for slice in slices(rows).iter().filter_map(|slice| slice.as_timehist(tid, zero)) {
            own.insert((slice.cpu, slice.end), slice);
        }
    }
    let theirs = recorded.timehist();
    assert!(theirs.len() > 500, "{} slices", theirs.len());
    let (mut equal, mut differ) = (0, Vec::new());
    for slice in &theirs {
        let found = (-1..=1).find_map(|shift| own.get(&(slice.cpu, slice.end + shift)));
        match found {
            Some(found) if near(found, slice) && (found.tid == slice.tid || slice.tid < 0) => equal += 1,
            found => differ.push((slice, found)),
        }
    }
    for (theirs, ours) in &differ {
        println!("perf: {theirs:?}\nours: {ours:?}");
    }
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
