//! Opens inputs: gives every recording of a file as something that can be read at any position.
//!
//! A plain `.etl` or `perf.data` is read where it lies. What is packed (zip, 7z, cabinet, gzip, xz, `.diagsession`) is unpacked member
//! by member, in one pass over the archive, into unnamed temporary files: the walk over a recording needs to go back
//! and forth, and recordings are too large for memory. Such a file disappears with its last handle, also when the
//! process is killed.
//!
//! Archives come from strangers. Names of members are shown but never used as paths; sizes that an archive declares are
//! believed only when they are too large; the bytes that come out are counted against [`Limits`].

mod cabinet;
mod names;
mod run;
mod sevenz;
mod stream;
mod zip;

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use tracesift_etl::{FileSource, ReadAt};
use tracesift_unpack::{Reporter, Unfinished, watched};

use self::run::Run;
use super::error::{InputError, Note};
use super::facts::open_regular;
use super::file_kind::{Format, Packing};
use super::parts::same_name;
use super::select::InputRecording;

/// How to open inputs.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Directory for unpacked members; the system's when absent.
    pub temp_dir: Option<PathBuf>,
    /// What unpacking may cost.
    pub limits: Limits,
}

/// What unpacking one archive file may cost.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes that may come out in total.
    pub max_unpacked: u64,
    /// Bytes that may come out per byte of the archive file, once more than [`Limits::free`] have. Real recordings
    /// shrink to a thirtieth; only made-up data shrinks to a thousandth.
    pub max_ratio: u64,
    /// Bytes that may come out of any archive, however small.
    pub free: u64,
    /// Members, wanted or not.
    pub max_members: usize,
    /// Bytes that a decoder may need for its dictionary.
    pub max_dictionary: u64,
    /// How long a decoder may get nowhere, neither reading nor writing anything.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_unpacked: 256 << 30,
            max_ratio: 2000,
            free: 1 << 30,
            max_members: 100_000,
            // The largest dictionary that 7-Zip offers in its dialogue is 1.5 GiB; its presets stay below 256 MiB.
            max_dictionary: 1536 << 20,
            silence: Duration::from_secs(60),
        }
    }
}

/// How far unpacking has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the archive file read so far.
    pub read: u64,
    /// Bytes of the archive file.
    pub total: u64,
}

/// Called about every 256 KiB of unpacked data; `Break` stops unpacking with [`InputError::Cancelled`].
pub type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// One `.etl` or `perf.data`, readable at any position from several threads.
pub struct Member {
    path: PathBuf,
    name: Option<String>,
    source: FileSource,
}

impl Member {
    /// The input file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name inside the archive file, `/` separated and made harmless; `None` when the input file is the recording, plain
    /// or as a single compressed stream. A member of an archive inside the archive has both names, `inner.zip/X.etl`.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Who wrote it, by its first bytes.
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn format(&self) -> io::Result<Format> {
        let mut head = [0; Format::HEAD];
        let length = self.source.len().min(Format::HEAD as u64) as usize;
        let head = head.get_mut(..length).unwrap_or_default();
        self.source.read_at(0, head)?;
        Ok(Format::by_content(head))
    }
}

impl ReadAt for Member {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.source.read_at(offset, into)
    }

    fn mapped(&self) -> Option<&Bytes> {
        self.source.mapped()
    }

    fn release(&self, range: Range<u64>) {
        self.source.release(range);
    }
}

impl tracesift_perf::ReadAt for Member {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let rest = self.source.len().saturating_sub(offset);
        let length = usize::try_from(rest).unwrap_or(usize::MAX).min(into.len());
        self.source.read_at(offset, into.get_mut(..length).unwrap_or_default())?;
        Ok(length)
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("path", &self.path)
            .field("name", &self.name)
            .field("len", &self.source.len())
            .finish()
    }
}

/// What an input gave.
#[derive(Debug, Default)]
pub struct Opened {
    /// The `.etl`s and `perf.data`s, in the order of the files and of the archive.
    pub members: Vec<Member>,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// Opens all files of a recording.
///
/// An archive file without any recording gives way to the file that it stood for, if there is one; a loose part that the
/// archive file holds too is left out.
///
/// # Errors
/// Every [`InputError`] about a file's content, and [`InputError::Cancelled`].
pub fn open(recording: &InputRecording, options: &OpenOptions, watch: &mut Watch<'_>) -> Result<Opened, InputError> {
    let mut opened = Opened::default();
    for (index, path) in recording.files.iter().enumerate() {
        let mut found = match open_file(path, options, watch) {
            Ok(found) => found,
            Err(InputError::NoRecording { .. }) if index == 0 && !recording.stands_for.is_empty() => {
                let used = recording.stands_for[0].clone();
                opened.notes.push(Note::ArchiveWithoutRecording { archive: path.clone(), used: used.clone() });
                open_file(&used, options, watch)?
            }
            Err(error) => return Err(error),
        };
        opened.notes.append(&mut found.notes);
        for member in found.members {
            match opened.members.iter().find(|earlier| is_the_same_part(earlier, &member)) {
                Some(earlier) if !recording.forced => {
                    opened.notes.push(Note::PartInArchive { part: member.path, archive: earlier.path.clone() });
                }
                _ => opened.members.push(member),
            }
        }
    }
    Ok(opened)
}

/// Whether a loose file has the name and size of a member seen earlier.
fn is_the_same_part(earlier: &Member, loose: &Member) -> bool {
    let (Some(inside), None, Some(beside)) = (&earlier.name, &loose.name, loose.path.file_name()) else { return false };
    let inside = inside.rsplit('/').next().unwrap_or(inside);
    same_name(inside, &beside.to_string_lossy()) && earlier.source.len() == loose.source.len()
}

/// Opens one file.
///
/// # Errors
/// Every [`InputError`] about a file's content, and [`InputError::Cancelled`].
pub fn open_file(path: &Path, options: &OpenOptions, watch: &mut Watch<'_>) -> Result<Opened, InputError> {
    let (mut file, size) = open_regular(path)?;
    let unreadable = |reason| InputError::Unreadable { path: path.to_owned(), reason };
    if size == 0 {
        return Err(InputError::Empty { path: path.to_owned(), member: None });
    }
    let by_content = Packing::by_content(&head(&mut file).map_err(unreadable)?);
    let by_name = path.file_name().and_then(|name| Packing::by_name(&name.to_string_lossy()));
    let packing = match (by_content, by_name) {
        // Not what its name says, and nothing else that is known: the decoder will say what is wrong with it.
        (Packing::Plain, Some(packed)) => packed,
        (content, _) => content,
    };
    if packing == Packing::Plain {
        let source = FileSource::new(file).map_err(unreadable)?;
        let member = Member { path: path.to_owned(), name: None, source };
        return Ok(Opened { members: vec![member], notes: Vec::new() });
    }
    // Decoders are other people's code: one that goes round for ever must not take the program along.
    let (copy, how) = (path.to_owned(), options.clone());
    let work = move |reporter| unpack_file(&copy, file, size, packing, &how, reporter);
    watched(options.limits.silence, watch, work).unwrap_or_else(|unfinished| {
        let path = path.to_owned();
        Err(match unfinished {
            Unfinished::Stopped => InputError::Cancelled { path },
            Unfinished::Silent => InputError::Stuck { path, silence: options.limits.silence },
            Unfinished::NoThread => {
                InputError::Unreadable { path, reason: io::Error::other("the system has no thread to unpack it") }
            }
        })
    })
}

/// Unpacks a file, and archives inside it.
fn unpack_file(
    path: &Path,
    file: File,
    size: u64,
    packing: Packing,
    options: &OpenOptions,
    reporter: Reporter<Progress>,
) -> Result<Opened, InputError> {
    let mut run = Run::new(path, size, options, reporter);
    unpack(run.counting(file), packing, &mut run)?;
    // One level of archives inside the archive, so that a zipped .etl.zip or .diagsession opens; deeper ones are
    // listed among the names found but not opened.
    for (name, inner) in run.enter_nested() {
        let mut inner = inner;
        let unreadable = |reason| InputError::Unreadable { path: path.to_owned(), reason };
        let packing = head(&mut inner).map(|head| Packing::by_content(&head)).map_err(unreadable)?;
        run.enter(&name);
        if packing != Packing::Plain {
            unpack(inner, packing, &mut run)?;
        }
    }
    run.finish()
}

/// Unpacks what is wanted of one archive.
fn unpack(source: impl Read + Seek, packing: Packing, run: &mut Run<'_>) -> Result<(), InputError> {
    match packing {
        Packing::Zip => zip::unpack(source, run),
        Packing::SevenZip => sevenz::unpack(source, run),
        Packing::Cabinet => cabinet::unpack(source, run),
        Packing::Gzip => stream::unpack_gzip(source, run),
        Packing::Xz => stream::unpack_xz(source, run),
        Packing::Plain => Ok(()),
    }
}

/// The first bytes, with the position set back to the start.
fn head(file: &mut File) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(16);
    file.by_ref().take(16).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(head)
}
