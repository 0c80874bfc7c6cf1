//! Buckets of one length, one behind the other.

use crate::spans::Span;

/// Buckets of one length that follow each other and cover a range of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// What is asked for. The first and the last bucket may reach beyond it.
    range: Span,
    /// Start of the first bucket.
    first: i64,
    /// Length of a bucket, ns.
    width: i64,
    buckets: usize,
}

impl Grid {
    /// Buckets of `width` ns that cover `range`, one of which starts at `origin` or would if it was near. `None`: that are more than
    /// `most`.
    #[must_use]
    pub fn aligned(range: Span, width: i64, origin: i64, most: usize) -> Option<Self> {
        let width = width.max(1);
        let before = range.start.checked_sub(origin)?.rem_euclid(width);
        let first = range.start.checked_sub(before)?;
        let length = if range.is_empty() { 0 } else { range.end.checked_sub(first)? };
        let buckets = length / width + i64::from(length % width > 0);
        let buckets = usize::try_from(buckets).ok().filter(|buckets| *buckets <= most)?;
        Some(Self { range, first, width, buckets })
    }

    /// So many buckets from the start of `range` to its end; the last one may reach beyond it. Of a range with fewer nanoseconds each
    /// has a bucket of its own.
    #[must_use]
    pub fn columns(range: Span, columns: usize) -> Self {
        let columns = i64::try_from(columns.max(1)).unwrap_or(i64::MAX);
        let length = range.length();
        let width = (length / columns + i64::from(length % columns > 0)).max(1);
        let buckets = length / width + i64::from(length % width > 0);
        Self { range, first: range.start, width, buckets: usize::try_from(buckets).unwrap_or(0) }
    }

    /// What is asked for.
    #[must_use]
    pub fn range(&self) -> Span {
        self.range
    }

    /// Start of the first bucket, ns.
    #[must_use]
    pub fn first(&self) -> i64 {
        self.first
    }

    /// Length of a bucket, ns.
    #[must_use]
    pub fn width(&self) -> i64 {
        self.width
    }

    /// How many there are.
    #[must_use]
    pub fn buckets(&self) -> usize {
        self.buckets
    }

    /// The bucket at this place, the part of it that lies in the range.
    #[must_use]
    pub fn bucket(&self, place: usize) -> Span {
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        let start = self.first.saturating_add(self.width.saturating_mul(place));
        Span::new(start, start.saturating_add(self.width)).intersect(self.range)
    }

    /// The bucket that has an instant of the range.
    #[must_use]
    #[inline]
    pub fn place(&self, time: i64) -> Option<usize> {
        self.range.contains(time).then(|| self.place_inside(time))
    }

    /// The bucket that has an instant, which lies in the range.
    #[inline]
    pub(super) fn place_inside(&self, time: i64) -> usize {
        usize::try_from((time - self.first) / self.width).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::Grid;
    use crate::spans::Span;

    #[test]
    fn buckets_cover_the_range_and_nothing_else() {
        for (start, end) in [(0, 1), (0, 100), (-7, 93), (5, 5), (3, 1_000)] {
            let range = Span::new(start, end);
            let aligned = [1, 3, 7, 2_000].map(|width| Grid::aligned(range, width, 2, 1_000).expect("few"));
            let columns = [1, 2, 7, 60, 5_000].map(|count| Grid::columns(range, count));
            for grid in aligned.into_iter().chain(columns) {
                let mut at = start;
                for place in 0..grid.buckets() {
                    let bucket = grid.bucket(place);
                    assert!(bucket.start == at && !bucket.is_empty(), "{grid:?}");
                    assert_eq!((grid.place(bucket.start), grid.place(bucket.end - 1)), (Some(place), Some(place)));
                    at = bucket.end;
                }
                assert_eq!(at, end, "{grid:?}");
                assert_eq!((grid.place(start - 1), grid.place(end)), (None, None));
            }
        }
    }

    #[test]
    fn buckets_of_a_length_start_where_the_origin_says() {
        let grid = Grid::aligned(Span::new(25, 55), 10, 3, 100).expect("few");
        assert_eq!((grid.first(), grid.buckets()), (23, 4));
        assert_eq!(grid.bucket(0), Span::new(25, 33));
        assert_eq!(grid.bucket(3), Span::new(53, 55));
        assert_eq!(Grid::aligned(Span::new(25, 55), 10, 3, 3), None);
        assert_eq!(Grid::aligned(Span::ALL, 1, 0, usize::MAX).map(|grid| grid.range()), Some(Span::ALL));
    }

    #[test]
    fn columns_are_as_many_as_asked_for_or_fewer() {
        assert_eq!(Grid::columns(Span::new(0, 600), 60).buckets(), 60);
        let grid = Grid::columns(Span::new(0, 7), 3);
        assert_eq!((grid.width(), grid.buckets(), grid.bucket(2)), (3, 3, Span::new(6, 7)));
        assert_eq!(Grid::columns(Span::new(0, 2), 60).buckets(), 2);
        assert_eq!(Grid::columns(Span::new(4, 4), 60).buckets(), 0);
    }
}
