//! An opened recording: its session, its buffers and its damage. Records are read later.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::buffer::{BufferRef, Compression};
use crate::damage::{DamageLog, kind};
use crate::error::Error;
use crate::foreign;
use crate::format::{buffer_flag, file_mode};
use crate::header::LogfileHeader;
use crate::load::{Content, Origin};
use crate::recover::Walk;
use crate::source::{FileSource, ReadAt};

/// One `.etl` file. Only the headers of its buffers were read; see [`crate::Merge`] and [`crate::BufferReader`] for records.
///
/// A clone shares everything with its original.
#[derive(Clone)]
pub struct EtlFile(Arc<Inner>);

struct Inner {
    source: Box<dyn ReadAt>,
    header: LogfileHeader,
    compression: Compression,
    buffers: Vec<BufferRef>,
    damage: DamageLog,
}

impl fmt::Debug for EtlFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtlFile")
            .field("header", self.header())
            .field("buffers", &self.buffers().len())
            .field("damage", self.damage())
            .finish_non_exhaustive()
    }
}

impl EtlFile {
    /// Reads the session's description and the headers of all buffers. Damage is counted and read around, as far as that goes.
    ///
    /// # Errors
    /// [`Error::Empty`] and [`Error::NotARecording`] for what is no recording at all, [`Error::Io`] when nothing can be read.
    pub fn open(source: Box<dyn ReadAt>) -> Result<Self, Error> {
        if source.len() == 0 {
            return Err(Error::Empty);
        }
        let mut start = [0; foreign::START_BYTES];
        let there = source.len().min(start.len() as u64) as usize;
        let (start, _) = start.split_at_mut(there);
        source.read_at(0, start)?;
        if let Some(reason) = foreign::recognise(start) {
            return Err(Error::NotARecording { reason });
        }
        let mut walk = Walk::new(&*source);
        walk.run()?;
        if walk.buffers.is_empty() {
            return Err(Error::NotARecording { reason: foreign::no_buffer(source.len()) });
        }
        let Walk { compression, header, mut buffers, mut damage, unclear, .. } = walk;
        let start = header.as_ref().map_or(0, LogfileHeader::zero_ticks);
        look_inside(Origin { source: &*source, compression }, &mut buffers, &unclear, start);
        let header = header.unwrap_or_else(|| {
            damage.add(kind::MISSING_HEADER_BUFFER, 0, 0, || {
                "the recording does not begin with its session's description; \
                 a 10 MHz clock is assumed, and its start time is unknown"
                    .to_owned()
            });
            assume_header(&buffers)
        });
        Ok(Self(Arc::new(Inner { source, header, compression, buffers, damage })))
    }

    /// Opens a file by its path.
    ///
    /// # Errors
    /// As [`EtlFile::open`].
    pub fn open_path(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open(Box::new(FileSource::open(path)?))
    }

    /// The session's description.
    #[must_use]
    pub fn header(&self) -> &LogfileHeader {
        &self.0.header
    }

    /// The buffers, in the order of the file.
    #[must_use]
    pub fn buffers(&self) -> &[BufferRef] {
        &self.0.buffers
    }

    /// Whether records from the session's start are elsewhere or gone: the file is one of several into which the session was written in turn, or a
    /// circular one that has wrapped and lost the buffers after the first.
    #[must_use]
    pub fn begins_late(&self) -> bool {
        let mode = self.header().log_file_mode;
        let first_data = self.buffers().iter().map(|buffer| buffer.sequence).filter(|sequence| *sequence > 0).min();
        let has_wrapped = mode & file_mode::CIRCULAR != 0 && first_data.is_some_and(|sequence| sequence > 1);
        has_wrapped || mode & file_mode::NEW_FILE != 0
    }

    /// Damage of the file's structure. That of single buffers is found when they are read, and counted there.
    #[must_use]
    pub fn damage(&self) -> &DamageLog {
        &self.0.damage
    }

    /// How compressed buffers are compressed.
    #[must_use]
    pub fn compression(&self) -> Compression {
        self.0.compression
    }

    /// Bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.source.len()
    }

    /// Buffers that say that events were lost before or around them.
    #[must_use]
    pub fn buffers_with_lost_events(&self) -> usize {
        self.0.buffers.iter().filter(|buffer| buffer.flags & buffer_flag::EVENTS_LOST != 0).count()
    }

    /// Buffers that say that buffers before them were lost.
    #[must_use]
    pub fn buffers_after_lost_buffers(&self) -> usize {
        self.0.buffers.iter().filter(|buffer| buffer.flags & buffer_flag::BUFFER_LOST != 0).count()
    }

    /// See [`ReadAt::release`].
    pub(crate) fn release(&self, range: Range<u64>) {
        self.0.source.release(range);
    }

    pub(crate) fn origin(&self) -> Origin<'_> {
        Origin { source: &*self.0.source, compression: self.0.compression }
    }
}

/// Reads the buffers whose first record was not clear from their first bytes. Their damage is counted when they are read again.
///
/// A buffer that begins with records without a time gets that of the first record with one, and `start` if there is none.
fn look_inside(origin: Origin<'_>, buffers: &mut [BufferRef], unclear: &[usize], start: i64) {
    let (mut input, mut content) = (Vec::new(), Content::default());
    for index in unclear {
        let Some(buffer) = buffers.get_mut(*index) else { continue };
        origin.load(buffer, &mut input, &mut content, &mut DamageLog::default());
        let mut times = content.entries.iter().map(|entry| entry.time);
        if !content.entries.is_empty() {
            buffer.first_time = times.find(|time| *time != i64::MIN).or(Some(start));
        }
    }
}

fn assume_header(buffers: &[BufferRef]) -> LogfileHeader {
    let first_tick = buffers.iter().filter_map(|buffer| buffer.first_time).min().unwrap_or(0);
    let cpu_count = buffers.iter().map(|buffer| u32::from(buffer.cpu) + 1).max().unwrap_or(0);
    let buffer_size = buffers.iter().map(|buffer| buffer.valid_end.max(buffer.size)).max().unwrap_or(0);
    LogfileHeader::assumed(first_tick, cpu_count, buffer_size)
}
