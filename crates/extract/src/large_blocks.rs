//! Memory that is given back to the system.

/// Bytes from which on a block of memory is a map of its own.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 1 << 20;

/// Bytes that a thread's heap may keep at its end for what comes next.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SPARE: i32 = 16 << 20;

/// Lets large blocks of memory go back to the system as soon as they are free. A program calls it once, at its start.
///
/// The C library of Linux raises the size from which on it maps blocks whenever such a block was freed, up to 32 MiB. What
/// lies below comes from heaps, one per thread, and stays there: the peak then depends on how many files were read before,
/// and by which threads. Elsewhere nothing needs to be done.
///
/// A few MiB at the end of each heap stay, where the library would give back all but 128 KiB: who asks hundreds of archives takes the same
/// blocks again for each of them, and a fifth of the time went into pages that the system cleared anew.
pub fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "a setting of the C library")]
        // SAFETY: mallopt may be called at any time; it only changes where later blocks come from.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
            libc::mallopt(libc::M_TRIM_THRESHOLD, SPARE);
        }
    }
}

/// Gives memory back that became free in small blocks, of which heaps are full otherwise: what was collected of each process while the
/// recording was read the first time.
pub(crate) fn give_back_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "a function of the C library")]
        // SAFETY: malloc_trim may be called at any time; it only gives pages back that nobody uses.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}
