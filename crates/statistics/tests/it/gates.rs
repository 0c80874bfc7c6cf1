//! Gates: how often they are wrong by chance, what they see, and that a wider limit is never harder to keep.

use tracesift_statistics::confidence::Confidence;
use tracesift_statistics::design::{Design, Side};
use tracesift_statistics::gate::{Decision, Gate, Limit};
use tracesift_statistics::permutations::Labellings;
use tracesift_statistics::problem::Problem;
use tracesift_statistics::random::SplitMix64;

use crate::calibration::{Kind, Noise};

fn labellings(n: usize, m: usize) -> Labellings {
    let sides = [vec![Side::A; n], vec![Side::B; m]].concat();
    Labellings::new(Design::in_order(&sides).expect("two sets"), 1)
}

fn decide(labellings: &Labellings, values: &[f64], gate: Gate) -> Decision {
    let test = gate.test(labellings, values, Confidence::default()).expect("values");
    test.decide(test.p_beyond(), 1)
}

/// The shares of gates that fail and that pass, of runs around 100 of which those of B are moved by `change`, a ratio.
fn shares(kind: Kind, (n, m): (usize, usize), change: f64, gate: Gate, trials: usize) -> [f64; 2] {
    let mut noise = Noise(SplitMix64::new(41));
    let labellings = labellings(n, m);
    let mut found = [0.0; 2];
    for _ in 0..trials {
        let mut values = noise.runs(kind, n + m);
        values[n..].iter_mut().for_each(|value| *value *= 1.0 + change);
        match decide(&labellings, &values, gate) {
            Decision::Fails => found[0] += 1.0 / trials as f64,
            Decision::Passes => found[1] += 1.0 / trials as f64,
            Decision::Undecided { .. } => {}
        }
    }
    found
}

/// The highest share that chance makes of a true share of 5 %, by three standard deviations.
fn five_percent(trials: usize) -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / trials as f64).sqrt()
}

const KINDS: [Kind; 4] = [Kind::Normal, Kind::Skewed, Kind::Outliers, Kind::Bimodal];

#[test]
fn a_change_that_is_the_limit_seldom_decides() {
    let trials = 1_500;
    for kind in KINDS {
        for limit in [0.0, 0.05, -0.05] {
            for gate in [Gate::Above(Limit::Ratio(limit)), Gate::Below(Limit::Ratio(limit))] {
                let [fails, passes] = shares(kind, (5, 5), limit, gate, trials);
                assert!(
                    fails < five_percent(trials) && passes < five_percent(trials),
                    "{kind:?} {limit}: {fails} {passes}"
                );
            }
        }
        // Too few for permutations.
        let gate = Gate::Above(Limit::Ratio(0.05));
        let [fails, passes] = shares(kind, (3, 3), 0.05, gate, trials);
        assert!(fails < five_percent(trials) && passes < 0.09, "{kind:?}: {fails} {passes}");
    }
}

#[test]
fn equal_sets_never_fail_a_limit_that_is_worth_something() {
    for kind in KINDS {
        let [fails, passes] = shares(kind, (8, 8), 0.0, Gate::Above(Limit::Ratio(0.05)), 100);
        assert!(fails < 0.01, "{kind:?}: {fails}");
        assert!(passes > if matches!(kind, Kind::Normal | Kind::Skewed) { 0.85 } else { 0.3 }, "{kind:?}: {passes}");
    }
}

#[test]
fn a_change_beyond_the_limit_is_seen() {
    // 5 % beyond the limit, as much as a test of no change sees.
    for (limit, change) in [(0.0, 0.05), (0.05, 1.05 * 1.05 - 1.0)] {
        let [fails, passes] = shares(Kind::Normal, (10, 10), change, Gate::Above(Limit::Ratio(limit)), 60);
        assert!(fails > 0.85 && passes == 0.0, "{limit}: {fails} {passes}");
    }
    let [fails, _] = shares(Kind::Normal, (8, 8), -0.1, Gate::Below(Limit::Ratio(-0.04)), 60);
    assert!(fails > 0.85, "{fails}");
    let [fails, _] = shares(Kind::Normal, (8, 8), 0.1, Gate::Above(Limit::Difference(4.0)), 60);
    assert!(fails > 0.85, "{fails}");
}

#[test]
fn a_wider_limit_is_never_harder_to_keep() {
    let mut noise = Noise(SplitMix64::new(43));
    let rank = |decision: Decision| match decision {
        Decision::Fails => 0,
        Decision::Undecided { .. } => 1,
        Decision::Passes => 2,
    };
    for (n, m) in [(2, 3), (3, 3), (5, 5), (4, 7)] {
        let labellings = labellings(n, m);
        for kind in KINDS {
            for _ in 0..20 {
                let values = noise.runs(kind, n + m);
                let ranks: Vec<i32> = (-30..=30)
                    .map(|limit| decide(&labellings, &values, Gate::Above(Limit::Ratio(f64::from(limit) / 100.0))))
                    .map(rank)
                    .collect();
                assert!(ranks.is_sorted(), "{n} + {m} {kind:?}: {ranks:?} {values:?}");
                // The other direction mirrors it: what is beyond one limit is within the other.
                let mirrored: Vec<i32> = (-30..=30)
                    .map(|limit| decide(&labellings, &values, Gate::Below(Limit::Ratio(f64::from(limit) / 100.0))))
                    .map(|decision| 2 - rank(decision))
                    .collect();
                assert_eq!(ranks, mirrored);
            }
        }
    }
}

#[test]
fn worked_examples() {
    let labellings = labellings(6, 6);
    let decide =
        |b: [f64; 6], gate: Gate| decide(&labellings, &[[100.0, 101.0, 99.0, 100.5, 99.5, 100.2], b].concat(), gate);
    let (above, below) = (|ratio| Gate::Above(Limit::Ratio(ratio)), |ratio| Gate::Below(Limit::Ratio(ratio)));
    let slower = [110.0, 111.0, 109.0, 110.5, 109.5, 110.2];
    assert_eq!(decide(slower, above(0.05)), Decision::Fails);
    assert_eq!(decide(slower, above(0.15)), Decision::Passes);
    assert_eq!(decide(slower, below(-0.05)), Decision::Passes);
    assert_eq!(decide(slower, Gate::Above(Limit::Difference(8.0))), Decision::Fails);
    assert_eq!(decide(slower, Gate::Above(Limit::Difference(12.0))), Decision::Passes);
    let faster = [90.0, 91.0, 89.0, 90.5, 89.5, 90.2];
    assert_eq!((decide(faster, below(-0.05)), decide(faster, above(0.01))), (Decision::Fails, Decision::Passes));
    // It was to become 5 % faster, and did.
    assert_eq!(decide(faster, above(-0.05)), Decision::Passes);
    let noisy = [100.0, 140.0, 80.0, 120.0, 90.0, 106.0];
    let Decision::Undecided { runs_needed: Some(runs) } = decide(noisy, above(0.05)) else {
        panic!("{:?}", decide(noisy, above(0.05)))
    };
    assert!(runs > 30, "{runs}");
}

#[test]
fn counts_that_are_zero_or_constant() {
    let labellings = labellings(5, 5);
    let decide = |a: [f64; 5], b: [f64; 5], limit: Limit| decide(&labellings, &[a, b].concat(), Gate::Above(limit));
    // Nothing in either set: that is no change, and no more than any limit from 0 on.
    for limit in [Limit::Ratio(0.0), Limit::Ratio(0.05), Limit::Difference(0.0), Limit::Difference(3.0)] {
        assert_eq!(decide([0.0; 5], [0.0; 5], limit), Decision::Passes, "{limit:?}");
        assert_eq!(decide([7.0; 5], [7.0; 5], limit), Decision::Passes, "{limit:?}");
    }
    assert_eq!(decide([100.0; 5], [105.0; 5], Limit::Ratio(0.05)), Decision::Passes, "the limit itself");
    assert_eq!(decide([100.0; 5], [106.0; 5], Limit::Ratio(0.05)), Decision::Fails);
    // A method that is new: more than any share of nothing.
    assert_eq!(decide([0.0; 5], [9.0, 8.0, 9.0, 10.0, 9.5], Limit::Ratio(0.5)), Decision::Fails);
    assert_eq!(decide([0.0, 10.0, 11.0, 9.0, 10.0], [0.0, 1.0, 0.0, 0.0, 1.0], Limit::Ratio(0.05)), Decision::Passes);
}

#[test]
fn few_runs_and_many_figures() {
    let two = labellings(1, 1);
    assert_eq!(decide(&two, &[1.0, 2.0], Gate::Above(Limit::Ratio(0.05))), Decision::Undecided { runs_needed: None });
    let five = labellings(5, 5);
    let values = [100.0, 101.0, 99.0, 100.5, 99.5, 120.0, 121.0, 119.0, 120.5, 119.5];
    let test = Gate::Above(Limit::Ratio(0.05)).test(&five, &values, Confidence::default()).expect("values");
    assert_eq!((test.p_beyond(), test.is_beyond()), (1.0 / 252.0, true));
    assert_eq!(test.decide(12.0 / 252.0, 12), Decision::Fails);
    // With more figures than that no p of five runs is small enough: six are needed.
    assert!(test.smallest_p(12) <= 0.05 && test.smallest_p(13) > 0.05);
    assert_eq!(test.decide(13.0 / 252.0, 13), Decision::Undecided { runs_needed: Some(6) });
}

#[test]
fn problems() {
    let labellings = labellings(2, 2);
    let problem = |limit: Limit, values: &[f64]| {
        Gate::Above(limit).test(&labellings, values, Confidence::default()).map(|_| ()).err()
    };
    assert_eq!(problem(Limit::Ratio(-1.0), &[1.0; 4]), Some(Problem::NotFinite(0)));
    assert_eq!(problem(Limit::Ratio(f64::NAN), &[1.0; 4]), Some(Problem::NotFinite(0)));
    assert_eq!(problem(Limit::Difference(f64::INFINITY), &[1.0; 4]), Some(Problem::NotFinite(0)));
    assert_eq!(problem(Limit::Ratio(0.05), &[1.0, -1.0, 1.0, 1.0]), Some(Problem::NotPositive(1)));
    assert_eq!(problem(Limit::Difference(0.05), &[1.0, -1.0, 1.0, 1.0]), None);
    assert_eq!(problem(Limit::Ratio(0.05), &[1.0; 3]), Some(Problem::Length { expected: 4, found: 3 }));
}
