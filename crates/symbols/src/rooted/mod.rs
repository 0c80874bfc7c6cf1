//! Opens regular files below a directory that the user named as the root of a file system, and nothing else.
//!
//! Paths come from recordings and from what lies below the directory: neither leads out of it.

mod listings;
#[cfg(all(test, unix))]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

pub use listings::Listings;

/// Symbolic links that are followed, as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Directories of a Linux machine whose files are no files: reading may wait, or do something.
const NOT_FILES: [&str; 3] = ["dev", "proc", "sys"];

/// Opens the regular file at the names `parts`, as if `root` were the root of the file system: symbolic links are followed as they would be
/// there, and `..` does not lead out. With `listings` a name that is not there in these letters may be there in others: recordings of Windows
/// do not care.
///
/// # Errors
/// [`io::Error`] as opening a file has them; of the kind [`io::ErrorKind::InvalidInput`] for what is never opened.
pub fn open_below<'a>(
    root: &Path,
    parts: impl IntoIterator<Item = &'a str>,
    listings: Option<&Listings>,
) -> io::Result<File> {
    open_regular(&resolve(root, parts.into_iter().map(OsString::from).collect(), listings)?)
}

/// Opens a regular file; should it have been replaced just now, no link is followed, and a pipe does not make us wait.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(refused("it is no regular file"));
    }
    Ok(file)
}

pub(crate) fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Where the file is, with no link left in the path below `root`.
fn resolve(root: &Path, mut pending: Vec<OsString>, listings: Option<&Listings>) -> io::Result<PathBuf> {
    // What is still to be walked, last part first, and the way so far.
    pending.reverse();
    let mut place: Vec<OsString> = Vec::new();
    let mut links = 0;
    while let Some(part) = pending.pop() {
        if leads_nowhere(&part) {
            continue;
        }
        if part == ".." {
            place.pop();
            continue;
        }
        if !is_plain(&part) {
            return Err(refused("its name means something else here"));
        }
        if place.is_empty() && NOT_FILES.iter().any(|name| part == *name) {
            return Err(refused("it is no regular file"));
        }
        let directory = joined(root, &place);
        let (part, kind) = find(&directory, part, listings)?;
        if kind.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(refused("too many symbolic links"));
            }
            follow(&fs::read_link(directory.join(&part))?, &mut pending, &mut place)?;
            continue;
        }
        let is_last = pending.iter().all(|part| leads_nowhere(part));
        if is_last && !kind.is_file() || !is_last && !kind.is_dir() {
            return Err(refused("it is no regular file"));
        }
        place.push(part);
    }
    if place.is_empty() {
        return Err(refused("it is no regular file"));
    }
    Ok(joined(root, &place))
}

fn joined(root: &Path, place: &[OsString]) -> PathBuf {
    place.iter().fold(root.to_owned(), |path, part| path.join(part))
}

fn leads_nowhere(part: &OsStr) -> bool {
    part.is_empty() || part == "."
}

/// An entry of a directory, in these or other letters, and what it is.
fn find(directory: &Path, name: OsString, listings: Option<&Listings>) -> io::Result<(OsString, fs::FileType)> {
    let missing = match fs::symlink_metadata(directory.join(&name)) {
        Ok(facts) => return Ok((name, facts.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => error,
        Err(error) => return Err(error),
    };
    let text = name.to_str().filter(|_| !cfg!(windows));
    let Some((listings, text)) = listings.zip(text) else { return Err(missing) };
    let Some(other) = listings.find(directory, text)? else { return Err(missing) };
    let kind = fs::symlink_metadata(directory.join(&other))?.file_type();
    Ok((other, kind))
}

/// Goes on at the target of a link, which below the root is where it would be there.
fn follow(target: &Path, pending: &mut Vec<OsString>, place: &mut Vec<OsString>) -> io::Result<()> {
    let mut parts = Vec::new();
    for component in target.components() {
        match component {
            Component::RootDir => place.clear(),
            Component::CurDir => {}
            Component::ParentDir => parts.push(OsString::from("..")),
            Component::Normal(part) => parts.push(part.to_owned()),
            Component::Prefix(_) => return Err(refused("a symbolic link leads out")),
        }
    }
    pending.extend(parts.into_iter().rev());
    Ok(())
}

/// Whether a part of a path is one name here too: Windows knows other separators, drives, streams and devices.
fn is_plain(part: &OsStr) -> bool {
    if !cfg!(windows) {
        return true;
    }
    let Some(text) = part.to_str() else { return false };
    let stem = text.split('.').next().unwrap_or(text).trim_end().to_ascii_uppercase();
    let numbered = |name: &str| stem.strip_prefix(name).is_some_and(|rest| rest.chars().count() == 1);
    let is_device = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&stem.as_str());
    !text.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) && !is_device && !numbered("COM") && !numbered("LPT")
}
