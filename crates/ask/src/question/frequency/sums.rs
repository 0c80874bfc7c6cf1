//! Sums over the time in which something ran.

use tracesift_analysis::Span;

use crate::clock_rates::{Change, Rates};

/// Sums of clock rates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Run time, ns.
    pub(super) run: i64,
    /// Run time at a known rate, ns.
    pub(super) known: i64,
    /// Σ of rate × time, kHz ns.
    weighted: i128,
    /// Run time at a known rate on CPUs with a known nominal rate, ns.
    nominal_known: i64,
    /// Σ of rate / nominal rate × time, ns.
    of_nominal: f64,
    /// Run time at a rate whose upper limit is known, ns.
    pub(super) limited: i64,
    /// Run time of that at the limit.
    pub(super) at_cap: i64,
    /// Lowest and highest rate at which it ran, kHz.
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
}

impl Sums {
    /// Adds a run.
    pub(super) fn run(&mut self, rates: &Rates, cpu: i16, span: Span) {
        self.run = self.run.saturating_add(span.length());
        for (change, part) in rates.during(cpu, span) {
            self.at(rates, cpu, change, part.length());
        }
    }

    /// Adds CPU time at an instant.
    pub(super) fn sample(&mut self, rates: &Rates, cpu: i16, time: i64, weight: i64) {
        self.run = self.run.saturating_add(weight);
        let instant = Span { start: time, end: time.saturating_add(1) };
        if let Some((change, _)) = rates.during(cpu, instant).next() {
            self.at(rates, cpu, change, weight);
        }
    }

    fn at(&mut self, rates: &Rates, cpu: i16, Change { khz, most, .. }: Change, time: i64) {
        if time <= 0 {
            return;
        }
        if let Some(most) = most {
            self.limited = self.limited.saturating_add(time);
            self.at_cap = self.at_cap.saturating_add(if khz >= most { time } else { 0 });
        }
        self.known = self.known.saturating_add(time);
        self.weighted = self.weighted.saturating_add(i128::from(khz) * i128::from(time));
        self.least = Some(self.least.map_or(khz, |least| least.min(khz)));
        self.most = Some(self.most.map_or(khz, |most| most.max(khz)));
        if let Some(nominal) = rates.nominal(cpu) {
            self.nominal_known = self.nominal_known.saturating_add(time);
            self.of_nominal += khz as f64 / nominal as f64 * time as f64;
        }
    }

    /// Adds what other sums have.
    pub(super) fn join(&mut self, other: &Self) {
        self.run = self.run.saturating_add(other.run);
        self.known = self.known.saturating_add(other.known);
        self.weighted = self.weighted.saturating_add(other.weighted);
        self.limited = self.limited.saturating_add(other.limited);
        self.at_cap = self.at_cap.saturating_add(other.at_cap);
        self.nominal_known = self.nominal_known.saturating_add(other.nominal_known);
        self.of_nominal += other.of_nominal;
        self.least = self.least.into_iter().chain(other.least).min();
        self.most = self.most.max(other.most);
    }

    /// Mean rate, MHz.
    pub(super) fn mean_mhz(&self) -> Option<f64> {
        (self.known > 0).then(|| self.weighted as f64 / self.known as f64 / 1000.0)
    }

    /// Mean share of the nominal rate, percent.
    pub(super) fn percent_of_nominal(&self) -> Option<f64> {
        (self.nominal_known > 0).then(|| self.of_nominal / self.nominal_known as f64 * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_are_those_of_single_nanoseconds(
            changes in prop::collection::vec((-5_i64..60, 1_i64..9, prop::option::of(1_i64..9)), 0..8),
            runs in prop::collection::vec((0_i64..50, 0_i64..20), 0..6),
            nominal in prop::option::of(1_i64..5),
        ) {
            let mut changes = changes;
            changes.sort_by_key(|(time, ..)| *time);
            let told = changes.iter().map(|(time, khz, most)| (1, *time, *khz, *most));
            let rates = Rates::of(told, nominal.map(|khz| (1, khz)));
            let mut sums = Sums::default();
            let (mut run, mut known, mut weighted, mut limited, mut at_cap) = (0, 0, 0, 0, 0);
            for (start, length) in runs {
                sums.run(&rates, 1, Span { start, end: start + length });
                for instant in start..start + length {
                    run += 1;
                    if let Some((_, khz, most)) = changes.iter().rev().find(|(time, ..)| *time <= instant) {
                        known += 1;
                        weighted += khz;
                        limited += i64::from(most.is_some());
                        at_cap += i64::from(most.is_some_and(|most| *khz >= most));
                    }
                }
            }
            prop_assert_eq!((sums.run, sums.known, sums.weighted), (run, known, i128::from(weighted)));
            prop_assert_eq!((sums.limited, sums.at_cap), (limited, at_cap));
            let share = nominal.filter(|_| known > 0).map(|nominal| weighted as f64 / nominal as f64 / known as f64 * 100.0);
            prop_assert_eq!(sums.percent_of_nominal().is_some(), share.is_some());
            if let Some((found, expected)) = sums.percent_of_nominal().zip(share) {
                prop_assert!((found - expected).abs() < 1e-6, "{} {}", found, expected);
            }
        }
    }
}
