//! Values of counters that other samples carry, held against what perf makes of them.

use std::collections::BTreeMap;

use tracesift_trace::rows::CounterValueRow;

use crate::extracted::Extracted;
use crate::perf::{self, Recorded};

const PROGRAM: &str = "i=0; while [ $i -lt 30 ]; do /bin/true; i=$((i+1)); done; sleep 0.05";

/// Sums of the periods that perf script gives the members of a group, by event and CPU:
/// `   18 [000] 49974.431465074:          1   context-switches: `.
fn sums(recorded: &Recorded) -> BTreeMap<(String, i16), i64> {
    let mut sums = BTreeMap::new();
    for line in recorded.script("tid,cpu,time,period,event").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, cpu, _, period, event] = words.as_slice() else { continue };
        let cpu = cpu.trim_matches(['[', ']']).parse().unwrap();
        *sums.entry((event.trim_end_matches(':').to_owned(), cpu)).or_default() += period.parse::<i64>().unwrap();
    }
    sums
}

#[test]
fn counters_at_switches_are_those_of_the_group() {
    let group = "{sched:sched_switch,page-faults,context-switches}:S";
    let Some(recorded) = perf::record(&["-a", "-e", group], &["sh", "-c", PROGRAM]) else { return };
    let extracted = Extracted::of(&recorded.file);
    assert_eq!(extracted.info.counters, ["page-faults", "context-switches"]);
    let mut last: BTreeMap<i16, Vec<i64>> = BTreeMap::new();
    let mut with_values = 0;
    for row in &extracted.switches {
        let (Some(cpu), Some(counters)) = (row.cpu, &row.counters) else { continue };
        assert_eq!(counters.len(), 2);
        if let Some(before) = last.insert(cpu, counters.clone()) {
            // Each switch is counted once on its CPU.
            assert!(counters[0] >= before[0] && counters[1] > before[1], "{before:?} {counters:?}");
        }
        with_values += 1;
    }
    assert!(with_values > 50);
    let sums = sums(&recorded);
    for (cpu, counters) in &last {
        for (name, value) in extracted.info.counters.iter().zip(counters) {
            assert_eq!(sums.get(&(name.clone(), *cpu)), Some(value), "{name} on CPU {cpu}");
        }
    }
    println!("{with_values} switches have the values of perf's group");
}

#[test]
fn counters_in_other_samples_add_up_to_those_of_perf() {
    let arguments = ["-a", "-F", "999", "-e", "{cpu-clock,page-faults,context-switches}:S"];
    let Some(recorded) = perf::record(&arguments, &["sh", "-c", PROGRAM]) else { return };
    let extracted = Extracted::of(&recorded.file);
    let rows: Vec<CounterValueRow> = extracted.archive.rows().unwrap();
    let name = |number: i32| {
        let source = extracted.info.sample_sources.iter().find(|source| i64::from(source.number) == i64::from(number));
        source.unwrap().name.clone()
    };
    let mut found: BTreeMap<(String, i16), i64> = BTreeMap::new();
    for row in &rows {
        assert_eq!(row.total, None);
        *found.entry((name(row.source), row.cpu)).or_default() += row.value;
    }
    assert!(found.len() > 2, "{found:?}");
    assert_eq!(found, sums(&recorded));
}

#[test]
fn counts_of_threads_at_their_end_are_those_of_perf_report() {
    let arguments = ["-s", "-c", "1", "-e", "page-faults"];
    let Some(recorded) = perf::record(&arguments, &["sh", "-c", PROGRAM]) else { return };
    let extracted = Extracted::of(&recorded.file);
    let mut found: BTreeMap<i64, i64> = BTreeMap::new();
    for row in extracted.archive.rows::<CounterValueRow>().unwrap() {
        assert_eq!(row.total, Some(true));
        *found.entry(extracted.threads[row.thread.index()].tid).or_default() += row.value;
    }
    assert!(found.len() > 20, "{found:?}");
    assert_eq!(found, recorded.totals_by_tid());
}
