//! Clock rates of CPUs, samples that ran at them, and counters of energy.

use tracesift_scenario::SplitMix64;
use tracesift_trace::rows::{CpuFrequencyRow, CpuRow, CpuSampleRow, EnergyRow};

use super::super::archives::LENGTH;
use super::super::made::{Made, who};

/// CPUs of each archive.
const CPUS: i16 = 16;
/// What the counters are of.
const COUNTERS: [&str; 3] = ["cores", "dram", "package"];
/// ns between two readings.
const SECOND: i64 = 1_000_000_000;

/// Writes the tables.
pub(super) fn write(made: &mut Made<'_>) {
    let kind = |cpu: i16| CpuRow {
        cpu,
        efficiency_class: Some(i8::from(cpu < CPUS / 2)),
        nominal_khz: Some(2_600_000),
        ..CpuRow::default()
    };
    made.each((0..CPUS).map(kind));
    made.rows(8_000, rate, |row| row.time);
    made.rows(20_000, sample, |row| row.time);
    made.rows((LENGTH / SECOND) as usize * COUNTERS.len(), reading, |row| row.time);
}

fn rate(random: &mut SplitMix64, _: usize) -> CpuFrequencyRow {
    CpuFrequencyRow {
        time: random.between(0, LENGTH),
        cpu: random.below(CPUS as u64) as i16,
        khz: 100_000 * random.between(8, 43),
        ..CpuFrequencyRow::default()
    }
}

fn sample(random: &mut SplitMix64, _: usize) -> CpuSampleRow {
    let (process, thread) = who(random);
    let cpu = random.below(CPUS as u64) as i16;
    CpuSampleRow { time: random.between(0, LENGTH), cpu, process, thread, weight: 1_000_000, ..CpuSampleRow::default() }
}

fn reading(random: &mut SplitMix64, index: usize) -> EnergyRow {
    let (second, counter) = ((index / COUNTERS.len()) as i64, COUNTERS[index % COUNTERS.len()]);
    EnergyRow {
        time: (second + 1) * SECOND,
        package: Some(0),
        counter: counter.to_owned(),
        value: Some(random.between(1_000_000, 60_000_000)),
        span: SECOND,
        ..EnergyRow::default()
    }
}
