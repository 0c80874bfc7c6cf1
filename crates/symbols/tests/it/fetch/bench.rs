//! What all tests need: images, files for them, readers that know these, and an observer that listens.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tracesift_symbols::fetch::{
    DownloadNumber, Limits, Names, Observer, Options, Readers, Reading, Resolution, Symbols,
};
use tracesift_symbols::search::{Identity, Image, SearchPath, ShortNames};
use tracesift_symbols::{Error, Guid, PdbId, TableBuilder};

/// The identity of the `number`-th binary.
pub(crate) fn pdb_id(number: u32) -> PdbId {
    let guid: Guid = format!("{number:032X}").parse().expect("a GUID");
    PdbId { name: format!("n{number}.pdb"), guid, age: 1 }
}

/// The `number`-th binary.
pub(crate) fn image(number: u32) -> Image {
    Image { name: format!("n{number}.dll"), pdb: Some(pdb_id(number)), ..Image::default() }
}

/// Where it lies in a store.
pub(crate) fn stored(number: u32) -> String {
    let pdb = pdb_id(number);
    format!("{}/{}/{}", pdb.name, pdb.digits(), pdb.name)
}

/// A file that begins as a PDB, says which, and is `length` bytes long.
pub(crate) fn pdb(number: u32, length: usize) -> Vec<u8> {
    let mut bytes = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0".to_vec();
    bytes.extend_from_slice(format!("|{}|{length}|", pdb_id(number).digits()).as_bytes());
    let mut state = 1_u32;
    while bytes.len() < length {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes.push((state >> 24) as u8);
    }
    bytes
}

/// Reads such files, all of them, and counts.
#[derive(Default)]
pub(crate) struct Doubles {
    pub(crate) read: AtomicUsize,
}

impl Readers for Doubles {
    fn read(&self, reading: &Reading<'_>) -> Result<Names, Error> {
        self.read.fetch_add(1, Ordering::Relaxed);
        let mut bytes = Vec::new();
        let mut file = reading.file;
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut parts = text.split('|').skip(1);
        let found = parts.next().unwrap_or_default().to_owned();
        let Identity::Pdb(wanted) = reading.identity else { return Err(Error::OtherFormat("a PDB")) };
        if found != wanted.digits() {
            return Err(Error::OtherBinary { wanted: wanted.digits(), found });
        }
        let length: usize = parts.next().and_then(|length| length.parse().ok()).unwrap_or(0);
        let expected = pdb(u32::from_str_radix(&found[..32], 16).unwrap_or(0), length);
        if bytes != expected {
            return Err(Error::Malformed("its pages are not what they were".to_owned()));
        }
        let mut builder = TableBuilder::new();
        let function = builder.function(&format!("f_{}", wanted.name), None, "pdb");
        let location = builder.location(None, function, None, 0);
        builder.add(0x1000, 0x2000, location);
        Ok(Names::Table(builder.finish(reading.key)))
    }

    fn pdb_of(&self, _image: &File, _identity: &Identity) -> Result<Option<PdbId>, Error> {
        Err(Error::OtherFormat("a PE image"))
    }
}

/// Keeps what it is told.
#[derive(Default)]
pub(crate) struct Listener {
    pub(crate) trouble: Mutex<Vec<String>>,
    pub(crate) begun: Mutex<Vec<String>>,
    pub(crate) most: AtomicUsize,
    pub(crate) ended: AtomicUsize,
    pub(crate) looked_up: AtomicUsize,
    pub(crate) cancel_at: Option<(usize, &'static AtomicBool)>,
}

impl Observer for Listener {
    fn begun(&self, _download: DownloadNumber, url: &str) {
        self.begun.lock().expect("no panic").push(url.to_owned());
    }

    fn received(&self, _download: DownloadNumber, bytes: u64, total: Option<u64>) {
        assert!(total.is_none_or(|total| bytes <= total), "{bytes} of {total:?}");
        let bytes = usize::try_from(bytes).expect("small files");
        self.most.fetch_max(bytes, Ordering::Relaxed);
        if let Some((_, cancel)) = self.cancel_at.filter(|(at, _)| bytes >= *at) {
            cancel.store(true, Ordering::Relaxed);
        }
    }

    fn ended(&self, _download: DownloadNumber, _found: bool) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    fn looked_up(&self, done: usize, of: usize) {
        assert!(done <= of);
        self.looked_up.fetch_max(done, Ordering::Relaxed);
    }

    fn trouble(&self, line: &str) {
        self.trouble.lock().expect("no panic").push(line.to_owned());
    }
}

/// A user with a home.
pub(crate) struct Home {
    pub(crate) directory: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new().expect("a directory") }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Little patience, so that tests end.
    pub(crate) fn options(&self) -> Options {
        let limits = Limits {
            connect: Duration::from_secs(2),
            stall: Duration::from_millis(700),
            grace: Duration::from_secs(20),
            size: 4 << 20,
            unannounced: 1 << 20,
            ..Limits::default()
        };
        Options { use_proxy: false, limits, ..Options::new(self.path().join("own")) }
    }

    pub(crate) fn symbols(&self, path: &str) -> Symbols {
        self.symbols_with(path, |_| {})
    }

    pub(crate) fn symbols_with(&self, path: &str, change: impl FnOnce(&mut Options)) -> Symbols {
        let path = SearchPath::parse(path, &ShortNames::builtin()).expect("a path");
        let mut options = self.options();
        change(&mut options);
        Symbols::new(&path, options)
    }

    /// All files below, but for what is only remembered.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        walk(self.path(), &mut |path: &Path| {
            let name = path.strip_prefix(self.path()).expect("below").display().to_string();
            if !name.ends_with("misses") {
                files.push(name);
            }
        });
        files.sort();
        files
    }
}

pub(crate) fn walk(directory: &Path, each: &mut dyn FnMut(&Path)) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path: PathBuf = entry.expect("an entry").path();
        if path.is_dir() { walk(&path, each) } else { each(&path) }
    }
}

/// One image, with what was told.
pub(crate) fn resolve(symbols: &Symbols, number: u32) -> (Resolution, Listener) {
    let listener = Listener::default();
    let mut found = symbols.resolve(&[image(number)], &Doubles::default(), &listener, &AtomicBool::new(false));
    (found.pop().expect("as many as asked"), listener)
}

/// The name at an address of it.
pub(crate) fn name(resolution: &Resolution) -> Option<String> {
    let table = resolution.table.as_ref()?;
    table.frames(0x1234).next().map(|frame| frame.function.to_owned())
}

/// The lines of what was tried.
pub(crate) fn lines(resolution: &Resolution) -> Vec<String> {
    resolution.tried.iter().map(ToString::to_string).collect()
}
