//! Walks the buffer headers of a file, and finds the way back where one is damaged.
//!
//! A header is taken for true when its fields are plausible and the buffer's first record is. Where the chain breaks, the bytes
//! from the last good header on are searched for the next plausible one: behind the damage, but also inside the buffer before
//! it, whose size may be what is wrong. No byte is searched twice, so the time stays linear.

use std::io;

use crate::buffer::{BufferRef, Compression, FirstRecord, PROBE_BYTES, first_record};
use crate::damage::{DamageLog, kind};
use crate::format::{BUFFER_HEADER_BYTES, MAX_BUFFER, buffer_flag, buffer_header, file_mode};
use crate::header::LogfileHeader;
use crate::load::{Content, Origin};
use crate::source::ReadAt;

/// Bytes searched at once.
const WINDOW: usize = 1 << 20;
/// How far the first buffer of a file is searched for: beyond it, a file is taken for something else.
const FIRST_BUFFER_WITHIN: u64 = 4 * MAX_BUFFER as u64;

/// Bytes that belong to no buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    Zeros,
    Garbage,
}

/// The buffers of a file and what was wrong with them.
pub(crate) struct Walk<'a> {
    source: &'a dyn ReadAt,
    length: u64,
    pub(crate) compression: Compression,
    /// The session's description, if the first buffer has one.
    pub(crate) header: Option<LogfileHeader>,
    pub(crate) buffers: Vec<BufferRef>,
    pub(crate) damage: DamageLog,
    /// Buffers whose first record could not be seen without reading them whole.
    pub(crate) unclear: Vec<usize>,
}

/// A buffer header as it stands in the file, with what follows it.
struct Probe {
    buffer: BufferRef,
    first: FirstRecord,
    head: [u8; PROBE_BYTES],
}

impl Probe {
    /// The header and the first record can be true.
    fn is_plausible(&self) -> bool {
        self.buffer.is_plausible() && self.first != FirstRecord::Bad
    }
}

impl<'a> Walk<'a> {
    pub(crate) fn new(source: &'a dyn ReadAt) -> Self {
        Self {
            source,
            length: source.len(),
            compression: Compression::default(),
            header: None,
            buffers: Vec::new(),
            damage: DamageLog::default(),
            unclear: Vec::new(),
        }
    }

    /// Fails only when nothing can be read at all; an error later ends the walk and is counted.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let mut at = 0;
        // A step leads on, or back into the last buffer to the start of another one, which the next step then takes: so the
        // offsets of the buffers increase strictly, and the walk ends.
        while at < self.length {
            match self.step(at) {
                Ok(next) => at = next,
                Err(error) if self.buffers.is_empty() => return Err(error),
                Err(error) => {
                    self.damage.add(kind::UNREADABLE_BUFFER, at, self.length - at, || error.to_string());
                    break;
                }
            }
        }
        Ok(())
    }

    /// Takes the buffer at `at` and gives the offset of the next.
    fn step(&mut self, at: u64) -> io::Result<u64> {
        let left = self.length - at;
        if left < BUFFER_HEADER_BYTES as u64 {
            if !self.buffers.is_empty() {
                self.damage.add(kind::TRUNCATED_BUFFER, at, left, || {
                    format!("the file ends with {left} bytes, too few for a buffer header")
                });
            }
            return Ok(self.length);
        }
        let probe = self.probe(at)?;
        let size = u64::from(probe.buffer.size);
        // A recording begins with a record; other files may well begin with a few small numbers and zeros.
        let has_record = matches!(probe.first, FirstRecord::Plausible(_));
        if probe.is_plausible() && (has_record || !self.buffers.is_empty()) {
            return if size <= left { self.accept(probe) } else { self.accept_cut(probe, left) };
        }
        if probe.buffer.has_possible_size() && size < left && self.is_followed(at + size)? {
            return self.accept_doubtful(probe);
        }
        if probe.buffer.is_plausible() && size == left && !self.buffers.is_empty() {
            // The last buffer with a sound header; whether its content is will show when it is read.
            return self.accept(probe);
        }
        self.resynchronise(at, probe)
    }

    fn probe(&self, at: u64) -> io::Result<Probe> {
        let mut head = [0; PROBE_BYTES];
        let there = (self.length - at).min(PROBE_BYTES as u64) as usize;
        let (filled, _) = head.split_at_mut(there);
        self.source.read_at(at, filled)?;
        let buffer = BufferRef::read(filled, at).ok_or(io::ErrorKind::UnexpectedEof)?;
        let first = first_record(&buffer, self.compression, filled);
        Ok(Probe { buffer, first, head })
    }

    /// Whether a plausible buffer begins at `at`.
    fn is_followed(&self, at: u64) -> io::Result<bool> {
        if self.length - at < BUFFER_HEADER_BYTES as u64 {
            return Ok(false);
        }
        Ok(self.probe(at)?.is_plausible())
    }

    fn accept(&mut self, probe: Probe) -> io::Result<u64> {
        let Probe { mut buffer, first, head } = probe;
        buffer.first_time = match first {
            FirstRecord::Plausible(record) if record.time.is_some() => record.time,
            FirstRecord::None => None,
            FirstRecord::Plausible(_) | FirstRecord::Bad => {
                self.unclear.push(self.buffers.len());
                None
            }
        };
        self.buffers.push(buffer);
        if self.buffers.len() == 1 && !buffer.is_compressed() {
            self.read_session(&buffer, &head);
        }
        Ok(buffer.offset + u64::from(buffer.size))
    }

    /// A plausible buffer that is longer than the file: cut off, unless its size is wrong and another buffer begins inside.
    fn accept_cut(&mut self, mut probe: Probe, left: u64) -> io::Result<u64> {
        let stated = probe.buffer.size;
        let at = probe.buffer.offset;
        let next = self.find_header(at + BUFFER_HEADER_BYTES as u64, self.length)?;
        let size = next.map_or(left, |next| next - at);
        probe.buffer.size = size.min(u64::from(MAX_BUFFER)) as u32;
        probe.buffer.extent = probe.buffer.size;
        probe.buffer.sound = false;
        let missing = u64::from(stated) - size;
        match next {
            Some(_) => self.size_was_wrong(at, stated, size),
            None => self.damage.add(kind::TRUNCATED_BUFFER, at, missing, || {
                format!("the file ends {missing} bytes before the end of the buffer")
            }),
        }
        self.accept(probe)
    }

    /// A buffer with an implausible header or first record, whose size leads to the next buffer and so is right.
    fn accept_doubtful(&mut self, mut probe: Probe) -> io::Result<u64> {
        if !probe.buffer.is_plausible() {
            let buffer = &mut probe.buffer;
            self.damage.add(kind::BAD_BUFFER_HEADER, buffer.offset, 0, || {
                "fields of the buffer header are not plausible; its size is, and its records are read as far as they go"
                    .to_owned()
            });
            buffer.sound = false;
            buffer.flags &= buffer_flag::ALL;
            if buffer.valid_end > MAX_BUFFER || (!buffer.is_compressed() && buffer.valid_end > buffer.size) {
                buffer.valid_end = if buffer.is_compressed() { MAX_BUFFER } else { buffer.size };
            }
            // Its first record was judged with the header's fields.
            probe.first = FirstRecord::Bad;
        }
        self.accept(probe)
    }

    /// Searches on from the last good header. `probe` is what stands at `at`.
    fn resynchronise(&mut self, at: u64, mut probe: Probe) -> io::Result<u64> {
        let last = self.buffers.last().filter(|last| last.offset + u64::from(last.size) == at).copied();
        let from = last.map_or(at + 1, |last| last.offset + BUFFER_HEADER_BYTES as u64);
        let limit = if self.buffers.is_empty() { FIRST_BUFFER_WITHIN.min(self.length) } else { self.length };
        let found = self.find_header(from, limit)?;
        if let (Some(found), Some(last)) = (found.filter(|found| *found < at), last) {
            let size = found - last.offset;
            self.size_was_wrong(last.offset, last.size, size);
            if let Some(last) = self.buffers.last_mut() {
                last.size = size as u32;
                last.extent = last.size;
                last.sound = false;
            }
            return Ok(found);
        }
        if found.is_none() && self.buffers.is_empty() {
            return Ok(self.length);
        }
        let next = found.unwrap_or(self.length);
        let gap = next - at;
        let stated = probe.buffer.size;
        probe.buffer.size = gap.min(u64::from(MAX_BUFFER)) as u32;
        if probe.buffer.is_plausible() && matches!(probe.first, FirstRecord::Plausible(_)) {
            // Only the size is wrong.
            probe.buffer.extent = probe.buffer.size;
            probe.buffer.sound = false;
            self.size_was_wrong(at, stated, gap);
            self.accept(probe)?;
            return Ok(next);
        }
        let mut head = probe.head.iter().take(gap.min(BUFFER_HEADER_BYTES as u64) as usize);
        let content = if head.all(|byte| *byte == 0) { Gap::Zeros } else { Gap::Garbage };
        if let Some(last) =
            self.buffers.last_mut().filter(|_| last.is_some() && found.is_some() && content != Gap::Zeros)
        {
            // Part of the gap may belong to the buffer before it.
            let extent = next - last.offset;
            if extent <= u64::from(MAX_BUFFER) {
                last.extent = extent as u32;
            }
        }
        self.count_gap(content, at, next, found);
        Ok(next)
    }

    fn size_was_wrong(&mut self, at: u64, stated: u32, size: u64) {
        self.damage.add(kind::BAD_BUFFER_HEADER, at, 0, || {
            format!("the header states a size of {stated} bytes, but the next buffer begins after {size}")
        });
    }

    /// Counts bytes that belong to no buffer, up to `next`: a buffer that was found there, or the end of the file.
    fn count_gap(&mut self, gap: Gap, at: u64, next: u64, found: Option<u64>) {
        let bytes = next - at;
        let behind = if found.is_some() { "up to the next buffer" } else { "up to the end of the file" };
        match gap {
            Gap::Zeros => {
                let mode = self.header.as_ref().map_or(0, |header| header.log_file_mode);
                if found.is_none() && mode & (file_mode::PREALLOCATE | file_mode::CIRCULAR) != 0 {
                    // Such a file has its full size from the start; this part was never reached.
                    return;
                }
                self.damage.add(kind::ZEROED_REGION, at, bytes, || {
                    format!("zeros instead of a buffer; {bytes} bytes left out {behind}")
                });
            }
            Gap::Garbage => self.damage.add(kind::BAD_BUFFER_HEADER, at, bytes, || {
                format!("no plausible buffer header; {bytes} bytes left out {behind}")
            }),
        }
    }

    /// The next offset in `from..limit` at which a plausible buffer with at least one record begins.
    fn find_header(&self, mut from: u64, limit: u64) -> io::Result<Option<u64>> {
        let mut window = Vec::new();
        while from < limit {
            let length = (self.length - from).min((WINDOW + PROBE_BYTES) as u64) as usize;
            window.resize(length, 0);
            self.source.read_at(from, &mut window)?;
            let candidates = length.saturating_sub(BUFFER_HEADER_BYTES).min(WINDOW);
            for at in 0..candidates {
                if from + at as u64 >= limit {
                    return Ok(None);
                }
                let Some(head) = window.get(at..length.min(at + PROBE_BYTES)) else { break };
                if !may_be_header(head) {
                    continue;
                }
                let Some(buffer) = BufferRef::read(head, from + at as u64) else { break };
                if buffer.is_plausible()
                    && matches!(first_record(&buffer, self.compression, head), FirstRecord::Plausible(_))
                {
                    return Ok(Some(from + at as u64));
                }
            }
            if candidates < WINDOW {
                break;
            }
            from += candidates as u64;
        }
        Ok(None)
    }

    /// Takes the session's description out of the first buffer.
    fn read_session(&mut self, buffer: &BufferRef, head: &[u8]) {
        if let Some(format) = crate::bytes::u16_at(head, buffer_header::STATE) {
            self.compression = Compression::from_number(format);
        }
        let mut content = Content::default();
        let origin = Origin { source: self.source, compression: self.compression };
        // Damage of this buffer is counted when its records are read.
        origin.load(buffer, &mut Vec::new(), &mut content, &mut DamageLog::default());
        self.header = content
            .entries
            .iter()
            .filter_map(|entry| content.record(*entry, buffer.cpu, 0))
            .find_map(|record| LogfileHeader::from_record(&record));
    }
}

/// A test that nearly all bytes fail: no unknown flags, and the upper bytes of size, sequence, end and kind are zero or nearly so.
#[inline]
fn may_be_header(head: &[u8]) -> bool {
    let Some(head) = head.first_chunk::<BUFFER_HEADER_BYTES>() else { return false };
    head[buffer_header::KIND + 1] == 0
        && head[buffer_header::KIND] < 8
        && u16::from_le_bytes([head[buffer_header::FLAGS], head[buffer_header::FLAGS + 1]]) & !buffer_flag::ALL == 0
        && head[buffer_header::SIZE + 3] < 2
        && head[buffer_header::OFFSET + 3] < 2
        && head[buffer_header::SEQUENCE + 7] == 0
        && head[buffer_header::SEQUENCE + 6] == 0
        && head[buffer_header::SEQUENCE + 5] == 0
        && head[buffer_header::SIZE..buffer_header::SIZE + 3] != [0; 3]
}

#[cfg(test)]
mod tests {
    use super::may_be_header;

    #[test]
    fn zeros_and_text_are_no_header() {
        assert!(!may_be_header(&[0; 72]));
        assert!(!may_be_header(&[b'a'; 72]));
        assert!(!may_be_header(&[0xff; 72]));
    }
}
