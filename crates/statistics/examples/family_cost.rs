//! What a comparison costs: 300 keys, 20,000 labellings, 60 runs.
//!
//! ```text
//! cargo run --release -p tracesift-statistics --example family_cost
//! ```

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Instant;

use tracesift_statistics::confidence::Confidence;
use tracesift_statistics::design::{Design, Side};
use tracesift_statistics::family::{Family, Key};
use tracesift_statistics::figure::Figure;
use tracesift_statistics::permutations::Labellings;
use tracesift_statistics::problem::Problem;
use tracesift_statistics::random::SplitMix64;

fn main() -> Result<(), Problem> {
    let mut random = SplitMix64::new(1);
    let mut noise = |size: f64| size * (1.0 + random.below(1_000) as f64 / 10_000.0);
    for (keys, runs) in [(300, 20), (300, 60), (5_000, 20)] {
        let values: Vec<Vec<f64>> =
            (1..=keys).map(|key| (0..runs).map(|_| noise(1e9 / f64::from(key))).collect()).collect();
        let keys: Vec<Key<'_>> = values.iter().map(|values| Key { values, quantum: 1e6 }).collect();
        let sides: Vec<Side> = (0..runs).map(|run| if run % 2 == 0 { Side::A } else { Side::B }).collect();
        let start = Instant::now();
        let labellings = Labellings::new(Design::in_order(&sides)?, 1);
        let drawn = start.elapsed();
        let family = Family::test(&labellings, &keys, Confidence::default())?;
        let tested = start.elapsed();
        let comparison = Figure::logarithms(&labellings, &values[0])?.compare(Confidence::default());
        println!(
            "{} keys, {} labellings, {runs} runs: labellings {drawn:.0?}, family {:.0?}, a figure with its interval {:.0?} (p {}, {})",
            keys.len(),
            labellings.count(),
            tested - drawn,
            start.elapsed() - tested,
            family.keys[0].p,
            comparison.test.p,
        );
    }
    Ok(())
}
