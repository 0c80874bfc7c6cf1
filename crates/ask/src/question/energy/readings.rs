//! Counters of energy: what each counted between its readings, cut to a range of time.

use std::collections::BTreeMap;

use tracesift_analysis::Span;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::EnergyRow;

/// What tells counters apart: what they are of, the package and the CPU. In this order they are shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Counter {
    pub(super) name: String,
    pub(super) package: Option<i32>,
    pub(super) cpu: Option<i32>,
}

/// What a counter counted between two readings, as far as it lies in the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) span: Span,
    /// Energy, µJ.
    pub(super) energy: Option<i64>,
    /// What was counted where the unit is not known.
    pub(super) counts: Option<i64>,
}

impl Counted {
    /// The figure that can be shared.
    pub(super) fn amount(&self) -> i64 {
        self.energy.or(self.counts).unwrap_or(0)
    }
}

/// All counters of an archive with what they counted in a range.
pub(super) fn read(archive: &Archive, range: Span) -> Result<BTreeMap<Counter, Vec<Counted>>, Error> {
    let mut counters: BTreeMap<Counter, Vec<Counted>> = BTreeMap::new();
    archive.scan(None, |row: &EnergyRow| {
        let whole = Span::new(row.time.saturating_sub(row.span.max(0)), row.time);
        let Some(span) = whole.clip(range) else { return };
        let part = |figure: Option<i64>| figure.map(|figure| portion(figure.max(0), whole, span));
        let counter = Counter { name: row.counter.clone(), package: row.package, cpu: row.cpu };
        let counted = Counted { span, energy: part(row.value), counts: part(row.counts) };
        counters.entry(counter).or_default().push(counted);
    })?;
    Ok(counters)
}

/// The share of a part of the time, as if the counter had counted evenly. Shares of parts that follow each other add up.
fn portion(figure: i64, whole: Span, part: Span) -> i64 {
    if whole.is_empty() {
        return figure;
    }
    let until = |at: i64| i128::from(figure) * i128::from(at.saturating_sub(whole.start)) / i128::from(whole.length());
    i64::try_from(until(part.end) - until(part.start)).unwrap_or(figure)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_add_up(
            figure in prop_oneof![0_i64..1_000, Just(i64::MAX)],
            start in -5_i64..5,
            lengths in prop::collection::vec(0_i64..40, 1..6),
        ) {
            let whole = Span::new(start, start + lengths.iter().sum::<i64>());
            let mut at = start;
            let mut sum = 0;
            for length in lengths {
                let part = Span::new(at, at + length);
                at = part.end;
                if let Some(part) = part.clip(whole).filter(|part| !part.is_empty()) {
                    let share = portion(figure, whole, part);
                    let even = figure as f64 * part.length() as f64 / whole.length() as f64;
                    prop_assert!((share as f64 - even).abs() <= 1.0 + even * 1e-12, "{} {}", share, even);
                    sum += share;
                }
            }
            prop_assert_eq!(sum, if whole.is_empty() { 0 } else { figure });
        }
    }
}
