//! Names in directories, whatever their letters.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Names in a directory that are looked through for one in other letters, and in all of them together.
const MAX_LISTED: usize = 100_000;
const MAX_KEPT: usize = 1_000_000;

/// The names in directories, by what they are in small letters. A directory is listed once in a run: most look-ups in a store are in vain,
/// and what the run itself adds to one has the letters that are looked for.
#[derive(Debug, Default)]
pub struct Listings {
    known: Mutex<HashMap<PathBuf, Arc<Listing>>>,
}

type Listing = HashMap<String, OsString>;

impl Listings {
    /// How a name that is wanted in any letters is written in a directory.
    pub(super) fn find(&self, directory: &Path, name: &str) -> io::Result<Option<OsString>> {
        Ok(self.of(directory)?.get(&name.to_ascii_lowercase()).cloned())
    }

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
