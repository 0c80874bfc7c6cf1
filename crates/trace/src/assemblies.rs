//! Lives of .NET assemblies, from their loads, unloads and rundowns; and the paths that events of modules tell.

use crate::ids::ProcessId;
use crate::open_lives::OpenLives;
use crate::rows::AssemblyRow;

/// Assemblies that are followed at most, and paths of assemblies. Of more the oldest ones are given up.
const MOST: usize = 256 << 10;

/// What an assembly is known by: its process, its number there, and the number of the application domain.
pub type AssemblyKey = (ProcessId, u64, u64);

/// Assemblies that are loaded. Fed in the order of time.
#[derive(Debug)]
pub struct Assemblies {
    open: OpenLives<AssemblyKey, (AssemblyKey, AssemblyRow)>,
    /// By process and number of the assembly.
    paths: OpenLives<(ProcessId, u64), String>,
}

impl Default for Assemblies {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl Assemblies {
    /// None yet. Of more than `most` the oldest ones are given up.
    #[must_use]
    pub fn with_most(most: usize) -> Self {
        Self { open: OpenLives::new(most), paths: OpenLives::new(most) }
    }

    /// A module of an assembly has this path. `is_new`: the module is loaded now, so that an assembly that had the number before is gone.
    pub fn path(&mut self, process: ProcessId, assembly: u64, is_new: bool, path: impl FnOnce() -> String) {
        let key = (process, assembly);
        match self.paths.get_mut(&key) {
            Some(known) if is_new => *known = path(),
            Some(_) => {}
            None => {
                self.paths.insert(key, Some(process), path());
            }
        }
    }

    /// An assembly is loaded; `row` has the time as `start`. Gives the rows of what had its key, which ended unseen, and of the oldest
    /// assembly, if there are too many.
    pub fn loaded(&mut self, key: AssemblyKey, row: AssemblyRow) -> impl Iterator<Item = AssemblyRow> + use<> {
        let time = row.start;
        let before = self.open.remove(&key).map(|(_, before)| AssemblyRow { time, ..before });
        let before = before.map(|before| self.with_path(key, before));
        let oldest = self.open.insert(key, Some(key.0), (key, row));
        let oldest = oldest.map(|(key, row)| self.with_path(key, AssemblyRow { time, open: Some(true), ..row }));
        before.into_iter().chain(oldest)
    }

    /// A rundown tells that an assembly is there; `row` is its row if nothing is known of it. Gives the row of the oldest assembly, if
    /// there are too many.
    pub fn there(&mut self, key: AssemblyKey, now: i64, row: impl FnOnce() -> AssemblyRow) -> Option<AssemblyRow> {
        if self.open.get(&key).is_some() {
            return None;
        }
        let (key, oldest) = self.open.insert(key, Some(key.0), (key, row()))?;
        Some(self.with_path(key, AssemblyRow { time: now, open: Some(true), ..oldest }))
    }

    /// An assembly is unloaded; `row` is its row if its load is not known.
    pub fn unloaded(&mut self, key: AssemblyKey, time: i64, row: impl FnOnce() -> AssemblyRow) -> AssemblyRow {
        let known = self.open.remove(&key).map(|(_, row)| row);
        let row = self.with_path(key, known.unwrap_or_else(row));
        AssemblyRow { time: time.max(row.start), ..row }
    }

    /// A process ended, and its assemblies with it.
    pub fn process_ended(&mut self, process: ProcessId, time: i64) -> Vec<AssemblyRow> {
        let lives = self.open.remove_owner(process);
        let end = |(key, row): (AssemblyKey, AssemblyRow)| {
            self.with_path(key, AssemblyRow { time: time.max(row.start), ..row })
        };
        let rows = lives.into_iter().map(end).collect();
        self.paths.remove_owner(process);
        rows
    }

    /// The end of the recording: what is loaded, the oldest first.
    pub fn finish(mut self, end: i64) -> impl Iterator<Item = AssemblyRow> {
        std::iter::from_fn(move || {
            let (key, row) = self.open.oldest()?;
            Some(self.with_path(key, AssemblyRow { time: end.max(row.start), open: Some(true), ..row }))
        })
    }

    fn with_path(&self, (process, assembly, _): AssemblyKey, row: AssemblyRow) -> AssemblyRow {
        AssemblyRow { path: self.paths.get(&(process, assembly)).cloned(), ..row }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// What happens: load, rundown, unload, path, end of the process; process, number, domain.
    type Event = (u8, i32, u64, u64);

    fn events() -> impl Strategy<Value = Vec<Event>> {
        proptest::collection::vec((0..5_u8, 0..3, 0..3_u64, 0..2_u64), 0..60)
    }

    /// Begin, end, key, path, there, open.
    type Plain = (i64, i64, (i32, u64, u64), Option<String>, bool, bool);

    fn plain((process, assembly, domain): AssemblyKey, row: &AssemblyRow) -> Plain {
        let key = (process.0, assembly, domain);
        (row.start, row.time, key, row.path.clone(), row.there == Some(true), row.open == Some(true))
    }

    /// The same by looking through all lives for each event. Rows carry their key in `process`, `flags` and `domain`.
    fn naive(events: &[Event]) -> Vec<Plain> {
        let mut rows: Vec<Plain> = Vec::new();
        let mut open: Vec<Plain> = Vec::new();
        let mut paths: HashMap<(i32, u64), String> = HashMap::new();
        let mut end = |open: &mut Vec<Plain>, paths: &HashMap<(i32, u64), String>, place: usize, time: i64| {
            let mut life = open.remove(place);
            life.1 = time;
            life.3 = paths.get(&(life.2.0, life.2.1)).cloned();
            rows.push(life);
        };
        for (time, (what, process, assembly, domain)) in events.iter().enumerate() {
            let (time, key) = (time as i64, (*process, *assembly, *domain));
            let place = open.iter().position(|life| life.2 == key);
            let new = |start, there| (start, 0, key, None, there, false);
            match (what, place) {
                (0, place) => {
                    if let Some(place) = place {
                        end(&mut open, &paths, place, time);
                    }
                    open.push(new(time, false));
                }
                (1, None) => open.push(new(-1, true)),
                (2, Some(place)) => end(&mut open, &paths, place, time),
                (2, None) => {
                    open.push(new(-1, true));
                    let last = open.len() - 1;
                    end(&mut open, &paths, last, time);
                }
                (3, _) => {
                    paths.insert((*process, *assembly), format!("path {time}"));
                }
                (4, _) => {
                    while let Some(place) = open.iter().position(|life| life.2.0 == *process) {
                        end(&mut open, &paths, place, time);
                    }
                    paths.retain(|(of, _), _| of != process);
                }
                _ => {}
            }
        }
        open.iter_mut().for_each(|life| life.5 = true);
        while !open.is_empty() {
            end(&mut open, &paths, 0, 1_000);
        }
        rows
    }

    proptest! {
        #[test]
        fn lives_are_those_of_a_plain_list(events in events()) {
            let mut assemblies = Assemblies::default();
            let mut rows: Vec<AssemblyRow> = Vec::new();
            for (time, (what, process, assembly, domain)) in events.iter().enumerate() {
                let (time, key) = (time as i64, (ProcessId(*process), *assembly, *domain));
                let row = |start, there| AssemblyRow {
                    start,
                    process: Some(key.0),
                    flags: key.1 as i64,
                    domain: key.2 as i64,
                    there: Some(there),
                    ..AssemblyRow::default()
                };
                match what {
                    0 => rows.extend(assemblies.loaded(key, row(time, false))),
                    1 => rows.extend(assemblies.there(key, time, || row(-1, true))),
                    2 => rows.push(assemblies.unloaded(key, time, || row(-1, true))),
                    3 => assemblies.path(key.0, key.1, true, || format!("path {time}")),
                    _ => rows.extend(assemblies.process_ended(key.0, time)),
                }
            }
            rows.extend(assemblies.finish(1_000));
            let key = |row: &AssemblyRow| (row.process.unwrap_or_default(), row.flags as u64, row.domain as u64);
            let found: Vec<Plain> = rows.iter().map(|row| plain(key(row), row)).collect();
            prop_assert_eq!(found, naive(&events));
        }
    }

    #[test]
    fn the_number_of_assemblies_is_bounded() {
        let mut assemblies = Assemblies::with_most(10);
        let rows = (0..100).flat_map(|at| assemblies.loaded((ProcessId(1), at, 0), AssemblyRow::default())).count();
        assert_eq!((rows, assemblies.finish(7).count()), (90, 10));
    }
}
