//! Directories that are known without being told.

use std::path::{Path, PathBuf};

use crate::search::ShortNames;

/// Where tables and downloads are kept when the user says nothing: the platform's directory for caches.
#[must_use]
pub fn default_directory() -> Option<PathBuf> {
    tracesift_cache::directory("symbols")
}

/// The user's file of short names for servers ([`ShortNames::add`]).
#[must_use]
pub fn short_names_file() -> Option<PathBuf> {
    let settings = match cfg!(windows) {
        true => directory("APPDATA"),
        false => directory("XDG_CONFIG_HOME").or_else(|| Some(directory("HOME")?.join(".config"))),
    };
    Some(settings?.join("tracesift").join("symbol-servers.conf"))
}

/// The short names that a user has: of public servers, those of `DEBUGINFOD_URLS`, and those of his file. The second is what is wrong with that file.
#[must_use]
pub fn short_names() -> (ShortNames, Option<String>) {
    let mut names = ShortNames::builtin();
    names.add_debuginfod(&std::env::var("DEBUGINFOD_URLS").unwrap_or_default());
    let Some(path) = short_names_file() else { return (names, None) };
    let problem = match std::fs::read_to_string(&path) {
        Ok(text) => names.add(&text).err().map(|error| error.to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => Some(error.to_string()),
    };
    (names, problem.map(|problem| format!("{}: {problem}", path.display())))
}

/// Folders with symbol files that recorders leave beside a recording `X.etl`: `X.etl.NGENPDB`, `X.NGENPDB`, and the same with
/// `EmbeddedPdbs`.
#[must_use]
pub fn beside(recording: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for kind in ["NGENPDB", "EmbeddedPdbs"] {
        let mut longer = recording.as_os_str().to_owned();
        longer.push(".");
        longer.push(kind);
        folders.push(PathBuf::from(longer));
        folders.push(recording.with_extension(kind));
    }
    folders.extend(recording.parent().map(|directory| directory.join("EmbeddedPdbs")));
    folders.dedup();
    folders.retain(|folder| folder.is_dir());
    folders
}

/// An absolute path in the environment.
fn directory(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
