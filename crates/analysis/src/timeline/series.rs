//! One figure by buckets.

use super::grid::Grid;
use crate::spans::Span;

/// A figure of each bucket of a grid while it is added up. However long a span is, adding it takes the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// What instants and the ends of spans give.
    parts: Vec<i64>,
    /// How many spans more than the bucket before lie all over it.
    whole: Vec<i64>,
}

impl Series {
    /// Nothing yet in any bucket.
    #[must_use]
    pub fn new(grid: &Grid) -> Self {
        Self { parts: vec![0; grid.buckets()], whole: vec![0; grid.buckets() + 1] }
    }

    /// Adds an amount at an instant. One outside of the range has no part in it.
    #[inline]
    pub fn add_at(&mut self, grid: &Grid, time: i64, amount: i64) {
        if let Some(part) = grid.place(time).and_then(|place| self.parts.get_mut(place)) {
            *part = part.saturating_add(amount);
        }
    }

    /// Adds the length of a span to the buckets in which it lies.
    #[inline]
    pub fn add_span(&mut self, grid: &Grid, span: Span) {
        let span = span.intersect(grid.range());
        if span.is_empty() {
            return;
        }
        let (from, to) = (grid.place_inside(span.start), grid.place_inside(span.end - 1));
        if from == to {
            self.add(from, span.length());
            return;
        }
        self.add(from, grid.bucket(from).end - span.start);
        self.add(to, span.end - grid.bucket(to).start);
        if let Some(whole) = self.whole.get_mut(from + 1) {
            *whole += 1;
        }
        if let Some(whole) = self.whole.get_mut(to) {
            *whole -= 1;
        }
    }

    /// Adds an amount to the bucket at a place, if there is one.
    #[inline]
    pub(super) fn add(&mut self, place: usize, amount: i64) {
        if let Some(part) = self.parts.get_mut(place) {
            *part = part.saturating_add(amount);
        }
    }

    /// Adds another one of the same grid.
    pub fn join(&mut self, other: &Self) {
        let add = |to: &mut [i64], from: &[i64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = to.saturating_add(*from));
        };
        add(&mut self.parts, &other.parts);
        add(&mut self.whole, &other.whole);
    }

    /// The figures of the buckets.
    #[must_use]
    pub fn finish(self, grid: &Grid) -> Vec<i64> {
        let Self { parts: mut figures, whole } = self;
        let mut over = 0_i64;
        for (figure, change) in figures.iter_mut().zip(whole) {
            over = over.saturating_add(change);
            // Only buckets between two others are ever covered as a whole.
            *figure = figure.saturating_add(over.saturating_mul(grid.width()));
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Grid, Series};
    use crate::spans::Span;

    proptest! {
        #[test]
        fn each_bucket_has_what_lies_in_it(
            start in -50_i64..50,
            length in 0_i64..300,
            buckets in prop_oneof![(1_i64..40, -20_i64..20).prop_map(Ok), (1_usize..90).prop_map(Err)],
            spans in prop::collection::vec((-80_i64..300, 0_i64..200), 0..20),
            instants in prop::collection::vec((-80_i64..400, -3_i64..9), 0..20),
        ) {
            let range = Span::new(start, start + length);
            let grid = match buckets {
                Ok((width, origin)) => Grid::aligned(range, width, origin, 10_000).expect("few"),
                Err(columns) => Grid::columns(range, columns),
            };
            let (mut series, mut others) = (Series::new(&grid), Series::new(&grid));
            let spans: Vec<Span> = spans.into_iter().map(|(start, length)| Span::new(start, start + length)).collect();
            for (place, span) in spans.iter().enumerate() {
                if place % 3 == 0 { &mut others } else { &mut series }.add_span(&grid, *span);
            }
            for (place, (time, amount)) in instants.iter().enumerate() {
                if place % 3 == 0 { &mut others } else { &mut series }.add_at(&grid, *time, *amount);
            }
            series.join(&others);
            let figures = series.finish(&grid);
            for (place, figure) in figures.iter().enumerate() {
                let bucket = grid.bucket(place);
                let of_spans: i64 = spans.iter().map(|span| span.intersect(bucket).length()).sum();
                let of_instants: i64 =
                    instants.iter().filter(|(time, _)| bucket.contains(*time)).map(|(_, amount)| amount).sum();
                prop_assert_eq!(*figure, of_spans + of_instants, "bucket {}", place);
            }
            let all: i64 = spans.iter().map(|span| span.intersect(range).length()).sum();
            let counted: i64 = instants.iter().filter(|(time, _)| range.contains(*time)).map(|(_, amount)| amount).sum();
            prop_assert_eq!(figures.iter().sum::<i64>(), all + counted);
        }
    }
}
