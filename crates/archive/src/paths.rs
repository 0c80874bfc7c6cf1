//! Paths beside an archive.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, WithPath as _};

/// Follows a symbolic link, so that the sibling directory lies on the archive's own file system. Other paths stay as
/// the user gave them.
pub(crate) fn resolve(target: &Path) -> Result<PathBuf, Error> {
    if target.file_name().is_none() {
        return Err(Error::InvalidTarget { target: target.to_owned() });
    }
    if target.is_symlink() { fs::canonicalize(target).writing(target) } else { Ok(target.to_owned()) }
}

/// The hidden path `.<name>.<suffix>` beside `target`.
pub(crate) fn sibling(target: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".");
    name.push(suffix);
    target.with_file_name(name)
}

/// Whether there is anything, a broken link included.
pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
