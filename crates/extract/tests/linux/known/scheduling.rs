//! Where the time of threads went: running, waiting, ready; who woke them; how often they switched.

use std::collections::BTreeMap;

use tracesift_fixtures::skipped;
use tracesift_trace::rows::{ContextSwitchRow, switch_flags};

use super::CLOCK;
use super::measured::{ATTEMPTS, Measured, assert_close, is_close, record};

const SCHEDULER: [&str; 6] = ["-e", "sched:sched_switch", "-e", "sched:sched_waking", "-e", "sched:sched_wakeup_new"];

/// ns by which figures may differ in any case: the clocks are not read at the same time.
const SLACK: i64 = 1_000_000;

/// A recording that lacks no switch of the program.
fn schedule(program: &str) -> Option<Measured> {
    schedule_until(program, |measured| measured.is_known() && measured.has_all_switches())
}

fn schedule_until(program: &str, is_enough: impl Fn(&Measured) -> bool) -> Option<Measured> {
    for _ in 0..ATTEMPTS {
        let measured = record(program, &[CLOCK, &SCHEDULER].concat())?;
        assert!(measured.extracted.info.has_switches && measured.extracted.info.has_ready, "{program}");
        if is_enough(&measured) {
            return Some(measured);
        }
    }
    skipped(&format!("{program}: perf leaves out too many switches, every time"));
    None
}

/// Time off the CPU, ns, in spans that the thread began by waiting.
fn blocked<'a>(rows: impl IntoIterator<Item = &'a ContextSwitchRow>) -> i64 {
    let waited = |row: &&ContextSwitchRow| row.flags & (switch_flags::PREEMPTED | switch_flags::OPEN_LEFT) == 0;
    rows.into_iter().filter(waited).map(|row| row.time - row.off_time).sum()
}

#[test]
fn the_time_of_threads_went_where_they_say() {
    for program in ["spinning", "sleeping", "locking", "many_threads"] {
        // The scheduler's figure of the time that a thread was ready has some of its sleep in it where the CPUs are busy: a sleeper
        // may stay in the queue. The clocks are read later than they should be where the machine is busy. What we say has to agree
        // in one of several recordings.
        let mut differences = Vec::new();
        for attempt in 1.. {
            let Some(measured) = schedule(program) else { return };
            differences = measured.truth.0.iter().flat_map(|(name, told)| differs(&measured, name, told)).collect();
            if differences.is_empty() || attempt == ATTEMPTS {
                break;
            }
        }
        assert!(differences.is_empty(), "{program}: {differences:#?}");
    }
}

/// Tells how the times of a thread differ from the figures of its own clocks and of the scheduler.
fn differs(measured: &Measured, name: &str, told: &BTreeMap<String, i64>) -> Vec<String> {
    let account = measured.account(told);
    // What it waited is what the scheduler's own figures leave of the time, so their errors add up in it.
    let slack = SLACK + account.unknown + told["stolen"] + account.life.length() / 100;
    let off = told["end"] - told["begin"] - told["cpu"];
    // No sleep is shorter than what was asked for.
    let waited = (off - told["ready"]).max(told.get("asked").copied().unwrap_or(0));
    let (wait, ready) = (account.wait, account.ready.unwrap());
    let unwoken = slack + unwoken(&measured.switches_of(told["tid"]));
    let parts = [
        ("run", account.run, told["cpu"], slack),
        ("off the CPU", wait + ready, off, slack),
        ("wait", wait, waited, unwoken),
        ("ready", ready, off - waited, unwoken),
    ];
    let differing = parts.into_iter().filter(|(_, found, told, slack)| !is_close(*found, *told, *slack));
    let told = |(part, found, told, slack)| format!("{name}, {part}: {found} instead of {told}, slack {slack}");
    differing.map(told).collect()
}

/// Time off the CPU, ns, of spans whose wake-up perf has left out: what of it was wait is not known.
fn unwoken(rows: &[&ContextSwitchRow]) -> i64 {
    blocked(rows.iter().copied().filter(|row| row.ready_time.is_none()))
}

#[test]
fn a_sleep_is_time_off_the_cpu() {
    let Some(measured) = schedule("sleeping") else { return };
    let told = &measured.truth.0["sleeper"];
    assert_close(blocked(measured.switches_of(told["tid"])), told["slept"], SLACK, "slept");
}

#[test]
fn who_holds_a_lock_wakes_who_waits_for_it() {
    let Some(measured) = schedule("locking") else { return };
    let (holder, waiter) = (&measured.truth.0["holder"], &measured.truth.0["waiter"]);
    let holder = measured.thread(holder["tid"]).thread;
    let by_holder = measured.switches_of(waiter["tid"]).into_iter().filter(|row| row.readier == Some(holder));
    let told = waiter["waited"] + waiter["signalled"];
    let slack = SLACK + unwoken(&measured.switches_of(waiter["tid"]));
    assert_close(blocked(by_holder), told, slack, "waited for the holder");
}

#[test]
fn every_switch_of_a_ping_pong_is_there() {
    // How many there are is the question.
    let Some(measured) = schedule_until("ping_pong", Measured::is_known) else { return };
    for name in ["ping", "pong"] {
        let told = &measured.truth.0[name];
        // CPU time is not asked for here: the scheduler charges a thread from its wake-up on, some microseconds before it is
        // switched in, which is much of what these run.
        let account = measured.account(told);
        assert_close(account.switches, told["voluntary"] + told["preempted"], 5, &format!("{name}, switches"));
        let preempted = measured.switches_of(told["tid"]).into_iter();
        let preempted = preempted.filter(|row| row.flags & switch_flags::PREEMPTED != 0).count();
        assert_close(i64::try_from(preempted).unwrap(), told["preempted"], 5, &format!("{name}, preempted"));
        // Nobody goes on before the other one has answered, but may see the answer before it went to sleep.
        assert!(account.switches <= told["round-trips"] + told["preempted"] + 5, "{told:?}");
        assert!(account.switches * 2 > told["round-trips"], "{told:?}");
    }
}
