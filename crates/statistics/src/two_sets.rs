//! The comparison of two sets by one figure: test, effect, interval.

use crate::confidence::Confidence;
use crate::design::Side;
use crate::detectable::Spread;
use crate::figure::{Figure, Scale};
use crate::interval::{Bound, interval};
use crate::robust::median_of;
use crate::statistic::{Observed, SMALLEST_VARIANCE, Statistics, Tail};
use crate::welch::MeanDifference;

/// The test that a p comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A permutation of the labels. The rate of false alarms is exact, whatever the distribution.
    Permutation,
    /// Welch's t, for runs that are too few to permute. The noise is taken to be normal on the figure's scale.
    Welch,
    /// Student's t of one run against the spread of the others.
    Predictive,
    /// No test: one run against fewer than three, or strata that leave too few labellings.
    None,
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The test that was used.
    pub method: Method,
    /// Of a difference of either direction. 1 without a test, as the other two.
    pub p: f64,
    /// Of B being larger.
    pub p_greater: f64,
    /// Of B being smaller.
    pub p_less: f64,
    /// Number of labellings; 0 for other tests.
    pub labellings: usize,
    /// Whether these are all labellings that there are.
    pub exhaustive: bool,
}

/// How far B is shifted from A, on the figure's scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The scale of the three numbers.
    pub scale: Scale,
    /// The median of the differences of all pairs of runs (Hodges and Lehmann).
    pub shift: f64,
    /// The lower end of the interval; negative infinity where the runs are too few for one.
    pub low: f64,
    /// The upper end of the interval; infinity where the runs are too few for one.
    pub high: f64,
}

impl Effect {
    /// The shift as a change: a ratio − 1 on logarithms, a difference on a plain scale.
    #[must_use]
    pub fn change(&self) -> f64 {
        self.scale.change(self.shift)
    }

    /// The ends of the interval as changes. On logarithms an open lower end is −1.
    #[must_use]
    pub fn change_interval(&self) -> (f64, f64) {
        (self.scale.change(self.low), self.scale.change(self.high))
    }
}

/// Two sets, compared by one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The confidence of the interval and of verdicts.
    pub confidence: Confidence,
    /// The test of no difference.
    pub test: Test,
    /// The difference. Its interval excludes 0 exactly when `test.p` is at most α.
    pub effect: Effect,
    /// The spread of runs, which tells what could have been seen. `None` where every set has one run.
    pub spread: Option<Spread>,
}

impl Figure<'_> {
    /// Compares the two sets. Takes some 40 sweeps over the labellings, most of them for the interval.
    #[must_use]
    pub fn compare(&self, confidence: Confidence) -> Comparison {
        let mut statistics = Statistics::new(self.labellings());
        let test = self.test_with(confidence, &mut statistics);
        let shift = self.shift();
        let (low, high) = match test.method {
            Method::Permutation => {
                let mut p_at = |at: f64| if at == 0.0 { test.p } else { statistics.p(self.values(), at, Tail::Both) };
                interval(self, confidence, shift, &mut p_at)
            }
            Method::Welch | Method::Predictive => self.mean_difference().map_or(EVERYWHERE, |means| {
                let half = means.half_width(confidence.level());
                (means.difference - half, means.difference + half)
            }),
            Method::None => EVERYWHERE,
        };
        let effect = Effect { scale: self.scale(), shift, low, high };
        let spread = Spread::of(self, test.method, &effect, confidence);
        Comparison { confidence, test, effect, spread }
    }

    /// The test alone: one sweep over the labellings.
    #[must_use]
    pub fn test(&self, confidence: Confidence) -> Test {
        self.test_with(confidence, &mut Statistics::new(self.labellings()))
    }

    /// The statistics behind a permutation. `None` where the test is another.
    #[must_use]
    pub fn observed(&self, confidence: Confidence) -> Option<Observed> {
        (self.method(confidence) == Method::Permutation).then(|| {
            let mut statistics = Statistics::new(self.labellings());
            statistics.evaluate(self.values(), 0.0);
            statistics.observed()
        })
    }

    /// The shift of B from A on the figure's scale: the median of the differences of all pairs of runs.
    #[must_use]
    pub fn shift(&self) -> f64 {
        median_of(&mut self.pairs()).unwrap_or(0.0)
    }

    /// The smallest shift of B that a one-sided test still allows ([`Bound::Lower`]), or the largest ([`Bound::Upper`]).
    /// Infinite without a test.
    #[must_use]
    pub fn bound(&self, bound: Bound, confidence: Confidence) -> f64 {
        let direction = bound.direction();
        match self.method(confidence) {
            Method::Permutation => {
                let tail = if bound == Bound::Upper { Tail::Less } else { Tail::Greater };
                let center = self.shift();
                let mut statistics = Statistics::new(self.labellings());
                bound.search(self, confidence, center, &mut |shift| statistics.p(self.values(), shift, tail))
            }
            Method::Welch | Method::Predictive => self.mean_difference().map_or(direction * f64::INFINITY, |means| {
                // One-sided α is two-sided 2 α.
                means.difference + direction * means.half_width(2.0 * confidence.level() - 1.0)
            }),
            Method::None => direction * f64::INFINITY,
        }
    }

    /// The test that these runs allow.
    #[must_use]
    pub fn method(&self, confidence: Confidence) -> Method {
        let design = self.labellings().design();
        if self.labellings().can_decide(confidence.alpha()) {
            return Method::Permutation;
        }
        match (design.count(Side::A), design.count(Side::B)) {
            // Student's t has no place for the differences between strata.
            _ if design.has_strata() => Method::None,
            (1, 3..) | (3.., 1) => Method::Predictive,
            (2.., 2..) => Method::Welch,
            _ => Method::None,
        }
    }

    fn test_with(&self, confidence: Confidence, statistics: &mut Statistics<'_>) -> Test {
        let method = self.method(confidence);
        match method {
            Method::Permutation => Test {
                method,
                p: statistics.p(self.values(), 0.0, Tail::Both),
                p_greater: statistics.share(Tail::Greater),
                p_less: statistics.share(Tail::Less),
                labellings: self.labellings().count(),
                exhaustive: self.labellings().are_exhaustive(),
            },
            Method::Welch | Method::Predictive => self.mean_difference().map_or(Test::NONE, |means| {
                let [p, p_greater, p_less] = means.p();
                Test { method, p, p_greater, p_less, ..Test::NONE }
            }),
            Method::None => Test::NONE,
        }
    }

    fn mean_difference(&self) -> Option<MeanDifference> {
        MeanDifference::with_smallest_variance(&self.of(Side::A), &self.of(Side::B), SMALLEST_VARIANCE)
    }
}

impl Test {
    const NONE: Self =
        Self { method: Method::None, p: 1.0, p_greater: 1.0, p_less: 1.0, labellings: 0, exhaustive: false };
}

/// The interval of which nothing is known.
const EVERYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
