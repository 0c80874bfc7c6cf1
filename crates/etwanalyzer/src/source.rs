//! Finds the documents of an extract: separate files, or files in a 7z container.

mod container;
mod parts;

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::de::DeserializeOwned;
use tracesift_archive::head_hash;
use tracesift_trace::info::SourceFile;
use tracesift_unpack::{LastingErrors, Reporter, Unfinished, watched};

use crate::bounded;
use crate::document::{Document, Parts};
use crate::error::Error;
use crate::limits::{Limits, ROWS};
use parts::Part;

/// What stands between the name of an extract and that of a part.
const DERIVED: &str = "_Derived_";
/// First bytes of a 7z container.
const SEVEN_ZIP: &[u8] = b"7z\xbc\xaf\x27\x1c";
/// Bytes read ahead.
const BUFFER: usize = 128 << 10;

/// The main document (`X.json`) that the file is a part of, by its name (`X_Derived_Modules.json`); `None`: it is no part.
#[must_use]
pub fn main_of_part(path: &Path) -> Option<PathBuf> {
    let stem = stem_of(path)?;
    let end = find_ignoring_case(&stem, DERIVED)?;
    Some(path.with_file_name(format!("{}.json", stem.get(..end)?)))
}

/// The files of one extract.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its name: that of the file without `.json` or `.json7z`.
    pub(crate) name: String,
    /// What `trace.json` says of its files, the main one first.
    pub(crate) files: Vec<SourceFile>,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Loose { main: PathBuf, parts: Vec<(Part, PathBuf)> },
    Container { path: PathBuf, main: String, parts: Vec<(Part, String)> },
}

/// The documents that become rows.
#[derive(Debug)]
pub(crate) struct Documents {
    /// How errors call the main one.
    pub(crate) name: String,
    pub(crate) main: Document,
    pub(crate) parts: Parts,
}

impl Source {
    /// Finds the parts of the extract at `path`.
    pub(crate) fn find(path: &Path, limits: &Limits) -> Result<Self, Error> {
        let mut file = open_regular(path)?;
        let stem = stem_of(path).unwrap_or_default();
        if let Some(main) = main_of_part(path) {
            return Err(Error::DerivedPart { path: path.to_owned(), main });
        }
        let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
        let mut head = Vec::with_capacity(SEVEN_ZIP.len());
        file.by_ref().take(SEVEN_ZIP.len() as u64).read_to_end(&mut head).map_err(unreadable)?;
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        if head == SEVEN_ZIP {
            let (main, parts) = unpacked(path, limits, move |path, limits, heartbeat| {
                container::parts(path, &file, limits, heartbeat)
            })?;
            let members = std::iter::once(&main).chain(parts.iter().map(|(_, member)| member));
            let files = members.map(|member| facts(path, Some(member))).collect::<Result<_, _>>()?;
            return Ok(Self { name: stem, files, place: Place::Container { path: path.to_owned(), main, parts } });
        }
        let beside = |part: Part| (part, path.with_file_name(format!("{stem}{DERIVED}{}.json", part.name())));
        let parts: Vec<_> = Part::ALL.into_iter().map(beside).filter(|(_, path)| path.is_file()).collect();
        let files = std::iter::once(path).chain(parts.iter().map(|(_, path)| path.as_path()));
        let files = files.map(|file| facts(file, None)).collect::<Result<_, _>>()?;
        Ok(Self { name: stem, files, place: Place::Loose { main: path.to_owned(), parts } })
    }

    /// Reads the documents.
    pub(crate) fn read(&self, limits: &Limits) -> Result<Documents, Error> {
        match &self.place {
            Place::Loose { main, parts } => {
                let (name, mut budget) = (main.display().to_string(), Budget::of(limits));
                let main = read_json(&name, open_regular(main)?, &mut budget)?;
                let mut read = Parts::default();
                for (part, path) in parts {
                    part.read(&path.display().to_string(), open_regular(path)?, &mut budget, &mut read)?;
                }
                Ok(Documents { name, main, parts: read })
            }
            Place::Container { path, main, parts } => {
                let (main, parts) = (main.clone(), parts.clone());
                unpacked(path, limits, move |path, limits, heartbeat| {
                    container::read(path, &main, &parts, limits, heartbeat)
                })
            }
        }
    }
}

/// Signs of life of a container that is being unpacked.
type Heartbeat = Reporter<Infallible>;

/// What `work` finds in a container, unless it stops getting anywhere.
fn unpacked<T: Send + 'static>(
    path: &Path,
    limits: &Limits,
    work: impl FnOnce(&Path, &Limits, &Heartbeat) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (container, limits, silence) = (path.to_owned(), limits.clone(), limits.silence);
    let result = watched(silence, |never| match never {}, move |heartbeat| work(&container, &limits, &heartbeat));
    result.unwrap_or_else(|unfinished| {
        let reason = match unfinished {
            Unfinished::NoThread => "the system has no thread to do that".to_owned(),
            Unfinished::Silent | Unfinished::Stopped => {
                format!("nothing has come out of it for {} s, so it is damaged", silence.as_secs())
            }
        };
        Err(Error::Container { path: path.to_owned(), reason })
    })
}

/// Whether a member of a container is a main document, by its name.
fn is_main(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    strip_ignoring_case(name, ".json").is_some() && find_ignoring_case(name, DERIVED).is_none()
}

/// The part that a member of a container is, by its name.
fn part_of(name: &str) -> Option<Part> {
    let stem = strip_ignoring_case(name, ".json")?;
    let is_part = |part: &Part| strip_ignoring_case(stem, part.name()).is_some_and(|stem| stem_ends(stem, DERIVED));
    Part::ALL.into_iter().find(is_part)
}

fn stem_ends(stem: &str, end: &str) -> bool {
    strip_ignoring_case(stem, end).is_some()
}

/// What the documents of one extract may still take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Bytes of all of them.
    limit: u64,
    /// Bytes of those that are still to be read.
    bytes: u64,
    /// Memory for their rows.
    rows: usize,
}

impl Budget {
    pub(crate) fn of(limits: &Limits) -> Self {
        Self { limit: limits.document, bytes: limits.document, rows: ROWS }
    }
}

/// Reads a document from a stream. `name` stands for it in errors.
pub(crate) fn read_json<T: DeserializeOwned>(name: &str, stream: impl Read, budget: &mut Budget) -> Result<T, Error> {
    let limited = Limited { stream, left: &mut budget.bytes };
    let mut limited = BufReader::with_capacity(BUFFER, LastingErrors::new(limited));
    skip_byte_order_mark(&mut limited);
    let mut deserializer = serde_json::Deserializer::from_reader(limited);
    let read = || T::deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    let (read, left) = bounded::within(budget.rows, read);
    budget.rows = left.unwrap_or(0);
    read.map_err(|error| match error.io_error_kind() {
        Some(io::ErrorKind::FileTooLarge) => Error::TooLarge { document: name.to_owned(), limit: budget.limit },
        _ if left.is_none() => Error::TooManyRows { document: name.to_owned() },
        _ => Error::Json { document: name.to_owned(), reason: one_line(&error.to_string()) },
    })
}

/// Whatever fails here fails again, with a place, in the parser.
fn skip_byte_order_mark(stream: &mut impl io::BufRead) {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    if stream.fill_buf().is_ok_and(|head| head.starts_with(MARK)) {
        stream.consume(MARK.len());
    }
}

/// A stream that fails where its limit is.
struct Limited<'a, R> {
    stream: R,
    left: &'a mut u64,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(into)?;
        *self.left = self.left.checked_sub(count as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(count)
    }
}

/// Texts of strangers may have any character in them.
fn one_line(text: &str) -> String {
    let shown = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    // Long enough for what the parser adds; it quotes texts in full.
    let count = text.chars().count();
    match count {
        0..=400 => shown.collect(),
        // The place stands at the end.
        _ => shown.clone().take(200).chain(" … ".chars()).chain(shown.skip(count - 100)).collect(),
    }
}

fn open_regular(path: &Path) -> Result<File, Error> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Error::NotFound { path: path.to_owned() },
        _ => Error::Unreadable { path: path.to_owned(), source },
    };
    // A pipe is not even opened, since that may block for ever.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    File::open(path).map_err(failed)
}

/// By which an unchanged file is recognised.
fn facts(path: &Path, member: Option<&String>) -> Result<SourceFile, Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let file = open_regular(path)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let modified = metadata.modified().map_err(unreadable)?;
    let modified = match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -(before.duration().as_secs_f64().ceil() as i64),
    };
    Ok(SourceFile {
        path: path.to_string_lossy().into_owned(),
        member: member.cloned(),
        size: metadata.len(),
        modified,
        head_hash: head_hash(&file).map_err(unreadable)?,
    })
}

/// Name without its last extension.
fn stem_of(path: &Path) -> Option<String> {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned())
}

fn strip_ignoring_case<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let at = text.len().checked_sub(end.len())?;
    text.get(at..).filter(|tail| tail.eq_ignore_ascii_case(end))?;
    text.get(..at)
}

fn find_ignoring_case(text: &str, part: &str) -> Option<usize> {
    text.to_ascii_lowercase().find(&part.to_ascii_lowercase())
}
