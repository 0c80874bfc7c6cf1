//! Build ids: the identity of a file's content, which links a mapping to its symbols.

use std::fmt;

use linux_perf_event_reader::CpuMode;
use linux_perf_event_reader::constants::PERF_RECORD_MISC_BUILD_ID_SIZE;

use crate::cursor::{Cursor, text};
use crate::error::Malformed;

/// A build id: 20 bytes from most linkers, less from some.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BuildId {
    length: u8,
    bytes: [u8; Self::MAX_LENGTH],
}

impl BuildId {
    /// Bytes of the longest build id.
    pub const MAX_LENGTH: usize = 20;

    /// The first `length` bytes.
    pub(crate) fn new(bytes: &[u8], length: usize) -> Self {
        let mut id = Self { length: length.min(bytes.len()).min(Self::MAX_LENGTH) as u8, bytes: [0; _] };
        for (into, from) in id.bytes.iter_mut().zip(bytes).take(id.length.into()) {
            *into = *from;
        }
        id
    }

    /// The bytes, as in the file's ELF note.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length.into()).unwrap_or_default()
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}

/// A file with its build id, as perf lists them when a recording ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildIdEntry {
    /// −1 for the host, else the process of a virtual machine.
    pub pid: i32,
    /// Kernel or user side.
    pub mode: CpuMode,
    /// The identity.
    pub id: BuildId,
    /// The file's path, or a name in brackets.
    pub name: String,
}

impl BuildIdEntry {
    /// The fields behind the header of a `perf_record_header_build_id`.
    pub(crate) fn parse(at: &mut Cursor<'_>, misc: u16) -> Result<Self, Malformed> {
        let pid = at.i32("process")?;
        let bytes = at.take(24, "build id")?;
        let length = match bytes.get(BuildId::MAX_LENGTH) {
            Some(&length) if misc & PERF_RECORD_MISC_BUILD_ID_SIZE != 0 => length.into(),
            _ => unpadded(bytes),
        };
        let id = BuildId::new(bytes, length);
        Ok(Self { pid, mode: CpuMode::from_misc(misc), id, name: text(at.c_str()) })
    }
}

/// Writers before Linux 5.12 did not store the length: what is shorter is padded with zeros. Build ids have whole words.
fn unpadded(bytes: &[u8]) -> usize {
    let words = bytes.get(..BuildId::MAX_LENGTH).unwrap_or_default().chunks(4);
    words.enumerate().rev().find(|(_, word)| word.iter().any(|&byte| byte != 0)).map_or(0, |(at, _)| 4 * at + 4)
}
