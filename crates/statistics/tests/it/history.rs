//! Change points: series made by hand, and the rates of false alarms and of steps that are found and placed, from
//! simulations with fixed seeds.

use tracesift_statistics::random::SplitMix64;
use tracesift_statistics::segments::{ChangePoint, Limits, any_change, change_points};

use crate::calibration::{Noise, share};

const LIMITS: Limits = Limits { alpha: 0.01, least: 0.01, seed: 1 };

#[derive(Clone, Copy, Debug)]
enum Kind {
    Normal,
    /// A twentieth of the runs takes a third longer.
    Outliers,
    /// A third of the runs takes a tenth longer.
    Bimodal,
    /// A run is so much like the one before it.
    Dependent(f64),
}

/// Runs around 1 that vary by 3 %; those from `place` on are `step` larger, on logarithms.
fn series(noise: &mut Noise, kind: Kind, runs: usize, place: usize, step: f64) -> Vec<f64> {
    let mut before = noise.normal();
    let mut run = |index: usize| {
        let dependence = if let Kind::Dependent(dependence) = kind { dependence } else { 0.0 };
        before = dependence * before + (1.0 - dependence * dependence).sqrt() * noise.normal();
        let chance = noise.uniform();
        let factor = match kind {
            Kind::Outliers if chance < 0.05 => 1.3,
            Kind::Bimodal if chance < 0.3 => 1.1,
            _ => 1.0,
        };
        factor * f64::exp(0.03 * before + if index < place { 0.0 } else { step })
    };
    (0..runs).map(&mut run).collect()
}

fn points(values: &[f64]) -> Vec<ChangePoint> {
    change_points(values, true, &LIMITS).expect("positive values")
}

/// Shares of `trials` series of 200 runs.
#[derive(Debug)]
struct Rates {
    /// Series without a step that have a change point.
    alarms: f64,
    /// Steps of 5 % that are found within five runs.
    found: f64,
    /// Of these, those that lie in the interval of their place.
    covered: f64,
}

fn rates(kind: Kind, trials: usize) -> Rates {
    let mut noise = Noise(SplitMix64::new(23));
    let alarms = share(trials, || !points(&series(&mut noise, kind, 200, 0, 0.0)).is_empty());
    let (mut found, mut covered) = (0, 0);
    for _ in 0..trials {
        let place = 60 + noise.0.below(80) as usize;
        let points = points(&series(&mut noise, kind, 200, place, 0.05));
        if let Some(point) = points.iter().find(|point| point.index.abs_diff(place) <= 5) {
            found += 1;
            covered += usize::from((point.between.0..=point.between.1).contains(&place));
        }
    }
    Rates { alarms, found: found as f64 / trials as f64, covered: f64::from(covered as u32) / f64::from(found) }
}

#[test]
fn steps_of_a_series_are_found_and_placed() {
    let normal = rates(Kind::Normal, 40);
    assert!(normal.alarms <= 0.05 && normal.found >= 0.9 && normal.covered >= 0.9, "{normal:?}");
    let outliers = rates(Kind::Outliers, 40);
    assert!(outliers.alarms <= 0.05 && outliers.found >= 0.8 && outliers.covered >= 0.85, "{outliers:?}");
}

/// The rates of the specification: minutes in a debug build.
#[test]
#[ignore = "takes minutes"]
fn steps_of_many_series_are_found_and_placed() {
    for (kind, alarms, found) in [
        (Kind::Normal, 0.05, 0.9),
        (Kind::Outliers, 0.05, 0.8),
        (Kind::Bimodal, 0.05, 0.7),
        (Kind::Dependent(0.3), 0.05, 0.8),
        (Kind::Dependent(0.6), 0.06, 0.5),
    ] {
        let rates = rates(kind, 400);
        println!("{kind:?}: {rates:?}");
        assert!(rates.alarms <= alarms && rates.found >= found && rates.covered >= 0.9, "{kind:?}: {rates:?}");
    }
}

#[test]
fn three_steps_have_four_segments() {
    let levels = [100.0, 110.0, 90.0, 120.0];
    let values: Vec<f64> = (0..80).map(|run| levels[run / 20] + (run * 7 % 5) as f64).collect();
    let points = points(&values);
    assert_eq!(points.iter().map(|point| point.likeliest).collect::<Vec<_>>(), [20, 40, 60]);
    assert!(points.iter().all(|point| point.index.abs_diff(point.likeliest) <= 1 && point.p < 0.001), "{points:?}");
    let changes: Vec<i64> = points.iter().map(|point| (100.0 * point.change).round() as i64).collect();
    assert_eq!(changes, [10, -18, 33]);
}

#[test]
fn outliers_and_steps_that_do_not_matter_are_no_change_points() {
    let steady = |run: u32| 100.0 + f64::from(run * 7 % 5);
    // Three runs in a row are no segment: there are four on either side of a change point.
    let outliers: Vec<f64> = (0..60).map(|run| if (30..33).contains(&run) { 300.0 } else { steady(run) }).collect();
    assert_eq!(points(&outliers), []);
    let small: Vec<f64> = (0..200).map(|run| steady(run) + if run < 100 { 0.0 } else { 0.5 }).collect();
    assert_eq!(points(&small), []);
    let all = change_points(&small, true, &Limits { least: 0.0, ..LIMITS }).expect("positive values");
    assert!(all.iter().all(|point| point.change.abs() < 0.01), "{all:?}");
    for few in [vec![], vec![1.0; 7], vec![1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0], vec![5.0; 100]] {
        assert_eq!(points(&few), []);
    }
}

#[test]
fn equal_seeds_have_equal_points() {
    let mut noise = Noise(SplitMix64::new(5));
    let values = series(&mut noise, Kind::Outliers, 120, 50, 0.08);
    assert_eq!(format!("{:?}", points(&values)), format!("{:?}", points(&values)));
    assert_eq!(any_change(&values, 0.01, 1_999, 3), any_change(&values, 0.01, 1_999, 3));
}

#[test]
fn the_p_of_any_change_is_as_fine_as_its_permutations() {
    let step: Vec<f64> = (0..40).map(|run| f64::from(run / 20 * 50 + run * 7 % 5)).collect();
    assert_eq!(any_change(&step, 0.01, 999, 1), Ok(0.001));
    assert_eq!(any_change(&step, 0.01, 7_999, 1), Ok(1.0 / 8_000.0));
    assert_eq!(any_change(&step[..20], 0.01, 999, 1), Ok(1.0));
    let mut noise = Noise(SplitMix64::new(7));
    let alarms = share(300, || {
        let values = series(&mut noise, Kind::Normal, 30, 0, 0.0);
        any_change(&values, 0.05, 199, 1).expect("finite values") < 1.0
    });
    assert!((0.01..0.09).contains(&alarms), "{alarms}");
}
