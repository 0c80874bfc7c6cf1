//! A reader that keeps a lock while it waits for a slow device.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _, pipe};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::scope;
use std::time::Duration;

use serde_json::json;
use tracesift_workloads::{
    Arguments, Kind, Method, Opt, Piece, Report, ThreadTold, Usage, extra_cpu, extra_lock_part, measure, on_stack, run,
    spin, thread,
};

const USAGE: Usage = Usage {
    name: "slow-reader",
    problem: "One thread holds a lock while it reads from something slow: all others wait for the lock, and it is the device \
              that they wait for.",
    options: &[
        Opt { name: "threads", kind: Kind::Count(1), default: "2", meaning: "how many others want the lock" },
        Opt { name: "reads", kind: Kind::Count(1), default: "25", meaning: "reads with the lock held" },
        Opt { name: "delay", kind: Kind::Time, default: "80ms", meaning: "how long the device takes for each" },
        Opt {
            name: "pause",
            kind: Kind::Time,
            default: "10ms",
            meaning: "how long the reader leaves the lock alone after each",
        },
    ],
    keys: &[
        ("threads[].waits", "how often this thread waited for the lock"),
        ("threads[].waited_ns", "time in `wait_for_lock`, without its CPU time there"),
        ("threads[].longest_wait_ns", "the longest time in it"),
        ("truth.reads", "reads with the lock held"),
        ("truth.read_ns", "time in `read_with_lock_held`, without its CPU time there"),
        ("truth.waited_ns", "time in `wait_for_lock`, without CPU time, summed over the threads"),
        (
            "truth.longest_wait_ns",
            "the longest time in it of any thread: one wait, or several where another thread got the lock first",
        ),
    ],
    methods: &[
        Method { name: "answer_slowly", parts: |arguments| Ok(arguments.number("reads")) },
        Method { name: "read_with_lock_held", parts: |arguments| Ok(arguments.number("reads")) },
    ],
    lock: Some(Method { name: "read_with_lock_held", parts: |arguments| Ok(arguments.number("reads")) }),
};

/// What one thread did.
#[derive(Default)]
struct Did {
    times: u64,
    piece: Piece,
    longest: i64,
}

impl Did {
    fn add(&mut self, piece: Piece) {
        self.times += 1;
        self.piece += piece;
        self.longest = self.longest.max(piece.elapsed);
    }

    fn off_cpu(&self) -> i64 {
        self.piece.elapsed - self.piece.cpu
    }
}

/// What one thread did, and what it waited for the lock.
#[derive(Default)]
struct Spans {
    read: Did,
    waited: Did,
}

/// The slow device: answers each request after a while, as long as there are any.
#[inline(never)]
fn answer_slowly(requests: &mut PipeReader, answers: &mut PipeWriter, delay: Duration) -> io::Result<()> {
    while requests.read(&mut [0])? > 0 {
        std::thread::sleep(delay);
        extra_cpu!("answer_slowly");
        answers.write_all(b"x")?;
    }
    Ok(())
}

#[inline(never)]
fn read_with_lock_held(requests: &mut PipeWriter, answers: &mut PipeReader) -> io::Result<()> {
    requests.write_all(b"x")?;
    answers.read_exact(&mut [0])?;
    extra_cpu!("read_with_lock_held");
    // The reader needs no CPU while it has the lock, so it needs none while it has it longer.
    if let Some(part) = extra_lock_part() {
        std::thread::sleep(part.time());
        part.end(|took| took.elapsed);
    }
    on_stack(Ok(()))
}

/// Waits for the lock and works with it for a moment.
fn use_lock(lock: &Mutex<u64>, did: &mut Did) {
    let (piece, mut guard) = measure(|| wait_for_lock(lock));
    did.add(piece);
    *guard += 1;
    spin!(Duration::from_micros(200));
}

#[inline(never)]
fn wait_for_lock(lock: &Mutex<u64>) -> std::sync::MutexGuard<'_, u64> {
    on_stack(lock.lock().unwrap_or_else(PoisonError::into_inner))
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let (lock, done) = (Mutex::new(0), AtomicBool::new(false));
    let ((mut device_reads, mut reader_writes), (mut reader_reads, mut device_writes)) = (pipe()?, pipe()?);
    let (delay, pause, reads) = (arguments.time("delay"), arguments.time("pause"), arguments.number("reads"));
    let read = || -> io::Result<Spans> {
        let (mut did, mut waited) = (Did::default(), Did::default());
        for _ in 0..reads {
            let (piece, guard) = measure(|| wait_for_lock(&lock));
            waited.add(piece);
            let (piece, result) = measure(|| read_with_lock_held(&mut reader_writes, &mut reader_reads));
            drop(guard);
            did.add(piece);
            result?;
            std::thread::sleep(pause);
        }
        // The device ends when nobody asks any more.
        drop(reader_writes);
        Ok(Spans { read: did, waited })
    };
    let want = || {
        let mut did = Did::default();
        while !done.load(Ordering::Acquire) {
            use_lock(&lock, &mut did);
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(Spans { waited: did, ..Spans::default() })
    };
    let told = report.phase("read", || {
        scope(|scope| {
            let device = move || answer_slowly(&mut device_reads, &mut device_writes, delay).map(|()| Spans::default());
            let device = thread(scope, "device", device);
            let reader = thread(scope, "reader", read);
            let others: Vec<_> =
                (0..arguments.number("threads")).map(|n| thread(scope, format!("other-{n}"), want)).collect();
            let join = |thread: io::Result<std::thread::ScopedJoinHandle<'_, (ThreadTold, io::Result<Spans>)>>| {
                let (told, did) = thread?.join().map_err(|_| io::Error::other("a thread panicked"))?;
                Ok((told, did?))
            };
            let reader = join(reader);
            // Also where the reader failed, so that the others end.
            done.store(true, Ordering::Release);
            let others = others.into_iter().map(join).collect::<io::Result<Vec<_>>>();
            io::Result::Ok((join(device)?, reader?, others?))
        })
    });
    let ((device, _), (reader, read), others) = told?;
    report.thread(&device, &[]);
    let waiting: Vec<_> = std::iter::once((reader, &read.waited))
        .chain(others.iter().map(|(told, spans)| (told.clone(), &spans.waited)))
        .collect();
    for (told, did) in &waiting {
        let more =
            [("waits", json!(did.times)), ("waited_ns", json!(did.off_cpu())), ("longest_wait_ns", json!(did.longest))];
        report.thread(told, &more);
    }
    report.tell("reads", read.read.times);
    report.tell("read_ns", read.read.off_cpu());
    report.tell("waited_ns", waiting.iter().map(|(_, did)| did.off_cpu()).sum::<i64>());
    report.tell("longest_wait_ns", waiting.iter().map(|(_, did)| did.longest).max());
    Ok(())
}

fn main() -> ExitCode {
    run(&USAGE, work)
}
