//! The levels of a table: tiles of the first one go in, tiles of all levels come out.

use super::levels::BLOCK;
use super::tile::{Tile, fold, in_order_of, join};

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

    /// Takes the tiles of a window of the first level. Windows come in the order of time. `emit` gets the tiles of each complete block in the
    /// order of bucket and lane, and the blocks of a level in the order of time.
    pub(super) fn take(&mut self, tiles: Vec<Tile<FIGURES>>, emit: &mut impl FnMut(u8, Vec<Tile<FIGURES>>)) {
        self.take_level(0, in_order_of(tiles, |tile| tile.bucket.div_euclid(BLOCK)), emit);
    }

    /// Emits what is left.
    pub(super) fn finish(&mut self, emit: &mut impl FnMut(u8, Vec<Tile<FIGURES>>)) {
        for level in 0..self.open.len() {
            self.close(level, emit);
        }
    }

    /// Takes tiles of a level in the order of their blocks.
    fn take_level(&mut self, level: usize, tiles: Vec<Tile<FIGURES>>, emit: &mut impl FnMut(u8, Vec<Tile<FIGURES>>)) {
        let block = |tile: &Tile<FIGURES>| tile.bucket.div_euclid(BLOCK);
        for of_block in tiles.chunk_by(|a, b| block(a) == block(b)) {
            let Some(open) = self.open.get_mut(level) else { return };
            if open.block != block(&of_block[0]) {
                self.close(level, emit);
            }
            let open = &mut self.open[level];
            open.block = block(&of_block[0]);
            open.tiles.extend_from_slice(of_block);
        }
    }

    fn close(&mut self, level: usize, emit: &mut impl FnMut(u8, Vec<Tile<FIGURES>>)) {
        let mut tiles = std::mem::take(&mut self.open[level].tiles);
        if tiles.is_empty() {
            return;
        }
        join(&mut tiles);
        if level + 1 < self.open.len() {
            // Four neighbours are in one block, so their bucket of the next level is complete.
            self.take_level(level + 1, fold(&tiles, self.sums), emit);
        }
        // They stand in the order of lanes.
        let tiles = in_order_of(tiles, |tile| tile.bucket);
        emit(self.first + u8::try_from(level).unwrap_or(u8::MAX), tiles);
    }
}
