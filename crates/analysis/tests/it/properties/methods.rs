//! Method totals against sums made by hand over what the simulated machine really did.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tracesift_analysis::DEFAULT_CACHE_BYTES;
use tracesift_analysis::method_total::{MethodTotal, SpanTotal};
use tracesift_analysis::methods::{MethodAggregator, MethodTotals};
use tracesift_analysis::{Attribution, Item, SampleTotal, Span};
use tracesift_trace::rows::switch_flags;
use tracesift_trace::{ProcessId, StackId, ThreadId};

use crate::properties::simulation::{self, Machine};

/// How the samples are given to the aggregator.
#[derive(Clone, Copy, Debug)]
enum Samples {
    First,
    Last,
    /// Before the switches, added up by process and place, a part of them at a time.
    AddedUp(usize),
}

fn aggregate(machine: &Machine, range: Span, cache_bytes: usize, samples: Samples) -> MethodTotals {
    let aggregator = MethodAggregator::new(&machine.recording, range, &machine.threads, machine.source());
    let mut aggregator = aggregator.with_cache_bytes(cache_bytes);
    match samples {
        Samples::First => machine.samples.iter().for_each(|row| aggregator.sample(row)),
        Samples::Last => {}
        Samples::AddedUp(part) => {
            for rows in machine.samples.chunks(part) {
                let mut totals: BTreeMap<_, SampleTotal> = BTreeMap::new();
                for row in rows.iter().filter(|row| range.contains(row.time)) {
                    let place = Attribution::of_sample(row.stack, row.frame);
                    totals.entry((row.process, place)).or_default().add(row.thread, row.time, row.weight);
                }
                totals.iter().for_each(|((process, place), total)| aggregator.samples_of(*process, *place, total));
            }
        }
    }
    machine.switches.iter().rev().for_each(|row| aggregator.switch(row));
    if matches!(samples, Samples::Last) {
        machine.samples.iter().rev().for_each(|row| aggregator.sample(row));
    }
    aggregator.finish()
}

#[derive(Default)]
struct Truth {
    samples: i64,
    cpu: i64,
    exclusive_cpu: i64,
    wait: Vec<(i64, i64)>,
    ready: Vec<(i64, i64)>,
    switches: i64,
    threads: BTreeSet<ThreadId>,
    seen: Vec<i64>,
}

/// What was really charged to each method; `charged` tells the methods of a stack, or of what has none: the leaf's first, each once.
fn by_hand<I: Item>(
    machine: &Machine,
    range: Span,
    charged: impl Fn(Option<StackId>) -> Vec<I>,
) -> BTreeMap<(ProcessId, I), Truth> {
    let mut truths: BTreeMap<(ProcessId, I), Truth> = BTreeMap::new();
    for sample in machine.samples.iter().filter(|sample| range.contains(sample.time)) {
        let methods = charged(sample.stack);
        for &method in &methods {
            let truth = truths.entry((sample.process, method)).or_default();
            truth.samples += 1;
            truth.cpu += sample.weight;
            truth.threads.insert(sample.thread);
            truth.seen.push(sample.time);
        }
        if let Some(&leaf) = methods.first() {
            truths.entry((sample.process, leaf)).or_default().exclusive_cpu += sample.weight;
        }
    }
    for span in &machine.spans {
        let inside = |part: Option<(i64, i64)>| {
            let (start, end) = part?;
            let (from, to) = (start.max(range.start), end.min(range.end));
            (from < to || start == end && range.contains(start)).then_some((from, to))
        };
        let (wait, ready) = (inside(span.wait), inside(span.ready));
        let switch_in = span.switch_in.filter(|&time| range.contains(time));
        if wait.is_none() && ready.is_none() && switch_in.is_none() {
            continue;
        }
        let process = machine.threads[span.thread.index()].process;
        for method in charged(span.stack) {
            let truth = truths.entry((process, method)).or_default();
            truth.threads.insert(span.thread);
            truth.switches += i64::from(switch_in.is_some());
            truth.seen.extend(switch_in);
            truth.seen.extend(wait.iter().chain(&ready).flat_map(|&(start, end)| [start, end]));
            truth.wait.extend(wait);
            truth.ready.extend(ready);
        }
    }
    truths
}

fn totals_of(spans: &[(i64, i64)]) -> SpanTotal {
    let instants = spans.iter().flat_map(|&(start, end)| start..end).collect::<BTreeSet<_>>();
    SpanTotal {
        union: instants.len() as i64,
        sum: spans.iter().map(|(start, end)| end - start).sum(),
        count: spans.len() as i64,
        longest: spans.iter().map(|(start, end)| end - start).max().unwrap_or(0),
    }
}

pub(crate) fn expected<I: Item>(
    machine: &Machine,
    range: Span,
    charged: impl Fn(Option<StackId>) -> Vec<I>,
) -> Vec<MethodTotal<I>> {
    let total = |((process, method), truth): ((ProcessId, I), Truth)| MethodTotal {
        owner: process,
        method,
        samples: truth.samples,
        cpu: truth.cpu,
        exclusive_cpu: truth.exclusive_cpu,
        wait: totals_of(&truth.wait),
        ready: totals_of(&truth.ready),
        switches: truth.switches,
        threads: truth.threads.len() as u64,
        first: truth.seen.iter().copied().min().expect("a method is seen somewhere"),
        last: truth.seen.iter().copied().max().expect("a method is seen somewhere"),
    };
    by_hand(machine, range, charged).into_iter().map(total).collect()
}

pub(crate) fn a_range() -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::ALL), (-40i64..130, 0i64..120).prop_map(|(start, length)| Span::new(start, start + length)),]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn totals_are_what_the_machine_did(
        seed in any::<u64>(),
        has_ready in any::<bool>(),
        range in a_range(),
        samples in prop_oneof![Just(Samples::First), Just(Samples::Last), (1usize..60).prop_map(Samples::AddedUp)],
        cache_bytes in prop_oneof![Just(DEFAULT_CACHE_BYTES), 0usize..4000],
    ) {
        let machine = simulation::run(seed, has_ready);
        let totals = aggregate(&machine, range, cache_bytes, samples);
        prop_assert_eq!(totals.contradictions, 0);
        let charged = |stack: Option<StackId>| stack.map_or_else(Vec::new, |stack| machine.methods(stack));
        prop_assert_eq!(totals.methods, expected(&machine, range, charged));
    }

    #[test]
    fn exclusive_cpu_adds_up_to_the_samples_with_a_leaf(seed in any::<u64>()) {
        let machine = simulation::run(seed, true);
        let totals = aggregate(&machine, Span::ALL, DEFAULT_CACHE_BYTES, Samples::First);
        let exclusive = totals.methods.iter().map(|total| total.exclusive_cpu).sum::<i64>();
        let has_leaf = |stack: StackId| !machine.stacks[stack.index()].frames.is_empty();
        let sampled = machine.samples.iter().filter(|sample| sample.stack.is_some_and(has_leaf));
        prop_assert_eq!(exclusive, sampled.map(|sample| sample.weight).sum::<i64>());
    }

    #[test]
    fn unions_stay_below_the_sum_and_the_recording(seed in any::<u64>(), range in a_range()) {
        let machine = simulation::run(seed, true);
        let wall_clock = machine.recording.span.intersect(range).length();
        for total in aggregate(&machine, range, DEFAULT_CACHE_BYTES, Samples::First).methods {
            for spans in [total.wait, total.ready] {
                prop_assert!(spans.longest <= spans.union && spans.union <= spans.sum.min(wall_clock));
            }
            prop_assert!(total.exclusive_cpu <= total.cpu);
        }
    }

    #[test]
    fn damaged_rows_neither_panic_nor_count_too_much(
        seed in any::<u64>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0u8..5, -200i64..200, any::<i16>()), 1..8),
    ) {
        let mut machine = simulation::run(seed, true);
        prop_assume!(!machine.switches.is_empty());
        for (index, what, by, flags) in damage {
            let index = index.index(machine.switches.len());
            let damaged = &mut machine.switches[index];
            let row = damaged.clone();
            match what {
                0 => damaged.off_time = row.off_time.saturating_add(by),
                1 => damaged.time = if by > 0 { i64::MAX } else { row.time + by },
                2 => damaged.ready_time = Some(if by > 0 { i64::MIN } else { by }),
                3 => damaged.thread = ThreadId(i32::try_from(by).unwrap_or(0)),
                _ => damaged.flags = flags | switch_flags::BROKEN,
            }
        }
        let range = machine.recording.span;
        for total in aggregate(&machine, range, 0, Samples::First).methods {
            prop_assert!(total.wait.union <= range.length() && total.ready.union <= range.length());
        }
    }
}
