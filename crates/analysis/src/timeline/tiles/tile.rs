//! Tiles: figures of a lane in one bucket, or in several neighbours that have the same ones.

use super::levels::BLOCK;

/// Figures of a lane in some neighbouring buckets of a level: the same ones in each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile<const FIGURES: usize> {
    /// Number of the first bucket.
    pub bucket: i64,
    /// Number of buckets.
    pub buckets: i64,
    /// Whose figures these are.
    pub lane: i32,
    /// The figures.
    pub figures: [i64; FIGURES],
}

/// The tiles of one lane in the order of time, as few as can be.
#[derive(Debug)]
pub(super) struct Run<'a, const FIGURES: usize> {
    tiles: &'a mut Vec<Tile<FIGURES>>,
    /// Where those of the lane begin.
    from: usize,
    lane: i32,
}

impl<'a, const FIGURES: usize> Run<'a, FIGURES> {
    /// The lane's tiles will stand behind those that are there.
    pub(super) fn new(tiles: &'a mut Vec<Tile<FIGURES>>, lane: i32) -> Self {
        let from = tiles.len();
        Self { tiles, from, lane }
    }

    /// Adds the figures of some buckets behind those that are there; none for buckets without any.
    pub(super) fn add(&mut self, mut bucket: i64, mut buckets: i64, figures: &[i64; FIGURES]) {
        if figures.iter().all(|figure| *figure == 0) {
            return;
        }
        while buckets > 0 {
            let room = (BLOCK - bucket.rem_euclid(BLOCK)).min(buckets);
            match self.tiles[self.from..].last_mut() {
                Some(last) if continues(last, bucket, figures) => last.buckets += room,
                _ => self.tiles.push(Tile { bucket, buckets: room, lane: self.lane, figures: *figures }),
            }
            bucket += room;
            buckets -= room;
        }
    }
}

fn continues<const FIGURES: usize>(last: &Tile<FIGURES>, bucket: i64, figures: &[i64; FIGURES]) -> bool {
    last.bucket + last.buckets == bucket && bucket.rem_euclid(BLOCK) != 0 && last.figures == *figures
}

/// Puts the tiles of a block in the order of lane and bucket, with equal neighbours as one.
pub(super) fn join<const FIGURES: usize>(tiles: &mut Vec<Tile<FIGURES>>) {
    // Those of a window stand in this order already.
    tiles.sort_by_key(|tile| (tile.lane, tile.bucket));
    tiles.dedup_by(|next, tile| {
        let continues = tile.lane == next.lane && continues(tile, next.bucket, &next.figures);
        if continues {
            tile.buckets += next.buckets;
        }
        continues
    });
}

/// Puts the tiles of blocks in the order of bucket and lane, in memory that is used again.
#[derive(Debug)]
pub(super) struct InOrder<const FIGURES: usize> {
    order: Vec<usize>,
    tiles: Vec<Tile<FIGURES>>,
}

impl<const FIGURES: usize> Default for InOrder<FIGURES> {
    fn default() -> Self {
        Self { order: Vec::new(), tiles: Vec::new() }
    }
}

impl<const FIGURES: usize> InOrder<FIGURES> {
    /// The tiles of a block, which stand in the order of lanes.
    pub(super) fn of(&mut self, tiles: &[Tile<FIGURES>]) -> &[Tile<FIGURES>] {
        let place = |tile: &Tile<FIGURES>| usize::try_from(tile.bucket.rem_euclid(BLOCK)).unwrap_or_default();
        // Where the tiles of each bucket begin.
        let mut next = [0_usize; BLOCK as usize + 1];
        tiles.iter().for_each(|tile| next[place(tile) + 1] += 1);
        (1..next.len()).for_each(|at| next[at] += next[at - 1]);
        self.order.clear();
        self.order.resize(tiles.len(), 0);
        for (at, tile) in tiles.iter().enumerate() {
            let next = &mut next[place(tile)];
            self.order[*next] = at;
            *next += 1;
        }
        self.tiles.clear();
        self.tiles.extend(self.order.iter().map(|at| tiles[*at]));
        &self.tiles
    }
}

/// Adds the tiles of the next level, of tiles of a block in the order of lane and bucket. The first `sums` figures are sums over the buckets,
/// the others maxima.
pub(super) fn fold<const FIGURES: usize>(tiles: &[Tile<FIGURES>], sums: usize, folded: &mut Vec<Tile<FIGURES>>) {
    for of_lane in tiles.chunk_by(|a, b| a.lane == b.lane) {
        let mut run = Run::new(folded, of_lane[0].lane);
        let mut open = (0, [0; FIGURES]);
        for tile in of_lane {
            let (mut bucket, mut left) = (tile.bucket, tile.buckets);
            while left > 0 {
                let (place, inside) = (bucket.div_euclid(4), bucket.rem_euclid(4));
                if place != open.0 {
                    run.add(open.0, 1, &open.1);
                    open = (place, [0; FIGURES]);
                }
                let whole = if inside == 0 { left / 4 } else { 0 };
                let taken = if whole > 0 {
                    run.add(place, whole, &times(&tile.figures, 4, sums));
                    // Nothing is open: the next bucket is of another place.
                    whole * 4
                } else {
                    let taken = left.min(4 - inside);
                    add(&mut open.1, &times(&tile.figures, taken, sums), sums);
                    taken
                };
                bucket += taken;
                left -= taken;
            }
        }
        run.add(open.0, 1, &open.1);
    }
}

/// The figures of so many buckets that have these each.
fn times<const FIGURES: usize>(figures: &[i64; FIGURES], buckets: i64, sums: usize) -> [i64; FIGURES] {
    std::array::from_fn(|place| if place < sums { figures[place].saturating_mul(buckets) } else { figures[place] })
}

/// Adds the figures of further buckets.
fn add<const FIGURES: usize>(to: &mut [i64; FIGURES], figures: &[i64; FIGURES], sums: usize) {
    for (place, (to, figure)) in to.iter_mut().zip(figures).enumerate() {
        *to = if place < sums { to.saturating_add(*figure) } else { (*to).max(*figure) };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{InOrder, Run, Tile, fold, join};
    use crate::timeline::tiles::levels::BLOCK;

    /// The figures of each bucket that has any.
    fn spread(tiles: &[Tile<2>]) -> Vec<(i32, i64, [i64; 2])> {
        let each = |tile: &Tile<2>| {
            let (lane, figures) = (tile.lane, tile.figures);
            (tile.bucket..tile.bucket + tile.buckets).map(move |bucket| (lane, bucket, figures)).collect::<Vec<_>>()
        };
        tiles.iter().flat_map(each).collect()
    }

    proptest! {
        #[test]
        fn tiles_of_a_block_are_put_in_order(block in -3_i64..3, buckets in prop::collection::vec(0..BLOCK, 0..60)) {
            let tile = |(bucket, lane): (&i64, i32)| Tile { bucket: block * BLOCK + bucket, buckets: 1, lane: lane / 3, figures: [0; 2] };
            let mut tiles: Vec<Tile<2>> = buckets.iter().zip(0..).map(tile).collect();
            tiles.sort_by_key(|tile| (tile.lane, tile.bucket));
            let mut in_order = InOrder::default();
            let found = in_order.of(&tiles).to_vec();
            tiles.sort_by_key(|tile| (tile.bucket, tile.lane));
            prop_assert_eq!(found, tiles);
        }

        #[test]
        fn runs_lose_nothing_and_levels_have_the_same_sums(
            lanes in prop::collection::vec(
                (-2 * BLOCK..BLOCK, prop::collection::vec((0_i64..3, 1_i64..400, 0_i64..3), 0..12)), 1..4
            ),
        ) {
            let (mut tiles, mut expected) = (Vec::new(), Vec::new());
            for (lane, (start, pieces)) in (0..).zip(&lanes) {
                let (mut at, mut run) = (*start, Run::new(&mut tiles, lane));
                for (gap, buckets, figure) in pieces {
                    at += gap;
                    let figures = [*figure, figure * 10];
                    run.add(at, *buckets, &figures);
                    let given = (at..at + buckets).filter(|_| *figure > 0);
                    expected.extend(given.map(|bucket| (lane, bucket, figures)));
                    at += buckets;
                }
            }
            prop_assert_eq!(spread(&tiles), expected.clone());
            for tile in &tiles {
                prop_assert_eq!(tile.bucket.div_euclid(BLOCK), (tile.bucket + tile.buckets - 1).div_euclid(BLOCK));
            }
            for pair in tiles.windows(2) {
                let next = &pair[1];
                let follows = pair[0].lane == next.lane && pair[0].bucket + pair[0].buckets == next.bucket;
                prop_assert!(!follows || next.bucket % BLOCK == 0 || pair[0].figures != next.figures);
            }
            // Whatever piece comes first, the tiles are the same.
            let mut mixed: Vec<Tile<2>> = tiles.iter().rev().flat_map(|tile| {
                let half = tile.buckets / 2;
                let second = Tile { bucket: tile.bucket + half, buckets: tile.buckets - half, ..*tile };
                [second, Tile { buckets: half, ..*tile }].into_iter().filter(|tile| tile.buckets > 0)
            }).collect();
            join(&mut mixed);
            prop_assert_eq!(&mixed, &tiles);

            let mut folded: Vec<(i32, i64, [i64; 2])> = Vec::new();
            for (lane, bucket, figures) in expected {
                match folded.last_mut().filter(|last| (last.0, last.1) == (lane, bucket.div_euclid(4))) {
                    Some(last) => last.2 = [last.2[0] + figures[0], last.2[1].max(figures[1])],
                    None => folded.push((lane, bucket.div_euclid(4), figures)),
                }
            }
            let mut next = Vec::new();
            fold(&tiles, 1, &mut next);
            prop_assert_eq!(spread(&next), folded);
        }
    }
}
