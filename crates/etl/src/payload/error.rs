//! Errors of the decoding of a payload.

/// Why a payload could not be decoded. The record is counted and skipped; the rest of the recording is not affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// The payload ends before a field.
    #[error(
        "payload ends before the {what}: {needed} bytes needed at offset {offset}, {available} left; \
         the record is cut or has another layout than its version says"
    )]
    Truncated {
        /// The field or structure.
        what: &'static str,
        /// Its offset in the payload.
        offset: usize,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that are left.
        available: usize,
    },
    /// The bytes at a place where a security identifier must stand are none.
    #[error(
        "no security identifier at offset {offset}: revision {revision} with {sub_authorities} sub-authorities \
         (expected revision 1 and at most 15); the record is damaged or has another layout than its version says"
    )]
    BadSid {
        /// Offset in the payload.
        offset: usize,
        /// The byte at the place of the revision.
        revision: u8,
        /// The byte at the place of the number of sub-authorities.
        sub_authorities: u8,
    },
    /// The event class changes its layout between versions and this one is not known.
    #[error("version {version} of the {what} event has no typed layout; decode it with the schema in the recording")]
    UnknownVersion {
        /// The event.
        what: &'static str,
        /// The version.
        version: u8,
    },
    /// The event class has no typed layout for this opcode.
    #[error("opcode {opcode} of the class {what} has no typed layout; keep the payload raw")]
    UnknownOpcode {
        /// The event class.
        what: &'static str,
        /// The opcode.
        opcode: u8,
    },
}

impl PayloadError {
    /// Out of line, so that the decoders of frequent records stay small.
    #[cold]
    #[inline(never)]
    pub(super) fn truncated(what: &'static str, offset: usize, needed: usize, available: usize) -> Self {
        Self::Truncated { what, offset, needed, available }
    }
}
