//! Random machines, and windows of their recordings, for the tests of paths.

use std::io::Cursor;

use tracesift_ask::filter::ProcessFilter;
use tracesift_ask::path::{AccountQuery, WindowQuery};
use tracesift_ask::recording::Source;
use tracesift_grammar::Patterns;
use tracesift_scenario::causal::{History, etl, perf, random, run};
use tracesift_testing::recording::{Extracted, Recording};

use super::path::of;

pub(super) const SEEDS: u64 = 12;

pub(super) fn accounts(window: &str, filter: ProcessFilter, anchor: &str) -> AccountQuery {
    let (spec, anchor) = (window.parse().expect("a window"), Patterns::parse(anchor));
    AccountQuery { windows: WindowQuery { spec, filter, anchor }, ..AccountQuery::default() }
}

/// A random machine in both formats.
pub(super) fn recordings(seed: u64) -> (History, [Extracted; 2]) {
    let (world, noise) = random(seed);
    let history = run(world, &noise, seed);
    let mut bytes = Cursor::new(Vec::new());
    perf::write(&history, 1_000_000, &mut bytes).expect("written");
    let etl = Recording::etl(&etl::scenario(&history, 1_000_000)).extract();
    let perf = Recording::of("perf.data", &bytes.into_inner()).extract();
    (history, [etl, perf])
}

/// Checks windows of all machines; what the checks count, by format.
pub(super) fn check_windows(check: impl Fn(&Source, &AccountQuery, &str) -> usize) -> [usize; 2] {
    let mut counts = [0, 0];
    for seed in 0..SEEDS {
        let (_, recordings) = recordings(seed);
        for (extracted, count) in recordings.iter().zip(&mut counts) {
            let source = Source::archive(extracted.archive.path().to_owned());
            let any = ProcessFilter::default;
            for accounts in [
                accounts("process:app", any(), ""),
                accounts("process:*", any(), ""),
                accounts("0.002s..0.031s", of("app"), ""),
                accounts("0s..0.02s", any(), "*"),
            ] {
                let context = format!("seed {seed}, {}, {:?}", source.shown.display(), accounts.windows);
                *count += check(&source, &accounts, &context);
            }
        }
    }
    counts
}
