//! Readings of the memory of processes, without those that say nothing new.
//!
//! A system reads the memory of all processes twice a second, and most of them did not change. A reading that equals the one before
//! it is held back; it becomes a row when it turns out to be the last one of its process.

use rustc_hash::FxHashMap;

use crate::ids::ProcessId;
use crate::rows::MemoryProcessRow;

/// Processes that are followed at most. Readings of others all become rows.
const MAX_PROCESSES: usize = 1 << 22;

/// The readings of a recording, one after the other.
#[derive(Debug, Default)]
pub struct MemorySnapshots {
    /// The latest reading of each process.
    latest: FxHashMap<ProcessId, Latest>,
    /// Rows of the snapshot at hand: those of processes that are gone since the snapshot before go first.
    rows: Vec<MemoryProcessRow>,
    /// Time of the snapshot at hand.
    time: Option<i64>,
}

#[derive(Debug)]
struct Latest {
    row: MemoryProcessRow,
    /// Whether it is a row already.
    is_written: bool,
}

impl MemorySnapshots {
    /// A reading. Readings come in the order of their times; those of one time are one snapshot. `write` takes rows in the order
    /// of their times.
    pub fn reading(&mut self, row: MemoryProcessRow, write: &mut impl FnMut(&MemoryProcessRow)) {
        if self.time.is_some_and(|time| time < row.time) {
            self.end_snapshot(write);
        }
        self.time = Some(row.time);
        match self.latest.get_mut(&row.process) {
            Some(latest) if is_same(latest.row, row) => *latest = Latest { row, is_written: false },
            _ => {
                self.rows.push(row);
                if self.latest.len() < MAX_PROCESSES {
                    self.latest.insert(row.process, Latest { row, is_written: true });
                }
            }
        }
    }

    /// The end of the recording.
    pub fn finish(mut self, write: &mut impl FnMut(&MemoryProcessRow)) {
        self.end_snapshot(write);
        self.time = None;
        self.end_snapshot(write);
    }

    /// Writes what a snapshot brought. A process that was in the snapshot before and is not in this one had its last reading there.
    fn end_snapshot(&mut self, write: &mut impl FnMut(&MemoryProcessRow)) {
        let mut gone: Vec<MemoryProcessRow> = Vec::new();
        let time = self.time;
        self.latest.retain(|_, latest| {
            let is_here = Some(latest.row.time) == time;
            if !is_here && !latest.is_written {
                gone.push(latest.row);
            }
            is_here
        });
        gone.sort_unstable_by_key(|row| (row.time, row.process));
        gone.iter().for_each(&mut *write);
        self.rows.drain(..).for_each(|row| write(&row));
    }
}

/// Whether two readings differ in their times at most.
fn is_same(a: MemoryProcessRow, b: MemoryProcessRow) -> bool {
    a == MemoryProcessRow { time: a.time, ..b }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that are the same in each run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, below: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % below
        }
    }

    /// Rows repeated until the next row of their process, and not beyond the last one, are all readings again.
    #[test]
    fn rows_tell_every_reading() {
        for seed in 1..200 {
            let mut random = Random(seed);
            let mut readings = Vec::new();
            let mut times = Vec::new();
            for snapshot in 0..random.below(12) as i64 {
                let time = snapshot * 10;
                times.push(time);
                for process in 0..4 {
                    // A process that left does not come back.
                    let is_there = random.below(8) != 0
                        && (snapshot == 0
                            || readings.iter().all(|row: &MemoryProcessRow| row.process.0 != process)
                            || readings.iter().any(|row| row.process.0 == process && row.time == time - 10));
                    if is_there {
                        let (process, commit) = (ProcessId(process), Some(random.below(2) as i64));
                        readings.push(MemoryProcessRow { time, process, commit, ..MemoryProcessRow::default() });
                    }
                }
            }
            let mut rows = Vec::new();
            let mut snapshots = MemorySnapshots::default();
            readings.iter().for_each(|row| snapshots.reading(*row, &mut |row| rows.push(*row)));
            snapshots.finish(&mut |row| rows.push(*row));
            assert!(rows.is_sorted_by_key(|row| row.time), "seed {seed}: {rows:?}");
            let mut told = Vec::new();
            for time in times {
                for process in (0..4).map(ProcessId) {
                    let of_process = || rows.iter().filter(|row| row.process == process);
                    let latest = of_process().rfind(|row| row.time <= time);
                    let is_over = of_process().all(|row| row.time < time);
                    told.extend(latest.filter(|_| !is_over).map(|row| MemoryProcessRow { time, ..*row }));
                }
            }
            assert_eq!(told, readings, "seed {seed}: {rows:?}");
            let repeated = rows.windows(3).filter(|rows| rows.iter().all(|row| is_same(*row, rows[0])));
            assert_eq!(repeated.count(), 0, "seed {seed}: a row between two equal ones");
        }
    }
}
