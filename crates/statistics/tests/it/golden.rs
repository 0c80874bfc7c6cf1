//! Vectors from SciPy and R (`tests/golden`), which share no code with the crate.

use std::collections::BTreeMap;

use tracesift_statistics::adjust::{benjamini_hochberg, holm};
use tracesift_statistics::confidence::Confidence;
use tracesift_statistics::design::{Design, Side};
use tracesift_statistics::family::{Family, Key};
use tracesift_statistics::figure::Figure;
use tracesift_statistics::interval::Bound;
use tracesift_statistics::permutations::Labellings;
use tracesift_statistics::robust::{hodges_lehmann, midranks, rank_autocorrelation};
use tracesift_statistics::student::{quantile, two_sided_tail};
use tracesift_statistics::two_sets::Method;
use tracesift_statistics::welch::MeanDifference;

const FILES: [&str; 2] = [include_str!("../golden/scipy.txt"), include_str!("../golden/r.txt")];

/// A line: its fields by name.
struct Vector(BTreeMap<&'static str, &'static str>);

impl Vector {
    fn text(&self, name: &str) -> &'static str {
        self.0.get(name).unwrap_or_else(|| panic!("no field {name}"))
    }

    fn list(&self, name: &str) -> Vec<f64> {
        self.text(name).split(' ').map(|number| number.parse().expect("a number")).collect()
    }

    fn number(&self, name: &str) -> f64 {
        self.list(name)[0]
    }

    fn indexes(&self, name: &str) -> Vec<usize> {
        self.list(name).into_iter().map(|number| number as usize).collect()
    }

    fn sides(&self) -> Vec<Side> {
        self.text("sides").chars().map(|side| if side == 'A' { Side::A } else { Side::B }).collect()
    }
}

fn vectors(kind: &str) -> Vec<Vector> {
    let lines = FILES.iter().flat_map(|file| file.lines());
    let own = lines.filter_map(|line| line.strip_prefix(kind)?.strip_prefix(" | "));
    let fields = |line: &'static str| line.split(" | ").map(|field| field.split_once(' ').expect("a name")).collect();
    let vectors: Vec<Vector> = own.map(|line| Vector(fields(line))).collect();
    assert!(!vectors.is_empty(), "no vectors of {kind}");
    vectors
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    let size = expected.abs().max(1e-3);
    assert!((found - expected).abs() <= tolerance * size, "{found:e} is not {expected:e}");
}

/// Labels of the first n runs A, of the others B.
fn labels(n: usize, m: usize) -> Vec<Side> {
    [vec![Side::A; n], vec![Side::B; m]].concat()
}

/// α so large that every design of the vectors is permuted.
fn lax() -> Confidence {
    Confidence::new(0.5).expect("a level")
}

#[test]
fn permutations() {
    for vector in ["permutation", "groups"].into_iter().flat_map(vectors) {
        let design = Design::in_order(&vector.sides()).expect("two sets");
        let design = design.with_blocks(&vector.indexes("blocks")).expect("blocks");
        let design = design.with_strata(&vector.indexes("strata")).expect("strata");
        let labellings = Labellings::new(design, 0);
        assert_eq!((labellings.count() as f64, labellings.are_exhaustive()), (vector.number("labellings"), true));
        let figure = Figure::logarithms(&labellings, &vector.list("values")).expect("values");
        if figure.method(lax()) != Method::Permutation {
            continue;
        }
        let test = figure.test(lax());
        close(test.p, vector.number("p_both"), 1e-12);
        close(test.p_greater, vector.number("p_greater"), 1e-12);
        close(test.p_less, vector.number("p_less"), 1e-12);
        let observed = figure.observed(lax()).expect("permuted");
        close(observed.t, vector.number("t"), 1e-10);
        close(observed.u, vector.number("u"), 1e-12);
        close(observed.t_scale, vector.number("t_scale"), 1e-10);
        close(observed.u_scale, vector.number("u_scale"), 1e-12);
    }
}

#[test]
fn random_labellings() {
    for vector in vectors("random") {
        let labellings =
            Labellings::new(Design::in_order(&vector.sides()).expect("two sets"), vector.number("seed") as u64);
        let test = Figure::logarithms(&labellings, &vector.list("values")).expect("values").test(Confidence::default());
        assert_eq!((test.labellings, test.exhaustive), (20_000, false));
        close(test.p, vector.number("p_both"), 1e-12);
        close(test.p_greater, vector.number("p_greater"), 1e-12);
        close(test.p_less, vector.number("p_less"), 1e-12);
    }
}

#[test]
fn intervals() {
    for vector in vectors("interval") {
        let (a, b) = (vector.list("a"), vector.list("b"));
        let labellings = Labellings::new(Design::in_order(&labels(a.len(), b.len())).expect("two sets"), 0);
        let figure = Figure::logarithms(&labellings, &[a, b].concat()).expect("values");
        let effect = figure.compare(Confidence::default()).effect;
        // As exact as the halving.
        close(effect.low, vector.number("low"), 1e-3);
        close(effect.high, vector.number("high"), 1e-3);
        close(figure.bound(Bound::Lower, Confidence::default()), vector.number("lower"), 1e-3);
        close(figure.bound(Bound::Upper, Confidence::default()), vector.number("upper"), 1e-3);
    }
}

#[test]
fn families() {
    for vector in vectors("family") {
        let runs = vector.indexes("runs");
        let labellings = Labellings::new(Design::in_order(&labels(runs[0], runs[1])).expect("two sets"), 0);
        let values = vector.list("values");
        let rows = values.chunks(runs[0] + runs[1]).zip(vector.list("quanta"));
        let keys: Vec<Key<'_>> = rows.map(|(values, quantum)| Key { values, quantum }).collect();
        let family = Family::test(&labellings, &keys, Confidence::default()).expect("keys");
        close(family.stabiliser.spread(), vector.number("spread"), 1e-11);
        let expected = vector.list("t").into_iter().zip(vector.list("p")).zip(vector.list("alone"));
        for (key, ((t, p), alone)) in family.keys.iter().zip(expected) {
            close(key.statistic, t.abs(), 1e-9);
            close(key.p, p, if runs[0] == 3 { 1e-9 } else { 1e-12 });
            close(key.p_alone, alone, if runs[0] == 3 { 1e-9 } else { 1e-12 });
            assert!(key.is_increase == (t > 0.0) || t.abs() < 1e-9);
        }
    }
}

#[test]
fn student() {
    for vector in vectors("tail") {
        let (found, expected) = (two_sided_tail(vector.number("t"), vector.number("freedom")), vector.number("p"));
        assert!((found.expect("a tail") - expected).abs() <= 1e-12 * expected.max(1e-12), "{found:?} {expected}");
    }
    for vector in vectors("quantile") {
        close(quantile(vector.number("p"), vector.number("freedom")).expect("0 < p < 1"), vector.number("t"), 1e-12);
    }
}

#[test]
fn welch() {
    let logarithms = |values: Vec<f64>| values.into_iter().map(f64::ln).collect::<Vec<_>>();
    for vector in vectors("welch") {
        let (a, b) = (logarithms(vector.list("a")), logarithms(vector.list("b")));
        let means = MeanDifference::of(&a, &b).expect("two runs in each");
        // A difference of two logarithms has lost digits, whoever computes it.
        let t = means.difference / means.error;
        assert!((t - vector.number("t")).abs() < 1e-12 * t.abs().max(1.0), "{t}");
        close(means.freedom, vector.number("freedom"), 1e-12);
        for (found, expected) in means.p().into_iter().zip(vector.list("p")) {
            close(found, expected, 1e-12);
        }
        let half = means.half_width(0.95);
        close(means.difference - half, vector.list("interval")[0], 1e-12);
        close(means.difference + half, vector.list("interval")[1], 1e-12);
    }
    for vector in vectors("predictive") {
        let (a, b) = (logarithms(vector.list("a")), logarithms(vector.list("b")));
        for means in [MeanDifference::of(&a, &b), MeanDifference::of(&b, &a)] {
            let means = means.expect("three runs and one");
            close(means.p()[0], vector.number("p"), 1e-11);
            close(means.half_width(0.95), vector.number("half"), 1e-11);
        }
    }
}

#[test]
fn power() {
    for vector in vectors("power") {
        let (a, b) = (vector.list("a"), vector.list("b"));
        let labellings = Labellings::new(Design::in_order(&labels(a.len(), b.len())).expect("two sets"), 0);
        let comparison =
            Figure::logarithms(&labellings, &[a, b].concat()).expect("values").compare(Confidence::default());
        let spread = comparison.spread.expect("three runs");
        close(spread.detectable(Confidence::default()), vector.number("detectable"), 1e-10);
        let runs = spread.runs_needed(vector.number("wanted"), Confidence::default());
        assert_eq!(runs.map(f64::from), Some(vector.number("runs")));
    }
}

#[test]
fn shifts_ranks_and_corrections() {
    for vector in vectors("shift") {
        let shift = hodges_lehmann(&vector.list("a"), &vector.list("b")).expect("values");
        close(shift, vector.number("shift"), 1e-12);
    }
    for vector in vectors("ranks") {
        assert_eq!(midranks(&vector.list("values")), vector.list("ranks"));
        close(rank_autocorrelation(&vector.list("values")).expect("ranks"), vector.number("correlation"), 1e-12);
    }
    for vector in vectors("adjust") {
        let p = vector.list("p");
        for (found, name) in [(holm(&p), "holm"), (benjamini_hochberg(&p), "fdr")] {
            found.into_iter().zip(vector.list(name)).for_each(|(found, expected)| close(found, expected, 1e-12));
        }
    }
}
