//! A difference taken apart by factors: more often or longer; more instructions, slower ones, or a lower clock.

use crate::remainders::divide_rounded;

/// What a row has in a set: its leaves and their time, added up over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leaves {
    /// Number of runs of the set, at least 1.
    pub runs: u32,
    /// Number of leaves in all runs.
    pub count: u64,
    /// Their time in all runs, ns.
    pub sum: i64,
}

/// A difference of means in two parts, in units of 1/nm for n and m runs, as
/// [`RowDifference::numerator`](crate::rows::RowDifference::numerator). The parts add up to it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OftenLonger {
    /// There are more leaves.
    pub often: i128,
    /// Each takes longer.
    pub longer: i128,
}

impl OftenLonger {
    /// Splits the difference between two sets. With c leaves per run of length l, *often* is
    /// (c_B − c_A)·(l_A + l_B)/2: the average over both orders in which the two factors could have changed. A row that one
    /// set lacks has the other's length there, so that all of it is *often*. `None` if a set has no runs.
    #[must_use]
    pub fn of(a: Leaves, b: Leaves) -> Option<Self> {
        if a.runs == 0 || b.runs == 0 {
            return None;
        }
        let [n, m, count_a, count_b, sum_a, sum_b] =
            [a.runs.into(), b.runs.into(), a.count.into(), b.count.into(), a.sum.into(), b.sum.into()];
        let total: i128 = n * sum_b - m * sum_a;
        if count_a == 0 || count_b == 0 {
            return Some(Self { often: total, longer: 0 });
        }
        // (n·C_B − m·C_A) · (S_A·C_B + S_B·C_A) / (2·C_A·C_B)
        let more: i128 = n * count_b - m * count_a;
        let exact = || {
            let lengths = i128::checked_mul(sum_a, count_b)?.checked_add(i128::checked_mul(sum_b, count_a)?)?;
            let divisor = i128::checked_mul(count_a, count_b)?.checked_mul(2)?;
            Some(divide_rounded(more.checked_mul(lengths)?, divisor))
        };
        let rounded = || {
            let lengths = sum_a as f64 / count_a as f64 + sum_b as f64 / count_b as f64;
            (more as f64 * lengths / 2.0).round() as i128
        };
        let often = exact().unwrap_or_else(rounded);
        Some(Self { often, longer: total.saturating_sub(often) })
    }
}

/// The mean run time of a row, with its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// Run time, ns.
    pub ns: f64,
    /// Instructions.
    pub instructions: f64,
    /// Cycles.
    pub cycles: f64,
}

/// A difference of run time in three parts, ns, by the logarithmic mean (LMDI). They add up to it but for the rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ByCounters {
    /// More instructions.
    pub instructions: f64,
    /// Slower instructions: more cycles for each.
    pub cycles: f64,
    /// A lower clock: fewer cycles per ns.
    pub clock: f64,
}

impl ByCounters {
    /// Splits the difference B − A. Time that only one set has is one of instructions. `None` if a number is negative or
    /// not finite, or a counter is 0 where there is time.
    #[must_use]
    pub fn of(a: Counted, b: Counted) -> Option<Self> {
        let numbers = [a, b].map(|of| [of.ns, of.instructions, of.cycles]);
        if numbers.as_flattened().iter().any(|number| !(number.is_finite() && *number >= 0.0)) {
            return None;
        }
        if a.ns == 0.0 || b.ns == 0.0 {
            return Some(Self { instructions: b.ns - a.ns, ..Self::default() });
        }
        if numbers.as_flattened().contains(&0.0) {
            return None;
        }
        let weight = logarithmic_mean(a.ns, b.ns);
        let instructions = (b.instructions / a.instructions).ln();
        let cycles = (b.cycles / a.cycles).ln();
        let time = (b.ns / a.ns).ln();
        let parts = [instructions, cycles - instructions, time - cycles].map(|part| weight * part);
        parts.iter().all(|part| part.is_finite()).then_some(Self {
            instructions: parts[0],
            cycles: parts[1],
            clock: parts[2],
        })
    }

    /// The parts of a row's difference as whole numbers that add up to it exactly. `numerator` and `denominator` are those
    /// of the row; the parts have its unit, 1/nm. The largest part takes the rounding.
    #[must_use]
    pub fn parts(&self, numerator: i128, denominator: i128) -> [i128; 3] {
        let exact = [self.instructions, self.cycles, self.clock];
        let mut parts = exact.map(|part| (part * denominator as f64).round() as i128);
        let largest = (0..3).max_by(|&a, &b| exact[a].abs().total_cmp(&exact[b].abs())).unwrap_or(0);
        let others: i128 =
            (0..3).filter(|&index| index != largest).map(|index| parts[index]).fold(0, i128::saturating_add);
        parts[largest] = numerator.saturating_sub(others);
        parts
    }
}

/// (b − a) / ln(b / a), which is a where they are equal.
fn logarithmic_mean(a: f64, b: f64) -> f64 {
    let relative = (b - a) / a;
    if relative.abs() < 1e-8 { f64::midpoint(a, b) } else { (b - a) / relative.ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::{ByCounters, Counted, Leaves, OftenLonger};
    use proptest::prelude::*;

    #[test]
    fn twice_as_often() {
        let a = Leaves { runs: 5, count: 200, sum: 200 * 15_000_000 };
        let b = Leaves { runs: 5, count: 400, sum: 400 * 15_000_000 };
        assert_eq!(OftenLonger::of(a, b), Some(OftenLonger { often: 25 * 600_000_000, longer: 0 }));
        let longer = Leaves { sum: 2 * a.sum, ..a };
        assert_eq!(OftenLonger::of(a, longer), Some(OftenLonger { often: 0, longer: 25 * 600_000_000 }));
        let none = Leaves { runs: 5, ..Leaves::default() };
        assert_eq!(OftenLonger::of(none, a), Some(OftenLonger { often: 5 * a.sum as i128, longer: 0 }));
        assert_eq!(OftenLonger::of(Leaves::default(), a), None);
    }

    #[test]
    fn one_cause_each() {
        let a = Counted { ns: 1000.0, instructions: 4000.0, cycles: 2000.0 };
        let more = ByCounters::of(a, Counted { ns: 1500.0, instructions: 6000.0, cycles: 3000.0 }).expect("counters");
        assert!((more.instructions - 500.0).abs() < 1e-9 && more.cycles.abs() < 1e-9 && more.clock.abs() < 1e-9);
        let slower = ByCounters::of(a, Counted { ns: 1500.0, cycles: 3000.0, ..a }).expect("counters");
        assert!((slower.cycles - 500.0).abs() < 1e-9);
        let clock = ByCounters::of(a, Counted { ns: 1500.0, ..a }).expect("counters");
        assert!((clock.clock - 500.0).abs() < 1e-9);
        assert_eq!(clock.parts(500 * 6 + 1, 6), [0, 0, 3001]);
        let new = ByCounters::of(Counted::default(), a).expect("new code");
        assert_eq!(new, ByCounters { instructions: 1000.0, ..ByCounters::default() });
        assert_eq!(ByCounters::of(a, Counted { cycles: 0.0, ..a }), None);
        assert_eq!(ByCounters::of(a, Counted { ns: f64::NAN, ..a }), None);
    }

    proptest! {
        #[test]
        fn both_parts_add_up(
            runs in (1u32..100, 1u32..100), counts in any::<(u64, u64)>(), sums in any::<(i64, i64)>(), shift in 0u32..64,
        ) {
            let a = Leaves { runs: runs.0, count: counts.0 >> shift, sum: sums.0 };
            let b = Leaves { runs: runs.1, count: counts.1 >> shift, sum: sums.1 };
            let split = OftenLonger::of(a, b).expect("runs");
            let total = i128::from(runs.0) * i128::from(sums.1) - i128::from(runs.1) * i128::from(sums.0);
            prop_assert_eq!(split.often + split.longer, total);
            // Exchanged sets have the opposite parts.
            let back = OftenLonger::of(b, a).expect("runs");
            prop_assert!((back.often + split.often).abs() <= 1 + split.often.abs() / (1 << 40));
        }

        #[test]
        fn three_parts_add_up(a in (1.0f64..1e12, 1.0f64..1e12, 1.0f64..1e12), b in (1.0f64..1e12, 1.0f64..1e12, 1.0f64..1e12)) {
            let of = |(ns, instructions, cycles)| Counted { ns, instructions, cycles };
            let split = ByCounters::of(of(a), of(b)).expect("counters");
            let sum = split.instructions + split.cycles + split.clock;
            let size = split.instructions.abs() + split.cycles.abs() + split.clock.abs();
            prop_assert!((sum - (b.0 - a.0)).abs() <= 1e-9 * size.max(a.0));
            let numerator = ((b.0 - a.0) * 12.0) as i128;
            prop_assert_eq!(split.parts(numerator, 12).iter().sum::<i128>(), numerator);
        }
    }
}
