//! The comparison of two sets by one figure: test, effect, interval.

use crate::confidence::Confidence;
use crate::design::Side;
use crate::detectable::Spread;
use crate::figure::{Figure, Scale};
use crate::interval::{Bound, interval};
use crate::robust::median_of;
use crate::statistic::{SMALLEST_VARIANCE, Statistics, Tail};
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
    /// Compares the two sets. Takes time for some 40 sweeps over the labellings: a twentieth of a second for 20,000 of
    /// 60 runs.
    #[must_use]
    pub fn compare(&self, confidence: Confidence) -> Comparison {
        let shift = median_of(&mut self.pairs()).unwrap_or(0.0);
        let method = self.method(confidence);
        let open = Effect { scale: self.scale(), shift, low: f64::NEG_INFINITY, high: f64::INFINITY };
        let (test, effect) = match method {
            Method::Permutation => self.permute(confidence, open),
            Method::Welch | Method::Predictive => self.student(confidence, open, method),
            Method::None => (Test::none(), open),
        };
        let spread = Spread::of(self, method, &effect, confidence);
        Comparison { confidence, test, effect, spread }
    }

    /// The smallest shift of B that a one-sided test still allows ([`Bound::Lower`]), or the largest ([`Bound::Upper`]).
    /// Infinite without a test.
    #[must_use]
    pub fn bound(&self, bound: Bound, confidence: Confidence) -> f64 {
        let direction = bound.direction();
        match self.method(confidence) {
            Method::Permutation => {
                let tail = if bound == Bound::Upper { Tail::Less } else { Tail::Greater };
                let center = median_of(&mut self.pairs()).unwrap_or(0.0);
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

    fn permute(&self, confidence: Confidence, open: Effect) -> (Test, Effect) {
        let mut statistics = Statistics::new(self.labellings());
        let p = statistics.p(self.values(), 0.0, Tail::Both);
        let test = Test {
            method: Method::Permutation,
            p,
            p_greater: statistics.share(Tail::Greater),
            p_less: statistics.share(Tail::Less),
            labellings: self.labellings().count(),
            exhaustive: self.labellings().are_exhaustive(),
        };
        let mut p_at = |shift: f64| if shift == 0.0 { p } else { statistics.p(self.values(), shift, Tail::Both) };
        let (low, high) = interval(self, confidence, open.shift, &mut p_at);
        (test, Effect { low, high, ..open })
    }

    fn student(&self, confidence: Confidence, open: Effect, method: Method) -> (Test, Effect) {
        let Some(means) = self.mean_difference() else { return (Test::none(), open) };
        let [p, p_greater, p_less] = means.p();
        let half = means.half_width(confidence.level());
        let test = Test { method, p, p_greater, p_less, labellings: 0, exhaustive: false };
        (test, Effect { low: means.difference - half, high: means.difference + half, ..open })
    }

    fn mean_difference(&self) -> Option<MeanDifference> {
        MeanDifference::with_smallest_variance(&self.of(Side::A), &self.of(Side::B), SMALLEST_VARIANCE)
    }
}

impl Test {
    fn none() -> Self {
        Self { method: Method::None, p: 1.0, p_greater: 1.0, p_less: 1.0, labellings: 0, exhaustive: false }
    }
}
