//! What a comparison says.

use crate::two_sets::Comparison;

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// B is larger. A figure of which more is better is called otherwise by the caller.
    Slower,
    /// B is smaller.
    Faster,
    /// The difference is smaller than the smallest that matters.
    Same,
    /// The runs are too few, or vary too much.
    Undecided,
}

impl Comparison {
    /// The verdict. `least` is the smallest change that matters: 0.01 for 1 % on logarithms, the unit of the values on a
    /// plain scale.
    #[must_use]
    pub fn verdict(&self, least: f64) -> Verdict {
        let change = self.effect.change();
        let (low, high) = self.effect.change_interval();
        if self.is_change() && change.abs() >= least {
            return if change > 0.0 { Verdict::Slower } else { Verdict::Faster };
        }
        if self.effect.low.is_finite() && low > -least && high < least { Verdict::Same } else { Verdict::Undecided }
    }

    /// Whether the test of no difference rejects.
    #[must_use]
    pub fn is_change(&self) -> bool {
        self.confidence.rejects(self.test.p)
    }
}
