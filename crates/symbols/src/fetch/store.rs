//! Puts files that were right into stores, in the layout that other tools share.

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom};
use std::path::Path;

use tracesift_cache::files::{Temporary, create_directory};

use crate::rooted::refused;
use crate::search::Place;

/// Puts a file into a store by copying it under a temporary name; there it is seen whole or not at all.
pub(crate) fn copy(mut file: &File, place: &Place) -> io::Result<()> {
    let directory = prepare(place)?;
    let (mut copy, temporary) = Temporary::new(&directory)?;
    file.seek(SeekFrom::Start(0))?;
    io::copy(&mut file, &mut copy)?;
    drop(copy);
    temporary.rename(&place.below.at(&place.root))
}

/// Moves a file of our own into a store; copies it where that is another file system. `file` is the same file, open.
pub(crate) fn move_from(path: &Path, file: &File, place: &Place) -> io::Result<()> {
    prepare(place)?;
    match fs::rename(path, place.below.at(&place.root)) {
        Ok(()) => Ok(()),
        Err(_) => copy(file, place),
    }
}

/// The directory of a place in a store, made where it is missing. A link on the way is not followed: who else may write into the store must
/// not say where our files go.
fn prepare(place: &Place) -> io::Result<std::path::PathBuf> {
    if !place.root.is_dir() {
        create_directory(&place.root)?;
    }
    let mut directory = place.root.to_path_buf();
    let parts = place.below.parts();
    for part in &parts[..parts.len().saturating_sub(1)] {
        directory.push(part.as_str());
        match fs::create_dir(&directory) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        if !fs::symlink_metadata(&directory)?.is_dir() {
            return Err(refused("a link or file stands where a directory of the store would be"));
        }
    }
    Ok(directory)
}
