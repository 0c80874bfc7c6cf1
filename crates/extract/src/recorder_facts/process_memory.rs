//! Memory of processes, as the recorder read it.

use serde_json::Value;

/// Readings that are kept at most.
const MOST: usize = 1 << 18;

/// A reading of the memory of a process, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMemory {
    /// Ticks of the recording's clock.
    pub(crate) ticks: i64,
    pub(crate) pid: u32,
    pub(crate) virtual_size: i64,
    /// Pages of files, anonymous memory, swap and shared memory, in the order of `kmem:rss_stat`.
    pub(crate) parts: [i64; 4],
}

impl ProcessMemory {
    /// The readings of a document in the order of time.
    pub(super) fn all(list: &Value) -> Vec<Self> {
        let items = list.as_array().into_iter().flatten();
        let mut all: Vec<Self> = items.filter_map(Self::of).take(MOST).collect();
        all.sort_by_key(|reading| reading.ticks);
        all
    }

    fn of(reading: &Value) -> Option<Self> {
        let bytes = |key: &str| reading[key].as_i64().filter(|bytes| *bytes >= 0);
        Some(Self {
            ticks: reading["seen_ns"].as_i64()?,
            pid: reading["pid"].as_u64()?.try_into().ok()?,
            virtual_size: bytes("virtual_size")?,
            parts: [bytes("rss_file")?, bytes("rss_anon")?, bytes("swap")?, bytes("rss_shmem")?],
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn readings_are_whole_and_in_order() {
        let reading = |time: i64, file: i64| json!({"pid": 7, "seen_ns": time, "virtual_size": 9, "rss_file": file, "rss_anon": 2, "rss_shmem": 3, "swap": 4});
        let mut lacks = reading(3, 1);
        lacks["swap"] = json!(null);
        let list = json!([reading(20, 5), lacks, reading(4, -1), reading(10, 1), 7]);
        let read: Vec<_> = ProcessMemory::all(&list).iter().map(|reading| (reading.ticks, reading.parts)).collect();
        assert_eq!(read, [(10, [1, 2, 4, 3]), (20, [5, 2, 4, 3])]);
        assert_eq!(ProcessMemory::all(&json!(null)), []);
    }
}
