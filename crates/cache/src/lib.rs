//! Folders of files of one user that can be made again.
//!
//! * [`Folder`]: files under keys, with the time of their last use, by which the oldest go first
//! * [`files`]: files under temporary names until they are whole
//! * [`directory`]: where all of this is when the user says nothing

pub mod files;
mod folder;

use std::path::PathBuf;

pub use folder::{Entry, Folder, Pruned};

/// The platform's directory for caches, with a part of our own for what is kept there.
#[must_use]
pub fn directory(part: &str) -> Option<PathBuf> {
    let absolute = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = match cfg!(windows) {
        true => absolute("LOCALAPPDATA"),
        false => absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache"))),
    };
    Some(cache?.join("tracesift").join(part))
}
