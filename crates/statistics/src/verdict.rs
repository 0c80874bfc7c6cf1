//! What a comparison says: a verdict, and whether a gate is passed.

use crate::figure::Figure;
use crate::interval::Bound;
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

/// A limit for the change of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// B may not be larger than A by this change or more.
    Rise(f64),
    /// B may not be smaller than A by this change (a positive number) or more.
    Fall(f64),
}

/// What a gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The change reaches the limit, and it is no chance.
    Fails,
    /// The change stays below the limit.
    Passes,
    /// Neither is known.
    Undecided {
        /// Runs per set that would decide if the effect stays as it is. `None` if nothing is known of the noise, or the
        /// effect lies too near to the limit.
        runs_needed: Option<u32>,
    },
}

impl Gate {
    /// The one-sided p of the comparison in the direction of the gate. Several gates are corrected by
    /// [`holm`](crate::adjust::holm) before [`Gate::decide`].
    #[must_use]
    pub fn p(self, comparison: &Comparison) -> f64 {
        match self {
            Self::Rise(_) => comparison.test.p_greater,
            Self::Fall(_) => comparison.test.p_less,
        }
    }

    /// Decides. `p` is that of [`Gate::p`], corrected if there are several gates.
    ///
    /// The gate *fails* if p is at most α and the change reaches the limit. It *passes* if the one-sided bound of the
    /// change lies below the limit, or if there is no change in its direction and one of the limit would have been seen.
    #[must_use]
    pub fn decide(self, figure: &Figure<'_>, comparison: &Comparison, p: f64) -> Decision {
        let confidence = comparison.confidence;
        // On the scale, so that the direction of the gate is positive.
        let (direction, bound, limit) = match self {
            Self::Rise(limit) => (1.0, Bound::Upper, figure.scale().shift(limit)),
            Self::Fall(limit) => (-1.0, Bound::Lower, -figure.scale().shift(-limit)),
        };
        let shift = direction * comparison.effect.shift;
        if confidence.rejects(p) && shift >= limit {
            return Decision::Fails;
        }
        let detectable = comparison.spread.map(|spread| figure.scale().shift(spread.detectable(confidence)));
        let would_be_seen = shift <= 0.0 && !confidence.rejects(p) && detectable.is_some_and(|least| least <= limit);
        if would_be_seen || direction * figure.bound(bound, confidence) < limit {
            return Decision::Passes;
        }
        // At the limit or beyond, the effect itself has to be seen; below it, what lies between them.
        let distance = if shift >= limit { shift } else { limit - shift.max(0.0) };
        let spread = comparison.spread;
        let found = spread.and_then(|spread| spread.runs_for_shift(distance, confidence).map(|runs| (spread, runs)));
        // The runs at hand have not decided, whatever the formula says.
        let more = found.map(|(spread, runs)| runs.max(spread.runs.0.min(spread.runs.1) as u32 + 1));
        Decision::Undecided { runs_needed: more }
    }
}
