//! Memory of processes while something is recorded: events tell of changes, and not of what there was before.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Now};

use crate::facts::{Instant, ProcessMemory};

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// Readings that are kept. Of more those go that differ least from the one before.
const MOST: usize = 1 << 15;
/// A change that makes a reading at first, bytes.
const STEP: u64 = 64 << 10;

/// What was read until now.
#[derive(Debug)]
pub(crate) struct ProcessMemories {
    root: PathBuf,
    processes: HashMap<u32, Known>,
    readings: Vec<ProcessMemory>,
    step: u64,
    latest: Now,
    look: u64,
}

#[derive(Debug, Default)]
struct Known {
    /// The look that saw it last.
    look: u64,
    /// Its `statm`: what has not changed needs no closer look.
    sizes: String,
    /// Its latest reading.
    written: Option<ProcessMemory>,
}

impl ProcessMemories {
    /// Looks at all processes; the recorder is at work.
    pub(crate) fn begin() -> Self {
        Self::below(Path::new("/proc"))
    }

    fn below(root: &Path) -> Self {
        let mut own = Self {
            root: root.to_owned(),
            processes: HashMap::new(),
            readings: Vec::new(),
            step: STEP,
            latest: Now::now(),
            look: 0,
        };
        own.look();
        own
    }

    /// Looks if it is time to. To be called some twenty times per second.
    pub(crate) fn tick(&mut self) {
        if self.latest.elapsed() >= EVERY {
            self.latest = Now::now();
            self.look();
        }
    }

    /// All readings in the order of time, the last ones of now.
    pub(crate) fn finish(mut self) -> Vec<ProcessMemory> {
        self.look();
        self.readings
    }

    fn look(&mut self) {
        self.look += 1;
        let names = fs::read_dir(&self.root).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let mut pids: Vec<u32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
        pids.sort_unstable();
        for pid in pids {
            self.process(pid);
        }
        self.processes.retain(|_, known| known.look == self.look);
        while self.readings.len() > MOST {
            self.step *= 2;
            thin(&mut self.readings, self.step);
        }
    }

    fn process(&mut self, pid: u32) {
        let directory = self.root.join(pid.to_string());
        let Ok(sizes) = fs::read_to_string(directory.join("statm")) else { return };
        let known = self.processes.entry(pid).or_default();
        known.look = self.look;
        if known.sizes == sizes {
            return;
        }
        known.sizes = sizes;
        let Some(seen_ns) = Instant::now().clock_ns else { return };
        let status = fs::read_to_string(directory.join("status")).unwrap_or_default();
        // Threads of the kernel have no memory.
        let Some(reading) = parse(&status, pid, seen_ns) else { return };
        if known.written.as_ref().is_none_or(|written| differs(written, &reading, self.step)) {
            known.written = Some(reading.clone());
            self.readings.push(reading);
        }
    }
}

/// Whether a figure has changed by a step.
fn differs(before: &ProcessMemory, now: &ProcessMemory, step: u64) -> bool {
    let figures = |reading: &ProcessMemory| {
        [reading.virtual_size, reading.rss_file, reading.rss_anon, reading.rss_shmem, reading.swap]
    };
    figures(before).into_iter().zip(figures(now)).any(|(before, now)| before.abs_diff(now) >= step)
}

/// Leaves out what differs less than a step from the reading before.
fn thin(readings: &mut Vec<ProcessMemory>, step: u64) {
    let mut latest: HashMap<u32, ProcessMemory> = HashMap::new();
    readings.retain(|reading| {
        let is_kept = latest.get(&reading.pid).is_none_or(|before| differs(before, reading, step));
        if is_kept {
            latest.insert(reading.pid, reading.clone());
        }
        is_kept
    });
}

/// The figures of `/proc/PID/status`. `None`: it has no memory of its own.
fn parse(status: &str, pid: u32, seen_ns: i64) -> Option<ProcessMemory> {
    let bytes = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
    };
    Some(ProcessMemory {
        pid,
        seen_ns,
        virtual_size: bytes("VmSize")?,
        rss_file: bytes("RssFile")?,
        rss_anon: bytes("RssAnon")?,
        rss_shmem: bytes("RssShmem")?,
        swap: bytes("VmSwap").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tx\nVmPeak:\t    9 kB\nVmSize:\t  100 kB\nVmRSS:\t  42 kB\nRssAnon:\t  30 kB\nRssFile:\t  10 kB\n\
        RssShmem:\t  2 kB\nVmSwap:\t  5 kB\n";

    fn write(root: &Path, pid: &str, statm: &str, status: &str) {
        let directory = root.join(pid);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("statm"), statm).unwrap();
        fs::write(directory.join("status"), status).unwrap();
    }

    #[test]
    fn figures_are_bytes() {
        let reading = parse(STATUS, 7, 3).unwrap();
        let expected = ProcessMemory {
            pid: 7,
            seen_ns: 3,
            virtual_size: 100 << 10,
            rss_file: 10 << 10,
            rss_anon: 30 << 10,
            rss_shmem: 2 << 10,
            swap: 5 << 10,
        };
        assert_eq!(reading, expected);
        assert_eq!(parse("Name:\tkthreadd\n", 2, 3), None);
    }

    #[test]
    fn a_process_has_a_reading_where_its_memory_has_changed() {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path();
        write(root, "7", "1", STATUS);
        write(root, "8", "1", "Name:\tkthreadd\n");
        write(root, "9", "1", STATUS);
        let mut memories = ProcessMemories::below(root);
        memories.look();
        // Less than a step, and more.
        write(root, "7", "2", &STATUS.replace("RssAnon:\t  30", "RssAnon:\t  60"));
        memories.look();
        write(root, "7", "3", &STATUS.replace("RssAnon:\t  30", "RssAnon:\t  120"));
        memories.look();
        fs::remove_dir_all(root.join("9")).unwrap();
        let read: Vec<_> = memories.finish().iter().map(|reading| (reading.pid, reading.rss_anon >> 10)).collect();
        assert_eq!(read, [(7, 30), (9, 30), (7, 120)]);
    }

    #[test]
    fn small_changes_go_first() {
        let reading = |pid: u32, anon: u64| ProcessMemory { pid, rss_anon: anon, ..ProcessMemory::default() };
        let mut readings =
            vec![reading(1, 0), reading(2, 5), reading(1, 7), reading(1, 12), reading(2, 40), reading(1, 13)];
        thin(&mut readings, 10);
        assert_eq!(readings, [reading(1, 0), reading(2, 5), reading(1, 12), reading(2, 40)]);
    }
}
