//! Reads a buffer's content: bytes from the file, decompressed, records found.

use crate::buffer::{BufferKind, BufferRef, Compression};
use crate::damage::{DamageLog, kind};
use crate::file::EtlFile;
use crate::format::BUFFER_HEADER_BYTES;
use crate::frame::{Entry, Framer, SLACK};
use crate::record::Record;
use crate::source::ReadAt;

/// A loaded buffer: its record area, and the records found in it so far.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) area: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) framer: Framer,
    /// Whether the area lacks its end: the last record is then not whole, and that was counted.
    cut: bool,
}

impl Default for Content {
    fn default() -> Self {
        Self { area: Vec::new(), entries: Vec::new(), framer: Framer::new(0, false, i64::MIN), cut: false }
    }
}

impl Content {
    /// The bytes of a record.
    #[inline]
    pub(crate) fn record<'a>(&'a self, entry: Entry, cpu: u16, part: u16) -> Option<Record<'a>> {
        let bytes = self.area.get(entry.offset()..entry.offset() + entry.size())?;
        Some(Record::new(bytes, entry.kind(), entry.time, cpu, part))
    }

    /// Finds up to `limit` further records, and counts what ends the walk. The entries stay in the order of the file.
    pub(crate) fn frame(&mut self, limit: usize, buffer: &BufferRef, damage: &mut DamageLog) {
        let framer = &mut self.framer;
        if framer.done {
            return;
        }
        framer.run(&self.area, limit, &mut self.entries);
        if framer.done {
            count_end(framer, self.cut, buffer, damage);
        }
    }
}

/// Counts what a walk over a buffer's records could not use.
fn count_end(framer: &Framer, cut: bool, buffer: &BufferRef, damage: &mut DamageLog) {
    let left = framer.end - framer.at;
    if framer.bad && !cut {
        let unknown = matches!(buffer.kind, BufferKind::Unknown(_));
        let word = if unknown { kind::UNKNOWN_BUFFER_KIND } else { kind::BAD_RECORD };
        damage.add(word, buffer.offset, left as u64, || {
            let at = BUFFER_HEADER_BYTES + framer.at;
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
    /// Replaces `content` by that of `buffer`, without looking for records yet. What cannot be used is counted in `damage`;
    /// `input` is scratch space.
    pub(crate) fn load(self, buffer: &BufferRef, input: &mut Vec<u8>, content: &mut Content, damage: &mut DamageLog) {
        content.entries.clear();
        let end = if buffer.kind.has_records() {
            if buffer.is_compressed() {
                self.read_compressed(buffer, input, &mut content.area, damage)
            } else {
                self.read_plain(buffer, &mut content.area, damage)
            }
        } else {
            if buffer.kind == BufferKind::PackedSwitches {
                damage.add(kind::UNKNOWN_BUFFER_KIND, buffer.offset, u64::from(buffer.size), || {
                    "a buffer of packed context switches cannot be decoded".to_owned()
                });
            }
            None
        };
        let end = end.unwrap_or(0);
        content.cut = end < buffer.area_bytes();
        let first_time = buffer.first_time.unwrap_or(i64::MIN);
        content.framer = Framer::new(end, content.cut || !buffer.sound, first_time);
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
        while !content.framer.done {
            content.frame(usize::MAX, buffer, damage);
        }
        if !content.framer.sorted {
            content.entries.sort_by_key(|entry| entry.time);
        }
    }

    /// Reads the record area as it is; gives its length.
    fn read_plain(self, buffer: &BufferRef, area: &mut Vec<u8>, damage: &mut DamageLog) -> Option<usize> {
        let there = (buffer.size.max(buffer.extent) as usize).saturating_sub(BUFFER_HEADER_BYTES);
        let length = buffer.area_bytes().min(there);
        self.read(buffer, length, area, damage)?;
        area.resize(length + SLACK, 0);
        Some(length)
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
