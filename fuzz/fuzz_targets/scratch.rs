//! A directory for the files of a fuzz target.

use std::path::PathBuf;
use std::sync::OnceLock;

/// The directory, one per process. Nothing in it outlives the input that it was written for, the directory itself stays.
pub(crate) fn folder() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let folder = std::env::temp_dir().join(format!("tracesift-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a directory for temporary files");
        folder
    };
    FOLDER.get_or_init(make).clone()
}
