//! Rates of false alarms, coverage and power, from simulations with fixed seeds. Those that take minutes are ignored.

use tracesift_statistics::confidence::Confidence;
use tracesift_statistics::design::{Design, Side};
use tracesift_statistics::family::{Family, Key};
use tracesift_statistics::figure::Figure;
use tracesift_statistics::gaps::modes;
use tracesift_statistics::order::Order;
use tracesift_statistics::permutations::Labellings;
use tracesift_statistics::random::SplitMix64;

/// Random numbers of the distributions that runs have.
pub(crate) struct Noise(pub(crate) SplitMix64);

impl Noise {
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.below(1 << 53) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A duration around 100 that varies by 3 %.
    fn run(&mut self, kind: Kind) -> f64 {
        let normal = 100.0 * (0.03 * self.normal()).exp();
        match kind {
            Kind::Normal => normal,
            Kind::Skewed => 97.0 - 3.0 * self.uniform().ln(),
            Kind::Outliers => normal * if self.uniform() < 0.1 { 1.3 } else { 1.0 },
            Kind::Bimodal => normal * if self.uniform() < 0.3 { 1.1 } else { 1.0 },
        }
    }

    pub(crate) fn runs(&mut self, kind: Kind, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.run(kind)).collect()
    }

    /// A count with this mean: exact for small ones, normal for large ones.
    fn count(&mut self, mean: f64) -> f64 {
        if mean > 50.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0);
        }
        let (mut count, mut product, limit) = (0.0, self.uniform(), (-mean).exp());
        while product > limit {
            product *= self.uniform();
            count += 1.0;
        }
        count
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Normal,
    Skewed,
    Outliers,
    Bimodal,
}

const KINDS: [Kind; 4] = [Kind::Normal, Kind::Skewed, Kind::Outliers, Kind::Bimodal];

fn one_after_other(n: usize, m: usize) -> Vec<Side> {
    [vec![Side::A; n], vec![Side::B; m]].concat()
}

fn labellings(n: usize, m: usize, seed: u64) -> Labellings {
    Labellings::new(Design::in_order(&one_after_other(n, m)).expect("two sets"), seed)
}

/// The share of `trials` that are true.
pub(crate) fn share(trials: usize, mut trial: impl FnMut() -> bool) -> f64 {
    (0..trials).filter(|_| trial()).count() as f64 / trials as f64
}

/// The highest share that chance makes of a true share of 5 %, by three standard deviations.
fn five_percent(trials: usize) -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / trials as f64).sqrt()
}

/// The share of comparisons of two equal sets that find a change.
fn false_alarms(kind: Kind, (n, m): (usize, usize), trials: usize) -> f64 {
    let mut noise = Noise(SplitMix64::new(n as u64));
    let labellings = labellings(n, m, 1);
    share(trials, || {
        let figure = Figure::logarithms(&labellings, &noise.runs(kind, n + m)).expect("positive");
        Confidence::default().rejects(figure.test(Confidence::default()).p)
    })
}

#[test]
fn equal_sets_are_seldom_different() {
    for kind in KINDS {
        let exact = false_alarms(kind, (5, 5), 2_000);
        assert!(exact > 0.03 && exact < five_percent(2_000), "{kind:?}: {exact}");
        let few = false_alarms(kind, (3, 3), 2_000);
        assert!(few < five_percent(2_000), "{kind:?}: {few}");
    }
}

/// The share of intervals that contain the truth.
fn coverage(kind: Kind, runs: usize, spread: f64, trials: usize) -> f64 {
    let mut noise = Noise(SplitMix64::new(9));
    let labellings = labellings(runs, runs, 1);
    share(trials, || {
        let a = noise.runs(kind, runs);
        let b = noise.runs(kind, runs).into_iter().map(|run| 105.0 * (run / 100.0).powf(spread));
        let figure = Figure::logarithms(&labellings, &a.into_iter().chain(b).collect::<Vec<_>>()).expect("positive");
        let effect = figure.compare(Confidence::default()).effect;
        let truth = 1.05f64.ln();
        effect.low <= truth && truth <= effect.high
    })
}

#[test]
fn intervals_cover() {
    for (kind, spread) in [(Kind::Normal, 1.0), (Kind::Outliers, 1.0), (Kind::Skewed, 1.0), (Kind::Normal, 3.0)] {
        let found = coverage(kind, 5, spread, 200);
        assert!(found > 0.91, "{kind:?} {spread}: {found}");
    }
}

/// The share of one-sided tests that find +5 %.
fn power(kind: Kind, runs: usize, trials: usize) -> f64 {
    let mut noise = Noise(SplitMix64::new(3));
    let labellings = labellings(runs, runs, 1);
    share(trials, || {
        let mut values = noise.runs(kind, 2 * runs);
        values[runs..].iter_mut().for_each(|value| *value *= 1.05);
        let figure = Figure::logarithms(&labellings, &values).expect("positive");
        Confidence::default().rejects(figure.test(Confidence::default()).p_greater)
    })
}

#[test]
fn five_percent_are_seen() {
    let found = power(Kind::Normal, 8, 100);
    assert!(found > 0.85, "{found}");
}

/// The shares of alternating comparisons that find a change: of white noise, of runs that depend on the one before, and
/// of a drift of 10 % over the session.
fn interleaved_alarms(trials: usize, effect: f64) -> [f64; 3] {
    let sides: Vec<Side> = (0..20).map(|run| if run % 2 == 0 { Side::A } else { Side::B }).collect();
    let Order::Interleaved(blocks) = Order::of(&sides, &[]) else { panic!("interleaved") };
    let design = Design::in_order(&sides).expect("two sets").with_blocks(&blocks).expect("blocks");
    let labellings = Labellings::new(design, 1);
    assert_eq!((labellings.count(), labellings.are_exhaustive()), (6usize.pow(5), true));
    let mut noise = Noise(SplitMix64::new(11));
    [(0.0, 0.0), (0.5, 0.0), (0.0, 0.1)].map(|(dependence, drift): (f64, f64)| {
        share(trials, || {
            let mut before = noise.normal();
            let mut run = |index: usize| {
                before = dependence * before + (1.0 - dependence * dependence).sqrt() * noise.normal();
                let shift = if index % 2 == 1 { effect } else { 0.0 };
                100.0 * (0.03 * before + drift * index as f64 / 20.0 + shift).exp()
            };
            let values: Vec<f64> = (0..20).map(&mut run).collect();
            let test = Figure::logarithms(&labellings, &values).expect("positive").test(Confidence::default());
            Confidence::default().rejects(test.p)
        })
    })
}

#[test]
fn drift_reaches_interleaved_sets_alike() {
    let found = interleaved_alarms(150, 0.0);
    assert!(found.iter().all(|&found| found < five_percent(150) + 0.015), "{found:?}");
    assert!(matches!(Order::of(&one_after_other(10, 10), &[]), Order::OneAfterOther));
}

#[test]
fn machines_are_compared_with_themselves() {
    // The second machine takes twice as long, and has most of the runs of B.
    let sides = [one_after_other(8, 4), one_after_other(4, 8)].concat();
    let strata = [[0; 12], [1; 12]].concat();
    let design = Design::in_order(&sides).expect("two sets").with_strata(&strata).expect("machines");
    let labellings = Labellings::new(design, 1);
    let mut noise = Noise(SplitMix64::new(5));
    let mut rate = |effect: f64| {
        share(60, || {
            let value = |(side, &stratum): (&Side, &usize)| {
                let factor = if *side == Side::B { 1.0 + effect } else { 1.0 };
                noise.run(Kind::Normal) * factor * (1 + stratum) as f64
            };
            let values: Vec<f64> = sides.iter().zip(&strata).map(value).collect();
            let figure = Figure::logarithms(&labellings, &values).expect("positive");
            assert!((figure.shift() - effect.ln_1p()).abs() < 0.06);
            Confidence::default().rejects(figure.test(Confidence::default()).p_greater)
        })
    };
    let found = [rate(0.0), rate(0.05)];
    assert!(found[0] < 0.15 && found[1] > 0.8, "{found:?}");
}

/// Methods with shares that fall as 1/rank, sampled; the runs of B have `more` of the whole in one of them. The shares of
/// trials in which anything is flagged, and in which that method is and leads.
fn families(keys: usize, runs: usize, (index, more): (usize, f64), trials: usize) -> [f64; 2] {
    let mut noise = Noise(SplitMix64::new(17));
    let labellings = labellings(runs, runs, 1);
    let total: f64 = (1..=keys).map(|rank| 1.0 / rank as f64).sum();
    let mut hits = [0.0; 2];
    for _ in 0..trials {
        let mut values = vec![Vec::with_capacity(2 * runs); keys];
        for run in 0..2 * runs {
            let common = (0.02 * noise.normal()).exp();
            for (key, values) in values.iter_mut().enumerate() {
                let extra = if key == index && run >= runs { more } else { 0.0 };
                let share = 1.0 / ((key + 1) as f64 * total) + extra;
                let mean = 3_000.0 * share * common * (0.03 * noise.normal()).exp();
                values.push(noise.count(mean));
            }
        }
        let keys: Vec<Key<'_>> = values.iter().map(|values| Key { values, quantum: 1.0 }).collect();
        let family = Family::test(&labellings, &keys, Confidence::default()).expect("counts");
        let flagged = |key: usize| Confidence::default().rejects(family.keys[key].p);
        let strongest = (0..keys.len()).max_by(|&a, &b| family.keys[a].statistic.total_cmp(&family.keys[b].statistic));
        hits[0] += f64::from((0..keys.len()).any(flagged)) / trials as f64;
        hits[1] += f64::from(flagged(index) && strongest == Some(index)) / trials as f64;
    }
    hits
}

#[test]
fn families_are_seldom_flagged_and_find_one_method() {
    for runs in [3, 5] {
        let [any, _] = families(100, runs, (0, 0.0), 200);
        assert!(any < five_percent(200), "{runs}: {any}");
        let [_, found] = families(100, runs, (3, 0.05), 60);
        assert!(found > 0.8, "{runs}: {found}");
    }
}

/// The share of comparisons of 10 and 10 runs in which a key of a steady group that grew by 5 % is flagged beside a group of keys
/// that vary by 60 %, and in which any other key is.
fn groups(growth: f64, trials: usize) -> [f64; 2] {
    let mut noise = Noise(SplitMix64::new(29));
    let sides: Vec<Side> = (0..20).map(|run| if run < 10 { Side::A } else { Side::B }).collect();
    let ids: Vec<String> = (0..20).map(|run| run.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let design = Design::new(&ids, &sides).expect("two sets");
    let mut hits = [0.0; 2];
    for trial in 0..trials {
        let labellings = Labellings::new(design.clone(), trial as u64);
        let mut key = |spread: f64, growth: f64| -> Vec<f64> {
            let factors = (0..20).map(|run| if run < 10 { 1.0 } else { 1.0 + growth });
            factors.map(|factor| 1000.0 * factor * (spread * noise.normal()).exp()).collect()
        };
        let mut keys = |count: usize, spread: f64, growth: f64| -> Vec<Vec<f64>> {
            (0..count).map(|number| key(spread, if number == 0 { growth } else { 0.0 })).collect()
        };
        let values = [keys(10, 0.02, growth), keys(20, 0.6, 0.0)];
        let [steady, wild] = values
            .each_ref()
            .map(|keys| keys.iter().map(|values| Key { values, quantum: 1.0 }).collect::<Vec<Key<'_>>>());
        let confidence = Confidence::default();
        let [steady, wild] =
            Family::test_groups(&labellings, [&steady, &wild], confidence).expect("counts").map(|family| family.keys);
        let is_flagged = |key: &tracesift_statistics::family::KeyTest| confidence.rejects(key.p);
        hits[0] += f64::from(is_flagged(&steady[0])) / trials as f64;
        hits[1] += f64::from(steady[1..].iter().chain(&wild).any(is_flagged)) / trials as f64;
    }
    hits
}

#[test]
fn a_wild_group_hides_nothing_in_a_steady_one() {
    let [found, others] = groups(0.05, 60);
    assert!(found > 0.9, "{found}");
    assert!(others < five_percent(60), "{others}");
    let [first, others] = groups(0.0, 60);
    assert!(first + others < five_percent(60), "{first} {others}");
}

#[test]
fn one_mode_is_seldom_two() {
    let mut noise = Noise(SplitMix64::new(29));
    for runs in [8, 15, 30] {
        for kind in [Kind::Normal, Kind::Skewed] {
            let found = share(500, || modes(&noise.runs(kind, runs)).is_some());
            assert!(found < 0.06, "{kind:?} {runs}: {found}");
        }
        // A third of the noise: else the modes overlap.
        let quiet = |run: f64| if run > 105.0 { 110.0 + (run - 110.0) / 3.0 } else { 100.0 + (run - 100.0) / 3.0 };
        let mut runs_of_two = || noise.runs(Kind::Bimodal, runs).into_iter().map(quiet).collect::<Vec<_>>();
        let found = share(500, || modes(&runs_of_two()).is_some());
        assert!(found > 0.3, "{runs}: {found}");
    }
}

/// Prints the rates of larger simulations: minutes in a release build.
#[test]
#[ignore = "takes minutes"]
fn rates() {
    for kind in KINDS {
        println!(
            "{kind:?}: power of 10 + 10 {}, false alarms {}",
            power(kind, 10, 1_000),
            false_alarms(kind, (10, 10), 2_000)
        );
        println!(
            "{kind:?}: coverage of 5 + 5 {}, of 10 + 10 {}",
            coverage(kind, 5, 1.0, 2_000),
            coverage(kind, 10, 1.0, 300)
        );
        println!("{kind:?}: few runs {}", false_alarms(kind, (3, 3), 5_000));
    }
    println!("interleaved: alarms {:?}, power {:?}", interleaved_alarms(2_000, 0.0), interleaved_alarms(1_000, 0.05));
    for runs in [3, 4, 5, 10] {
        let trials = if runs == 10 { 200 } else { 1_000 };
        let equal = families(400, runs, (0, 0.0), trials)[0];
        println!(
            "families, {runs} + {runs}: equal {equal}, one method {}",
            families(400, runs, (0, 0.05), trials / 2)[1]
        );
    }
}
