//! Description of an input file, by which an unchanged one is recognised.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use tracesift_archive::head_hash;
use tracesift_trace::info::SourceFile;

use super::error::InputError;

/// Size, modification time and head hash of the file at `path`; `member` is kept as it is.
///
/// For a packed recording these are the facts of the archive file, so that it need not be unpacked to see that it is
/// unchanged.
///
/// # Errors
/// [`InputError::NotFound`], [`InputError::NotAFile`] or [`InputError::Unreadable`].
pub fn source_file(path: &Path, member: Option<&str>) -> Result<SourceFile, InputError> {
    let (file, size) = open_regular(path)?;
    let unreadable = |reason| InputError::Unreadable { path: path.to_owned(), reason };
    let modified = file.metadata().and_then(|metadata| metadata.modified()).map_err(unreadable)?;
    let modified = match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs() as i64,
        // Rounded down as in the other direction, so that the second is the one that the clock showed.
        Err(before) => -(before.duration().as_secs_f64().ceil() as i64),
    };
    Ok(SourceFile {
        path: path.to_string_lossy().into_owned(),
        member: member.map(str::to_owned),
        size,
        modified,
        head_hash: head_hash(&file).map_err(unreadable)?,
    })
}

/// Opens a regular file and tells its size. A pipe or device is not even opened, since that may block for ever.
pub(crate) fn open_regular(path: &Path) -> Result<(File, u64), InputError> {
    let failed = |reason: io::Error| match reason.kind() {
        io::ErrorKind::NotFound => InputError::NotFound { path: path.to_owned() },
        _ => InputError::Unreadable { path: path.to_owned(), reason },
    };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(InputError::NotAFile { path: path.to_owned() });
    }
    Ok((File::open(path).map_err(failed)?, metadata.len()))
}
