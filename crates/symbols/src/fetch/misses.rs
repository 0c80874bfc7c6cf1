//! Remembers, from run to run, what a server did not have.
//!
//! A text file to which every process appends: a line that two of them tear apart, or that a newer version wrote, is passed over.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file that was not there is not there for a day: symbol servers get new files all the time.
const ABSENT: Duration = Duration::from_secs(24 * 60 * 60);
/// One that was of no use may be put right sooner.
const REFUSED: Duration = Duration::from_secs(60 * 60);

/// Bytes of the file above which it is written anew, without what has expired.
const LONG: u64 = 1 << 20;
/// Bytes that are read of it.
const MAX: u64 = 64 << 20;

/// What servers did not have.
#[derive(Debug)]
pub(crate) struct Misses {
    path: PathBuf,
    known: Mutex<HashMap<String, Miss>>,
}

/// Why a file is not asked for again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Absent,
    Refused(String),
}

#[derive(Debug)]
struct Miss {
    /// Seconds since 1970.
    at: u64,
    reason: Reason,
}

impl Misses {
    /// What the file remembers; `retry` forgets all of it.
    pub(crate) fn load(path: PathBuf, retry: bool) -> Self {
        let now = seconds();
        let mut known = HashMap::new();
        if !retry && let Some(text) = read(&path) {
            known.extend(text.lines().filter_map(parse).filter(|(_, miss)| miss.is_recent(now)));
            if text.len() as u64 > LONG {
                // Should another process append just now, its line is lost, which costs a request.
                let lines: String = known.iter().map(|(url, miss)| line(url, miss)).collect();
                let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
                let _ = fs::write(&temporary, lines).and_then(|()| fs::rename(&temporary, &path));
            }
        }
        Self { path, known: Mutex::new(known) }
    }

    /// Why a file need not be asked for.
    pub(crate) fn get(&self, url: &str) -> Option<Reason> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(url).filter(|miss| miss.is_recent(seconds())).map(|miss| miss.reason.clone())
    }

    /// Remembers. A file that cannot be written costs requests in the next run and nothing else.
    pub(crate) fn add(&self, url: &str, reason: Reason) {
        let miss = Miss { at: seconds(), reason };
        let line = line(url, &miss);
        let file = tracesift_cache::files::create_directory(self.path.parent().unwrap_or(Path::new("")))
            .and_then(|()| OpenOptions::new().append(true).create(true).open(&self.path));
        if let Ok(mut file) = file {
            let _ = file.write_all(line.as_bytes());
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(url.to_owned(), miss);
    }
}

impl Miss {
    fn is_recent(&self, now: u64) -> bool {
        let time = if self.reason == Reason::Absent { ABSENT } else { REFUSED };
        // What comes from the future was written by another clock.
        self.at <= now && now - self.at < time.as_secs()
    }
}

fn read(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// `TIME\tURL\tREASON`.
fn line(url: &str, miss: &Miss) -> String {
    let reason = match &miss.reason {
        Reason::Absent => String::new(),
        Reason::Refused(why) => why.replace(|c: char| c.is_control(), " "),
    };
    format!("{}\t{url}\t{reason}\n", miss.at)
}

fn parse(line: &str) -> Option<(String, Miss)> {
    let (at, rest) = line.split_once('\t')?;
    let (url, reason) = rest.split_once('\t')?;
    let reason = if reason.is_empty() { Reason::Absent } else { Reason::Refused(reason.to_owned()) };
    Some((url.to_owned(), Miss { at: at.parse().ok()?, reason }))
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::{Misses, Reason, seconds};

    #[test]
    fn misses_expire_and_can_be_ignored() {
        let directory = tempfile::TempDir::new().expect("a directory");
        let path = directory.path().join("new/misses");
        let misses = Misses::load(path.clone(), false);
        misses.add("http://a/1", Reason::Absent);
        misses.add("http://a/2", Reason::Refused("is\na page".to_owned()));
        let now = seconds();
        let more = format!(
            "{}\thttp://a/3\t\n{}\thttp://a/4\tx\n{}\thttp://a/5\t\ntorn",
            now - 86_000,
            now - 3_700,
            now + 100
        );
        let text = std::fs::read_to_string(&path).expect("a file") + &more;
        std::fs::write(&path, text).expect("a file");
        let again = Misses::load(path.clone(), false);
        assert_eq!(again.get("http://a/1"), Some(Reason::Absent));
        assert_eq!(again.get("http://a/2"), Some(Reason::Refused("is a page".to_owned())));
        assert_eq!(again.get("http://a/3"), Some(Reason::Absent));
        assert_eq!(again.get("http://a/4"), None);
        assert_eq!(again.get("http://a/5"), None);
        assert_eq!(Misses::load(path, true).get("http://a/1"), None);
    }
}
