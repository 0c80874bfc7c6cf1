//! Counters at switches: each thread has what the kernel counted for it.

use tracesift_fixtures::skipped;
use tracesift_trace::rows::CounterSummaryRow;

use super::measured::{ATTEMPTS, Measured, in_one_of_several, record};

/// Page faults are counted by software on every machine; a counter of the processor takes the same way.
const COUNTED: &[&str] = &["-a", "-e", "{sched:sched_switch,page-faults,context-switches}:S"];

/// Faults between the thread's own look at its figures and its end.
const SLACK: i64 = 40;

/// A recording that lacks no switch of the program: what was counted before a switch that perf leaves out belongs to nobody.
fn with_all_switches() -> Option<Measured> {
    for _ in 0..ATTEMPTS {
        let measured = record("touching_pages", COUNTED)?;
        if measured.is_known() && measured.has_all_switches() {
            return Some(measured);
        }
    }
    skipped("touching_pages: perf leaves out too many switches, every time");
    None
}

#[test]
fn page_faults_at_switches_are_those_of_the_threads() {
    let check = |measured: &Measured| {
        let rows: Vec<CounterSummaryRow> = measured.extracted.archive.rows().unwrap();
        for (name, told) in &measured.truth.0 {
            let thread = measured.thread(told["tid"]).thread;
            let of_thread = rows.iter().filter(|row| row.thread == Some(thread) && row.counter == "page-faults");
            let found: i64 = of_thread.filter_map(|row| row.value).sum();
            assert!((found - told["faults"]).abs() <= SLACK, "{name}: {found} of {told:?}");
        }
        assert!(measured.truth.0.len() == 3 && rows.iter().all(|row| row.best == Some(true) && row.unknown == 0));
    };
    in_one_of_several(with_all_switches, check);
}
