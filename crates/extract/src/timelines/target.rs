//! Where the rows of the timeline tables go.

use std::path::Path;

use tracesift_analysis::timeline::tiles::{
    CpuTile, DiskTile, EventTile, LEVEL_OF_THREADS, Levels, ProcessTile, ThreadTile, TileTarget, cpu_row, disk_row,
    process_row, thread_row,
};
use tracesift_archive::{ArchiveUpdate, SealedArchive, Table};
use tracesift_trace::rows::TimelineEventRow;

use super::spool::Spool;
use crate::error::Error;

/// An archive that takes rows of further tables.
pub(crate) trait RowTarget {
    /// Appends rows to a table.
    fn rows<T: Table>(&mut self, rows: impl Iterator<Item = T>);
}

impl RowTarget for SealedArchive {
    fn rows<T: Table>(&mut self, rows: impl Iterator<Item = T>) {
        self.write_each(|write| rows.for_each(|row| write(&row)));
    }
}

impl RowTarget for ArchiveUpdate {
    fn rows<T: Table>(&mut self, rows: impl Iterator<Item = T>) {
        self.write_each(|write| rows.for_each(|row| write(&row)));
    }
}

/// Writes the rows of the first level of each table; those of the others wait.
pub(super) struct Tables<'a, T> {
    pub(super) levels: Levels,
    pub(super) target: &'a mut T,
    /// Provider and name of each kind of event.
    pub(super) kinds: Vec<(String, String)>,
    processes: Vec<Spool<10>>,
    threads: Vec<Spool<6>>,
    cpus: Vec<Spool<6>>,
    disks: Vec<Spool<8>>,
    events: Vec<Spool<1>>,
}

impl<'a, T: RowTarget> Tables<'a, T> {
    pub(super) fn new(levels: Levels, target: &'a mut T, directory: &Path) -> Self {
        fn spools<const FIGURES: usize>(levels: u8, directory: &Path) -> Vec<Spool<FIGURES>> {
            (0..levels).map(|_| Spool::new(directory.to_owned())).collect()
        }
        let last = levels.last();
        Self {
            levels,
            target,
            kinds: Vec::new(),
            processes: spools(last, directory),
            threads: spools(last - LEVEL_OF_THREADS, directory),
            cpus: spools(last, directory),
            disks: spools(last, directory),
            events: spools(last, directory),
        }
    }

    /// Writes the rows that wait.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Self { levels, target, kinds, .. } = self;
        for (level, spool) in (1..).zip(self.processes) {
            spool.each(|tiles| target.rows(tiles.iter().map(|tile| process_row(&levels, level, tile))))?;
        }
        for (level, spool) in (LEVEL_OF_THREADS + 1..).zip(self.threads) {
            spool.each(|tiles| target.rows(tiles.iter().map(|tile| thread_row(&levels, level, tile))))?;
        }
        for (level, spool) in (1..).zip(self.cpus) {
            spool.each(|tiles| target.rows(tiles.iter().map(|tile| cpu_row(&levels, level, tile))))?;
        }
        for (level, spool) in (1..).zip(self.disks) {
            spool.each(|tiles| target.rows(tiles.iter().map(|tile| disk_row(&levels, level, tile))))?;
        }
        for (level, spool) in (1..).zip(self.events) {
            spool.each(|tiles| target.rows(tiles.iter().map(|tile| event_row(&levels, level, tile, &kinds))))?;
        }
        Ok(())
    }
}

fn event_row(levels: &Levels, level: u8, tile: &EventTile, kinds: &[(String, String)]) -> TimelineEventRow {
    let kind = usize::try_from(tile.lane).ok().and_then(|kind| kinds.get(kind)).cloned();
    let (provider, event) = kind.unwrap_or_default();
    TimelineEventRow {
        level: level.cast_signed(),
        width: levels.width(level),
        bucket: tile.bucket,
        buckets: i16::try_from(tile.buckets).unwrap_or(i16::MAX),
        provider,
        event,
        count: tile.figures[0],
    }
}

impl<T: RowTarget> TileTarget for Tables<'_, T> {
    fn processes(&mut self, level: u8, tiles: &[ProcessTile]) {
        match usize::from(level).checked_sub(1) {
            None => self.target.rows(tiles.iter().map(|tile| process_row(&self.levels, level, tile))),
            Some(place) => self.processes[place].add(tiles),
        }
    }

    fn threads(&mut self, level: u8, tiles: &[ThreadTile]) {
        match usize::from(level - LEVEL_OF_THREADS).checked_sub(1) {
            None => self.target.rows(tiles.iter().map(|tile| thread_row(&self.levels, level, tile))),
            Some(place) => self.threads[place].add(tiles),
        }
    }

    fn cpus(&mut self, level: u8, tiles: &[CpuTile]) {
        match usize::from(level).checked_sub(1) {
            None => self.target.rows(tiles.iter().map(|tile| cpu_row(&self.levels, level, tile))),
            Some(place) => self.cpus[place].add(tiles),
        }
    }

    fn disks(&mut self, level: u8, tiles: &[DiskTile]) {
        match usize::from(level).checked_sub(1) {
            None => self.target.rows(tiles.iter().map(|tile| disk_row(&self.levels, level, tile))),
            Some(place) => self.disks[place].add(tiles),
        }
    }

    fn events(&mut self, level: u8, tiles: &[EventTile]) {
        match usize::from(level).checked_sub(1) {
            None => self.target.rows(tiles.iter().map(|tile| event_row(&self.levels, level, tile, &self.kinds))),
            Some(place) => self.events[place].add(tiles),
        }
    }
}
