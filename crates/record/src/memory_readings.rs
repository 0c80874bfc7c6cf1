//! Memory of the machine while something is recorded: perf sees none of it.

use std::fs;

use crate::facts::MemoryReading;
use crate::load;

/// The memory at a time, ns of the recorder's clock.
pub(crate) fn read(seen_ns: i64) -> Option<MemoryReading> {
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    let page = rustix::param::page_size() as u64;
    let reading = parse(&text("/proc/meminfo"), &text("/proc/vmstat"), page)?;
    Some(MemoryReading { seen_ns, ..reading })
}

/// The figures of both files. `None`: they say nothing of memory.
fn parse(meminfo: &str, vmstat: &str, page: u64) -> Option<MemoryReading> {
    let bytes = |key: &str| load::meminfo(meminfo, key);
    let pages = |key: &str| {
        let line = vmstat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
        line.trim().parse::<u64>().ok()?.checked_mul(page)
    };
    let sum = |keys: [&str; 2], of: &dyn Fn(&str) -> Option<u64>| of(keys[0])?.checked_add(of(keys[1])?);
    Some(MemoryReading {
        seen_ns: 0,
        total: bytes("MemTotal")?,
        free: bytes("MemFree")?,
        available: bytes("MemAvailable"),
        cached: sum(["Cached", "Buffers"], &bytes),
        dirty: bytes("Dirty"),
        writeback: bytes("Writeback"),
        swap_used: bytes("SwapTotal").zip(bytes("SwapFree")).and_then(|(all, free)| all.checked_sub(free)),
        slab: bytes("Slab"),
        commit_limit: bytes("CommitLimit"),
        committed: bytes("Committed_AS"),
        swapped_in: pages("pswpin"),
        swapped_out: pages("pswpout"),
        scanned: sum(["pgscan_kswapd", "pgscan_direct"], &pages),
        reclaimed: sum(["pgsteal_kswapd", "pgsteal_direct"], &pages),
        active_file: bytes("Active(file)"),
        inactive_file: bytes("Inactive(file)"),
        active_anon: bytes("Active(anon)"),
        inactive_anon: bytes("Inactive(anon)"),
        // Kernels before 5.9 count only pages of files, under the old name.
        refaulted: sum(["workingset_refault_file", "workingset_refault_anon"], &pages)
            .or_else(|| pages("workingset_refault")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_bytes() {
        let meminfo = "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    500 kB\nBuffers:          10 kB\n\
                       Cached:          300 kB\nSwapCached:        7 kB\nDirty:             4 kB\nWriteback:         2 kB\n\
                       WritebackTmp:      9 kB\nSwapTotal:       200 kB\nSwapFree:        150 kB\nSlab:             20 kB\n\
                       CommitLimit:    2000 kB\nCommitted_AS:    900 kB\n\
                       Active:          111 kB\nInactive:        222 kB\nActive(anon):     11 kB\nInactive(anon):   12 kB\n\
                       Active(file):     13 kB\nInactive(file):   14 kB\n";
        let vmstat = "pgscan_kswapd 3\npgscan_direct 1\npgscan_direct_throttle 99\npgsteal_kswapd 2\npgsteal_direct 1\npswpin 5\npswpout 6\nworkingset_refault_anon 7\nworkingset_refault_file 8\n";
        let reading = parse(meminfo, vmstat, 4096);
        let expected = MemoryReading {
            seen_ns: 0,
            total: 1000 << 10,
            free: 100 << 10,
            available: Some(500 << 10),
            cached: Some(310 << 10),
            dirty: Some(4 << 10),
            writeback: Some(2 << 10),
            swap_used: Some(50 << 10),
            slab: Some(20 << 10),
            commit_limit: Some(2000 << 10),
            committed: Some(900 << 10),
            swapped_in: Some(5 * 4096),
            swapped_out: Some(6 * 4096),
            scanned: Some(4 * 4096),
            reclaimed: Some(3 * 4096),
            active_file: Some(13 << 10),
            inactive_file: Some(14 << 10),
            active_anon: Some(11 << 10),
            inactive_anon: Some(12 << 10),
            refaulted: Some(15 * 4096),
        };
        assert_eq!(reading, Some(expected));
        let of_old = parse("MemTotal: 9 kB\nMemFree: 1 kB", "workingset_refault 7\n", 4096);
        assert_eq!(of_old.and_then(|reading| reading.refaulted), Some(7 * 4096));
        assert_eq!(parse("", vmstat, 4096), None);
        assert_eq!(parse("MemTotal: x kB\nMemFree: 1 kB", "", 4096), None);
    }
}
