//! The statistic of the permutation test, for all labellings at once.
//!
//! For a labelling, t is Welch's t of the values and u is Mann and Whitney's z of their midranks. Each is divided by its
//! root mean square over the labellings, so that neither outweighs the other. The statistic is the larger of the two.
//! t sees a shift of well-behaved values best, u one of values with outliers; the larger of both is never far from the
//! better one.

use crate::byte_sums::ByteSums;
use crate::design::Side;
use crate::permutations::Labellings;
use crate::robust::{fill_midranks, median_of};

/// Which labellings count as at least as extreme as the observed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// A shift of either direction.
    Both,
    /// B larger than A.
    Greater,
    /// B smaller than A.
    Less,
}

/// Variances below this count as this, on a scale on which values are of the order of 1.
pub(crate) const SMALLEST_VARIANCE: f64 = 1e-18;

/// Statistics that differ by less count as equal.
const SAME: f64 = 1e-9;

/// Values that differ by less have the same rank: the rounding of a logarithm and of two differences.
const SAME_VALUE: f64 = 1e-12;

/// A sum of squares below this share of all squares is computed again, without the difference of two large numbers.
const CANCELLED: f64 = 1e-4;

/// The two statistics of the permutation test, as observed. Positive where B is larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Welch's t.
    pub t: f64,
    /// Mann and Whitney's z.
    pub u: f64,
    /// Root mean square of t over the labellings.
    pub t_scale: f64,
    /// Root mean square of u over the labellings.
    pub u_scale: f64,
}

/// The two statistics of all labellings, and the memory to compute them again for shifted values.
#[derive(Debug)]
pub(crate) struct Statistics<'l> {
    labellings: &'l Labellings,
    strata: Vec<Vec<usize>>,
    /// By labelling, positive where B is larger.
    t: Vec<f64>,
    u: Vec<f64>,
    /// The root mean squares of `t` and `u`.
    scale: (f64, f64),
    values: Vec<f64>,
    ranks: Vec<f64>,
    order: Vec<usize>,
    scratch: Vec<f64>,
    sums: ByteSums,
    squares: ByteSums,
    rank_sums: ByteSums,
}

impl<'l> Statistics<'l> {
    pub(crate) fn new(labellings: &'l Labellings) -> Self {
        let runs = labellings.design().runs();
        Self {
            labellings,
            strata: labellings.design().members_of_strata(),
            t: Vec::with_capacity(labellings.count()),
            u: Vec::with_capacity(labellings.count()),
            scale: (0.0, 0.0),
            values: vec![0.0; runs],
            ranks: vec![0.0; runs],
            order: Vec::with_capacity(runs),
            scratch: Vec::with_capacity(runs),
            sums: ByteSums::default(),
            squares: ByteSums::default(),
            rank_sums: ByteSums::default(),
        }
    }

    /// The p of the hypothesis that B is A shifted by `shift`. Both sets have at least two runs.
    pub(crate) fn p(&mut self, values: &[f64], shift: f64, tail: Tail) -> f64 {
        self.evaluate(values, shift);
        self.share(tail)
    }

    /// The statistics of the observed labelling.
    pub(crate) fn observed(&self) -> Observed {
        let first = |values: &[f64]| values.first().copied().unwrap_or(0.0);
        Observed { t: first(&self.t), u: first(&self.u), t_scale: self.scale.0, u_scale: self.scale.1 }
    }

    /// Computes t and u of every labelling, for values of which those of B are shifted back by `shift`.
    pub(crate) fn evaluate(&mut self, values: &[f64], shift: f64) {
        let sides = self.labellings.design().sides();
        for ((own, value), &side) in self.values.iter_mut().zip(values).zip(sides) {
            *own = if side == Side::B { value - shift } else { *value };
        }
        self.align();
        fill_midranks(&self.values, SAME_VALUE, &mut self.order, &mut self.ranks);
        self.sums.fill(&self.values);
        self.rank_sums.fill(&self.ranks);
        self.scratch.clear();
        self.scratch.extend(self.values.iter().map(|value| value * value));
        self.squares.fill(&self.scratch);
        self.sweep();
        self.scale = (root_mean_square(&self.t), root_mean_square(&self.u));
    }

    /// Moves the values of each stratum so that their median is 0: strata differ, and the difference is nobody's effect.
    fn align(&mut self) {
        for stratum in &self.strata {
            self.scratch.clear();
            self.scratch.extend(stratum.iter().map(|&position| self.values[position]));
            let center = median_of(&mut self.scratch).unwrap_or(0.0);
            stratum.iter().for_each(|&position| self.values[position] -= center);
        }
    }

    fn sweep(&mut self) {
        let runs = self.values.len() as f64;
        let pivots = self.labellings.pivots() as f64;
        let others = runs - pivots;
        let all: f64 = self.values.iter().sum();
        let all_squares: f64 = self.scratch.iter().sum();
        // Groups of different composition have another mean than 0.
        let expected_sum = self.labellings.expected_sum(&self.values);
        let expected_difference = expected_sum / pivots - (all - expected_sum) / others;
        let expected_ranks = self.labellings.expected_sum(&self.ranks);
        let sign = self.labellings.sign();
        let rank_unit = sign / (pivots * others * (runs + 1.0) / 12.0).sqrt();
        self.t.clear();
        self.u.clear();
        for bits in self.labellings.iter() {
            let (sum, squares) = (self.sums.sum(bits), self.squares.sum(bits));
            let difference = sum / pivots - (all - sum) / others;
            let mut within = [squares - sum * sum / pivots, all_squares - squares - (all - sum).powi(2) / others];
            if within[0].min(within[1]) < CANCELLED * all_squares {
                within = squares_within(&self.values, bits, sum / pivots, (all - sum) / others);
            }
            let variance = |squares: f64, count: f64| (squares / (count - 1.0)).max(SMALLEST_VARIANCE) / count;
            let error = (variance(within[0], pivots) + variance(within[1], others)).sqrt();
            self.t.push(sign * (difference - expected_difference) / error);
            self.u.push(rank_unit * (self.rank_sums.sum(bits) - expected_ranks));
        }
    }

    /// The share of the labellings that are at least as extreme as the observed one.
    pub(crate) fn share(&self, tail: Tail) -> f64 {
        let inverse = |scale: f64| if scale > 0.0 { 1.0 / scale } else { 0.0 };
        let (t_unit, u_unit) = (inverse(self.scale.0), inverse(self.scale.1));
        let statistic = |(&t, &u): (&f64, &f64)| match tail {
            Tail::Both => (t.abs() * t_unit).max(u.abs() * u_unit),
            Tail::Greater => (t * t_unit).max(u * u_unit),
            Tail::Less => (-t * t_unit).max(-u * u_unit),
        };
        let mut all = self.t.iter().zip(&self.u).map(statistic);
        // The observed labelling is the first.
        let Some(observed) = all.next() else { return 1.0 };
        let others = all.filter(|&statistic| statistic >= observed - SAME).count();
        (1 + others) as f64 / self.t.len() as f64
    }
}

/// The sums of squares around the means of the marked and of the other values.
fn squares_within(values: &[f64], bits: &[u64], marked_mean: f64, other_mean: f64) -> [f64; 2] {
    let mut squares = [0.0; 2];
    for (position, value) in values.iter().enumerate() {
        let marked = bits[position / 64] >> (position % 64) & 1 == 1;
        let mean = if marked { marked_mean } else { other_mean };
        squares[usize::from(!marked)] += (value - mean).powi(2);
    }
    squares
}

fn root_mean_square(values: &[f64]) -> f64 {
    (values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{Observed, Statistics, Tail};
    use crate::design::{Design, Side};
    use crate::permutations::Labellings;

    #[test]
    fn a_worked_example() {
        let sides = [[Side::A; 5], [Side::B; 5]].concat();
        let labellings = Labellings::new(Design::in_order(&sides).expect("two sets"), 0);
        let values = [100.0f64, 102.0, 99.0, 101.0, 103.0, 104.0, 107.0, 103.5, 106.0, 109.0].map(f64::ln);
        let mut statistics = Statistics::new(&labellings);
        assert_eq!(statistics.p(&values, 0.0, Tail::Both), 2.0 / 252.0);
        assert_eq!((statistics.share(Tail::Greater), statistics.share(Tail::Less)), (1.0 / 252.0, 1.0));
        let Observed { t, u, t_scale, u_scale } = statistics.observed();
        for (found, expected) in [t, u, t_scale, u_scale].into_iter().zip([4.01584, 2.61116, 1.16307, 1.0]) {
            assert!((found - expected).abs() < 6e-6, "{found} is not {expected}");
        }
    }
}
