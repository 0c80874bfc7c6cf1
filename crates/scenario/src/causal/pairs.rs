//! Two sets of runs of one test that differ in one change.

use std::collections::BTreeMap;

use super::history::History;
use super::noise::Noise;
use super::path::{Key, account};
use super::run;
use super::workload::{Injection, Workload};
use crate::rng::SplitMix64;

/// Two sets of runs.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The change.
    pub injection: Injection,
    /// Runs without it.
    pub a: Vec<History>,
    /// Runs with it; some changes hit some of them only.
    pub b: Vec<History>,
}

/// Makes `runs` runs without and with a change. Each run has a chance of its own.
#[must_use]
pub fn pair(injection: Injection, workload: &Workload, noise: &Noise, runs: (usize, usize), seed: u64) -> Pair {
    let mut seeds = SplitMix64::new(seed);
    let (mut workload, mut noise) = (workload.clone(), noise.clone());
    injection.prepare(&mut workload, &mut noise);
    let a = (0..runs.0).map(|_| run(workload.world(), &noise, seeds.next_u64())).collect();
    let b = (0..runs.1)
        .map(|index| {
            let (mut workload, mut noise) = (workload.clone(), noise.clone());
            injection.apply(&mut workload, &mut noise, index);
            run(workload.world(), &noise, seeds.next_u64())
        })
        .collect();
    Pair { injection, a, b }
}

/// The time of each key on the path of a run's test, from the start of its main thread to its end, ns.
#[must_use]
pub fn test_account(history: &History) -> BTreeMap<Key, i64> {
    let main = history.world.main.unwrap_or(0);
    account(history, history.window(), main)
}

/// What a change does to the time of each key, ns: the difference of two runs in which nothing else varies,
/// where the change hits. The sum is what the test takes longer.
#[must_use]
pub fn injected(injection: Injection, workload: &Workload) -> BTreeMap<Key, i64> {
    let (mut workload, mut noise) = (workload.clone(), Noise::default());
    injection.prepare(&mut workload, &mut noise);
    let before = test_account(&run(workload.world(), &noise, 0));
    injection.apply(&mut workload, &mut noise, 0);
    let mut difference = test_account(&run(workload.world(), &noise, 0));
    for (key, ns) in before {
        *difference.entry(key).or_insert(0) -= ns;
    }
    difference.retain(|_, ns| *ns != 0);
    difference
}

impl Pair {
    /// The sum of each key over the runs of the first and of the second set, ns.
    #[must_use]
    pub fn sums(&self) -> BTreeMap<Key, (i64, i64)> {
        let mut sums: BTreeMap<Key, (i64, i64)> = BTreeMap::new();
        for history in &self.a {
            test_account(history).into_iter().for_each(|(key, ns)| sums.entry(key).or_default().0 += ns);
        }
        for history in &self.b {
            test_account(history).into_iter().for_each(|(key, ns)| sums.entry(key).or_default().1 += ns);
        }
        sums
    }
}

/// The name of a run's file without extension, as tests are named: case, duration, machine, time. Runs of
/// `number` follow each other by a minute.
#[must_use]
pub fn file_stem(history: &History, case: &str, number: usize) -> String {
    let (start, end) = history.window();
    let (hour, minute) = (10 + number / 60, number % 60);
    format!(
        "{case}_{}ms_TRACESIFT_CLT_TestStatus-Passed_20220404-{hour:02}{minute:02}00",
        (end - start + 500_000) / 1_000_000
    )
}
