//! The size of pointers in what is written.

/// Bytes of a pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PointerSize {
    /// 4 bytes: a 32-bit system, or a record of a 32-bit process.
    Four,
    /// 8 bytes.
    #[default]
    Eight,
}

impl PointerSize {
    /// Number of bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}
