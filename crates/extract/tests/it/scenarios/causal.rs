//! Machines with causes through the whole pipeline: the walk over an archive's switches finds the path that
//! the recursive definition finds over what really happened, leaf by leaf.

use std::collections::HashMap;
use std::io::Cursor;
use std::ops::ControlFlow;

use tracesift_analysis::path::{Cause, Gap, Guide, Leaf, Link, Occupant, PathSwitch, State, Waker, Walk};
use tracesift_analysis::{Interrupt, RecordingFacts, Span};
use tracesift_archive::Archive;
use tracesift_scenario::SplitMix64;
use tracesift_scenario::causal::path::{self as truth, Why};
use tracesift_scenario::causal::workload::Workload;
use tracesift_scenario::causal::world::CodeId;
use tracesift_scenario::causal::{History, Noise, etl, perf, random, run};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::ThreadId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, MethodSummaryRow, ThreadRow, switch_flags};

/// Random machines, each in both formats. `TRACESIFT_SCENARIO_SEEDS` asks for others.
const SEEDS: u64 = 50;
/// Windows of each recording besides the test's own.
const WINDOWS: usize = 8;
const INTERVAL: i64 = 1_000_000;

/// A leaf in words that both sides have: times, chain of threads, state.
type Plain = (i64, i64, Vec<usize>, String);

/// An archive and who its threads are.
struct Known {
    facts: RecordingFacts,
    threads: Vec<ThreadRow>,
    rows: Vec<ContextSwitchRow>,
    /// Threads of the world by their ids in the archive.
    numbers: HashMap<ThreadId, usize>,
}

impl Known {
    fn of(archive: &Archive, history: &History) -> Self {
        let threads: Vec<ThreadRow> = archive.rows().expect("threads");
        let tids: HashMap<i64, usize> =
            (0..history.timelines.len()).map(|thread| (i64::from(etl::tid(thread)), thread)).collect();
        let numbers = threads.iter().filter_map(|row| Some((row.thread, *tids.get(&row.tid)?))).collect();
        let facts = RecordingFacts::from(archive.info());
        Self { facts, threads, rows: archive.rows().expect("switches"), numbers }
    }

    fn number(&self, thread: ThreadId) -> usize {
        self.numbers.get(&thread).copied().unwrap_or(usize::MAX)
    }

    fn id(&self, number: usize) -> Option<ThreadId> {
        self.numbers.iter().find(|(_, other)| **other == number).map(|(thread, _)| *thread)
    }

    fn walk(&self, (start, end): (i64, i64), anchor: ThreadId) -> Vec<Plain> {
        let mut walk = Walk::new(&self.facts, Span::new(start, end), anchor, &self.threads);
        let has_row = |thread: ThreadId| self.rows.iter().any(|row| row.thread == thread);
        for row in self.threads.iter().filter(|row| !has_row(row.thread)) {
            walk.never_switched(row.thread);
        }
        let mut collector = Collector { known: self, leaves: Vec::new() };
        for row in self.rows.iter().rev().filter(|row| row.off_time < end && row.time > start) {
            if walk.row(row, &mut collector) == ControlFlow::Break(()) {
                break;
            }
        }
        walk.finish(&mut collector);
        collector.leaves
    }
}

struct Collector<'a> {
    known: &'a Known,
    leaves: Vec<Plain>,
}

impl Guide for Collector<'_> {
    fn waker(&mut self, row: &PathSwitch) -> Waker {
        match row.readier {
            Some(_) if row.flags & switch_flags::READIED_FROM_DPC != 0 => Waker::Interrupt(Interrupt::Other),
            Some(thread) => Waker::Thread(thread),
            None => Waker::Nobody,
        }
    }

    fn leaf(&mut self, leaf: &Leaf, chain: &[Link]) {
        let state = match leaf.state {
            State::Run { .. } => "run".to_owned(),
            State::Ready { cpu, occupant, .. } => {
                let occupant = match occupant {
                    Occupant::Thread(thread) => self.known.number(thread).to_string(),
                    Occupant::Idle => "idle".to_owned(),
                    Occupant::Unknown => "unknown".to_owned(),
                };
                format!("ready {cpu:?} {occupant}")
            }
            State::Wait { cause: Cause::Interrupt(_), .. } => "wait interrupt".to_owned(),
            State::Wait { cause, .. } => format!("wait {cause:?}"),
            State::Unknown(gap) => format!("unknown {gap:?}"),
        };
        let chain = chain.iter().map(|link| self.known.number(link.thread)).collect();
        self.leaves.push((leaf.span.start, leaf.span.end, chain, state));
    }
}

fn expected(history: &History, window: (i64, i64), anchor: usize) -> Vec<Plain> {
    let state = |state: truth::State| match state {
        truth::State::Run => "run".to_owned(),
        truth::State::Ready(cpu, occupant) => {
            let occupant = match occupant {
                truth::Occupant::Thread(thread) => thread.to_string(),
                truth::Occupant::Idle => "idle".to_owned(),
                truth::Occupant::Unknown => "unknown".to_owned(),
            };
            format!("ready {cpu:?} {occupant}")
        }
        truth::State::Wait(_, _, Some(_)) => "wait interrupt".to_owned(),
        truth::State::Wait(_, _, None) => format!("wait {:?}", Cause::Nobody),
        truth::State::Unknown(why) => {
            let gap = match why {
                Why::NotSeenYet => Gap::NotSeenYet,
                Why::BeforeStart => Gap::BeforeStart,
                Why::AfterEnd => Gap::AfterEnd,
                Why::NoSwitches => Gap::NoSwitches,
            };
            format!("unknown {gap:?}")
        }
    };
    let leaves = truth::path(history, window, anchor).into_iter();
    leaves.map(|leaf| (leaf.start, leaf.end, leaf.chain, state(leaf.state))).collect()
}

/// Equal, but for the occupant of a CPU at the end of the window: its next switch may not touch the window.
fn is_expected(found: &Plain, expected: &Plain, window: (i64, i64)) -> bool {
    let at_end = found.1 == window.1 && found.3.starts_with("ready") && found.3.ends_with("unknown");
    let same_place = (found.0, found.1, &found.2) == (expected.0, expected.1, &expected.2);
    found == expected || at_end && same_place && expected.3.starts_with("ready")
}

fn as_etl(history: &History) -> Extracted {
    Recording::etl(&etl::scenario(history, INTERVAL)).extract()
}

fn as_perf(history: &History) -> Extracted {
    let mut bytes = Cursor::new(Vec::new());
    perf::write(history, INTERVAL, &mut bytes).expect("written");
    Recording::of("perf.data", &bytes.into_inner()).extract()
}

/// A window and an anchor: borders often lie where something happens.
fn question(history: &History, rng: &mut SplitMix64) -> ((i64, i64), usize) {
    let mut border = || match rng.below(2) {
        0 => history.log[rng.index(history.log.len())].time,
        _ => rng.between(0, history.end),
    };
    let (a, b) = (border(), border());
    ((a.min(b), a.max(b)), rng.index(history.timelines.len()))
}

/// Compares the leaves of some windows; their number, and that of those in threads that another one waited for.
fn check(history: &History, extracted: &Extracted, seed: u64, context: &str) -> [usize; 2] {
    let known = Known::of(&extracted.archive, history);
    assert_eq!(known.facts.span, Span::new(0, history.end), "{context}");
    let broken = known.rows.iter().filter(|row| row.flags & (switch_flags::BROKEN | switch_flags::GAP) != 0).count();
    assert_eq!(broken, 0, "{context}");
    let mut rng = SplitMix64::new(seed);
    let main = history.world.main.unwrap_or(0);
    let own = std::iter::once((history.window(), main));
    let questions: Vec<_> = own.chain((0..WINDOWS).map(|_| question(history, &mut rng))).collect();
    let mut leaves = [0, 0];
    for (window, anchor) in questions {
        // A thread that never lived has no id.
        let Some(id) = known.id(anchor) else { continue };
        let (found, expected) = (known.walk(window, id), expected(history, window, anchor));
        for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let is_same = is_expected(found, expected, window);
            assert!(is_same, "{context}, {window:?} of {anchor}, leaf {place}:\n{found:?}\n{expected:?}");
        }
        assert_eq!(found.len(), expected.len(), "{context}, {window:?} of {anchor}");
        leaves[0] += found.len();
        leaves[1] += found.iter().filter(|(_, _, chain, _)| chain.len() > 1).count();
    }
    leaves
}

#[test]
fn the_walk_finds_the_path_that_really_was() {
    // All leaves, and those of threads that another one waited for.
    let mut counts = [[0, 0]; 2];
    for seed in super::seeds(SEEDS) {
        let (world, noise) = random(seed);
        let history = run(world, &noise, seed);
        let found = [
            check(&history, &as_etl(&history), seed, &format!("ETL, seed {seed}")),
            check(&history, &as_perf(&history), seed, &format!("perf, seed {seed}")),
        ];
        for (counts, found) in counts.iter_mut().zip(found) {
            counts.iter_mut().zip(found).for_each(|(count, found)| *count += found);
        }
    }
    println!("{counts:?} leaves");
    assert!(counts.iter().all(|[leaves, followed]| *leaves > 1_000 && *followed > 300), "{counts:?}");
}

#[test]
fn a_recording_with_losses_still_adds_up() {
    let mut unknown = 0;
    for seed in 0..10 {
        let (world, noise) = random(seed);
        let noise = Noise { lost_switches_per_mille: 60, lost_wake_ups_per_mille: 60, ..noise };
        let history = run(world, &noise, seed);
        for extracted in [as_etl(&history), as_perf(&history)] {
            let known = Known::of(&extracted.archive, &history);
            let (window, main) = (history.window(), history.world.main.unwrap_or(0));
            let leaves = known.walk(window, known.id(main).expect("the main thread"));
            let sum: i64 = leaves.iter().map(|(start, end, ..)| end - start).sum();
            assert_eq!(sum, window.1 - window.0, "seed {seed}");
            unknown += leaves.iter().filter(|leaf| leaf.3.starts_with("unknown")).count();
        }
    }
    assert!(unknown > 10, "{unknown}");
}

#[test]
fn the_workload_comes_back_with_its_path_and_its_samples() {
    let workload = Workload::default();
    let noise = Noise { step_cv_ppm: 20_000, ..Noise::default() };
    let history = run(workload.world(), &noise, 5);
    for (extracted, format) in [(as_etl(&history), "ETL"), (as_perf(&history), "perf")] {
        check(&history, &extracted, 5, format);
        let samples: Vec<CpuSampleRow> = extracted.archive.rows().expect("samples");
        let known = Known::of(&extracted.archive, &history);
        for thread in 0..history.timelines.len() {
            let run: i64 = history.timelines[thread].code.iter().map(|slice| slice.end - slice.start).sum();
            let of_thread = samples.iter().filter(|row| known.number(row.thread) == thread);
            let sampled: i64 = of_thread.map(|row| row.weight).sum();
            assert!((run - sampled).abs() <= 8 * INTERVAL, "{format}, thread {thread}: {run} ns, sampled {sampled}");
        }
        let compared = compare_methods(&history, &extracted.archive, format);
        assert!(compared == 5, "{format}: {compared} methods");
    }
}

/// The sampled time of each function of the test is near the time that it ran.
fn compare_methods(history: &History, archive: &Archive, format: &str) -> usize {
    let methods: Vec<MethodSummaryRow> = archive.rows().expect("methods");
    let world = &history.world;
    let mut ran: HashMap<CodeId, i64> = HashMap::new();
    for slice in history.timelines.iter().flat_map(|life| &life.code) {
        let leaf = world.stacks[slice.stack.0].first();
        leaf.into_iter().for_each(|leaf| *ran.entry(*leaf).or_default() += slice.end - slice.start);
    }
    let long = ran.iter().filter(|(code, ns)| world.codes[code.0].module == "app" && **ns > 20 * INTERVAL);
    let compared = long.map(|(code, ns)| {
        let named =
            if format == "ETL" { etl::method_name(&world.codes[code.0]) } else { perf::method_name(world, *code) };
        let name = named.expect("a name");
        let row = methods.iter().find(|row| row.module == name.module && row.function == name.function);
        let sampled = row.unwrap_or_else(|| panic!("{format}: no {name}")).exclusive_cpu;
        // Samples at an interval miss up to one at both ends of each run.
        let spread = 4 * ((ns * INTERVAL) as f64).sqrt() as i64;
        assert!((sampled - ns).abs() <= spread, "{format}: {name} ran {ns} ns, sampled {sampled}");
    });
    compared.count()
}
