//! Asks for memory before it is read.

/// Tells the CPU that the first of these bytes are read soon. Does nothing where the CPU has no such instruction that Rust offers.
#[inline]
pub(crate) fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        #[expect(unsafe_code, reason = "the instruction takes a pointer")]
        // SAFETY: it reads nothing that the program sees, and fails for no address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
