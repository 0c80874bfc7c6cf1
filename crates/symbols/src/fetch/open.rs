//! Opens a regular file below a directory of the user's, and nothing else.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::search::Below;

/// Symbolic links that are followed, as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Names in a directory that are looked through for one in other letters, and in all of them together.
const MAX_LISTED: usize = 100_000;
const MAX_KEPT: usize = 1_000_000;

/// Directories of a Linux machine whose files are no files: reading may wait, or do something.
const NOT_FILES: [&str; 3] = ["dev", "proc", "sys"];

/// Opens the regular file, as if `root` were the root of the file system: symbolic links are followed as they would be there, and `..` in
/// them does not lead out. A name that is not there in these letters may be there in others: recordings of Windows do not care.
pub(crate) fn open_below(root: &Path, below: &Below, listings: &Listings) -> io::Result<File> {
    let place = resolve(root, below, listings)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        // Should it have been replaced just now: no link is followed, and a pipe does not make us wait.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(&place)?;
    if !file.metadata()?.is_file() {
        return Err(refused("it is no regular file"));
    }
    Ok(file)
}

pub(crate) fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Where the file is, with no link left in the path below `root`.
fn resolve(root: &Path, below: &Below, listings: &Listings) -> io::Result<PathBuf> {
    // What is still to be walked, last part first, and the way so far.
    let mut pending: Vec<OsString> = below.parts().iter().rev().map(|part| part.as_str().into()).collect();
    let mut place: Vec<OsString> = Vec::new();
    let mut links = 0;
    while let Some(part) = pending.pop() {
        if part == ".." {
            place.pop();
            continue;
        }
        if place.is_empty() && NOT_FILES.iter().any(|name| part == *name) {
            return Err(refused("it is no regular file"));
        }
        let directory = place.iter().fold(root.to_owned(), |path, part| path.join(part));
        let (part, kind) = find(&directory, part, listings)?;
        if kind.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(refused("too many symbolic links"));
            }
            follow(&fs::read_link(directory.join(&part))?, &mut pending, &mut place)?;
            continue;
        }
        if pending.is_empty() && !kind.is_file() || !pending.is_empty() && !kind.is_dir() {
            return Err(refused("it is no regular file"));
        }
        place.push(part);
    }
    if place.is_empty() {
        return Err(refused("it is no regular file"));
    }
    Ok(place.iter().fold(root.to_owned(), |path, part| path.join(part)))
}

/// An entry of a directory, in these or other letters, and what it is.
fn find(directory: &Path, name: OsString, listings: &Listings) -> io::Result<(OsString, fs::FileType)> {
    let missing = match fs::symlink_metadata(directory.join(&name)) {
        Ok(facts) => return Ok((name, facts.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => error,
        Err(error) => return Err(error),
    };
    let Some(text) = name.to_str().filter(|_| !cfg!(windows)) else { return Err(missing) };
    let Some(other) = listings.of(directory)?.get(&text.to_ascii_lowercase()).cloned() else { return Err(missing) };
    let kind = fs::symlink_metadata(directory.join(&other))?.file_type();
    Ok((other, kind))
}

/// The names in directories, by what they are in small letters. A directory is listed once in a run: most look-ups in a store are in vain,
/// and what the run itself adds to one has the letters that are looked for.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    known: Mutex<HashMap<PathBuf, Arc<Listing>>>,
}

type Listing = HashMap<String, OsString>;

impl Listings {
    fn of(&self, directory: &Path) -> io::Result<Arc<Listing>> {
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(directory) {
            return Ok(Arc::clone(known));
        }
        let mut listing = Listing::new();
        for entry in fs::read_dir(directory)?.take(MAX_LISTED) {
            let name = entry?.file_name();
            if let Some(text) = name.to_str() {
                listing.insert(text.to_ascii_lowercase(), name);
            }
        }
        let listing = Arc::new(listing);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.values().map(|listing| listing.len() + 1).sum::<usize>() > MAX_KEPT {
            known.clear();
        }
        known.insert(directory.to_owned(), Arc::clone(&listing));
        Ok(listing)
    }
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

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use tempfile::TempDir;

    use super::{Below, Listings, open_below};

    fn text(root: &Path, path: &str) -> Result<String, String> {
        let mut text = String::new();
        let below = Below::of_recorded(path).expect("a path that leads down");
        open_below(root, &below, &Listings::default())
            .and_then(|mut file| file.read_to_string(&mut text))
            .map_err(|error| error.to_string())?;
        Ok(text)
    }

    #[test]
    fn links_stay_below_and_letters_may_differ() {
        let directory = TempDir::new().expect("a directory");
        let root = directory.path().join("root");
        fs::create_dir_all(root.join("Windows/System32")).expect("directories");
        fs::create_dir_all(root.join("dev")).expect("a directory");
        fs::write(root.join("Windows/System32/ntdll.dll"), "inside").expect("a file");
        fs::write(root.join("dev/file"), "device").expect("a file");
        fs::write(directory.path().join("secret"), "outside").expect("a file");
        symlink("/Windows/System32", root.join("absolute")).expect("a link");
        symlink("../../absolute/ntdll.dll", root.join("Windows/up")).expect("a link");
        for path in [r"C:\WINDOWS\system32\NTDLL.dll", "/absolute/ntdll.dll", "/windows/UP"] {
            assert_eq!(text(&root, path).as_deref(), Ok("inside"), "{path}");
        }
        symlink(directory.path().join("secret"), root.join("out")).expect("a link");
        symlink("../secret", root.join("out2")).expect("a link");
        symlink("circle", root.join("circle")).expect("a link");
        for path in ["/out", "/out2", "/circle", "/Windows", "/Windows/System32/ntdll.dll/x", "/dev/file", "/none"] {
            assert!(text(&root, path).is_err(), "{path}");
        }
        let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(text(&root, "/pipe").is_err(), "a pipe is not waited for");
        }
    }
}
