//! Lists directories.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use crate::input::error::{InputError, Note};
use crate::input::facts::open_regular;
use crate::input::file_kind::{self, Format};
use tracesift_grammar::pattern::fold;

/// A file, or an extract, that may become a target.
#[derive(Clone, Debug)]
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    /// Whether the user named it, and did not only name a place or pattern where it is.
    pub(super) named: bool,
    /// Whether it is a directory `X.sift`.
    pub(super) is_extract: bool,
    /// Bytes; 0 for an extract.
    pub(super) size: u64,
}

impl FoundFile {
    /// Looks at one path. `None`: neither a regular file nor an extract.
    pub(super) fn look(path: PathBuf, named: bool) -> std::io::Result<Option<FoundFile>> {
        let metadata = std::fs::metadata(&path)?;
        let is_extract = metadata.is_dir() && file_kind::is_extract_name(&file_name(&path));
        let usable = is_extract || metadata.is_file();
        let size = if is_extract { 0 } else { metadata.len() };
        Ok(usable.then_some(FoundFile { path, named, is_extract, size }))
    }
}

/// All recordings and extracts in a directory, `depth` levels deep; what cannot be read is noted.
///
/// # Errors
/// [`InputError::Unreadable`] or [`InputError::NotFound`] when the directory itself cannot be listed.
pub(super) fn list(directory: &Path, depth: usize, notes: &mut Vec<Note>) -> Result<Vec<FoundFile>, InputError> {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    // Links are followed since recordings are often linked into place; the walker recognises loops. Sorted by the walker, the many
    // files of a directory would be taken apart at each comparison of two.
    let mut walk = WalkDir::new(directory).follow_links(true).min_depth(0).max_depth(depth).into_iter();
    while let Some(entry) = walk.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if error.depth() == 0 => return Err(unlistable(directory, error)),
            Err(error) => {
                let path = error.path().unwrap_or(directory).to_owned();
                let reason = match error.io_error() {
                    Some(error) => error.to_string(),
                    None => "a link leads back to a directory above".to_owned(),
                };
                unreadable.push((simplified(&path), reason));
                continue;
            }
        };
        let name = entry.file_name().to_string_lossy();
        let is_directory = entry.file_type().is_dir();
        if entry.depth() == 0 {
            if !is_directory {
                return Err(InputError::NotAFile { path: directory.to_owned() });
            }
            continue;
        }
        let is_extract = is_directory && file_kind::is_extract_name(&name);
        if is_extract {
            // Its tables are no inputs.
            walk.skip_current_dir();
        } else if is_directory || !is_recording(&name, entry.path()) {
            continue;
        }
        match FoundFile::look(simplified(entry.path()), false) {
            Ok(more) => found.extend(more),
            Err(error) => unreadable.push((simplified(entry.path()), error.to_string())),
        }
    }
    found.sort_by(|a: &FoundFile, b| a.path.cmp(&b.path));
    unreadable.sort();
    notes.extend(unreadable.into_iter().map(|(path, reason)| Note::Unreadable { path, reason }));
    Ok(found)
}

/// Whether a file is a recording by its name, or by its first bytes where the name alone does not tell.
fn is_recording(name: &str, path: &Path) -> bool {
    let begins_like_one = || {
        let mut head = Vec::with_capacity(Format::HEAD);
        // A device or pipe of such a name is not even opened.
        let read = open_regular(path).map(|(file, _)| file.take(Format::HEAD as u64).read_to_end(&mut head));
        matches!(read, Ok(Ok(_))) && Format::by_content(&head) == Format::Perf
    };
    file_kind::is_recording_name(name) || file_kind::may_be_recording_name(name) && begins_like_one()
}

fn unlistable(directory: &Path, error: walkdir::Error) -> InputError {
    let path = directory.to_owned();
    let reason = error.into_io_error().unwrap_or_else(|| std::io::Error::other("it links to itself"));
    match reason.kind() {
        std::io::ErrorKind::NotFound => InputError::NotFound { path },
        _ => InputError::Unreadable { path, reason },
    }
}

/// A path without `.` components, as a user would write it.
pub(super) fn simplified(path: &Path) -> PathBuf {
    let short: PathBuf = path.components().filter(|component| *component != Component::CurDir).collect();
    if short.as_os_str().is_empty() { PathBuf::from(".") } else { short }
}

/// A path as text with `/` between its components.
pub(super) fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The directory of a file, `.` for a bare name.
pub(super) fn directory_of(path: &Path) -> PathBuf {
    simplified(path.parent().unwrap_or(Path::new("")))
}

/// A name as it compares, without case.
pub(super) fn folded(name: &str) -> String {
    name.chars().map(fold).collect()
}

/// Order of paths: component by component, without case; equal ones by their exact spelling.
pub(super) fn sort_key(path: &Path) -> (Vec<String>, PathBuf) {
    (path.components().map(|component| folded(&component.as_os_str().to_string_lossy())).collect(), path.to_owned())
}
