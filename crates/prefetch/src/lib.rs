//! Asks for memory before it is read.
//!
//! Who reads places all over a large table waits for memory at each of them, unless the CPU knows the next places early enough.

/// Tells the CPU that the first of these values are read soon. Does nothing where the CPU has no such instruction that Rust offers.
#[inline]
pub fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        #[expect(unsafe_code, reason = "the instruction takes a pointer")]
        // SAFETY: it reads nothing that the program sees, and fails for no address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}
