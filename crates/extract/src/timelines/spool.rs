//! Tiles that wait for their turn: rows of a level are written when all of the level before it are.

use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use tempfile::SpooledTempFile;
use tracesift_analysis::timeline::tiles::Tile;

use crate::error::Error;

/// Bytes of a level of a table that stay in memory.
const IN_MEMORY: usize = 2 << 20;

/// Tiles that are read at a time.
const AT_A_TIME: usize = 4096;

/// The tiles of a level of a table.
pub(super) struct Spool<const FIGURES: usize> {
    file: SpooledTempFile,
    directory: PathBuf,
    tiles: usize,
    bytes: Vec<u8>,
    /// The first write that failed; nothing is written after it.
    failed: Option<io::Error>,
}

impl<const FIGURES: usize> Spool<FIGURES> {
    /// Nothing yet; what does not fit in memory goes to a file without a name in this directory.
    pub(super) fn new(directory: PathBuf) -> Self {
        let file = tempfile::spooled_tempfile_in(IN_MEMORY, &directory);
        Self { file, directory, tiles: 0, bytes: Vec::new(), failed: None }
    }

    /// Adds tiles.
    pub(super) fn add(&mut self, tiles: &[Tile<FIGURES>]) {
        self.bytes.clear();
        for tile in tiles {
            let numbers = [tile.bucket, tile.buckets, i64::from(tile.lane)].into_iter().chain(tile.figures);
            numbers.for_each(|number| self.bytes.extend_from_slice(&number.to_le_bytes()));
        }
        if self.failed.is_none() {
            self.failed = self.file.write_all(&self.bytes).err();
        }
        self.tiles += tiles.len();
    }

    /// Shows the tiles in their order, many at a time.
    pub(super) fn each(mut self, mut visit: impl FnMut(&[Tile<FIGURES>])) -> Result<(), Error> {
        let directory = self.directory.clone();
        let failed = |source| Error::Temporary { directory: directory.clone(), source };
        if let Some(reason) = self.failed.take() {
            return Err(failed(reason));
        }
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut file = BufReader::with_capacity(1 << 16, self.file);
        let mut number = || -> io::Result<i64> {
            let mut bytes = [0; 8];
            file.read_exact(&mut bytes)?;
            Ok(i64::from_le_bytes(bytes))
        };
        let mut tiles = Vec::with_capacity(self.tiles.min(AT_A_TIME));
        for place in 0..self.tiles {
            let mut tile = Tile {
                bucket: number().map_err(failed)?,
                buckets: number().map_err(failed)?,
                lane: number().map(|lane| i32::try_from(lane).unwrap_or_default()).map_err(failed)?,
                figures: [0; FIGURES],
            };
            for figure in &mut tile.figures {
                *figure = number().map_err(failed)?;
            }
            tiles.push(tile);
            if tiles.len() == AT_A_TIME || place + 1 == self.tiles {
                visit(&tiles);
                tiles.clear();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{IN_MEMORY, Spool};
    use tracesift_analysis::timeline::tiles::Tile;

    #[test]
    fn tiles_come_back_as_they_were() {
        let directory = tempfile::tempdir().unwrap();
        // More than stays in memory.
        let tiles: Vec<Tile<3>> = (0..IN_MEMORY as i64 / 24)
            .map(|at| Tile { bucket: -at, buckets: at % 7, lane: at as i32 - 5, figures: [at, i64::MIN, -1] })
            .collect();
        let mut spool = Spool::new(directory.path().to_owned());
        tiles.chunks(1000).for_each(|chunk| spool.add(chunk));
        let mut found = Vec::new();
        spool.each(|tiles| found.extend_from_slice(tiles)).unwrap();
        assert!(found == tiles);
        let mut none = 0;
        Spool::<1>::new(directory.path().to_owned()).each(|_| none += 1).unwrap();
        assert_eq!(none, 0);
    }
}
