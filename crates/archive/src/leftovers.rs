//! What writers that died have left beside an archive.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, WithPath as _};
use crate::format::TRACE_FILE;
use crate::paths::{exists, sibling};
use crate::retry;

/// Whether a leftover is an archive that was moved aside.
pub(crate) fn is_old(leftover: &Path) -> bool {
    leftover.extension() == Some(OsStr::new("old"))
}

/// Cleans up beside `target`, whose lock the caller holds: so whatever lies there belongs to nobody alive.
pub(crate) fn clean(target: &Path) -> Result<(), Error> {
    for leftover in leftovers(target)? {
        if is_old(&leftover) && !exists(target) && exists(&leftover.join(TRACE_FILE)) {
            retry::rename(&leftover, target).writing(target)?;
        } else {
            fs::remove_dir_all(&leftover).writing(&leftover)?;
        }
    }
    Ok(())
}

/// Directories `.<name>.<pid>-<n>.tmp` and `.old` beside `target`, the old ones first.
pub(crate) fn leftovers(target: &Path) -> Result<Vec<PathBuf>, Error> {
    let parent = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let prefix = sibling(target, "");
    let Some(prefix) = prefix.file_name().map(OsStr::as_encoded_bytes) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in fs::read_dir(parent).reading(parent)? {
        let name = entry.reading(parent)?.file_name();
        if name.as_encoded_bytes().strip_prefix(prefix).is_some_and(is_temporary) {
            found.push(target.with_file_name(name));
        }
    }
    found.sort_by_key(|path| !is_old(path));
    Ok(found)
}

/// Whether the rest of a name is `<digits>-<digits>.tmp` or `.old`: nothing that a user would call a file.
pub(crate) fn is_temporary(rest: &[u8]) -> bool {
    let Some(numbers) = rest.strip_suffix(b".tmp").or_else(|| rest.strip_suffix(b".old")) else { return false };
    let mut parts = numbers.split(|byte| *byte == b'-');
    let mut number = || parts.next().is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    number() && number() && parts.next().is_none()
}
