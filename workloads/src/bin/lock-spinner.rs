//! Threads that spin for a lock before they wait for it.

use std::hint::spin_loop;
use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::scope;
use std::time::{Duration, Instant};

use serde_json::json;
use tracesift_workloads::{
    Arguments, Kind, Method, Opt, Parts, Piece, Report, Usage, extra_cpu, extra_lock_part, measure, on_stack, run,
    spin, thread, thread_cpu_ns,
};

const USAGE: Usage = Usage {
    name: "lock-spinner",
    problem: "Threads that want a lock burn CPU for it: they spin long before they wait, and who holds the lock needs a CPU, too.",
    options: &[
        Opt { name: "threads", kind: Kind::Count(1), default: "4", meaning: "how many want the lock" },
        Opt {
            name: "spin",
            kind: Kind::Time,
            default: "4ms",
            meaning: "CPU time that a thread spins for the lock before it waits",
        },
        Opt { name: "hold", kind: Kind::Time, default: "5ms", meaning: "CPU time that a thread works with the lock" },
        Opt { name: "pause", kind: Kind::Time, default: "2ms", meaning: "how long it leaves the lock alone then" },
        Opt { name: "seconds", kind: Kind::Time, default: "3", meaning: "how long" },
        Opt {
            name: "locks",
            kind: Kind::Count(0),
            default: "0",
            meaning: "how often the lock is taken, whatever time that takes; 0: for the time of --seconds",
        },
    ],
    keys: &[
        ("threads[].locks", "how often this thread got the lock"),
        ("threads[].spin_cpu_ns", "its CPU time in `spin_for_lock`"),
        ("threads[].waited_ns", "its time in `wait_for_lock`, without its CPU time there"),
        ("truth.locks", "how often the lock was taken"),
        ("truth.waits", "how often a thread had to wait for it"),
        ("truth.spin_cpu_ns", "CPU time in `spin_for_lock`, of all threads"),
        ("truth.hold_cpu_ns", "CPU time in `work_with_lock`, of all threads"),
        (
            "truth.waited_ns",
            "time off the CPU in `wait_for_lock`: waits for the lock and for a CPU, summed over the threads",
        ),
    ],
    methods: &[Method { name: "spin_for_lock", parts: LOCKS }, Method { name: "work_with_lock", parts: LOCKS }],
    lock: Some(Method { name: "work_with_lock", parts: LOCKS }),
};

const LOCKS: Parts = |arguments| match arguments.number("locks") {
    0 => Err("give --locks".to_owned()),
    locks => Ok(locks),
};

/// Tries to get the lock until so much CPU time is used up.
#[inline(never)]
fn spin_for_lock(lock: &Mutex<u64>, time: i64) -> Option<MutexGuard<'_, u64>> {
    extra_cpu!("spin_for_lock");
    let end = thread_cpu_ns() + time;
    loop {
        match lock.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => (0..1_000).for_each(|_| spin_loop()),
        }
        if thread_cpu_ns() >= end {
            return None;
        }
    }
}

#[inline(never)]
fn wait_for_lock(lock: &Mutex<u64>) -> MutexGuard<'_, u64> {
    on_stack(lock.lock().unwrap_or_else(PoisonError::into_inner))
}

#[inline(never)]
fn work_with_lock(count: &mut u64, time: Duration) {
    spin!(time);
    extra_cpu!("work_with_lock");
    if let Some(part) = extra_lock_part() {
        spin!(part.time());
        part.end(|took| took.cpu);
    }
    *count += 1;
}

/// What one thread did.
#[derive(Default)]
struct Contended {
    locks: u64,
    waits: u64,
    spun: Piece,
    waited: Piece,
    held: Piece,
}

fn contend(lock: &Mutex<u64>, arguments: &Arguments, goes_on: &impl Fn() -> bool) -> Contended {
    let (hold, pause) = (arguments.time("hold"), arguments.time("pause"));
    let spin = i64::try_from(arguments.time("spin").as_nanos()).unwrap_or(i64::MAX);
    let mut sum = Contended::default();
    while goes_on() {
        let (spun, guard) = measure(|| spin_for_lock(lock, spin));
        sum.spun += spun;
        let mut guard = guard.unwrap_or_else(|| {
            let (waited, guard) = measure(|| wait_for_lock(lock));
            sum.waited += waited;
            sum.waits += 1;
            guard
        });
        sum.held += measure(|| work_with_lock(&mut guard, hold)).0;
        sum.locks += 1;
        drop(guard);
        std::thread::sleep(pause);
    }
    sum
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let lock = Mutex::new(0);
    let told = report.phase("contend", || {
        let (end, begun) = (Instant::now() + arguments.time("seconds"), AtomicU64::new(0));
        let goes_on = || match arguments.number("locks") {
            0 => Instant::now() < end,
            locks => begun.fetch_add(1, Ordering::Relaxed) < locks,
        };
        scope(|scope| {
            let start = |number| thread(scope, format!("contender-{number}"), || contend(&lock, arguments, &goes_on));
            let threads: Vec<_> = (0..arguments.number("threads")).map(start).collect::<io::Result<_>>()?;
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| thread.join().ok();
            let told: Option<Vec<_>> = threads.into_iter().map(join).collect();
            told.ok_or_else(|| io::Error::other("a thread panicked"))
        })
    })?;
    let mut sum = Contended::default();
    for (told, did) in &told {
        let off_cpu = did.waited.elapsed - did.waited.cpu;
        let more = [("locks", json!(did.locks)), ("spin_cpu_ns", json!(did.spun.cpu)), ("waited_ns", json!(off_cpu))];
        report.thread(told, &more);
        sum.locks += did.locks;
        sum.waits += did.waits;
        sum.spun += did.spun;
        sum.held += did.held;
        sum.waited += did.waited;
    }
    report.tell("locks", sum.locks);
    report.tell("waits", sum.waits);
    report.tell("spin_cpu_ns", sum.spun.cpu);
    report.tell("hold_cpu_ns", sum.held.cpu);
    report.tell("waited_ns", sum.waited.elapsed - sum.waited.cpu);
    Ok(())
}

fn main() -> ExitCode {
    run(&USAGE, work)
}
