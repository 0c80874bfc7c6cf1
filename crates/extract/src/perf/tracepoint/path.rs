//! Fields of the probes that `tracesift record` sets where files are opened.

use super::fields::{Fields, Number, Text};

/// What the names of the groups of these probes begin with.
pub(crate) const GROUP: &str = "tracesift_open_";
/// The directory of the process (`AT_FDCWD`).
const CURRENT: i64 = -100;

/// A file that is to be opened.
#[derive(Clone, Debug)]
pub(crate) struct PathFields {
    directory: Option<Number>,
    /// Where the path is in the memory of the program: the call that opens it says the same.
    address: Number,
    path: Text,
}

impl PathFields {
    /// Whether [`of`](Self::of) may know a tracepoint.
    pub(super) fn is_read_from(name: &str) -> bool {
        name.starts_with(GROUP)
    }

    pub(super) fn of(fields: &Fields<'_>) -> Option<Self> {
        let (address, path) = (fields.number("filename")?, fields.text("name")?);
        Some(Self { directory: fields.number("dfd"), address, path })
    }

    /// The descriptor of the directory that a relative path begins at; `None` for the directory of the process.
    pub(crate) fn directory(&self, raw: &[u8]) -> Option<i32> {
        let number = self.directory.as_ref()?.get(raw)?;
        i32::try_from(number).ok().filter(|_| number != CURRENT)
    }

    /// Address of the path.
    pub(crate) fn address(&self, raw: &[u8]) -> Option<u64> {
        self.address.get(raw).map(i64::cast_unsigned)
    }

    /// The path, written over `text`; false where the kernel could not read it.
    pub(crate) fn path(&self, raw: &[u8], text: &mut String) -> bool {
        text.clear();
        let Some(bytes) = self.path.get(raw) else { return false };
        text.push_str(&String::from_utf8_lossy(bytes));
        !text.is_empty() && text != "(fault)"
    }
}
