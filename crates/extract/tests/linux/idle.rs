//! Stays of CPUs in idle states, held against the counters that the kernel keeps of them.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_fixtures::skipped;
use tracesift_trace::rows::CpuIdleStateRow;

use crate::extracted::Extracted;
use crate::perf;

/// Prints for each CPU and state the time on perf's clock, the number of stays and their time in µs: twice.
const COUNTERS: &str = "
import glob, re, time
def show():
    for usage in sorted(glob.glob('/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*/usage')):
        cpu, state = re.search('cpu([0-9]+)/cpuidle/state([0-9]+)', usage).groups()
        spent = usage.replace('usage', 'time')
        print(cpu, state, time.monotonic_ns(), open(usage).read().strip(), open(spent).read().strip())
show()
time.sleep(1)
show()
";

#[test]
fn idle_states_are_those_that_the_kernel_counted() {
    let python = std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let arguments = ["-a", "-k", "CLOCK_MONOTONIC", "-e", "power:cpu_idle"];
    let Some(recorded) = perf::record(&arguments, &[&python, "-c", COUNTERS]) else { return };
    let mut counters: BTreeMap<(i16, i16), Vec<[i64; 3]>> = BTreeMap::new();
    for line in recorded.output.lines() {
        let numbers: Vec<i64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let [cpu, state, time, count, spent] = numbers[..] else { panic!("{line}") };
        counters.entry((cpu as i16, state as i16)).or_default().push([time, count, spent * 1000]);
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
        let [[begin, count, spent], [end, last_count, last_spent]] = read[..] else { panic!("{read:?}") };
        // The kernel counts a stay when it ends.
        let of_state = || {
            let ends = |row: &&CpuIdleStateRow| row.time + zero > begin && row.time + zero <= end;
            stays.iter().filter(|row| row.cpu == cpu && row.state == state).filter(ends)
        };
        let (found, expected) = (of_state().count() as i64, last_count - count);
        assert!((found - expected).abs() <= 2, "CPU {cpu} state {state}: {found} stays, {expected} counted");
        let time: i64 = of_state().map(|row| row.time - row.start).sum();
        let expected_time = last_spent - spent;
        // A stay at an edge, and what passes between the tracepoints and the kernel's own clock.
        let longest = of_state().map(|row| row.time - row.start).max().unwrap_or(0);
        let allowed = expected_time / 100 + found * 2_000 + (found - expected).abs() * longest;
        assert!((time - expected_time).abs() <= allowed, "CPU {cpu} state {state}: {time} ns, {expected_time} counted");
        compared += found;
    }
    if compared == 0 {
        skipped("no CPU that logs its idle states was idle");
    }
}
