//! The machine with causes does what it says, and its truth agrees with a second computation.

use std::collections::BTreeMap;

use tracesift_scenario::causal::history::{Did, History, Leave, Waker, What};
use tracesift_scenario::causal::pairs::{file_stem, injected, pair, test_account};
use tracesift_scenario::causal::path::{Key, account, path};
use tracesift_scenario::causal::workload::{Expected, Injection, Workload};
use tracesift_scenario::causal::world::{Part, WaitKind};
use tracesift_scenario::causal::{Noise, Script, Step, World, etl, perf, random, run};
use tracesift_scenario::{OffCause, SplitMix64};

const SEEDS: u64 = 200;
const MS: i64 = 1_000_000;

fn history(seed: u64) -> History {
    let (world, noise) = random(seed);
    run(world, &noise, seed)
}

/// Whether a thread had a CPU at an instant; a switch at that instant counts on both sides.
fn runs_at(history: &History, thread: usize, time: i64) -> bool {
    let stretches = &history.timelines[thread].stretches;
    stretches.iter().any(|stretch| matches!(stretch.did, Did::Run(_)) && stretch.start <= time && time <= stretch.end)
}

#[test]
fn lives_have_no_gaps_and_waits_are_ended_by_who_runs_then() {
    let (mut waits, mut by_threads, mut made) = (0, 0, 0);
    for seed in 0..SEEDS {
        let history = history(seed);
        for (thread, life) in history.timelines.iter().enumerate() {
            let mut last = life.born.unwrap_or(0);
            for stretch in &life.stretches {
                assert!(
                    stretch.start == last && stretch.start < stretch.end,
                    "seed {seed}, thread {thread}: {stretch:?}"
                );
                last = stretch.end;
                match stretch.did {
                    Did::Wait(_, _, waker) => {
                        waits += 1;
                        if let Waker::Thread(waker) = waker {
                            by_threads += 1;
                            assert!(
                                waker != thread && runs_at(&history, waker, stretch.end),
                                "seed {seed}: {stretch:?}"
                            );
                        }
                    }
                    Did::Made(creator) => {
                        made += 1;
                        assert!(runs_at(&history, creator, stretch.start) && stretch.start == life.born.unwrap_or(0));
                    }
                    _ => {}
                }
            }
            let end = life.ended.unwrap_or(history.end);
            assert!(life.stretches.is_empty() || last == end, "seed {seed}, thread {thread} at {last} of {end}");
            let run: i64 =
                life.stretches.iter().filter(|s| matches!(s.did, Did::Run(_))).map(|s| s.end - s.start).sum();
            let code: i64 = life.code.iter().map(|slice| slice.end - slice.start).sum();
            assert_eq!(run, code, "seed {seed}: code covers the runs");
        }
    }
    assert!(waits > 5_000 && by_threads > 1_000 && made > 500, "{waits} {by_threads} {made}");
}

#[test]
fn a_cpu_has_one_thread_at_a_time_and_all_runs_are_on_cpus() {
    for seed in 0..SEEDS {
        let history = history(seed);
        let mut on_cpus: BTreeMap<usize, i64> = BTreeMap::new();
        for stays in &history.cpus {
            for (place, (start, who)) in stays.iter().enumerate() {
                let end = stays.get(place + 1).map_or(history.end, |(next, _)| *next);
                assert!(*start <= end);
                if let Some(thread) = who {
                    *on_cpus.entry(*thread).or_default() += end - start;
                }
            }
        }
        for (thread, life) in history.timelines.iter().enumerate() {
            let run: i64 = life.code.iter().map(|slice| slice.end - slice.start).sum();
            assert_eq!(on_cpus.get(&thread).copied().unwrap_or(0), run, "seed {seed}, thread {thread}");
        }
        assert!(history.log.windows(2).all(|pair| pair[0].time < pair[1].time), "seed {seed}: a time of its own");
    }
}

/// Each lock has one owner at a time, and the next owner is the one that has waited longest: told by the log
/// alone.
#[test]
fn locks_are_handed_over_in_order() {
    let mut world = World::new(2, 50 * MS);
    let process = world.process("app", Part::Test);
    let lock = world.lock();
    let inside = world.stack(&["app!Lock.inside"]);
    let outside = world.stack(&["app!Lock.outside"]);
    for index in 0..4 {
        let body = Script::at(inside)
            .then(Step::Lock(lock))
            .run(inside, 300_000)
            .then(Step::Unlock(lock))
            .run(outside, 100_000);
        world.old_thread(process, &format!("t{index}"), index * 10_000, Script::at(outside).repeat(20, body));
    }
    let history = run(world, &Noise::default(), 1);
    let mut slices: Vec<(i64, i64)> = Vec::new();
    for life in &history.timelines {
        slices.extend(life.code.iter().filter(|slice| slice.stack == inside).map(|slice| (slice.start, slice.end)));
        let held: i64 =
            life.code.iter().filter(|slice| slice.stack == inside).map(|slice| slice.end - slice.start).sum();
        assert!((20 * 300_000..20 * 310_000).contains(&held), "{held}");
    }
    let waits = history.timelines.iter().flat_map(|life| &life.stretches);
    let by_owner = waits.filter(|stretch| matches!(stretch.did, Did::Wait(_, _, Waker::Thread(_)))).count();
    assert!(by_owner > 60, "{by_owner} waits for the lock");
}

#[test]
fn the_path_of_any_window_adds_up_to_it() {
    let (mut deepest, mut leaves) = (0, 0);
    for seed in 0..SEEDS {
        let history = history(seed);
        let mut rng = SplitMix64::new(seed);
        for _ in 0..5 {
            let (a, b) = (rng.between(0, history.end), rng.between(0, history.end));
            let (window, anchor) = ((a.min(b), a.max(b)), rng.index(history.timelines.len()));
            let found = path(&history, window, anchor);
            let mut end = window.1;
            for leaf in &found {
                assert!(leaf.end == end && leaf.start < leaf.end, "seed {seed}: {leaf:?}");
                end = leaf.start;
                deepest = deepest.max(leaf.chain.len());
            }
            assert_eq!(end, window.0, "seed {seed}");
            let sum: i64 = account(&history, window, anchor).values().sum();
            assert_eq!(sum, window.1 - window.0, "seed {seed}");
            leaves += found.len();
        }
    }
    assert!(deepest >= 4 && leaves > 10_000, "{deepest} {leaves}");
}

/// The sums that a reader must find, computed from the records, are those of the lives.
#[test]
fn records_tell_what_happened() {
    for seed in 0..60 {
        let history = history(seed);
        let truth = etl::scenario(&history, MS).truth();
        assert_eq!((truth.end, truth.broken_chains), (history.end, 0), "seed {seed}");
        assert!(truth.switches.iter().all(|switch| switch.off.cause != OffCause::Unknown), "seed {seed}");
        for (thread, life) in history.timelines.iter().enumerate().filter(|(_, life)| !life.stretches.is_empty()) {
            let found = truth.threads.iter().find(|other| other.tid == etl::tid(thread)).expect("a thread");
            let sum = |is: &dyn Fn(Did) -> bool| -> i64 {
                life.stretches.iter().filter(|s| is(s.did)).map(|s| s.end - s.start).sum()
            };
            let has_run = life.stretches.iter().any(|stretch| matches!(stretch.did, Did::Run(_)));
            if has_run {
                assert_eq!(found.run, sum(&|did| matches!(did, Did::Run(_))), "seed {seed}, thread {thread}");
                assert_eq!(found.wait, sum(&|did| matches!(did, Did::Wait(..))), "seed {seed}, thread {thread}");
                assert_eq!(found.ready, sum(&|did| matches!(did, Did::Ready(_))), "seed {seed}, thread {thread}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_recordings() {
    for seed in 0..10 {
        let (first, second) = (history(seed), history(seed));
        assert_eq!(first.log, second.log);
        let bytes = |history: &History| etl::scenario(history, MS).bytes().expect("a recording");
        assert!(bytes(&first) == bytes(&second));
        let perf = |history: &History| {
            let mut bytes = std::io::Cursor::new(Vec::new());
            perf::write(history, MS, &mut bytes).expect("written");
            bytes.into_inner()
        };
        assert!(perf(&first) == perf(&second));
        assert_ne!(first.log, run(random(seed).0, &random(seed).1, seed + 1).log, "noise has its own seed");
    }
}

#[test]
fn losses_take_records_away_and_change_nothing_else() {
    let (world, noise) = random(1);
    let whole = run(world.clone(), &noise, 1);
    let lossy = Noise { lost_switches_per_mille: 100, lost_wake_ups_per_mille: 100, ..noise };
    let lossy = run(world, &lossy, 1);
    assert_eq!((&whole.log, &whole.timelines), (&lossy.log, &lossy.timelines));
    assert!(whole.lost.is_empty() && lossy.lost.len() > 3, "{:?}", lossy.lost);
    let count = |history: &History| etl::scenario(history, MS).records.len();
    assert_eq!(count(&whole), count(&lossy) + lossy.lost.len());
}

fn largest(difference: &BTreeMap<Key, i64>) -> Option<&Key> {
    difference.iter().max_by_key(|(_, ns)| **ns).map(|(key, _)| key)
}

#[test]
fn an_injection_adds_the_time_that_it_names() {
    let workload = Workload::default();
    for injection in Injection::ALL {
        let difference = injected(injection, &workload);
        let sum: i64 = difference.values().sum();
        let of = |what: &str| -> i64 {
            difference.iter().filter(|(key, _)| key.what.contains(what)).map(|(_, ns)| *ns).sum()
        };
        let context = format!("{injection:?}: {difference:#?}");
        match injection.expected() {
            Expected::Nothing => assert!(difference.is_empty(), "{context}"),
            Expected::Key(state, what) => {
                let key = largest(&difference).expect("a difference");
                assert!(key.state == state && key.what.contains(what), "{context}");
            }
            Expected::Disturbance("antivirus") => assert!(of("Scanner.scan") > 20 * MS, "{context}"),
            Expected::Disturbance("checkpoint") => {
                let system = difference.iter().filter(|(key, _)| key.process == "System").map(|(_, ns)| ns);
                assert!(system.sum::<i64>() > 300 * MS, "{context}");
            }
            Expected::Disturbance("paging") => assert!(of("disk app!Program.load") > 200 * MS, "{context}"),
            Expected::Disturbance("cpu taken") => {
                let ready = difference.iter().filter(|(key, _)| key.state == "ready" && key.what.starts_with("other"));
                assert!(ready.map(|(_, ns)| ns).sum::<i64>() > 50 * MS, "{context}");
            }
            Expected::Disturbance(other) => panic!("{other}"),
            Expected::Speed => {
                let run: i64 = difference.iter().filter(|(key, _)| key.state == "run").map(|(_, ns)| *ns).sum();
                assert!(run > sum * 8 / 10 && sum > 50 * MS, "{context}");
            }
        }
        match injection {
            Injection::Cpu => assert_eq!(of("Report.build"), 120 * MS),
            Injection::Renamed => assert!(sum.abs() < MS, "{context}"),
            Injection::MoreWaits => assert!((40 * 15 * MS..40 * 16 * MS).contains(&sum), "{context}"),
            _ => {}
        }
    }
}

#[test]
fn pairs_differ_in_the_second_set_and_vary_with_the_noise() {
    let noise = Noise { step_cv_ppm: 30_000, run_cv_ppm: 30_000, ..Noise::default() };
    let workload = Workload::default();
    let pair = pair(Injection::Scanner(2), &workload, &noise, (12, 5), 7);
    assert_eq!((pair.a.len(), pair.b.len()), (12, 5));
    let scanned = |history: &History| test_account(history).keys().any(|key| key.process == "MsMpEng");
    assert_eq!(pair.b.iter().map(scanned).collect::<Vec<_>>(), [true, true, false, false, false]);
    assert!(!pair.a.iter().any(scanned));
    let length = |history: &History| history.window().1 - history.window().0;
    let lengths: Vec<f64> = pair.a.iter().map(|history| length(history) as f64).collect();
    let mean = lengths.iter().sum::<f64>() / 12.0;
    let cv = (lengths.iter().map(|length| (length - mean).powi(2)).sum::<f64>() / 11.0).sqrt() / mean;
    assert!((0.01..0.06).contains(&cv), "{cv}");
    let sums = pair.sums();
    let total: i64 = sums.values().map(|(a, _)| a).sum();
    assert_eq!(total, pair.a.iter().map(length).sum::<i64>());
    let stem = file_stem(&pair.a[0], "Case", 61);
    assert!(
        stem.starts_with("Case_") && stem.ends_with("ms_TRACESIFT_CLT_TestStatus-Passed_20220404-110100"),
        "{stem}"
    );
}

#[test]
fn a_step_takes_as_long_as_it_says_times_the_noise() {
    let length = |noise: &Noise, seed: u64| {
        let mut world = World::new(1, 5_000 * MS);
        let process = world.process("app", Part::Test);
        let stack = world.stack(&["app!Work.run"]);
        let thread = world.old_thread(process, "one", 0, Script::at(stack).run(stack, 100 * MS));
        world.main = Some(thread);
        let history = run(world, noise, seed);
        history.timelines[thread].code.iter().map(|slice| slice.end - slice.start).sum::<i64>()
    };
    let exact = length(&Noise::default(), 1);
    assert!((100 * MS..100 * MS + 20_000).contains(&exact), "{exact}");
    let slow = length(&Noise { clock: 500, ..Noise::default() }, 1);
    assert!((200 * MS..200 * MS + 20_000).contains(&slow), "{slow}");
    let noise = Noise { step_cv_ppm: 50_000, ..Noise::default() };
    let lengths: Vec<f64> = (0..2_000).map(|seed| length(&noise, seed) as f64 / 1e8).collect();
    let mean = lengths.iter().sum::<f64>() / 2_000.0;
    let cv = (lengths.iter().map(|length| (length - mean).powi(2)).sum::<f64>() / 1_999.0).sqrt();
    assert!((mean - 1.0).abs() < 0.005 && (cv - 0.05).abs() < 0.004, "{mean} {cv}");
    let outliers = Noise { outlier_percent: 10, outlier_factor: 1_500, ..Noise::default() };
    let slow = (0..500).filter(|seed| length(&outliers, *seed) > 140 * MS).count();
    assert!((25..80).contains(&slow), "{slow}");
}

/// What the tests of readers rely on must occur.
#[test]
fn every_kind_of_cause_occurs_among_few_seeds() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..60 {
        let history = history(seed);
        let mut kinds: Vec<&str> = Vec::new();
        for entry in &history.log {
            kinds.push(match &entry.what {
                What::Wake { device: Some(_), by: Some(_), .. } => "an interrupted thread",
                What::Wake { device: Some(_), .. } => "an interrupted idle CPU",
                What::Wake { new: true, .. } => "a birth",
                What::Wake { .. } => "a wake-up",
                What::Switch { leave: Leave::Preempted, .. } => "a preemption",
                What::End { process: true, .. } => "the end of a process",
                What::Start { process: true, .. } => "the start of a process",
                What::Disk { .. } => "a disk operation",
                What::Mark { .. } => "a mark",
                _ => continue,
            });
        }
        for life in &history.timelines {
            for stretch in &life.stretches {
                if let Did::Wait(kind, ..) = stretch.did {
                    kinds.push(match kind {
                        WaitKind::Stopped => "a stopped thread",
                        WaitKind::Gate => "a gate",
                        WaitKind::Reply => "a question",
                        WaitKind::Join => "a join",
                        WaitKind::Lock => "a lock",
                        _ => continue,
                    });
                }
            }
        }
        kinds.sort_unstable();
        kinds.dedup();
        kinds.into_iter().for_each(|kind| *counts.entry(kind).or_default() += 1);
    }
    assert_eq!(counts.len(), 14, "{counts:?}");
    assert!(counts.values().all(|count| *count >= 3), "{counts:?}");
}
