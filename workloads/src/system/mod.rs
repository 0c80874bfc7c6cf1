//! What the standard library does not know: clocks of threads, priorities, page faults, marks.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(any(target_os = "linux", windows)))]
mod other;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as this;
#[cfg(not(any(target_os = "linux", windows)))]
use other as this;
#[cfg(windows)]
use windows as this;

use std::io;
use std::path::Path;

use memmap2::MmapMut;

/// How willingly a thread leaves its CPU to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// As every thread begins.
    Normal,
    /// Nice 3; `THREAD_PRIORITY_BELOW_NORMAL`.
    Low,
    /// Nice 6; `THREAD_PRIORITY_LOWEST`.
    Lower,
}

impl Priority {
    /// From the highest one down.
    pub const ALL: [Self; 3] = [Self::Normal, Self::Low, Self::Lower];

    /// For names and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Low => "low",
            Self::Lower => "lower",
        }
    }
}

/// What [`time_ns`] is called by the system.
pub(crate) const CLOCK: &str = this::CLOCK;

/// The clock of the report: it goes evenly and nobody sets it, ns.
pub fn time_ns() -> i64 {
    this::time_ns()
}

/// CPU time of this thread, ns. On Windows it grows in ticks of 15.6 ms.
pub fn thread_cpu_ns() -> i64 {
    this::thread_cpu_ns()
}

/// CPU time of all threads of this process, ns.
pub(crate) fn process_cpu_ns() -> i64 {
    this::process_cpu_ns()
}

/// What a hypervisor took from all CPUs, in steps of 10 ms: time in which a thread had a CPU and did not run.
pub(crate) fn stolen_ns() -> Option<i64> {
    this::stolen_ns()
}

/// How long this thread could have run and had no CPU, ns.
pub(crate) fn run_delay_ns() -> Option<i64> {
    this::run_delay_ns()
}

/// How often this thread left the CPU because it waited, and because others wanted it.
pub(crate) fn switches() -> Option<[i64; 2]> {
    this::switches()
}

/// The system's id of this thread.
pub(crate) fn thread_id() -> i64 {
    this::thread_id()
}

/// Page faults of this process up to now.
pub fn page_faults() -> Option<i64> {
    this::page_faults()
}

/// Gives this thread another priority.
pub fn set_priority(priority: Priority) -> io::Result<()> {
    this::set_priority(priority)
}

/// Lets this process have so many open files, if it may.
pub fn raise_descriptor_limit(count: u64) -> io::Result<()> {
    this::raise_descriptor_limit(count)
}

/// Makes the system forget the content of a file that it holds in memory; a file that is on its way to the disk must be there.
pub fn drop_from_cache(path: &Path) -> io::Result<()> {
    this::drop_from_cache(path)
}

/// Gives the memory back to the system. It stays mapped: who touches it again gets page faults; on Linux it is zero then.
pub fn trim(memory: &mut MmapMut) -> io::Result<()> {
    this::trim(memory)
}

/// Writes a mark that recordings may have; whether that was possible.
pub(crate) fn mark(text: &str) -> bool {
    this::mark(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether or not this user may write marks.
    #[test]
    fn a_mark_fails_silently() {
        assert_eq!(mark("phase test begin"), mark("phase test end"));
    }

    #[test]
    fn trimmed_memory_faults_again() {
        const PAGES: i64 = 256;
        let mut memory = MmapMut::map_anon(PAGES as usize * 4096).unwrap();
        let touch = |memory: &mut MmapMut| memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        touch(&mut memory);
        trim(&mut memory).unwrap();
        let Some(before) = page_faults() else { return };
        touch(&mut memory);
        let after = page_faults().unwrap();
        // Pages larger than 4 KiB fault less often.
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            assert!(after - before >= PAGES / 2, "{before} {after}");
        }
    }

    #[test]
    fn a_file_out_of_the_cache_still_reads() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("x");
        std::fs::write(&path, [7; 10_000]).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().sync_all().unwrap();
        drop_from_cache(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), [7; 10_000]);
    }

    #[test]
    fn clocks_go_on() {
        let (time, cpu) = (time_ns(), process_cpu_ns());
        crate::spin!(std::time::Duration::from_millis(30));
        assert!(time_ns() - time >= 15_000_000 && process_cpu_ns() - cpu >= 15_000_000);
        assert!(thread_cpu_ns() <= process_cpu_ns());
    }
}
