//! Clock rates of a recording beside the cycles that the processor counts.

use std::process::Command;

use tracesift_fixtures::skipped;
use tracesift_trace::rows::CpuFrequencyRow;

use super::measured::{Measured, in_one_of_several, record_words};

/// The CPU on which the program runs.
const CPU: i16 = 0;

/// What `perf stat -x,` counted: `12345,,cycles,…`.
fn counted(text: &str, event: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.split(',').nth(2).is_some_and(|name| name.starts_with(event)))?;
    line.split(',').next()?.parse().ok()
}

/// The rate at an instant, MHz. A mean holds in the time that it is of.
fn mhz(rates: &[CpuFrequencyRow], time: i64) -> Option<f64> {
    let is_measured = rates.iter().any(|row| row.span.is_some());
    let from = |row: &CpuFrequencyRow| row.time - row.span.unwrap_or(0);
    let known = rates.iter().filter(|row| row.span.is_some() == is_measured && from(row) <= time);
    known.max_by_key(|row| from(row)).map(|row| row.khz as f64 / 1000.0)
}

#[test]
fn rates_are_cycles_by_time() {
    let stat = ["perf", "stat", "-x,", "-e", "cycles,task-clock"];
    let output = Command::new(stat[0]).args([&stat[1..], &["true"]].concat()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).unwrap_or_default();
    if counted(&text, "cycles").is_none() {
        return skipped("the processor counts no cycles, or perf is not installed");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let counts = directory.path().join("counts");
    let program = std::env::current_exe().expect("this program");
    let (counts_name, program) = (counts.to_str().expect("a name"), program.to_str().expect("a name"));
    let cpu = CPU.to_string();
    let test = [program, "--exact", "known::programs::spinning", "--ignored", "--nocapture", "--test-threads=1"];
    let words = [&stat[..], &["-o", counts_name, "taskset", "-c", &cpu], &test].concat();
    let power = |name: &str| std::path::Path::new("/sys/kernel/tracing/events/power").join(name).exists();
    let mut events = vec!["-a", "-e", "cpu-clock/freq=999/", "-e", "power:cpu_frequency"];
    if power("pstate_sample") {
        events.extend(["-e", "power:pstate_sample"]);
    }
    in_one_of_several(
        || {
            let measured = record_words(&words, &events)?;
            let rates: Vec<CpuFrequencyRow> = measured.extracted.archive.rows().expect("rates");
            let rates: Vec<CpuFrequencyRow> = rates.into_iter().filter(|row| row.cpu == CPU).collect();
            if rates.is_empty() {
                skipped("the clock rate of the CPU did not change, or its driver does not tell");
                return None;
            }
            Some((measured, rates))
        },
        |(measured, rates): &(Measured, Vec<CpuFrequencyRow>)| {
            let text = std::fs::read_to_string(&counts).expect("counts");
            // Cycles, and ms.
            let (cycles, time) = counted(&text, "cycles").zip(counted(&text, "task-clock")).expect("counts");
            let tids: Vec<i64> = measured.truth.0.values().map(|told| told["tid"]).collect();
            let of_program = measured.extracted.samples.iter().filter(|sample| tids.contains(&sample.tid));
            let known: Vec<f64> = of_program.filter_map(|sample| mhz(rates, sample.time)).collect();
            assert!(known.len() > 100, "{} samples at a known rate", known.len());
            let (found, told) = (known.iter().sum::<f64>() / known.len() as f64, cycles / time / 1000.0);
            assert!((found - told).abs() <= told * 0.05, "{found} MHz recorded, {told} MHz counted");
        },
    );
}

#[test]
fn lines_of_perf_stat() {
    let text =
        "# started\n\n<not supported>,,cycles,0,100.00,,\n0.79,msec,task-clock,789656,100.00,0.049,CPUs utilized\n";
    assert_eq!((counted(text, "cycles"), counted(text, "task-clock")), (None, Some(0.79)));
    let row = |time, khz, span| CpuFrequencyRow { time, khz, span, ..CpuFrequencyRow::default() };
    let rates = [row(5, 9_000, None), row(20, 1_000, Some(10)), row(40, 3_000, Some(20))];
    let found: Vec<Option<f64>> = [5, 10, 19, 20, 50].iter().map(|time| mhz(&rates, *time)).collect();
    assert_eq!(found, [None, Some(1.0), Some(1.0), Some(3.0), Some(3.0)]);
}
