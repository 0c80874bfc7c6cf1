//! ELF files of which nobody recorded an identity: linked without a build id, or mapped and not hit before the recorder wrote its list.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::Symbols;
use crate::elf::{self, Companions};
use crate::rooted::open_below;
use crate::search::{Below, FileName, Key};
use crate::{Error, Table};

impl Symbols {
    /// The names of the ELF file at a recorded path below `root`. With `recorded` it is used only if it was not changed since: the time of the last change
    /// of its contents or place, which programs cannot set back.
    ///
    /// # Errors
    /// When there is none, when it was changed, and as [`elf::read`].
    pub fn of_path(&self, root: &Path, path: &str, recorded: Option<SystemTime>) -> Result<Table, Error> {
        let absent = || io::Error::from(io::ErrorKind::NotFound);
        let below = Below::of_recorded(path).ok_or_else(absent)?;
        let file = open_below(root, below.parts().iter().map(FileName::as_str), Some(&self.listings))?;
        let facts = file.metadata()?;
        let state = State::of(&facts);
        if let Some(recorded) = recorded
            && state.as_ref().and_then(State::changed).is_none_or(|changed| changed > recorded)
        {
            return Err(Error::OtherBinary {
                wanted: "the file as it was recorded".to_owned(),
                found: "one that was changed since".to_owned(),
            });
        }
        let Some(key) = state.as_ref().map(State::key) else { return self.read_whole(&file, &facts) };
        if let Some(table) = self.cache.get(&key) {
            return Ok(table);
        }
        let table = self.read_whole(&file, &facts)?;
        // Without it the next run reads the file again.
        let _ = self.cache.put(&key, &table);
        Ok(self.cache.get(&key).unwrap_or(table))
    }

    fn read_whole(&self, file: &File, facts: &Metadata) -> Result<Table, Error> {
        let _reader = self.readers.take(1);
        let _memory = self.memory.take(facts.len());
        elf::read(file, Companions::default(), None)
    }
}

/// What tells a file in one state from all other files and states.
#[cfg_attr(not(unix), allow(dead_code, reason = "other systems do not tell"))]
struct State {
    device: u64,
    number: u64,
    size: u64,
    changed_ns: i128,
}

impl State {
    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "other systems do not tell")]
    fn of(facts: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let changed_ns = i128::from(facts.ctime()) * 1_000_000_000 + i128::from(facts.ctime_nsec());
        Some(Self { device: facts.dev(), number: facts.ino(), size: facts.len(), changed_ns })
    }

    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Option<Self> {
        None
    }

    fn changed(&self) -> Option<SystemTime> {
        let nanoseconds = u64::try_from(self.changed_ns).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::from_nanos(nanoseconds))
    }

    fn key(&self) -> Key {
        Key::of_state(self.device, self.number, self.size, self.changed_ns)
    }
}
