//! How long tagging takes, against the aggregator of methods in the same run. Prints; asserts nothing, as machines differ.
//!
//!     cargo test --release -p tracesift-analysis --test it tag_timing -- --ignored --nocapture

#![expect(clippy::print_stdout, reason = "a measurement's output is its result")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use tracesift_analysis::tags::{Nesting, TagSet, TagSource, Tagger};
use tracesift_analysis::{MethodAggregator, MethodId, MethodNames, MethodSource, RecordingFacts, Span, StackMethods};
use tracesift_trace::rows::{CpuSampleRow, Origin, StackRow, ThreadRow};
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

const METHODS: u32 = 200_000;
const STACKS: i32 = 200_000;
const DEPTH: usize = 40;
const SAMPLES: i64 = 2_000_000;
const THREADS: usize = 400;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) % limit
    }

    /// Half of the numbers lie in the first eighth.
    fn often_small(&mut self, limit: u64) -> u64 {
        let part = self.below(1 << 20);
        let cube = part * part / (1 << 20) * part / (1 << 20);
        cube * limit / (1 << 20)
    }
}

/// Names as a recording of Windows has them: the kernel, managed code, native code, and a third without symbols.
fn names(dice: &mut Dice) -> MethodNames {
    let mut names = MethodNames::new();
    while names.len() < METHODS as usize {
        let number = names.len();
        match dice.below(6) {
            0 => names.function(Some("ntoskrnl.exe"), &format!("MiDoSomethingWithPages{number}")),
            1 => names.function(Some("coreclr.dll"), &format!("WKS::gc_heap::mark_object_simple{number}")),
            2 => names.function(
                Some("System.Private.CoreLib.dll"),
                &format!("System.Collections.Generic.Dictionary`2[System.__Canon].TryInsert{number}"),
            ),
            3 => {
                names.function(Some(&format!("native{}.dll", number % 300)), &format!("ns::Class<int>::method{number}"))
            }
            _ => names.without_symbol(&format!("driver{}.sys", number % 700), number as i64),
        };
    }
    names
}

fn timed<T>(what: &str, run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    let taken = start.elapsed();
    println!("{what}: {:.0} ms", taken.as_secs_f64() * 1e3);
    (result, taken)
}

fn aggregate(threads: &[ThreadRow], samples: &[CpuSampleRow], source: impl MethodSource) -> usize {
    let recording = RecordingFacts { span: Span::new(0, SAMPLES), has_switches: false, has_ready: false };
    let mut aggregator = MethodAggregator::new(&recording, Span::ALL, threads, source);
    samples.iter().for_each(|row| aggregator.sample(row));
    aggregator.finish().methods.len()
}

#[test]
#[ignore = "a measurement"]
fn tagging() {
    let mut dice = Dice(7);
    let names = names(&mut dice);
    let mut stacks = StackMethods::new();
    for method in 0..METHODS {
        stacks.add_frame(FrameId(method as i32), &[MethodId(method)]);
    }
    // Stacks grow out of each other like calls do, and most calls are of few methods.
    let mut calls: Vec<Vec<FrameId>> = Vec::new();
    for stack in 0..STACKS {
        let mut frames = match calls.get(dice.below(calls.len().max(1) as u64) as usize) {
            Some(other) => other[dice.below(other.len() as u64 / 2 + 1) as usize..].to_vec(),
            None => Vec::new(),
        };
        while frames.len() < DEPTH {
            frames.insert(0, FrameId(dice.often_small(u64::from(METHODS)) as i32));
        }
        stacks.add_stack(&StackRow { stack: StackId(stack), frames: frames.clone() });
        calls.push(frames);
    }
    let thread = |index: usize| ThreadRow {
        thread: ThreadId::from_index(index),
        process: ProcessId((index % 50) as i32),
        tid: index as i64,
        origin: Origin::Event,
        ..ThreadRow::default()
    };
    let threads = (0..THREADS).map(thread).collect::<Vec<_>>();
    let samples = (0..SAMPLES)
        .map(|time| {
            // A stack is one process' own.
            let stack = dice.often_small(STACKS as u64) as i32;
            let thread = &threads[stack as usize % THREADS];
            CpuSampleRow {
                time,
                cpu: 0,
                thread: thread.thread,
                process: thread.process,
                frame: None,
                stack: Some(StackId(stack)),
                weight: 1_000_000,
                priority: None,
                flags: 0,
            }
        })
        .collect::<Vec<_>>();
    let (set, _) = timed("reading the built-in rules", || TagSet::built_in(Nesting::Names).expect("rules"));
    let ((), _) = timed("rules of 200 k methods", || {
        let mut tagger = Tagger::new(&set, &names);
        (0..METHODS).for_each(|method| {
            black_box(tagger.tag(&[MethodId(method)]));
        });
    });
    let mut source = TagSource::new(&mut stacks, Tagger::new(&set, &names));
    let ((), _) = timed("tags of 200 k stacks of 40 frames, with the rules of their methods", || {
        (0..STACKS).for_each(|stack| {
            black_box(source.tag(StackId(stack)));
        });
    });
    let (_, tags) = timed("tags of 2 M samples, stacks known", || aggregate(&threads, &samples, &mut source));
    let (_, methods) = timed("yardstick: methods of 2 M samples", || aggregate(&threads, &samples, &mut stacks));
    println!("ratio: {:.2}", tags.as_secs_f64() / methods.as_secs_f64());
}
