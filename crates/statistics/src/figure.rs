//! One figure of all runs, on the scale on which it is tested.

use crate::design::Side;
use crate::permutations::Labellings;
use crate::problem::Problem;
use crate::robust::{differences, median, median_of};

/// The scale on which a figure is tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Logarithms: a shift is a ratio, and a change is that ratio − 1.
    Logarithm,
    /// Values in units of this number, so that they are of the order of 1. A change has the unit of the values.
    Plain(f64),
}

impl Scale {
    /// A shift on this scale as a change.
    #[must_use]
    pub fn change(self, shift: f64) -> f64 {
        match self {
            Self::Logarithm => shift.exp_m1(),
            Self::Plain(unit) => shift * unit,
        }
    }

    /// A change as a shift on this scale. A ratio of −1 and less, which no change reaches, is negative infinity.
    #[must_use]
    pub fn shift(self, change: f64) -> f64 {
        match self {
            Self::Logarithm => change.max(-1.0).ln_1p(),
            Self::Plain(unit) => change / unit,
        }
    }
}

/// One figure of all runs: their durations, or their CPU times.
#[derive(Clone, Debug)]
pub struct Figure<'l> {
    labellings: &'l Labellings,
    scale: Scale,
    /// By position, on the scale, minus their median.
    values: Vec<f64>,
    /// The median of the values of A, as they were given.
    median_a: f64,
}

impl<'l> Figure<'l> {
    /// A figure whose values are all positive. `values` stand in the order in which the design was given its runs.
    ///
    /// # Errors
    /// The number of values is not that of the runs, a value is not finite or not positive, or no stratum has runs of
    /// both sets.
    pub fn logarithms(labellings: &'l Labellings, values: &[f64]) -> Result<Self, Problem> {
        let by_position = labellings.design().by_position(values)?;
        if let Some(index) = values.iter().position(|&value| value <= 0.0) {
            return Err(Problem::NotPositive(index));
        }
        let logarithms = by_position.iter().map(|value| value.ln()).collect();
        Self::new(labellings, &by_position, logarithms, Scale::Logarithm)
    }

    /// A figure on its own scale: one that may be 0 or negative, or that has been transformed.
    ///
    /// # Errors
    /// As [`Figure::logarithms`], but for the sign.
    pub fn plain(labellings: &'l Labellings, values: &[f64]) -> Result<Self, Problem> {
        let by_position = labellings.design().by_position(values)?;
        let center = median(&by_position).unwrap_or(0.0);
        // Halves: the difference of two large numbers may be infinite.
        let halves: Vec<f64> = by_position.iter().map(|value| 0.5 * value - 0.5 * center).collect();
        let reach = halves.iter().map(|half| half.abs()).fold(0.0, f64::max);
        let reach = if reach > 0.0 { reach } else { 1.0 };
        let scaled = halves.iter().map(|half| half / reach).collect();
        Self::new(labellings, &by_position, scaled, Scale::Plain((2.0 * reach).min(f64::MAX)))
    }

    fn new(labellings: &'l Labellings, given: &[f64], mut values: Vec<f64>, scale: Scale) -> Result<Self, Problem> {
        let sides = labellings.design().sides();
        let mut of_a: Vec<f64> =
            given.iter().zip(sides).filter(|(_, side)| **side == Side::A).map(|(v, _)| *v).collect();
        let center = median(&values).unwrap_or(0.0);
        values.iter_mut().for_each(|value| *value -= center);
        let figure = Self { labellings, scale, values, median_a: median_of(&mut of_a).unwrap_or(0.0) };
        if figure.pairs().is_empty() { Err(Problem::NoCommonStratum) } else { Ok(figure) }
    }

    /// The labellings with which it is tested.
    #[must_use]
    pub fn labellings(&self) -> &'l Labellings {
        self.labellings
    }

    /// The scale on which it is tested.
    #[must_use]
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The median of the values of A, in their own unit.
    #[must_use]
    pub fn median_a(&self) -> f64 {
        self.median_a
    }

    /// By position, on the scale.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values of a set, on the scale.
    pub(crate) fn of(&self, side: Side) -> Vec<f64> {
        let sides = self.labellings.design().sides();
        self.values.iter().zip(sides).filter(|(_, found)| **found == side).map(|(value, _)| *value).collect()
    }

    /// The values minus the median of their stratum, of a set.
    pub(crate) fn aligned(&self, side: Side) -> Vec<f64> {
        let sides = self.labellings.design().sides();
        let of_stratum = |stratum: Vec<usize>| {
            let values = || stratum.iter().map(|&position| self.values[position]);
            let center = median_of(&mut values().collect::<Vec<_>>()).unwrap_or(0.0);
            let own = stratum.iter().copied().filter(|&position| sides[position] == side);
            own.map(|position| self.values[position] - center).collect::<Vec<_>>()
        };
        self.labellings.design().members_of_strata().into_iter().flat_map(of_stratum).collect()
    }

    /// The differences of all pairs of a run of B and a run of A of the same stratum.
    pub(crate) fn pairs(&self) -> Vec<f64> {
        let design = self.labellings.design();
        let of_stratum = |stratum: Vec<usize>| {
            let of = |side| {
                let own = stratum.iter().filter(move |&&position| design.sides()[position] == side);
                own.map(|&position| self.values[position]).collect::<Vec<_>>()
            };
            differences(&of(Side::A), &of(Side::B))
        };
        design.members_of_strata().into_iter().flat_map(of_stratum).collect()
    }
}
