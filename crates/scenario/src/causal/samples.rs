//! Samples of the CPUs at an interval.

use std::collections::HashSet;

use super::history::History;
use super::world::StackNo;

/// A sample: who ran with which stack. `None`: the CPU was idle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    pub(super) time: i64,
    pub(super) cpu: usize,
    pub(super) running: Option<(usize, StackNo)>,
}

/// The samples of all CPUs that had something to do, each at a time at which nothing else happens.
pub(super) fn samples(history: &History, interval: i64) -> Vec<Sampled> {
    let taken: HashSet<i64> = history.log.iter().map(|entry| entry.time).collect();
    let mut samples = Vec::new();
    for (cpu, stays) in history.cpus.iter().enumerate() {
        // The timers of the CPUs do not fire at once.
        let first = interval / 2 + cpu as i64 * interval / (history.cpus.len() as i64 * 3);
        let mut stay = 0;
        for tick in 0.. {
            let mut time = first + tick * interval;
            while taken.contains(&time) {
                time += 1;
            }
            if time >= history.end {
                break;
            }
            while stays.get(stay + 1).is_some_and(|(next, _)| *next <= time) {
                stay += 1;
            }
            let running = stays[stay].1.and_then(|thread| Some((thread, stack_at(history, thread, time)?)));
            if running.is_some() {
                samples.push(Sampled { time, cpu, running });
            }
        }
    }
    samples
}

fn stack_at(history: &History, thread: usize, time: i64) -> Option<StackNo> {
    let code = &history.timelines[thread].code;
    let place = code.partition_point(|slice| slice.end <= time);
    code.get(place).filter(|slice| slice.start <= time).map(|slice| slice.stack)
}
