//! Reads a buffer's content: bytes from the file, decompressed, records found and in order.

use bytes::Bytes;

use crate::buffer::{BufferKind, BufferRef, Compression};
use crate::damage::{DamageLog, kind};
use crate::format::BUFFER_HEADER_BYTES;
use crate::frame::{Entry, Framed, SLACK, frame};
use crate::record::Record;
use crate::source::ReadAt;

/// A buffer's record area, and the records found in it, in the order of their times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) area: Area,
    pub(crate) entries: Vec<Entry>,
}

impl Content {
    /// The bytes of a record.
    #[inline]
    pub(crate) fn record<'a>(&'a self, entry: Entry, cpu: u16, part: u16) -> Option<Record<'a>> {
        let bytes = self.area.bytes().get(entry.offset()..entry.offset() + entry.size())?;
        Some(Record::new(bytes, entry.kind(), entry.time, cpu, part))
    }
}

/// Bytes of records, with [`SLACK`] behind them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Area {
    own: Vec<u8>,
    /// Where the recording is in memory anyway: a piece of it, which counts instead of `own`.
    shared: Option<Bytes>,
}

impl Area {
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.shared.as_deref().unwrap_or(&self.own)
    }

    /// Whether the bytes are the recording's own, so that a clone costs nothing.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Memory to write to.
    pub(crate) fn own(&mut self) -> &mut Vec<u8> {
        self.shared = None;
        &mut self.own
    }

    /// Bytes that it takes.
    pub(crate) fn memory(&self) -> usize {
        if self.is_shared() { 0 } else { self.own.len() }
    }

    /// Bytes of memory that it takes, with what is free in it.
    pub(crate) fn capacity(&self) -> usize {
        self.own.capacity()
    }
}

/// Counts what a walk over the `end` usable bytes of a buffer's record area left out. An area that lacks its end was counted when
/// it was read: its last record is then not whole.
fn count_end(framed: &Framed, end: usize, cut: bool, buffer: &BufferRef, damage: &mut DamageLog) {
    let left = end - framed.at;
    if framed.bad && !cut {
        let unknown = matches!(buffer.kind, BufferKind::Unknown(_));
        let word = if unknown { kind::UNKNOWN_BUFFER_KIND } else { kind::BAD_RECORD };
        damage.add(word, buffer.offset, left as u64, || {
            let at = BUFFER_HEADER_BYTES + framed.at;
            format!("the record at {at} of the buffer is not plausible; {left} bytes are left out")
        });
    }
    if framed.zeros && !cut {
        damage.add(kind::ZEROED_REGION, buffer.offset, left as u64, || {
            format!("{left} bytes of the buffer's valid data are zeros instead of records")
        });
    }
    if framed.skipped > 0 {
        damage.add_many(kind::UNKNOWN_RECORD, framed.skipped, buffer.offset, 0, || {
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
    /// Replaces `content` by that of `buffer`. What cannot be used is counted in `damage`; `input` is scratch space.
    pub(crate) fn load(self, buffer: &BufferRef, input: &mut Vec<u8>, content: &mut Content, damage: &mut DamageLog) {
        content.entries.clear();
        let end = if buffer.kind == BufferKind::PackedSwitches {
            damage.add(kind::UNKNOWN_BUFFER_KIND, buffer.offset, u64::from(buffer.size), || {
                "a buffer of packed context switches cannot be decoded".to_owned()
            });
            None
        } else if !buffer.kind.has_records() {
            None
        } else if buffer.is_compressed() {
            self.read_compressed(buffer, input, content.area.own(), damage)
        } else {
            let there = (buffer.size.max(buffer.extent) as usize).saturating_sub(BUFFER_HEADER_BYTES);
            let end = buffer.area_bytes().min(there);
            if self.share(buffer, end, &mut content.area) {
                Some(end)
            } else {
                self.read(buffer, end, SLACK, content.area.own(), damage).map(|()| end)
            }
        };
        let Some(end) = end else { return };
        let cut = end < buffer.area_bytes();
        let first_time = buffer.first_time.unwrap_or(i64::MIN);
        let framed = frame(content.area.bytes(), end, cut || !buffer.sound, first_time, &mut content.entries);
        count_end(&framed, end, cut, buffer, damage);
        if !framed.sorted {
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
        self.read(buffer, stored, 0, input, damage)?;
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
            self.read(buffer, stored, 0, input, damage)?;
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

    /// Points at the first `length` bytes behind the header, and the slack behind them, where the recording is in memory.
    fn share(self, buffer: &BufferRef, length: usize, area: &mut Area) -> bool {
        let Some(all) = self.source.mapped() else { return false };
        let start = usize::try_from(buffer.offset).ok().and_then(|start| start.checked_add(BUFFER_HEADER_BYTES));
        let Some(range) = start.and_then(|start| Some(start..start.checked_add(length)?.checked_add(SLACK)?)) else {
            return false;
        };
        let there = range.end <= all.len();
        if there {
            area.shared = Some(all.slice(range));
        }
        there
    }

    /// Reads the first `length` bytes behind the header, with `slack` bytes of room behind them.
    fn read(
        self,
        buffer: &BufferRef,
        length: usize,
        slack: usize,
        into: &mut Vec<u8>,
        damage: &mut DamageLog,
    ) -> Option<()> {
        into.resize(length + slack, 0);
        match self.source.read_at(buffer.offset + BUFFER_HEADER_BYTES as u64, into.get_mut(..length)?) {
            Ok(()) => Some(()),
            Err(error) => {
                damage.add(kind::UNREADABLE_BUFFER, buffer.offset, length as u64, || error.to_string());
                None
            }
        }
    }
}
