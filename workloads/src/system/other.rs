//! Elsewhere: what the standard library has. The programs run there and tell less.

use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use memmap2::MmapMut;

use super::Priority;

pub(super) const CLOCK: &str = "time since the start";

pub(super) fn time_ns() -> i64 {
    static START: OnceLock<Instant> = OnceLock::new();
    i64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(i64::MAX)
}

/// Nobody says; as if the thread had run all the time, so that no loop is endless.
pub(super) fn thread_cpu_ns() -> i64 {
    time_ns()
}

pub(super) fn process_cpu_ns() -> i64 {
    time_ns()
}

pub(super) fn stolen_ns() -> Option<i64> {
    None
}

pub(super) fn run_delay_ns() -> Option<i64> {
    None
}

pub(super) fn switches() -> Option<[i64; 2]> {
    None
}

pub(super) fn thread_id() -> i64 {
    0
}

pub(super) fn page_faults() -> Option<i64> {
    None
}

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn set_priority(_priority: Priority) -> io::Result<()> {
    unsupported()
}

pub(super) fn raise_descriptor_limit(_count: u64) -> io::Result<()> {
    unsupported()
}

pub(super) fn drop_from_cache(_path: &Path) -> io::Result<()> {
    unsupported()
}

pub(super) fn trim(_memory: &mut MmapMut) -> io::Result<()> {
    unsupported()
}

pub(super) fn mark(_text: &str) -> bool {
    false
}
