//! A series is read once; each of its parts must be what a question about that part alone answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracesift_analysis::tags::{Nesting, TagFile, TagSet};
use tracesift_ask::Ask;
use tracesift_ask::MethodPatterns;
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::question::cpu;
use tracesift_ask::question::methods::{Question, Tags};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_grammar::Patterns;
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, Scenario, Truth};

use crate::methods::{TAGS, archive};

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as usize % limit.max(1)
    }
}

/// Ranges that follow each other, of any length. Many begin at the very instant of a sample, the hardest place.
fn ranges(truth: &Truth, dice: &mut Dice) -> Vec<TimeRange> {
    let mut cuts: BTreeSet<i64> =
        (0..2 + dice.below(12)).map(|_| dice.below(truth.end.max(1) as usize) as i64).collect();
    for _ in 0..dice.below(12) {
        cuts.extend(truth.samples.get(dice.below(truth.samples.len())).map(|sample| sample.time));
    }
    let cuts: Vec<i64> = cuts.into_iter().collect();
    cuts.windows(2).map(|pair| TimeRange { start: Some(pair[0]), end: Some(pair[1]) }).collect()
}

#[test]
fn a_series_is_what_single_ranges_answer() {
    let file = TagFile { name: "tags", content: TAGS.as_bytes() };
    let set = |nesting| Arc::new(TagSet::read(&[file], nesting).expect("rules"));
    let tags = |nesting| Some(Tags { patterns: Patterns::parse("*"), set: set(nesting), cache: None });
    let filter = ProcessFilter { process: ProcessPatterns::parse("*"), ..ProcessFilter::default() };
    let all = Some(MethodPatterns::default());
    let methods = Question { filter: filter.clone(), methods: all, process_on_row: true, ..Question::default() };
    let questions: [(&str, Box<dyn Ask>); 6] = [
        ("processes", Box::new(cpu::Question { filter: filter.clone(), ..cpu::Question::default() })),
        ("methods", Box::new(methods.clone())),
        ("methods per thread", Box::new(Question { per_thread: true, ..methods.clone() })),
        ("percentiles", Box::new(Question { percentiles: true, ..methods.clone() })),
        ("tags", Box::new(Question { methods: None, tags: tags(Nesting::Names), ..methods.clone() })),
        ("both", Box::new(Question { tags: tags(Nesting::Children), ..methods })),
    ];
    let mut rows = 0;
    for seed in 400..420 {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        let directory = tempfile::tempdir().expect("temporary directory");
        let recording = OpenRecording::open(&Source::archive(archive(&scenario, directory.path()))).expect("opened");
        let ranges = ranges(&scenario.truth(), &mut Dice(seed));
        let origin = scenario.truth().end / 3;
        for (what, question) in &questions {
            let series = question.series(&recording, &ranges, origin).expect("read");
            assert_eq!(series.len(), ranges.len());
            for (range, part) in ranges.iter().zip(series) {
                let alone = question.within(*range, origin).section(&recording).expect("read");
                rows += alone.rows.len();
                assert_eq!(part, alone, "seed {seed}, {what}, {range:?}");
            }
        }
    }
    assert!(rows > 5_000, "{rows} rows are too few to say anything");
}
