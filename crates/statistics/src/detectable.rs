//! What a number of runs can show.

use crate::confidence::Confidence;
use crate::design::Side;
use crate::figure::{Figure, Scale};
use crate::student::quantile;
use crate::two_sets::{Effect, Method};
use crate::welch::pooled_variance;

/// The chance with which a change of the detectable size is seen.
pub const POWER: f64 = 0.8;

/// More runs than this are no advice.
const MOST_RUNS: u32 = 1_000_000;

/// Fewer runs per set are never advised: their labels cannot be permuted.
const FEWEST_RUNS: u32 = 4;

/// The spread between runs of the same set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The scale of `deviation`.
    pub scale: Scale,
    /// Standard deviation of a run. With permutations it is the one for which Student's interval would be as wide as the
    /// interval of the effect, so that an outlier counts as little as it does there.
    pub deviation: f64,
    /// Number of runs of A and of B.
    pub runs: (usize, usize),
}

impl Spread {
    pub(crate) fn of(figure: &Figure<'_>, method: Method, effect: &Effect, confidence: Confidence) -> Option<Self> {
        let design = figure.labellings().design();
        let runs = (design.count(Side::A), design.count(Side::B));
        let pooled = pooled_variance(&figure.aligned(Side::A), &figure.aligned(Side::B))?.sqrt();
        let half = 0.5 * (effect.high - effect.low);
        let deviation = if method == Method::Permutation && half.is_finite() {
            let t = quantile(f64::midpoint(1.0, confidence.level()), (runs.0 + runs.1 - 2) as f64)?;
            half / (t * unit_error(runs))
        } else {
            pooled
        };
        Some(Self { scale: figure.scale(), deviation, runs })
    }

    /// The smallest increase that these runs show in four of five cases, in a one-sided test; a change as
    /// [`Effect::change`].
    #[must_use]
    pub fn detectable(&self, confidence: Confidence) -> f64 {
        let freedom = (self.runs.0 + self.runs.1 - 2) as f64;
        self.scale.change(self.deviation * quantiles(confidence, freedom) * unit_error(self.runs))
    }

    /// The number of runs per set that show an increase by `change` in four of five cases, at least 4. `None` if it is
    /// not above 0, or more than a million runs are needed.
    #[must_use]
    pub fn runs_needed(&self, change: f64, confidence: Confidence) -> Option<u32> {
        let shift = self.scale.shift(change);
        self.runs_for_shift(shift, confidence)
    }

    /// As [`Spread::runs_needed`], on the figure's scale.
    pub(crate) fn runs_for_shift(&self, shift: f64, confidence: Confidence) -> Option<u32> {
        if shift.is_nan() || shift <= 0.0 {
            return None;
        }
        let enough = |runs: u32| {
            let per_set = f64::from(runs);
            self.deviation * quantiles(confidence, 2.0 * per_set - 2.0) * (2.0 / per_set).sqrt() <= shift
        };
        // Student's quantiles are larger than the normal ones, so the number for these is too small by a few at most.
        let normal = quantiles(confidence, f64::INFINITY);
        let start = 2.0 * (normal * self.deviation / shift).powi(2);
        if start > f64::from(MOST_RUNS) {
            return None;
        }
        (FEWEST_RUNS.max(start as u32)..=MOST_RUNS).find(|&runs| enough(runs))
    }
}

/// The standard error of a difference of means, for a deviation of 1.
fn unit_error((n, m): (usize, usize)) -> f64 {
    (1.0 / n as f64 + 1.0 / m as f64).sqrt()
}

/// How many standard errors an increase has to be, so that a one-sided test sees it with the power.
fn quantiles(confidence: Confidence, freedom: f64) -> f64 {
    quantile(confidence.level(), freedom)
        .zip(quantile(POWER, freedom))
        .map_or(f64::INFINITY, |(alpha, beta)| alpha + beta)
}
