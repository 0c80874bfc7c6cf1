//! Waits for locks of the kernel, held against what perf adds up.

use std::collections::BTreeMap;

use tracesift_fixtures::skipped;
use tracesift_trace::rows::LockWaitRow;

use crate::extracted::Extracted;
use crate::perf;

/// Threads that map and touch memory at once: they want the lock of their address space.
const MAPPING: &str = "
import mmap, threading, time
end = time.monotonic() + 1
def work():
    while time.monotonic() < end:
        with mmap.mmap(-1, 1 << 20) as memory:
            for at in range(0, 1 << 20, 4096):
                memory[at] = 1
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
";

/// Per thread the number of waits, and their sum, ns: of two waits for one lock at once the first counts.
fn expected(recorded: &perf::Recorded) -> BTreeMap<i64, (i64, i64)> {
    let mut open: BTreeMap<(i64, i16, String), i64> = BTreeMap::new();
    let mut sums: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for line in recorded.tracepoints() {
        // Each CPU has its own idle thread.
        let cpu = if line.tid == 0 { line.cpu } else { 0 };
        let lock = line.text.split(' ').next().unwrap().to_owned();
        match line.event.as_str() {
            "lock:contention_begin" => _ = open.entry((line.tid, cpu, lock)).or_insert(line.time),
            "lock:contention_end" => {
                if let Some(begin) = open.remove(&(line.tid, cpu, lock)) {
                    let sum = sums.entry(line.tid).or_default();
                    (sum.0, sum.1) = (sum.0 + 1, sum.1 + line.time - begin);
                }
            }
            _ => {}
        }
    }
    sums
}

#[test]
fn waits_are_those_that_perf_adds_up() {
    let python = std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let arguments = ["-a", "-g", "-m", "8M", "-e", "lock:contention_begin", "-e", "lock:contention_end"];
    let Some(recorded) = perf::record(&arguments, &[&python, "-c", MAPPING]) else { return };
    if recorded.lost() > 0 {
        return skipped("perf lost events of locks");
    }
    let extracted = Extracted::of(&recorded.file);
    let rows: Vec<LockWaitRow> = extracted.archive.rows().unwrap();
    let ended = || rows.iter().filter(|row| row.open.is_none());
    let mut found: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for row in ended() {
        let tid = extracted.threads[row.thread.unwrap().index()].tid;
        let sum = found.entry(tid).or_default();
        (sum.0, sum.1) = (sum.0 + 1, sum.1 + row.time - row.start);
    }
    assert_eq!(found, expected(&recorded));
    assert!(ended().count() > 20 && ended().any(|row| row.stack.is_some()), "{} waits", rows.len());

    // perf's own sums by thread: `   40    132.38 us     19.21 us      2.76 us   1234  python3`. Idle threads are one there.
    let told = recorded.lock_contention();
    let mut compared = 0;
    for line in told.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [count, total, unit, _, _, _, _, tid, ..] = words[..] else { continue };
        let (Ok(count), Ok(total), Ok(tid)) = (count.parse::<i64>(), total.parse::<f64>(), tid.parse::<i64>()) else {
            continue;
        };
        let nanoseconds = match unit {
            "s" => 1e9,
            "ms" => 1e6,
            "us" => 1e3,
            "ns" => 1.0,
            _ => continue,
        };
        if tid != 0 {
            let (waits, sum) = found.get(&tid).copied().unwrap_or_default();
            // It prints two digits behind the point.
            let difference = (sum as f64 - total * nanoseconds).abs();
            assert!(waits == count && difference <= nanoseconds * 0.01, "{line}: {waits} waits of {sum} ns");
            compared += waits;
        }
    }
    if compared == 0 {
        skipped("this perf does not add up waits for locks by thread");
    }
}
