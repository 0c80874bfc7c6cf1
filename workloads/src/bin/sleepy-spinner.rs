//! Threads that sleep in a loop until something has happened.

use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;
use std::time::Duration;

use serde_json::json;
use tracesift_workloads::{Arguments, Kind, Method, Opt, Piece, Report, Usage, extra_cpu, measure, run, thread};

const USAGE: Usage = Usage {
    name: "sleepy-spinner",
    problem: "Threads look whether something has happened and sleep a little in between, where they should be woken by who did it.",
    options: &[
        Opt { name: "threads", kind: Kind::Count(1), default: "2", meaning: "how many look" },
        Opt { name: "sleep", kind: Kind::Time, default: "1ms", meaning: "how long between two looks" },
        Opt { name: "seconds", kind: Kind::Time, default: "2", meaning: "after what time it happens" },
    ],
    keys: &[
        ("threads[].sleeps", "how often this thread slept"),
        ("threads[].slept_ns", "how long, by the clock before and after each sleep"),
        ("truth.sleeps", "sleeps of all threads"),
        (
            "truth.slept_ns",
            "time in them, summed over the threads, without CPU time: waits for the clock and for a CPU",
        ),
    ],
    methods: &[
        Method { name: "sleep_until_done", parts: |arguments| Ok(arguments.number("threads")) },
        Method { name: "prepare_result", parts: |_| Ok(1) },
    ],
    lock: None,
};

/// What one thread did.
struct Slept {
    sleeps: u64,
    piece: Piece,
}

#[inline(never)]
fn sleep_until_done(done: &AtomicBool, sleep: Duration) -> Slept {
    let mut slept = Slept { sleeps: 0, piece: Piece::default() };
    while !done.load(Ordering::Acquire) {
        slept.piece += measure(|| std::thread::sleep(sleep)).0;
        slept.sleeps += 1;
    }
    extra_cpu!("sleep_until_done");
    slept
}

/// What the others wait for.
#[inline(never)]
fn prepare_result(done: &AtomicBool, time: Duration) {
    std::thread::sleep(time);
    extra_cpu!("prepare_result");
    done.store(true, Ordering::Release);
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let (done, sleep) = (AtomicBool::new(false), arguments.time("sleep"));
    let told = report.phase("poll", || {
        scope(|scope| {
            let start = |number| thread(scope, format!("poller-{number}"), || sleep_until_done(&done, sleep));
            let threads: Vec<_> = (0..arguments.number("threads")).map(start).collect();
            // Also where a thread could not be started, so that the others end.
            prepare_result(&done, arguments.time("seconds"));
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| thread.join();
            let panicked = |_| io::Error::other("a thread panicked");
            threads.into_iter().map(|thread| join(thread?).map_err(panicked)).collect::<io::Result<Vec<_>>>()
        })
    })?;
    let (mut sleeps, mut sum) = (0, Piece::default());
    for (told, slept) in &told {
        report.thread(told, &[("sleeps", json!(slept.sleeps)), ("slept_ns", json!(slept.piece.elapsed))]);
        sleeps += slept.sleeps;
        sum += slept.piece;
    }
    report.tell("sleeps", sleeps);
    report.tell("slept_ns", sum.elapsed - sum.cpu);
    Ok(())
}

fn main() -> ExitCode {
    run(&USAGE, work)
}
