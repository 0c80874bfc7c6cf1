//! The recorded part of a stack.

/// A copy of memory from the stack pointer upwards.
#[derive(Clone, Copy, Debug)]
pub struct Stack<'a> {
    start: u64,
    bytes: &'a [u8],
}

impl<'a> Stack<'a> {
    /// The bytes from address `start` on.
    #[must_use]
    pub fn new(start: u64, bytes: &'a [u8]) -> Self {
        Self { start, bytes }
    }

    /// The little-endian word at an address; `None` where it was not copied.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.start)?).ok()?;
        let word = self.bytes.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(word.try_into().ok()?))
    }
}
