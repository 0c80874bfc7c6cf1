//! Whether the change of a figure stays within a limit.
//!
//! Set B is moved back by the limit, and the moved sets are compared by the test of the figure. With the limit X and the
//! change Δ there are two hypotheses, and each is tested one-sided at the level α:
//!
//! * Δ lies within X. If the test rejects it, the change is beyond the limit: the gate *fails*.
//! * Δ is X, or lies beyond it. If the test rejects it, the gate *passes*. The one-sided interval of the change ends
//!   before the limit exactly then.
//!
//! Else the gate is *undecided*. So a gate fails by chance with a risk of at most α where the change is at the limit or
//! within it, and passes by chance with a risk of at most α where the change is at the limit or beyond it.

use crate::confidence::Confidence;
use crate::design::Side;
use crate::figure::Figure;
use crate::permutations::Labellings;
use crate::problem::Problem;
use crate::two_sets::{Method, Test};

/// The size of a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// A change as a ratio: 0.05 is 5 % more than A, −0.05 is 5 % less. Above −1.
    Ratio(f64),
    /// A difference in the unit of the values.
    Difference(f64),
}

/// A limit for the change of a figure from A to B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// The change may not be above the limit.
    Above(Limit),
    /// The change may not be below the limit.
    Below(Limit),
}

/// The two tests of a gate.
#[derive(Clone, Debug)]
pub struct GateTest<'l> {
    /// The figure with 0 at the limit.
    figure: Figure<'l>,
    confidence: Confidence,
    test: Test,
    /// 1 if a change above the limit is beyond it, −1 if one below it is.
    direction: f64,
    /// How far the change lies beyond the limit, on the scale of the figure.
    distance: f64,
    /// Whether no run differs from any other, once B is moved by the limit.
    is_constant: bool,
}

/// What a gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The change is beyond the limit, and that is no chance.
    Fails,
    /// The change is within the limit, and that is no chance.
    Passes,
    /// Neither is known.
    Undecided {
        /// Runs per set that would decide in four of five cases, if the effect stays as it is. `None` if nothing is known
        /// of the noise, or the change lies too near to the limit.
        runs_needed: Option<u32>,
    },
}

impl Gate {
    /// Tests the gate. `values` stand in the order in which the design was given its runs.
    ///
    /// A ratio of values that are all positive is tested on logarithms. If some are 0, the values of A are multiplied by
    /// the ratio, and the sets are compared on their own scale. So are differences.
    ///
    /// # Errors
    /// As [`Figure::plain`]; [`Problem::NotPositive`] for the ratio of a value below 0; [`Problem::NotFinite`] for a limit
    /// that is not finite, or a ratio of −1 or below.
    pub fn test<'l>(
        self,
        labellings: &'l Labellings,
        values: &[f64],
        confidence: Confidence,
    ) -> Result<GateTest<'l>, Problem> {
        let (direction, limit) = match self {
            Self::Above(limit) => (1.0, limit),
            Self::Below(limit) => (-1.0, limit),
        };
        let figure = limit.figure(labellings, values)?;
        let (first, others) = figure.values().split_first().unwrap_or((&0.0, &[]));
        let is_constant = others.iter().all(|value| (value - first).abs() < SAME_VALUE);
        let test = figure.test(confidence);
        let distance = direction * figure.shift();
        Ok(GateTest { figure, confidence, test, direction, distance, is_constant })
    }
}

/// Values that differ by less are equal: the rounding of a logarithm and of two differences.
const SAME_VALUE: f64 = 1e-12;

impl Limit {
    /// The figure with B moved back by the limit.
    fn figure<'l>(self, labellings: &'l Labellings, values: &[f64]) -> Result<Figure<'l>, Problem> {
        let sides = labellings.design().sides_as_given();
        let moved = |side: Side, to: &dyn Fn(f64) -> f64| -> Vec<f64> {
            values.iter().zip(&sides).map(|(&value, &found)| if found == side { to(value) } else { value }).collect()
        };
        match self {
            Self::Difference(limit) if limit.is_finite() => {
                Figure::plain(labellings, &moved(Side::B, &|value| value - limit))
            }
            Self::Ratio(limit) if limit.is_finite() && limit > -1.0 => {
                if let Some(place) = values.iter().position(|&value| value < 0.0) {
                    return Err(Problem::NotPositive(place));
                }
                if values.iter().all(|&value| value > 0.0) {
                    Figure::logarithms(labellings, &moved(Side::B, &|value| value / (1.0 + limit)))
                } else {
                    Figure::plain(labellings, &moved(Side::A, &|value| value * (1.0 + limit)))
                }
            }
            _ => Err(Problem::NotFinite(0)),
        }
    }
}

impl GateTest<'_> {
    /// The test that was used.
    #[must_use]
    pub fn method(&self) -> Method {
        self.test.method
    }

    /// The p of the hypothesis that the change lies within the limit. Those of several figures are corrected by
    /// [`holm`](crate::adjust::holm) before [`GateTest::decide`].
    #[must_use]
    pub fn p_beyond(&self) -> f64 {
        if self.direction > 0.0 { self.test.p_greater } else { self.test.p_less }
    }

    /// The p of the hypothesis that the change is the limit, or lies beyond it.
    #[must_use]
    pub fn p_within(&self) -> f64 {
        if self.direction > 0.0 { self.test.p_less } else { self.test.p_greater }
    }

    /// Whether the change that was found lies beyond the limit.
    #[must_use]
    pub fn is_beyond(&self) -> bool {
        self.distance > 0.0
    }

    /// The smallest [`GateTest::p_beyond`] that these runs can have, times the number of tests that it is corrected for;
    /// above α no change whatever fails.
    #[must_use]
    pub fn smallest_p(&self, tests: usize) -> f64 {
        if self.test.method == Method::Permutation { tests as f64 / self.test.labellings as f64 } else { 0.0 }
    }

    /// Decides. `p_beyond` is [`GateTest::p_beyond`], corrected for `tests` figures. To pass needs no correction: if all of
    /// several figures have to be within the limit, the risk that all pass by chance is not larger than that of one.
    #[must_use]
    pub fn decide(&self, p_beyond: f64, tests: usize) -> Decision {
        let rejects = |p: f64| self.confidence.rejects(p);
        if self.test.method == Method::None {
            return Decision::Undecided { runs_needed: None };
        }
        // A change that is the limit in every run is not beyond it.
        if self.is_constant || self.distance < 0.0 && rejects(self.p_within()) {
            return Decision::Passes;
        }
        if self.distance > 0.0 && rejects(p_beyond) {
            return Decision::Fails;
        }
        Decision::Undecided { runs_needed: self.runs_needed(tests) }
    }

    fn runs_needed(&self, tests: usize) -> Option<u32> {
        let spread = self.figure.compare(self.confidence).spread?;
        let alpha = self.confidence.alpha() / if self.distance > 0.0 { tests.max(1) as f64 } else { 1.0 };
        let runs = spread.runs_for_shift(self.distance.abs(), Confidence::new(1.0 - alpha)?)?;
        // The runs at hand have not decided, whatever the formula says.
        Some(runs.max(fewest_runs(alpha)).max(spread.runs.0.min(spread.runs.1) as u32 + 1))
    }
}

/// More runs per set are not asked for.
const MOST_RUNS: u32 = 1_000;

/// The number of runs per set whose labels have enough permutations for a one-sided p of `alpha`.
fn fewest_runs(alpha: f64) -> u32 {
    if alpha <= 0.0 {
        return MOST_RUNS;
    }
    let mut labellings = 1.0;
    let mut runs = 0;
    while labellings * alpha < 1.0 && runs < MOST_RUNS {
        runs += 1;
        let n = f64::from(runs);
        // C(2n, n) from C(2n − 2, n − 1).
        labellings *= (4.0 * n - 2.0) / n;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::fewest_runs;

    #[test]
    fn enough_labellings() {
        // 20, 70, 252 and 924 labellings of 3, 4, 5 and 6 runs per set.
        assert_eq!([0.05, 0.04, 0.01, 0.002].map(fewest_runs), [3, 4, 5, 6]);
        assert_eq!(fewest_runs(0.0), super::MOST_RUNS);
    }
}
