//! What holds for all inputs.

use proptest::prelude::*;
use tracesift_statistics::confidence::Confidence;
use tracesift_statistics::design::{Design, Side};
use tracesift_statistics::family::{Family, Key};
use tracesift_statistics::figure::Figure;
use tracesift_statistics::gate::{Gate, Limit};
use tracesift_statistics::permutations::Labellings;
use tracesift_statistics::problem::Problem;
use tracesift_statistics::random::seed_of;
use tracesift_statistics::segments::{Limits, change_points};
use tracesift_statistics::two_sets::{Comparison, Method};
use tracesift_statistics::verdict::Verdict;

/// A run: its id, set, block, stratum and value.
type Run = (String, Side, usize, usize, f64);

fn labellings(runs: &[Run], grouped: bool) -> Result<Labellings, Problem> {
    let ids: Vec<&str> = runs.iter().map(|run| run.0.as_str()).collect();
    let mut design = Design::new(&ids, &runs.iter().map(|run| run.1).collect::<Vec<_>>())?;
    if grouped {
        design = design.with_blocks(&runs.iter().map(|run| run.2).collect::<Vec<_>>())?;
        design = design.with_strata(&runs.iter().map(|run| run.3).collect::<Vec<_>>())?;
    }
    Ok(Labellings::new(design, seed_of(&ids)))
}

fn compare(runs: &[Run], grouped: bool) -> Result<Comparison, Problem> {
    let labellings = labellings(runs, grouped)?;
    let values: Vec<f64> = runs.iter().map(|run| run.4).collect();
    Ok(Figure::logarithms(&labellings, &values)?.compare(Confidence::default()))
}

fn family(runs: &[Run], grouped: bool) -> Result<Family, Problem> {
    let labellings = labellings(runs, grouped)?;
    let keys = [1.0, 3.0, 0.5].map(|power| runs.iter().map(|run| run.4.powf(power)).collect::<Vec<f64>>());
    let keys: Vec<Key<'_>> = keys.iter().map(|values| Key { values, quantum: 1.0 }).collect();
    Family::test(&labellings, &keys, Confidence::default())
}

fn side(is_b: bool) -> Side {
    if is_b { Side::B } else { Side::A }
}

/// All labellings of up to 12 runs, or random ones of more.
fn runs() -> impl Strategy<Value = Vec<Run>> {
    let value = prop_oneof![4 => 90.0f64..110.0, 2 => (90u8..110).prop_map(f64::from), 1 => 1e-300f64..1e300];
    let run = (any::<bool>(), 0usize..3, 0usize..2, value);
    let runs = prop_oneof![9 => prop::collection::vec(run.clone(), 2..13), 1 => prop::collection::vec(run, 18..24)];
    runs.prop_map(|runs| {
        let run = |(index, run): (usize, (bool, usize, usize, f64))| {
            (format!("{index:03}"), side(run.0), run.1, run.2, run.3)
        };
        runs.into_iter().enumerate().map(run).collect()
    })
}

fn exchanged(runs: &[Run]) -> Vec<Run> {
    runs.iter().map(|run| (run.0.clone(), run.1.other(), run.2, run.3, run.4)).collect()
}

fn check(comparison: &Comparison) {
    let test = comparison.test;
    for p in [test.p, test.p_greater, test.p_less] {
        assert!(p > 0.0 && p <= 1.0 || test.method != Method::Permutation && p == 0.0, "{test:?}");
    }
    let effect = comparison.effect;
    assert!(effect.shift.is_finite() && effect.low <= effect.high, "{effect:?}");
    let excludes = effect.low > 0.0 || effect.high < 0.0;
    assert_eq!(excludes, comparison.is_change(), "{comparison:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_runs_does_not_matter(runs in runs(), shuffled in any::<u64>(), grouped in any::<bool>()) {
        let mut other = runs.clone();
        let mut random = tracesift_statistics::random::SplitMix64::new(shuffled);
        for last in (1..other.len()).rev() {
            other.swap(last, random.below(last as u64 + 1) as usize);
        }
        // Errors name an index, which may be another.
        match (compare(&runs, grouped), compare(&other, grouped)) {
            (Ok(one), Ok(two)) => prop_assert_eq!(one, two),
            (one, two) => prop_assert_eq!(one.is_err(), two.is_err()),
        }
        if let Ok(family_of) = family(&runs, grouped) {
            prop_assert_eq!(family_of, family(&other, grouped).expect("as before"));
        }
    }

    #[test]
    fn exchanged_sets_have_the_opposite_effect(runs in runs(), grouped in any::<bool>()) {
        let (Ok(one), Ok(two)) = (compare(&runs, grouped), compare(&exchanged(&runs), grouped)) else { return Ok(()) };
        check(&one);
        prop_assert_eq!((one.test.p, one.test.p_greater), (two.test.p, two.test.p_less));
        prop_assert_eq!((one.test.method, one.effect.shift), (two.test.method, -two.effect.shift));
        let (Ok(one), Ok(two)) = (family(&runs, grouped), family(&exchanged(&runs), grouped)) else { return Ok(()) };
        for (one, two) in one.keys.iter().zip(&two.keys) {
            prop_assert_eq!((one.p, one.p_alone), (two.p, two.p_alone));
        }
    }

    #[test]
    fn another_unit_changes_nothing(runs in runs()) {
        let larger: Vec<Run> = runs.iter().cloned().map(|run| (run.0, run.1, run.2, run.3, run.4 * 8.0)).collect();
        let (Ok(one), Ok(two)) = (compare(&runs, false), compare(&larger, false)) else { return Ok(()) };
        prop_assert_eq!(one.test.method, two.test.method);
        prop_assert!((one.test.p - two.test.p).abs() < 1e-9);
        prop_assert!((one.effect.shift - two.effect.shift).abs() < 1e-9);
    }

    #[test]
    fn any_numbers_end(values in prop::collection::vec((any::<bool>(), any::<f64>()), 0..14)) {
        let sides: Vec<Side> = values.iter().map(|&(is_b, _)| side(is_b)).collect();
        let values: Vec<f64> = values.iter().map(|&(_, value)| value).collect();
        let Ok(design) = Design::in_order(&sides) else { return Ok(()) };
        let labellings = Labellings::new(design, 1);
        for figure in [Figure::plain(&labellings, &values), Figure::logarithms(&labellings, &values)] {
            let Ok(figure) = figure else { continue };
            let comparison = figure.compare(Confidence::default());
            check(&comparison);
            let _ = comparison.verdict(0.01);
        }
        for limit in [Limit::Ratio(0.05), Limit::Ratio(-2.0), Limit::Difference(f64::NAN), Limit::Difference(-7.0)] {
            for gate in [Gate::Above(limit), Gate::Below(limit)] {
                let Ok(test) = gate.test(&labellings, &values, Confidence::default()) else { continue };
                let _ = test.decide(test.p_beyond(), 3);
            }
        }
        for quantum in [1.0, 1e-300, 1e300] {
            let keys = [Key { values: &values, quantum }, Key { values: &vec![0.0; values.len()], quantum }];
            if let Ok(family) = Family::test(&labellings, &keys, Confidence::default()) {
                prop_assert!(family.keys.iter().all(|key| key.p >= 0.0 && key.p <= 1.0 && !key.statistic.is_nan()));
                prop_assert_eq!(family.keys[1].p, 1.0);
            }
        }
        let _ = change_points(&values, false, &Limits { alpha: 0.01, least: 0.0, seed: 1 });
    }
}

fn of(a: &[f64], b: &[f64]) -> Comparison {
    let run = |side| move |(index, &value): (usize, &f64)| (format!("{side:?}{index}"), side, 0, 0, value);
    let runs: Vec<Run> = a.iter().enumerate().map(run(Side::A)).chain(b.iter().enumerate().map(run(Side::B))).collect();
    compare(&runs, false).expect("positive values")
}

#[test]
fn a_worked_example() {
    let comparison = of(&[100.0, 102.0, 99.0, 101.0, 103.0], &[104.0, 107.0, 103.5, 106.0, 109.0]);
    assert_eq!((comparison.test.p, comparison.test.p_greater), (2.0 / 252.0, 1.0 / 252.0));
    assert!((comparison.effect.change() - 0.049_019_6).abs() < 1e-7);
    assert_eq!(comparison.verdict(0.01), Verdict::Slower);
    assert_eq!(comparison.verdict(0.06), Verdict::Undecided);
    assert_eq!(comparison.verdict(0.10), Verdict::Same);
}

#[test]
fn equal_values_are_the_same() {
    let equal = of(&[100.0; 5], &[100.0; 5]);
    assert_eq!((equal.test.p, equal.verdict(0.01)), (1.0, Verdict::Same));
    assert!(equal.effect.low > -1e-9 && equal.effect.high < 1e-9, "{:?}", equal.effect);
    let shifted = of(&[100.0; 5], &[105.0; 5]);
    assert_eq!((shifted.test.p, shifted.verdict(0.01)), (2.0 / 252.0, Verdict::Slower));
    let few = of(&[100.0; 2], &[100.0; 3]);
    assert_eq!((few.test.method, few.test.p, few.verdict(0.01)), (Method::Welch, 1.0, Verdict::Same));
}

#[test]
fn few_runs() {
    let methods = |n: usize, m: usize| {
        let values = |count: usize| (0..count).map(|index| 100.0 + index as f64).collect::<Vec<_>>();
        of(&values(n), &values(m)).test.method
    };
    assert_eq!([(1, 1), (1, 2), (2, 1)].map(|(n, m)| methods(n, m)), [Method::None; 3]);
    assert_eq!([(1, 3), (9, 1), (1, 40)].map(|(n, m)| methods(n, m)), [Method::Predictive; 3]);
    assert_eq!([(2, 2), (3, 3), (3, 4), (2, 7)].map(|(n, m)| methods(n, m)), [Method::Welch; 4]);
    assert_eq!([(3, 5), (4, 4), (2, 8)].map(|(n, m)| methods(n, m)), [Method::Permutation; 3]);
    let one = of(&[100.0], &[110.0]);
    assert_eq!((one.verdict(0.01), one.spread, one.effect.low), (Verdict::Undecided, None, f64::NEG_INFINITY));
}

#[test]
fn problems() {
    let design = |text: &str| Design::in_order(&text.chars().map(|c| side(c == 'B')).collect::<Vec<_>>());
    assert_eq!(design("").err(), Some(Problem::EmptySet('A')));
    assert_eq!(design("AAA").err(), Some(Problem::EmptySet('B')));
    assert_eq!(design(&"AB".repeat(3_000)).err(), Some(Problem::TooManyRuns(6_000)));
    let labellings = Labellings::new(design("AABB").expect("two sets"), 1);
    let problem = |values: &[f64]| Figure::logarithms(&labellings, values).err();
    assert_eq!(problem(&[1.0, 2.0]), Some(Problem::Length { expected: 4, found: 2 }));
    assert_eq!(problem(&[1.0, 2.0, f64::NAN, 1.0]), Some(Problem::NotFinite(2)));
    assert_eq!(problem(&[1.0, 2.0, 3.0, 0.0]), Some(Problem::NotPositive(3)));
    let key = Key { values: &[1.0; 4], quantum: 0.0 };
    assert_eq!(Family::test(&labellings, &[key], Confidence::default()).err(), Some(Problem::Quantum(0)));
    let none = Family::test(&labellings, &[], Confidence::default()).expect("no keys");
    assert!(none.keys.is_empty());
    let apart = design("AABB").expect("two sets").with_strata(&[0, 0, 1, 1]).expect("four");
    let apart = Labellings::new(apart, 1);
    assert_eq!(Figure::logarithms(&apart, &[1.0; 4]).err(), Some(Problem::NoCommonStratum));
    assert_eq!(Problem::TooManyRuns(6_000).to_string(), "there are 6000 runs, more than 4096");
}
