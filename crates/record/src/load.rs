//! The load of the machine.

/// CPU time of all CPUs since the machine was started, in any unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CpuTime {
    busy: u64,
    all: u64,
}

impl CpuTime {
    /// Per cent of the time since then in which CPUs were busy.
    pub(crate) fn busy_since(&self, before: &Self) -> Option<u8> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)?;
        let busy = self.busy.saturating_sub(before.busy);
        u8::try_from(busy.saturating_mul(100) / all).ok()
    }
}

/// Memory of the machine, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) total: u64,
    /// Not counting what the system gives away when somebody asks for it.
    pub(crate) used: u64,
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{cpu_time, meminfo, memory};
#[cfg(not(any(target_os = "linux", windows)))]
pub(crate) use unknown::{cpu_time, memory};
#[cfg(windows)]
pub(crate) use windows::{cpu_time, memory};

#[cfg(target_os = "linux")]
mod linux {
    use super::{CpuTime, Memory};

    pub(crate) fn cpu_time() -> Option<CpuTime> {
        super::parse_stat(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    pub(crate) fn memory() -> Option<Memory> {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let total = meminfo(&text, "MemTotal")?;
        Some(Memory { total, used: total.saturating_sub(meminfo(&text, "MemAvailable")?) })
    }

    /// A figure of `/proc/meminfo`, in bytes.
    pub(crate) fn meminfo(text: &str, key: &str) -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    }
}

/// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in user, too.
#[cfg(any(target_os = "linux", test))]
fn parse_stat(text: &str) -> Option<CpuTime> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let times: Vec<u64> = line.split_whitespace().take(8).map(|word| word.parse().unwrap_or(0)).collect();
    let all: u64 = times.iter().sum();
    let idle = times.get(3)? + times.get(4)?;
    Some(CpuTime { busy: all.saturating_sub(idle), all })
}

#[cfg(windows)]
mod windows {
    use std::sync::{LazyLock, Mutex, PoisonError};

    use sysinfo::System;

    use super::{CpuTime, Memory};

    /// It measures from one look to the next.
    static SYSTEM: LazyLock<Mutex<(System, CpuTime)>> =
        LazyLock::new(|| Mutex::new((System::new(), CpuTime { busy: 0, all: 0 })));

    pub(crate) fn cpu_time() -> Option<CpuTime> {
        let mut system = SYSTEM.lock().unwrap_or_else(PoisonError::into_inner);
        system.0.refresh_cpu_usage();
        // Shares of stretches of about the same length, added up.
        let busy = system.0.global_cpu_usage().clamp(0.0, 100.0) as u64;
        system.1 = CpuTime { busy: system.1.busy + busy, all: system.1.all + 100 };
        Some(system.1)
    }

    pub(crate) fn memory() -> Option<Memory> {
        let mut system = SYSTEM.lock().unwrap_or_else(PoisonError::into_inner);
        system.0.refresh_memory();
        Some(Memory { total: system.0.total_memory(), used: system.0.used_memory() })
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
mod unknown {
    use super::{CpuTime, Memory};

    pub(crate) fn cpu_time() -> Option<CpuTime> {
        None
    }

    pub(crate) fn memory() -> Option<Memory> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_disks_is_no_work() {
        let [before, after] = ["cpu  100 0 50 800 50 0 0 0 9 9\n", "cpu  150 0 75 850 75 0 0 0 9 9\ncpu0 1"]
            .map(|text| parse_stat(text).unwrap());
        assert_eq!(after.busy_since(&before), Some(50));
        assert_eq!(before.busy_since(&before), None);
        assert_eq!(parse_stat("intr 1"), None);
    }
}
