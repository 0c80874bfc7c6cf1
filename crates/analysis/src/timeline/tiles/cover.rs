//! A grid of any buckets as whole buckets of the timeline tables, and what is left.

use std::ops::Range;

use super::levels::Levels;
use crate::spans::Span;
use crate::timeline::Grid;

/// Buckets of a level that lie in one bucket of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The buckets of the level.
    pub buckets: Range<i64>,
    /// The bucket of the grid.
    pub place: usize,
}

/// The buckets of a grid, put together out of buckets of the tables and of pieces of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    /// Pieces of time that are less than a bucket of the first level, in the order of time. Neighbours are one piece.
    pub pieces: Vec<Span>,
    /// By level the buckets in the order of time; each instant of the range is in one of them or in a piece.
    pub wanted: Vec<(u8, Vec<Wanted>)>,
}

impl Cover {
    /// The cover of a grid by levels from `first` on. The grid lies in the recorded time.
    #[must_use]
    pub fn of(levels: &Levels, first: u8, grid: &Grid) -> Self {
        let wanted = (first..=levels.last()).map(|level| (level, Vec::new())).collect();
        let mut cover = Self { pieces: Vec::new(), wanted };
        let (all, time) = (levels.buckets(first), levels.time());
        for place in 0..grid.buckets() {
            let bucket = grid.bucket(place);
            let start = if bucket.start <= time.start { all.start } else { levels.place(first, bucket.start - 1) + 1 };
            let end = if bucket.end >= time.end { all.end } else { levels.place(first, bucket.end) };
            if start >= end {
                cover.piece(bucket);
                continue;
            }
            cover.piece(Span::new(bucket.start, levels.bucket(first, start).start));
            cover.whole(levels, first, start..end, place);
            cover.piece(Span::new(levels.bucket(first, end - 1).end, bucket.end));
        }
        cover
    }

    fn piece(&mut self, piece: Span) {
        match self.pieces.last_mut() {
            _ if piece.is_empty() => {}
            Some(last) if last.end == piece.start => last.end = piece.end,
            _ => self.pieces.push(piece),
        }
    }

    /// Adds buckets of the first level, as few longer ones as can be.
    fn whole(&mut self, levels: &Levels, first: u8, buckets: Range<i64>, place: usize) {
        let all = levels.buckets(first);
        let most = 2 * u32::from(levels.last() - first);
        // Nothing was recorded outside, so a longer bucket that reaches beyond has nothing else.
        let mut at = if buckets.start == all.start { buckets.start >> most << most } else { buckets.start };
        let end = if buckets.end == all.end { (((buckets.end - 1) >> most) + 1) << most } else { buckets.end };
        while at < end {
            let fits = |level: &u32| at.trailing_zeros() >= 2 * level && at + (1 << (2 * level)) <= end;
            let level = (0..=most / 2).rev().find(fits).unwrap_or(0);
            let bucket = at >> (2 * level);
            at += 1 << (2 * level);
            let Some((_, wanted)) = self.wanted.get_mut(level as usize) else { return };
            match wanted.last_mut() {
                Some(last) if last.place == place && last.buckets.end == bucket => last.buckets.end = bucket + 1,
                _ => wanted.push(Wanted { buckets: bucket..bucket + 1, place }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Cover;
    use crate::spans::Span;
    use crate::timeline::Grid;
    use crate::timeline::tiles::levels::Levels;

    fn check(levels: &Levels, first: u8, grid: &Grid) {
        let cover = Cover::of(levels, first, grid);
        // Who has each instant.
        let mut of: Vec<Option<Option<usize>>> = vec![None; grid.range().length() as usize];
        let mut take = |span: Span, place: Option<usize>| {
            let range = grid.range();
            assert!(!span.is_empty() && span.intersect(range) == span, "{span:?} of {grid:?}");
            for time in span.start..span.end {
                let of = &mut of[(time - range.start) as usize];
                assert_eq!(of.replace(place), None, "{time} twice");
            }
        };
        for piece in &cover.pieces {
            take(*piece, None);
        }
        assert!(cover.pieces.windows(2).all(|pair| pair[0].end < pair[1].start));
        for (level, wanted) in &cover.wanted {
            assert!(wanted.windows(2).all(|pair| pair[0].buckets.end <= pair[1].buckets.start));
            for wanted in wanted {
                for bucket in wanted.buckets.clone() {
                    let span = levels.bucket(*level, bucket);
                    // A bucket beyond the recorded time has nothing.
                    if !span.is_empty() {
                        take(span, Some(wanted.place));
                    }
                }
            }
        }
        for (time, of) in (grid.range().start..).zip(of) {
            let of = of.expect("somebody has it");
            assert!(of.is_none() || of == grid.place(time), "{time}");
        }
        // A bucket of the grid that is twice as long has a whole one in it; the first and the last one may be shorter.
        let width = levels.width(first);
        let are_long = grid.width() >= 2 * width;
        assert!(!are_long || cover.pieces.iter().all(|piece| piece.length() < 4 * width));
    }

    proptest! {
        #[test]
        fn each_instant_is_in_one_part(
            (start, length) in (-300_i64..300, 0_i64..4_000),
            first in 0_u8..3,
            shift in 0_u32..5,
            (from, to) in (0_i64..4_100, 0_i64..4_100),
            buckets in prop_oneof![
                (1_i64..2_000, -9_i64..9).prop_map(Ok),
                (0_u32..11).prop_map(|shift| Ok((1 << shift, 0))),
                (1_usize..99).prop_map(Err),
            ],
        ) {
            let levels = Levels::new(Span::new(start, start + length), shift).expect("levels");
            let range = Span::new(start + from.min(to), start + from.max(to)).intersect(levels.time());
            let grid = match buckets {
                Ok((width, origin)) => Grid::aligned(range, width, origin, 10_000).expect("few"),
                Err(columns) => Grid::columns(range, columns),
            };
            check(&levels, first, &grid);
            check(&levels, first, &Grid::columns(levels.time(), 7));
        }
    }

    #[test]
    fn aligned_buckets_have_no_pieces_and_the_longest_tiles() {
        let levels = Levels::new(Span::new(0, 4_095), 2).expect("levels");
        let cover = Cover::of(&levels, 0, &Grid::aligned(levels.time(), 128, 0, 1_000).expect("few"));
        assert!(cover.pieces.is_empty());
        let counts: Vec<i64> = cover
            .wanted
            .iter()
            .map(|(_, wanted)| wanted.iter().map(|wanted| wanted.buckets.end - wanted.buckets.start).sum())
            .collect();
        assert_eq!((levels.width(2), counts), (64, vec![0, 0, 64]));
    }
}
