//! The levels of a table: tiles of the first one go in, tiles of all levels come out.

use super::levels::BLOCK;
use super::tile::{Tile, fold, join};

/// The tiles of a table on their way, block by block: of each level no more than a block is held.
#[derive(Debug)]
pub(super) struct Pyramid<const FIGURES: usize> {
    first: u8,
    /// How many of the figures are sums over buckets; the others are maxima.
    sums: usize,
    /// The blocks that are not complete, from the first level on.
    open: Vec<Open<FIGURES>>,
}

#[derive(Debug)]
struct Open<const FIGURES: usize> {
    block: i64,
    tiles: Vec<Tile<FIGURES>>,
}

impl<const FIGURES: usize> Pyramid<FIGURES> {
    /// One from a level to another one, both included.
    pub(super) fn new(first: u8, last: u8, sums: usize) -> Self {
        let open = (first..=last).map(|_| Open { block: 0, tiles: Vec::new() }).collect();
        Self { first, sums, open }
    }

    /// Takes tiles of a block of the first level, the one that has `bucket`, in the order of lane and bucket. Blocks come in the order of
    /// time, one also in several parts. `emit` gets the tiles of each complete block in the order of lane and bucket, and the blocks of a
    /// level in the order of time.
    pub(super) fn take(
        &mut self,
        bucket: i64,
        tiles: impl IntoIterator<Item = Tile<FIGURES>>,
        emit: &mut impl FnMut(u8, &[Tile<FIGURES>]),
    ) {
        self.open_block(0, bucket, emit).extend(tiles);
    }

    /// Emits what is left.
    pub(super) fn finish(&mut self, emit: &mut impl FnMut(u8, &[Tile<FIGURES>])) {
        for level in 0..self.open.len() {
            self.close(level, emit);
        }
    }

    /// The tiles of the block that has a bucket; the block before it is complete.
    fn open_block(
        &mut self,
        level: usize,
        bucket: i64,
        emit: &mut impl FnMut(u8, &[Tile<FIGURES>]),
    ) -> &mut Vec<Tile<FIGURES>> {
        let block = bucket.div_euclid(BLOCK);
        if self.open[level].block != block {
            self.close(level, emit);
        }
        let open = &mut self.open[level];
        open.block = block;
        &mut open.tiles
    }

    fn close(&mut self, level: usize, emit: &mut impl FnMut(u8, &[Tile<FIGURES>])) {
        let mut tiles = std::mem::take(&mut self.open[level].tiles);
        join(&mut tiles);
        if let Some(first) = tiles.first().filter(|_| level + 1 < self.open.len()) {
            // Four neighbours are in one block, so their bucket of the next level is complete.
            let sums = self.sums;
            fold(&tiles, sums, self.open_block(level + 1, first.bucket.div_euclid(4), emit));
        }
        if !tiles.is_empty() {
            emit(self.first + u8::try_from(level).unwrap_or(u8::MAX), &tiles);
        }
        // The next block takes the same memory.
        tiles.clear();
        self.open[level].tiles = tiles;
    }
}
