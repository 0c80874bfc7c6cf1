//! Caches of files.

use std::io;

/// Empties the caches of files of the whole machine.
///
/// # Errors
///
/// Where that is not allowed, or not known how.
#[cfg(target_os = "linux")]
pub(super) fn empty() -> io::Result<()> {
    // What is not written yet cannot be dropped.
    rustix::fs::sync();
    std::fs::write("/proc/sys/vm/drop_caches", "3\n")
}

/// Empties the caches of files of the whole machine.
///
/// # Errors
///
/// Where that is not allowed, or not known how.
#[cfg(not(target_os = "linux"))]
pub(super) fn empty() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "not known how on this system: use `cache = \"as-is\"` and a command of set-up",
    ))
}
