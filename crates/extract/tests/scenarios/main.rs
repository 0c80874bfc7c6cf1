//! The whole pipeline on synthetic recordings: what comes out of the archive is what the scenario says went in.

mod compare;
mod pipeline;

use tracesift_scenario::{Knobs, Scenario};

/// Scenarios with all difficulties turned at random.
const SEEDS: u64 = 300;

#[test]
fn random_scenarios_come_back_exactly() {
    let seeds = std::env::var("TRACESIFT_SCENARIO_SEEDS").ok();
    let range = match seeds.as_deref().and_then(|text| text.split_once("..")) {
        Some((from, to)) => from.parse().expect("first seed")..to.parse().expect("last seed"),
        None => 0..SEEDS,
    };
    let mut failures = Vec::new();
    for seed in range.clone() {
        let knobs = Knobs::random(seed);
        let scenario = Scenario::random(seed, &knobs);
        let extracted = pipeline::extract(&scenario);
        let differences = compare::differences(&scenario.truth(), &extracted);
        if !differences.is_empty() {
            failures.push(format!("seed {seed}:\n  {}\n  {knobs:?}", differences.join("\n  ")));
        }
    }
    let shown = failures.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {} scenarios differ\n{shown}", failures.len(), range.count());
}

#[test]
fn the_story_comes_back_exactly() {
    for figures in tracesift_scenario::story::figures() {
        let scenario = tracesift_scenario::story::scenario(&figures);
        let extracted = pipeline::extract(&scenario);
        let differences = compare::differences(&scenario.truth(), &extracted);
        assert!(differences.is_empty(), "{}:\n  {}", figures.recording, differences.join("\n  "));
    }
}
