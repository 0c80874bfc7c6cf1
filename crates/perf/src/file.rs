//! An opened recording: its events, its machine, and where its records stand.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use crate::attr::Attr;
use crate::cursor::{Cursor, text, until_nul};
use crate::damage::{DamageLog, kind};
use crate::error::Error;
use crate::event::MAX_EVENTS;
use crate::feature::number;
use crate::header::{FILE_LENGTH, FileHeader, PIPE_LENGTH, Section, Start};
use crate::kind::Kind;
use crate::metadata::{Metadata, Mode};
use crate::read::{MAX_TRACING_DATA, MergeOptions, Merged, Records};
use crate::source::{FileSource, Input, ReadAt, read_section};

/// Bytes of a section that are read, other than tracing data.
const MAX_SECTION: usize = 64 << 20;
/// Bytes of an entry of the old event types: number and name.
const EVENT_TYPE_LENGTH: usize = 72;

/// One recording that can be read as often as wanted: a file, whether perf wrote it to a file or as a stream.
///
/// A clone shares everything with its original.
#[derive(Clone)]
pub struct PerfFile(Arc<Inner>);

struct Inner {
    source: Arc<dyn ReadAt>,
    metadata: Arc<Metadata>,
    /// Where the records stand.
    data: (u64, u64),
    damage: DamageLog,
}

impl fmt::Debug for PerfFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerfFile").field("data", &self.0.data).field("damage", &self.0.damage).finish_non_exhaustive()
    }
}

impl PerfFile {
    /// Opens a file by its path. Pipes and devices cannot be read twice: see [`Records::from_stream`].
    ///
    /// # Errors
    /// As [`PerfFile::new`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        if path.is_dir() {
            let reason = "it is a directory; of a recording with --threads, the file `data` in it is one".to_owned();
            return Err(Error::NotARecording { reason });
        }
        Self::new(Arc::new(FileSource::new(File::open(path)?)?))
    }

    /// Reads what is known besides the records. Damage is counted and read around, as far as that goes.
    ///
    /// # Errors
    /// [`Error::Empty`] and [`Error::NotARecording`] for what is no recording at all, [`Error::Io`] when nothing can be read.
    pub fn new(source: Arc<dyn ReadAt>) -> Result<Self, Error> {
        if source.len() == 0 {
            return Err(Error::Empty);
        }
        let start = read_section(&*source, 0, FILE_LENGTH as u64, FILE_LENGTH)?;
        let Start { endian, mode } = Start::parse(&start)?;
        let metadata = Metadata::new(mode, endian);
        let inner = match mode {
            Mode::File => Self::file(source, &start, metadata)?,
            Mode::Pipe => Self::pipe(source, metadata),
        };
        Ok(Self(Arc::new(inner)))
    }

    fn file(source: Arc<dyn ReadAt>, start: &[u8], metadata: Metadata) -> Result<Inner, Error> {
        let header = FileHeader::parse(start, metadata.endian)
            .map_err(|_| Error::NotARecording { reason: "it ends inside its header".to_owned() })?;
        let mut sections = Sections { source: &*source, metadata, damage: DamageLog::default() };
        sections.event_types(header.event_types);
        sections.events(header.attrs, header.attr_size);
        let length = sections.source.len();
        let data = (header.data.offset, header.data.end());
        let data = if header.data.size == 0 && header.data.offset < length {
            // The recorder was killed: it writes the size, and the features behind the data, when it ends.
            sections.damage.add(kind::UNFINISHED, header.data.offset, || "the header states no data".to_owned());
            (data.0, length)
        } else {
            sections.features(&header);
            if data.1 > length {
                let missing = data.1 - length;
                sections.damage.add(kind::TRUNCATED, length, || format!("{missing} bytes of the data are missing"));
            }
            (data.0.min(length), data.1.min(length))
        };
        let Sections { metadata, damage, .. } = sections;
        Ok(Inner { source, metadata: Arc::new(metadata), data, damage })
    }

    /// In a stream, events and features come before the first sample.
    fn pipe(source: Arc<dyn ReadAt>, empty: Metadata) -> Inner {
        let data = (PIPE_LENGTH as u64, source.len());
        let mut records = Records::new(Input::At(Arc::clone(&source)), data.0, data.1, Arc::new(empty));
        while let Some(record) = records.next() {
            let data = matches!(record.kind(), Kind::Sample | Kind::Compressed | Kind::Compressed2);
            if data || record.time().is_some() {
                break;
            }
        }
        // What is damaged here is counted by whoever reads the records.
        Inner { source, metadata: Arc::clone(records.metadata()), data, damage: DamageLog::default() }
    }

    /// Events, features and formats. Of a recording that was written as a stream, what came before the first sample;
    /// [`Records::metadata`] has the rest once it was read.
    #[must_use]
    pub fn metadata(&self) -> &Arc<Metadata> {
        &self.0.metadata
    }

    /// Damage of the file's structure. That of records is found when they are read, and counted there.
    #[must_use]
    pub fn damage(&self) -> &DamageLog {
        &self.0.damage
    }

    /// Bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.source.len()
    }

    /// The records in the order of the file.
    #[must_use]
    pub fn records(&self) -> Records {
        let Inner { source, metadata, data, .. } = &*self.0;
        let metadata = match metadata.mode {
            Mode::File => Arc::clone(metadata),
            // They come by again.
            Mode::Pipe => Arc::new(Metadata::new(Mode::Pipe, metadata.endian)),
        };
        Records::new(Input::At(Arc::clone(source)), data.0, data.1, metadata)
    }

    /// The records in the order of their times.
    #[must_use]
    pub fn merged(&self, options: MergeOptions) -> Merged {
        Merged::new(self.records(), options)
    }
}

/// Reads the sections of a file around its data.
struct Sections<'s> {
    source: &'s dyn ReadAt,
    metadata: Metadata,
    damage: DamageLog,
}

impl Sections<'_> {
    /// The bytes of a section, as many as there are.
    fn read(&mut self, section: Section, limit: usize) -> Vec<u8> {
        let bytes = read_section(self.source, section.offset, section.size, limit).unwrap_or_else(|error| {
            self.damage.add(kind::UNREADABLE, section.offset, || error.to_string());
            Vec::new()
        });
        if (bytes.len() as u64) < section.size {
            let Section { size, offset } = section;
            self.damage.add(kind::TRUNCATED, offset, || format!("{} of {size} bytes are there", bytes.len()));
        }
        bytes
    }

    /// Names of events by number, which perf wrote until Linux 3.x.
    fn event_types(&mut self, section: Section) {
        if section.size == 0 {
            return;
        }
        let bytes = self.read(section, MAX_SECTION);
        for entry in bytes.chunks_exact(EVENT_TYPE_LENGTH) {
            let mut at = Cursor::new(entry, self.metadata.endian);
            if let Ok(config) = at.u64("event number") {
                self.metadata.events.describe_old(config, text(until_nul(at.rest())));
            }
        }
    }

    /// Attributes, each followed by the place of its ids.
    fn events(&mut self, section: Section, entry_size: u64) {
        let endian = self.metadata.endian;
        let entry = usize::try_from(entry_size).unwrap_or(0);
        let ids_length = Section::LENGTH as usize;
        if entry <= ids_length {
            return self.damage.add(kind::BAD_ATTRIBUTE, 16, || format!("entries of {entry_size} bytes"));
        }
        let bytes = self.read(section, MAX_SECTION);
        let mut places = Vec::new();
        for (index, bytes) in bytes.chunks_exact(entry).enumerate().take(MAX_EVENTS + 1) {
            let offset = section.offset + (index * entry) as u64;
            match Attr::parse(bytes, endian) {
                Ok(attr) => {
                    // A reader that knows more fields than the writer may have written the entry.
                    let at = (attr.size as usize).min(entry - ids_length);
                    let mut at = Cursor::new(bytes.get(at..).unwrap_or_default(), endian);
                    places.push((offset, attr, Section::parse(&mut at).unwrap_or_default()));
                }
                Err(error) => self.damage.add(kind::BAD_ATTRIBUTE, offset, || error.to_string()),
            }
        }
        for (offset, attr, place) in places {
            // Forged places may all stand for the same bytes, so only what is taken is read.
            let ids = self.read(place, (self.metadata.events.room_for_ids() + 1) * 8);
            let mut ids = Cursor::new(&ids, endian);
            let ids = std::iter::from_fn(|| ids.u64("id").ok()).collect();
            self.metadata.events.push(attr, ids, offset, &mut self.damage);
        }
    }

    /// The features, whose places are listed behind the data.
    fn features(&mut self, header: &FileHeader) {
        let features: Vec<u32> = header.features().collect();
        let table = Section { offset: header.data.end(), size: features.len() as u64 * Section::LENGTH };
        let table = self.read(table, MAX_SECTION);
        let mut at = Cursor::new(&table, self.metadata.endian);
        for feature in features {
            let Ok(section) = Section::parse(&mut at) else { break };
            if feature == number::TRACING_DATA {
                let bytes = self.read(section, MAX_TRACING_DATA);
                self.metadata.tracing_data(&bytes, section.offset, &mut self.damage);
            } else if crate::feature::is_read(feature) {
                let bytes = self.read(section, MAX_SECTION);
                let content = Cursor::new(&bytes, self.metadata.endian);
                self.metadata.feature(feature, content, section.offset, &mut self.damage);
            } else {
                self.metadata.features.note(feature);
            }
        }
    }
}
