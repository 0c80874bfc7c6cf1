//! The whole pipeline on synthetic recordings: what comes out of the archive is what the scenario says went in.

mod causal;
mod compare;
mod corpus;
mod linux;
mod pipeline;

use tracesift_etl::EtlFile;
use tracesift_extract::Options;
use tracesift_scenario::{Knobs, Scenario};
use tracesift_testing::recording::extract_file;

/// Scenarios with all difficulties turned at random.
const SEEDS: u64 = 300;

/// The seeds from 0 on, or those that were asked for.
fn seeds(usual: u64) -> std::ops::Range<u64> {
    let seeds = std::env::var("TRACESIFT_SCENARIO_SEEDS").ok();
    match seeds.as_deref().and_then(|text| text.split_once("..")) {
        Some((from, to)) => from.parse().expect("first seed")..to.parse().expect("last seed"),
        None => 0..usual,
    }
}

#[test]
fn random_scenarios_come_back_exactly() {
    let range = seeds(SEEDS);
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

/// Place of the session's end in a file: behind the headers of the first buffer and of its record, and what precedes it
/// in `TRACE_LOGFILE_HEADER`.
const END_TIME: std::ops::Range<usize> = 72 + 32 + 16..72 + 32 + 24;

#[test]
fn a_part_that_was_never_closed_ends_with_its_last_record() {
    let knobs = Knobs { separate_rundown: true, ..Knobs::default() };
    let parts = Scenario::random(7, &knobs).parts().expect("a recording");
    let directory = tempfile::tempdir().expect("temporary directory");
    for (part, name) in parts.iter().zip(["X.etl", "X.kernel.etl"]) {
        let mut bytes = part.bytes.clone();
        assert_ne!(bytes[END_TIME], [0; 8]);
        bytes[END_TIME].fill(0);
        std::fs::write(directory.path().join(name), bytes).expect("written");
    }
    let header = |name| EtlFile::open_path(directory.path().join(name)).expect("opened").header().clone();
    let (main, other) = (header("X.etl"), header("X.kernel.etl"));
    assert_eq!((main.end_time, other.end_time), (0, 0));
    assert!(other.start_time > main.start_time, "the second part begins while the first one is being recorded");

    let report = extract_file(&directory.path().join("X.etl"), &Options::default());
    assert_eq!(report.info.sources.len(), 2);
}
