//! The shifts that a test allows.
//!
//! A shift lies in the interval if the test of A against B, shifted back by it, does not reject. The ends are found by
//! halving between a shift that the test allows and one that it rejects. 0 is tried first, so that the interval excludes
//! 0 exactly when the test of no difference rejects, however p wanders between.

use crate::confidence::Confidence;
use crate::design::Side;
use crate::figure::Figure;
use crate::welch::mean;

/// An end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The smallest shift.
    Lower,
    /// The largest shift.
    Upper,
}

/// Halvings of the first bracket, which is a few times as wide as all values together.
const HALVINGS: u32 = 20;

/// How often the outer end of a bracket moves out before the interval counts as open.
const STEPS_OUT: u32 = 4;

impl Bound {
    /// −1 or 1.
    pub(crate) fn direction(self) -> f64 {
        if self == Self::Lower { -1.0 } else { 1.0 }
    }

    /// The outermost shift on this side of `center` that is found to be allowed.
    pub(crate) fn search(
        self,
        figure: &Figure<'_>,
        confidence: Confidence,
        center: f64,
        p: &mut dyn FnMut(f64) -> f64,
    ) -> f64 {
        let mut allows = |shift: f64| !confidence.rejects(p(shift));
        let direction = self.direction();
        let (mut inner, mut outer) = (center, None);
        if direction * center < 0.0 {
            if allows(0.0) { inner = 0.0 } else { outer = Some(0.0) }
        }
        let mut reach = reach(figure);
        let mut steps = 0;
        let mut outer = loop {
            if let Some(outer) = outer {
                break outer;
            }
            let next = inner + direction * reach;
            if !allows(next) {
                outer = Some(next);
            } else if steps == STEPS_OUT {
                return direction * f64::INFINITY;
            } else {
                (inner, steps, reach) = (next, steps + 1, 2.0 * reach);
            }
        };
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(inner, outer);
            if allows(middle) { inner = middle } else { outer = middle }
        }
        inner
    }
}

/// Both ends of the interval. `p` is two-sided.
pub(crate) fn interval(
    figure: &Figure<'_>,
    confidence: Confidence,
    shift: f64,
    p: &mut dyn FnMut(f64) -> f64,
) -> (f64, f64) {
    let Some(center) = allowed(figure, confidence, shift, p) else { return (shift, shift) };
    let low = Bound::Lower.search(figure, confidence, center, p);
    let high = Bound::Upper.search(figure, confidence, center, p);
    (low, high)
}

/// A shift that the test allows: the effect, in all but odd cases.
fn allowed(figure: &Figure<'_>, confidence: Confidence, shift: f64, p: &mut dyn FnMut(f64) -> f64) -> Option<f64> {
    let [a, b] = [Side::A, Side::B].map(|side| mean(&figure.of(side)).unwrap_or(0.0));
    [shift, 0.0, b - a, 0.5 * (b - a + shift)].into_iter().find(|&shift| !confidence.rejects(p(shift)))
}

/// The reach where all values are equal, on a scale on which values are of the order of 1.
const SMALLEST_REACH: f64 = 1e-6;

/// Twice as far as any two values are apart. A shift by as much leaves a gap between the sets that is wider than either.
fn reach(figure: &Figure<'_>) -> f64 {
    let (low, high) = figure.values().iter().fold((0.0f64, 0.0f64), |(low, high), &v| (low.min(v), high.max(v)));
    (2.0 * (high - low)).max(SMALLEST_REACH)
}
