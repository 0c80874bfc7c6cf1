//! Stays of CPUs in idle states, held against the counters that the kernel keeps of them.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_fixtures::skipped;
use tracesift_trace::rows::CpuIdleStateRow;

use crate::extracted::Extracted;
use crate::perf;

/// Prints twice, for each CPU and state: the number of stays and their time in µs, between the two times on perf's
/// clock at which the counters were read. A busy machine can let much time pass between two of these lines.
const COUNTERS: &str = "
import glob, re, time
def show():
    for usage in sorted(glob.glob('/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*/usage')):
        cpu, state = re.search('cpu([0-9]+)/cpuidle/state([0-9]+)', usage).groups()
        spent = usage.replace('usage', 'time')
        before = time.monotonic_ns()
        counts = open(usage).read().strip(), open(spent).read().strip()
        print(cpu, state, before, *counts, time.monotonic_ns())
show()
time.sleep(1)
show()
";

#[test]
fn idle_states_are_those_that_the_kernel_counted() {
    let python = std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let arguments = ["-a", "-k", "CLOCK_MONOTONIC", "-e", "power:cpu_idle"];
    let Some(recorded) = perf::record(&arguments, &[&python, "-c", COUNTERS]) else { return };
    let mut counters: BTreeMap<(i16, i16), Vec<[i64; 4]>> = BTreeMap::new();
    for line in recorded.output.lines() {
        let numbers: Vec<i64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let [cpu, state, before, count, spent, after] = numbers[..] else { panic!("{line}") };
        counters.entry((cpu as i16, state as i16)).or_default().push([before, count, spent * 1000, after]);
    }
    if counters.is_empty() {
        return skipped("the kernel keeps no counters of idle states");
    }
    let extracted = Extracted::of(&recorded.file);
    let zero = extracted.info.clock_zero;
    let stays: Vec<CpuIdleStateRow> = extracted.archive.rows().unwrap();
    // On some virtual machines not all CPUs log the tracepoint.
    let logging: BTreeSet<i64> = recorded.events().iter().map(|event| event.cpu).collect();
    let mut compared = 0;
    for ((cpu, state), read) in counters {
        if !logging.contains(&i64::from(cpu)) {
            skipped(&format!("perf script shows no event of CPU {cpu}"));
            continue;
        }
        let [[begin, count, spent, begun], [ending, last_count, last_spent, end]] = read[..] else {
            panic!("{read:?}")
        };
        // The kernel counts a stay when it ends: each that ended between the readings, and perhaps some that ended
        // while the counters were read.
        let between = |first: i64, last: i64| {
            let ends = |row: &&CpuIdleStateRow| row.time + zero > first && row.time + zero <= last;
            let ended = stays.iter().filter(|row| row.cpu == cpu && row.state == state).filter(ends);
            ended.fold((0, 0), |(found, time), row| (found + 1, time + row.time - row.start))
        };
        // The counter follows the event.
        let counting = 1_000_000;
        let (least, least_time) = between(begun, ending - counting);
        let (found, most_time) = between(begin - counting, end);
        let (expected, expected_time) = (last_count - count, last_spent - spent);
        if expected == least - 1 || expected == found + 1 {
            skipped(&format!(
                "the kernel counted one stay of CPU {cpu} state {state} that perf did not record, or one less"
            ));
            continue;
        }
        let counted = least..=found;
        assert!(counted.contains(&expected), "CPU {cpu} state {state}: {counted:?} stays, {expected} counted");
        // The kernel's own clock reads between the two events. Its sum is shown in whole µs at both readings.
        let inexact = expected_time / 100 + found * 2_000 + 1_000;
        let spent = least_time - inexact..=most_time + inexact;
        assert!(spent.contains(&expected_time), "CPU {cpu} state {state}: {spent:?} ns, {expected_time} counted");
        compared += found;
    }
    if compared == 0 {
        skipped("no CPU that logs its idle states was idle");
    }
}
