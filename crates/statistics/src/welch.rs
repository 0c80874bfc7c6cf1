//! Differences of means that Student's t judges: Welch's for two sets, the predictive one for a single run.

use crate::student::{quantile, two_sided_tail, upper_tail};

/// A difference of two means with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanDifference {
    /// Mean of B minus mean of A.
    pub difference: f64,
    /// Its standard error. 0 where all values of each set are equal.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
}

impl MeanDifference {
    /// The difference of the means of two sets. With two runs in each, error and degrees of freedom are those of Welch
    /// and Satterthwaite. One run against three or more is held against the spread of the others. `None` for fewer.
    #[must_use]
    pub fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        Self::with_smallest_variance(a, b, 0.0)
    }

    /// As [`MeanDifference::of`]; variances below `smallest` count as that.
    pub(crate) fn with_smallest_variance(a: &[f64], b: &[f64], smallest: f64) -> Option<Self> {
        let spread = |values: &[f64]| variance(values).map(|found| found.max(smallest));
        let difference = mean(b)? - mean(a)?;
        match (a.len(), b.len()) {
            (1, others @ 3..) => Some(Self::predictive(difference, spread(b)?, others)),
            (others @ 3.., 1) => Some(Self::predictive(difference, spread(a)?, others)),
            (2.., 2..) => {
                let [n, m] = [a, b].map(|values| values.len() as f64);
                let (of_a, of_b) = (spread(a)? / n, spread(b)? / m);
                // Shares of the larger one: the squares of tiny numbers are 0.
                let (share_a, share_b) = (of_a / of_a.max(of_b), of_b / of_a.max(of_b));
                let freedom = (share_a + share_b).powi(2) / (share_a.powi(2) / (n - 1.0) + share_b.powi(2) / (m - 1.0));
                let freedom = if freedom.is_finite() { freedom } else { n + m - 2.0 };
                Some(Self { difference, error: (of_a + of_b).sqrt(), freedom })
            }
            _ => None,
        }
    }

    fn predictive(difference: f64, variance: f64, others: usize) -> Self {
        let others = others as f64;
        Self { difference, error: (variance * (1.0 + 1.0 / others)).sqrt(), freedom: others - 1.0 }
    }

    /// The two-sided p, and the one-sided ones of B being larger and of B being smaller. 1 where nothing varies and
    /// nothing differs.
    #[must_use]
    pub fn p(self) -> [f64; 3] {
        let t = if self.difference == 0.0 { 0.0 } else { self.difference / self.error };
        let tail = |tail: Option<f64>| tail.unwrap_or(1.0);
        [tail(two_sided_tail(t, self.freedom)), tail(upper_tail(t, self.freedom)), tail(upper_tail(-t, self.freedom))]
    }

    /// Half the width of the interval in which Student's t lies with probability `level`.
    #[must_use]
    pub fn half_width(self, level: f64) -> f64 {
        if self.error == 0.0 {
            return 0.0;
        }
        quantile(f64::midpoint(1.0, level), self.freedom).map_or(f64::INFINITY, |t| t * self.error)
    }
}

/// The mean. `None` without values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The variance with n − 1. `None` below two values.
#[must_use]
pub fn variance(values: &[f64]) -> Option<f64> {
    (values.len() >= 2).then_some(())?;
    Some(squares(values) / (values.len() - 1) as f64)
}

/// The variance within both sets, with n + m − 2. `None` below three values.
#[must_use]
pub fn pooled_variance(a: &[f64], b: &[f64]) -> Option<f64> {
    let runs = a.len() + b.len();
    (runs >= 3).then(|| (squares(a) + squares(b)) / (runs - 2) as f64)
}

/// The sum of squares around the mean.
fn squares(values: &[f64]) -> f64 {
    let center = mean(values).unwrap_or(0.0);
    values.iter().map(|value| (value - center).powi(2)).sum()
}
