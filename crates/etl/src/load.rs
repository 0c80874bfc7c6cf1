//! Reads a buffer's content: bytes from the file, decompressed, records found.

use crate::buffer::{BufferKind, BufferRef, Compression};
use crate::damage::{DamageLog, kind};
use crate::file::EtlFile;
use crate::format::BUFFER_HEADER_BYTES;
use crate::frame::{Entry, Framer, SLACK};
use crate::record::Record;
use crate::source::ReadAt;

/// A buffer's record area, and the records found in it so far. Area and records may be read in portions, and portions that are
/// no longer needed dropped.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) area: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) framer: Framer,
    /// Offset in the file, and number, of the bytes that are not read yet.
    unread_at: u64,
    unread: usize,
    /// Bytes that were dropped from the start of the area.
    dropped: usize,
    /// Whether the area lacks its end: the last record is then not whole, and that was counted.
    cut: bool,
}

impl Default for Content {
    fn default() -> Self {
        Self {
            area: Vec::new(),
            entries: Vec::new(),
            framer: Framer::finished(),
            unread_at: 0,
            unread: 0,
            dropped: 0,
            cut: false,
        }
    }
}

impl Content {
    /// The bytes of a record.
    #[inline]
    pub(crate) fn record<'a>(&'a self, entry: Entry, cpu: u16, part: u16) -> Option<Record<'a>> {
        let bytes = self.area.get(entry.offset()..entry.offset() + entry.size())?;
        Some(Record::new(bytes, entry.kind(), entry.time, cpu, part))
    }

    /// Finds records until there are at least `wanted`, or all, reading `piece` bytes at a time where the area is not read yet.
    /// What ends the walk is counted. The entries stay in the order of the file.
    pub(crate) fn find(
        &mut self,
        wanted: usize,
        piece: usize,
        origin: Origin<'_>,
        buffer: &BufferRef,
        damage: &mut DamageLog,
    ) {
        while !self.framer.done && self.entries.len() < wanted {
            if self.framer.partial {
                self.read_piece(piece, origin, buffer, damage);
            }
            // A piece is used up, so that its rest needs not be moved when the next one is read.
            let limit = if self.dropped + self.unread > 0 { usize::MAX } else { wanted - self.entries.len() };
            self.framer.run(&self.area, limit, &mut self.entries);
            if self.framer.done {
                count_end(self, buffer, damage);
            }
        }
    }

    /// Drops the first `used` entries, and the bytes that no other one needs.
    pub(crate) fn forget(&mut self, used: usize) {
        self.entries.drain(..used.min(self.entries.len()));
        if self.unread == 0 && !self.framer.partial {
            return;
        }
        let needed =
            self.entries.iter().map(|entry| entry.offset()).min().unwrap_or(self.framer.at).min(self.framer.at);
        self.area.copy_within(needed..self.framer.end, 0);
        self.framer.at -= needed;
        self.framer.end -= needed;
        self.dropped += needed;
        for entry in &mut self.entries {
            *entry = entry.earlier(needed);
        }
    }

    /// Appends the next bytes of the file to the area.
    fn read_piece(&mut self, piece: usize, origin: Origin<'_>, buffer: &BufferRef, damage: &mut DamageLog) {
        let start = self.framer.end;
        let end = start + piece.min(self.unread);
        if self.area.len() < end + SLACK {
            self.area.resize(end + SLACK, 0);
        }
        match self.area.get_mut(start..end).map(|into| origin.source.read_at(self.unread_at, into)) {
            Some(Ok(())) => {
                self.framer.end = end;
                self.unread -= end - start;
                self.unread_at += (end - start) as u64;
            }
            Some(Err(error)) => {
                damage.add(kind::UNREADABLE_BUFFER, buffer.offset, self.unread as u64, || error.to_string());
                (self.unread, self.cut) = (0, true);
            }
            None => self.unread = 0,
        }
        self.framer.partial = self.unread > 0;
    }
}

/// Counts what a walk over a buffer's records could not use.
fn count_end(content: &Content, buffer: &BufferRef, damage: &mut DamageLog) {
    let Content { framer, cut, .. } = *content;
    let left = framer.end - framer.at + content.unread;
    if framer.bad && !cut {
        let unknown = matches!(buffer.kind, BufferKind::Unknown(_));
        let word = if unknown { kind::UNKNOWN_BUFFER_KIND } else { kind::BAD_RECORD };
        damage.add(word, buffer.offset, left as u64, || {
            let at = BUFFER_HEADER_BYTES + content.dropped + framer.at;
            format!("the record at {at} of the buffer is not plausible; {left} bytes are left out")
        });
    }
    if framer.zeros && !cut {
        damage.add(kind::ZEROED_REGION, buffer.offset, left as u64, || {
            format!("{left} bytes of the buffer's valid data are zeros instead of records")
        });
    }
    if framer.skipped > 0 {
        damage.add_many(kind::UNKNOWN_RECORD, framer.skipped, buffer.offset, 0, || {
            "a record that reports an error while logging, or of a reserved type".to_owned()
        });
    }
}

/// Where buffers are read from and how.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) source: &'a dyn ReadAt,
    pub(crate) compression: Compression,
}

impl Origin<'_> {
    /// Replaces `content` by that of `buffer`, without looking for records yet. An area that is not compressed is not read yet
    /// either. What cannot be used is counted in `damage`; `input` is scratch space.
    pub(crate) fn load(self, buffer: &BufferRef, input: &mut Vec<u8>, content: &mut Content, damage: &mut DamageLog) {
        content.entries.clear();
        (content.unread, content.dropped) = (0, 0);
        let mut end = 0;
        if buffer.kind == BufferKind::PackedSwitches {
            damage.add(kind::UNKNOWN_BUFFER_KIND, buffer.offset, u64::from(buffer.size), || {
                "a buffer of packed context switches cannot be decoded".to_owned()
            });
        } else if buffer.kind.has_records() && buffer.is_compressed() {
            end = self.read_compressed(buffer, input, &mut content.area, damage).unwrap_or(0);
        } else if buffer.kind.has_records() {
            let there = (buffer.size.max(buffer.extent) as usize).saturating_sub(BUFFER_HEADER_BYTES);
            content.unread = buffer.area_bytes().min(there);
            content.unread_at = buffer.offset + BUFFER_HEADER_BYTES as u64;
        }
        content.cut = end + content.unread < buffer.area_bytes();
        content.framer = Framer::new(end, content.cut || !buffer.sound, buffer.first_time.unwrap_or(i64::MIN));
        content.framer.partial = content.unread > 0;
    }

    /// As [`Origin::load`], and finds all records, sorted by time.
    pub(crate) fn load_all(
        self,
        buffer: &BufferRef,
        input: &mut Vec<u8>,
        content: &mut Content,
        damage: &mut DamageLog,
    ) {
        self.load(buffer, input, content, damage);
        content.find(usize::MAX, usize::MAX, self, buffer, damage);
        if !content.framer.sorted {
            content.entries.sort_by_key(|entry| entry.time);
        }
    }

    /// Reads and decompresses; gives the length of what is usable.
    fn read_compressed(
        self,
        buffer: &BufferRef,
        input: &mut Vec<u8>,
        area: &mut Vec<u8>,
        damage: &mut DamageLog,
    ) -> Option<usize> {
        let length = buffer.area_bytes();
        let stored = (buffer.size as usize).saturating_sub(BUFFER_HEADER_BYTES);
        self.read(buffer, stored, input, damage)?;
        area.resize(length + SLACK, 0);
        let Some(mut decoded) = self.compression.decompress(input, area, length) else {
            damage.add(kind::UNSUPPORTED_COMPRESSION, buffer.offset, u64::from(buffer.size), || {
                format!("buffers are compressed with a method that is not supported: {:?}", self.compression)
            });
            return None;
        };
        if decoded.stopped.is_some() && buffer.extent > buffer.size {
            // The header's size may be what is damaged: there is more before the next buffer.
            let stored = (buffer.extent as usize).saturating_sub(BUFFER_HEADER_BYTES);
            self.read(buffer, stored, input, damage)?;
            decoded = self.compression.decompress(input, area, length)?;
        }
        if let Some(stopped) = decoded.stopped
            && buffer.sound
        {
            damage.add(kind::UNDECODABLE_BUFFER, buffer.offset, (length - decoded.produced) as u64, || {
                format!("{stopped}: {} of {length} bytes could be decompressed", decoded.produced)
            });
        }
        let left = input.len() - decoded.consumed;
        if decoded.stopped.is_none() && buffer.sound && buffer.extent == buffer.size && left != 0 && left != 4 {
            damage.add(kind::UNDECODABLE_BUFFER, buffer.offset, left as u64, || {
                format!("{left} bytes are left over after decompression")
            });
        }
        Some(decoded.produced)
    }

    fn read(self, buffer: &BufferRef, length: usize, into: &mut Vec<u8>, damage: &mut DamageLog) -> Option<()> {
        into.resize(length, 0);
        match self.source.read_at(buffer.offset + BUFFER_HEADER_BYTES as u64, into) {
            Ok(()) => Some(()),
            Err(error) => {
                damage.add(kind::UNREADABLE_BUFFER, buffer.offset, length as u64, || error.to_string());
                None
            }
        }
    }
}

/// Reads single buffers in any order, for work that does not need the records merged. Keeps its memory between buffers.
#[derive(Debug, Default)]
pub struct BufferReader {
    part: u16,
    input: Vec<u8>,
    content: Content,
    damage: DamageLog,
}

impl BufferReader {
    /// A reader whose records say that they come from file number `part`.
    #[must_use]
    pub fn new(part: u16) -> Self {
        Self { part, ..Self::default() }
    }

    /// The records of one buffer, sorted by time.
    pub fn records<'r>(&'r mut self, file: &EtlFile, buffer: &BufferRef) -> impl ExactSizeIterator<Item = Record<'r>> {
        file.origin().load_all(buffer, &mut self.input, &mut self.content, &mut self.damage);
        let content = &self.content;
        let (cpu, part) = (buffer.cpu, self.part);
        content.entries.iter().map(move |entry| {
            // An entry lies inside the area it was found in.
            let bytes = content.area.get(entry.offset()..entry.offset() + entry.size()).unwrap_or_default();
            Record::new(bytes, entry.kind(), entry.time, cpu, part)
        })
    }

    /// What could not be used in the buffers read so far; without the damage that [`EtlFile::open`] found.
    #[must_use]
    pub const fn damage(&self) -> &DamageLog {
        &self.damage
    }
}
