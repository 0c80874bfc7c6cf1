//! How sure a result has to be.

/// The confidence of intervals, 1 − α, where α is the rate of false alarms of a test.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// Confidence `level`, a share from 0.5 to below 1. `None` for others.
    #[must_use]
    pub fn new(level: f64) -> Option<Self> {
        (0.5..1.0).contains(&level).then_some(Self(level))
    }

    /// The share of the intervals that cover the truth.
    #[must_use]
    pub fn level(self) -> f64 {
        self.0
    }

    /// The rate of false alarms, 1 − level.
    #[must_use]
    pub fn alpha(self) -> f64 {
        1.0 - self.0
    }

    /// Whether a result with this p is a change. A p is a ratio of counts, and 1 − level is rounded: 2 of 20 is 0.1.
    #[must_use]
    pub fn rejects(self, p: f64) -> bool {
        p <= self.alpha() + 1e-12
    }
}

impl Default for Confidence {
    /// 95 %.
    fn default() -> Self {
        Self(0.95)
    }
}
