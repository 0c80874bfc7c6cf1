//! The truth is consistent with itself, whatever the knobs.

use proptest::prelude::*;
use tracesift_scenario::{Event, Knobs, OffCause, Scenario, Truth};

fn check_accounting(truth: &Truth) {
    for thread in &truth.threads {
        let (start, end) = thread.life;
        assert_eq!(thread.accounted(), end - start, "{thread:?}");
        let parts = [thread.run, thread.wait, thread.ready, thread.open, thread.unknown];
        assert!(parts.iter().all(|part| *part >= 0), "{thread:?}");
    }
    let weights: i64 = truth.samples.iter().map(|sample| sample.weight).sum();
    assert_eq!(truth.processes.iter().map(|process| process.cpu).sum::<i64>(), weights);
    for process in &truth.processes {
        let exclusive: i64 = process.methods.values().map(|method| method.exclusive).sum();
        let stackless: i64 = truth
            .samples
            .iter()
            .filter(|sample| {
                std::ptr::eq(&raw const truth.processes[sample.process], process) && sample.stack.is_none()
            })
            .map(|sample| sample.weight)
            .sum();
        assert_eq!(exclusive + stackless, process.cpu);
        assert!(process.methods.values().all(|method| method.exclusive <= method.inclusive));
    }
}

/// Time on the CPU after the end record of threads whose last switch-out lies behind the recording.
fn last_steps(scenario: &Scenario, truth: &Truth) -> i64 {
    let has_left = |thread| {
        scenario.records.iter().any(
            |record| matches!(&record.event, Event::Switch(switch) if switch.old == thread && switch.old_state == 4),
        )
    };
    let threads = scenario.machine.threads.iter().enumerate();
    threads
        .filter(|(index, _)| !has_left(*index))
        .filter_map(|(_, thread)| thread.end)
        .map(|end| truth.end - scenario.machine.ns(end))
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn every_thread_is_accounted_for(seed: u64) {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        check_accounting(&scenario.truth());
    }

    #[test]
    fn without_losses_every_cpu_always_runs_somebody_known(seed: u64) {
        let knobs = Knobs { lost_switches_per_mille: 0, switches: true, ..Knobs::random(seed) };
        let scenario = Scenario::random(seed, &knobs);
        let truth = scenario.truth();
        prop_assert_eq!(truth.broken_chains, 0);
        prop_assert!(truth.switches.iter().all(|switch| switch.off.cause != OffCause::Unknown));
        let mut switched: Vec<u16> = truth.switches.iter().map(|switch| switch.cpu).collect();
        switched.sort_unstable();
        switched.dedup();
        let run: i64 = truth.threads.iter().map(|thread| thread.run).sum();
        prop_assert_eq!(run + last_steps(&scenario, &truth), truth.end * switched.len() as i64);
    }

    #[test]
    fn losses_only_make_known_time_unknown(seed: u64) {
        let clean = Scenario::random(seed, &Knobs { preemption: true, deaths_percent: 30, births: 2, ..Knobs::default() });
        let mut lossy = clean.clone();
        let mut first_of_cpu = std::collections::HashSet::new();
        let mut index = 0u64;
        lossy.records.retain(|record| match record.event {
            Event::Switch(_) => {
                index += 1;
                first_of_cpu.insert(record.cpu) || !(index ^ seed).is_multiple_of(7)
            }
            _ => true,
        });
        let (clean, lossy) = (clean.truth(), lossy.truth());
        check_accounting(&lossy);
        prop_assert_eq!(clean.threads.len(), lossy.threads.len());
        let unknown = |truth: &Truth| truth.threads.iter().map(|thread| thread.unknown).sum::<i64>();
        prop_assert!(unknown(&lossy) >= unknown(&clean));
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes(seed: u64) {
        let knobs = Knobs::random(seed);
        let parts = Scenario::random(seed, &knobs).parts();
        prop_assert_eq!(parts.expect("writable"), Scenario::random(seed, &knobs).parts().expect("writable"));
    }
}

/// Each difficulty must really occur, or the property tests of the readers would test nothing.
#[test]
fn every_difficulty_occurs_among_few_seeds() {
    let scenarios: Vec<(Scenario, Truth)> = (0..60)
        .map(|seed| {
            let scenario = Scenario::random(seed, &Knobs::random(seed));
            let truth = scenario.truth();
            (scenario, truth)
        })
        .collect();
    let occurs = |what: &str, test: &dyn Fn(&Scenario, &Truth) -> bool| {
        let count = scenarios.iter().filter(|(scenario, truth)| test(scenario, truth)).count();
        assert!(count >= 2, "{what}: in {count} of {} scenarios", scenarios.len());
    };
    occurs("broken chains", &|_, truth| truth.broken_chains > 0);
    occurs("preemption", &|_, truth| truth.has_preemption);
    occurs("no ready events", &|_, truth| !truth.has_ready_events && !truth.switches.is_empty());
    occurs("open waits at the end", &|_, truth| {
        truth.threads.iter().any(|thread| thread.closing.is_some_and(|span| span.wait() > 0))
    });
    occurs("ready at the end", &|_, truth| {
        truth.threads.iter().any(|thread| thread.closing.is_some_and(|span| span.ready() > 0))
    });
    occurs("open with ready", &|_, truth| {
        truth.switches.iter().any(|switch| switch.off.cause == OffCause::Open && switch.off.ready() > 0)
    });
    occurs("ready while running", &|_, truth| {
        truth.switches.iter().any(|s| s.off.cause == OffCause::Blocked && s.off.ready_from == Some(s.off.from))
    });
    occurs("reused tids", &|scenario, _| {
        let threads = &scenario.machine.threads[usize::from(scenario.machine.cpus)..];
        threads.iter().enumerate().any(|(index, a)| threads[..index].iter().any(|b| a.tid == b.tid))
    });
    occurs("reused pids", &|scenario, _| {
        let processes = &scenario.machine.processes;
        processes.iter().enumerate().any(|(index, a)| processes[..index].iter().any(|b| a.pid == b.pid))
    });
    occurs("samples after the end record", &|scenario, _| {
        scenario.records.iter().any(|record| match &record.event {
            Event::Sample(sample) => scenario.machine.threads[sample.thread].end.is_some_and(|end| record.ticks > end),
            _ => false,
        })
    });
    occurs("user halves more than two seconds late", &|scenario, _| {
        scenario.records.iter().any(|record| match &record.event {
            Event::Switch(switch) => switch.walk.is_some_and(|walk| {
                walk.user.is_some()
                    && walk.user_cpu != record.cpu
                    && walk.user_ticks - record.ticks > 2 * scenario.machine.frequency
            }),
            _ => false,
        })
    });
    occurs("interrupts of idle CPUs", &|_, truth| truth.processes.last().is_some_and(|last| last.cpu > 0));
    occurs("two parts", &|scenario, _| scenario.recording.separate_rundown);
}
