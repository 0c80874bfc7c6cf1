//! Files in which processes describe their JIT code: `perf-PID.map` and `jit-PID.dump`.
//!
//! A file beside a recording belongs to the recording. On the recorded machine, a file lies where
//! the process put it, and it may be the file of an older or newer process with the same id. The
//! time of the file decides.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tracesift_symbols::jit_code::JitCode;
use tracesift_symbols::search::Below;

use super::linux::is_here;
use crate::symbols::source::{JitProcess, Recorded};

/// Bytes of a map or dump; the rest of a longer one is left out.
const MOST: u64 = 1 << 30;
/// What a process writes at its end may reach the disk later, and the time of the recording's begin may be known in whole seconds.
const ABOUT: Duration = Duration::from_secs(2);

/// Where such files may lie.
struct Places<'a> {
    beside: Option<&'a Path>,
    /// Roots of file systems, and whether the files below are those of the recorded machine as it was.
    roots: Vec<(&'a Path, bool)>,
}

/// The names of the JIT code of a process.
pub(super) fn names(process: &JitProcess, recorded: &Recorded<'_>, roots: &[PathBuf]) -> JitCode {
    let is_root = |root: &&Path| *root == Path::new("/");
    let roots = roots.iter().map(PathBuf::as_path).filter(|root| !is_root(root) || is_here(recorded));
    let places = Places { beside: recorded.path.parent(), roots: roots.map(|root| (root, !is_root(&root))).collect() };
    let mut code = JitCode::default();
    let dump = process.dump.as_deref().and_then(|dump| places.read(dump, process));
    // What is no such file names nothing; others may.
    let _ = dump.map(|bytes| code.add_dump(&bytes, process.pid));
    let _ = places.read(&format!("/tmp/perf-{}.map", process.pid), process).map(|bytes| code.add_map(&bytes));
    code
}

impl Places<'_> {
    /// The bytes of the file that a process wrote to `path`.
    fn read(&self, path: &str, process: &JitProcess) -> Option<Vec<u8>> {
        let name = Path::new(path).file_name()?;
        let beside = self.beside.and_then(|directory| contents(&directory.join(name), |_| true).ok());
        beside.or_else(|| {
            // No link is followed: in a directory for all, anybody may have put one there.
            let below = Below::of_recorded(path)?;
            self.roots.iter().find_map(|(root, is_old)| {
                let file = below.parts().iter().fold(root.to_path_buf(), |path, part| path.join(part.as_str()));
                contents(&file, |written| *is_old || is_of(process, written)).ok()
            })
        })
    }
}

/// Whether what was written then can be a process's.
fn is_of(process: &JitProcess, written: SystemTime) -> bool {
    let (earliest, latest) = (process.began.map(|began| began - ABOUT), process.ended.map(|ended| ended + ABOUT));
    earliest.is_none_or(|earliest| written >= earliest) && latest.is_none_or(|latest| written <= latest)
}

fn contents(path: &Path, accepts: impl FnOnce(SystemTime) -> bool) -> io::Result<Vec<u8>> {
    // Opening what is no file may wait.
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = File::open(path)?;
    let facts = file.metadata()?;
    if !facts.is_file() || !accepts(facts.modified()?) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
