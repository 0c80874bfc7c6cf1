//! The records of a recording in the order of the file.

use std::io::Read;
use std::sync::Arc;

use linux_perf_event_reader::Endianness;

use super::inflate::Inflate;
use super::stop::Stop;
use super::walk::Walk;
use super::window::{MAX_RECORD, Window};
use crate::cursor::Cursor;
use crate::damage::{DamageLog, kind};
use crate::error::Error;
use crate::header::{PIPE_LENGTH, Start};
use crate::kind::{FIRST_USER, Kind, OLD_FEATURES};
use crate::metadata::{Metadata, Mode};
use crate::record::{HEADER_LENGTH, Head, NO_TIME, Record};
use crate::source::{Input, ReadAt};

/// Bytes of tracing data that are read; with all formats and all of /proc/kallsyms they are some 20 MiB.
pub(crate) const MAX_TRACING_DATA: usize = 64 << 20;

/// Walks over the records in the order of the file. Records inside of a compressed record follow
/// it. [`Records::metadata`] includes the facts of a record when the record is returned.
pub struct Records {
    window: Window,
    metadata: Arc<Metadata>,
    inflate: Option<Inflate>,
    /// Compressed bytes of the current outer record, as a range of it: where to go on, and the end.
    piece: Option<(usize, usize)>,
    current: Current,
    /// What is known of the current record.
    head: Head,
    /// Bytes of the current outer record.
    outer: usize,
    after: After,
    /// Whether numbers from 69 on are features; `None` until the first of them was seen.
    old_numbers: Option<bool>,
    /// Whether the walk ends before the first record that later ones are read by.
    plain: bool,
    stop: Option<Stop>,
    damage: DamageLog,
}

/// Which record is the current one.
#[derive(Clone, Copy, Debug)]
enum Current {
    None,
    Outer,
    Nested,
}

/// Data after an outer record that are no record.
#[derive(Clone, Copy, Debug)]
enum After {
    Nothing,
    Skip { size: u64, offset: u64 },
    TracingData { size: u64, offset: u64 },
}

impl Records {
    pub(crate) fn new(input: Input, start: u64, end: u64, metadata: Arc<Metadata>) -> Self {
        let old_numbers = (metadata.mode == Mode::File).then_some(false);
        Self {
            window: Window::new(input, start, end),
            metadata,
            inflate: None,
            piece: None,
            current: Current::None,
            head: Head::of_user(Kind::Other(0), 0, 0, start),
            outer: 0,
            after: After::Nothing,
            old_numbers,
            plain: false,
            stop: None,
            damage: DamageLog::default(),
        }
    }

    /// Reads a recording from a stream, such as standard input. Events and features are known after
    /// their records.
    ///
    /// # Errors
    /// [`Error::NotAStream`]: the recording has the format of a file, which needs reads at any
    /// position.
    pub fn from_stream(mut stream: impl Read + Send + 'static) -> Result<Self, Error> {
        let mut start = Vec::new();
        stream.by_ref().take(PIPE_LENGTH as u64).read_to_end(&mut start)?;
        if start.is_empty() {
            return Err(Error::Empty);
        }
        let Start { endian, mode } = Start::parse(&start)?;
        if mode == Mode::File {
            return Err(Error::NotAStream);
        }
        let metadata = Arc::new(Metadata::new(mode, endian));
        Ok(Self::new(Input::Stream(Box::new(stream)), PIPE_LENGTH as u64, u64::MAX, metadata))
    }

    /// What is known of the recording so far.
    #[must_use]
    pub fn metadata(&self) -> &Arc<Metadata> {
        &self.metadata
    }

    /// What could not be read so far.
    #[must_use]
    pub fn damage(&self) -> &DamageLog {
        &self.damage
    }

    /// Why the walk ended before its data, if it did.
    #[must_use]
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// Bytes of the file or stream that were walked over, for progress.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.window.offset()
    }

    /// The next record.
    #[expect(clippy::should_implement_trait, reason = "the record borrows from the reader")]
    #[inline]
    pub fn next(&mut self) -> Option<Record<'_>> {
        self.advance();
        self.current()
    }

    /// Moves to the next record; see [`Records::current`].
    pub fn advance(&mut self) -> bool {
        match self.current {
            Current::Nested => {
                if let Some(inflate) = &mut self.inflate {
                    inflate.consume(self.head.size.into());
                }
            }
            Current::Outer if self.piece.is_none() => self.finish_outer(),
            Current::Outer | Current::None => {}
        }
        self.current = Current::None;
        if self.piece.is_some() {
            if self.next_nested() {
                return true;
            }
            self.piece = None;
            self.finish_outer();
        }
        self.stop.is_none() && self.next_outer()
    }

    /// The record that [`Records::advance`] moved to.
    #[must_use]
    #[inline]
    pub fn current(&self) -> Option<Record<'_>> {
        let bytes = match self.current {
            Current::None => return None,
            Current::Outer => self.window.bytes(),
            Current::Nested => self.inflate.as_ref().map(Inflate::bytes).unwrap_or_default(),
        };
        let body = bytes.get(HEADER_LENGTH..self.head.size.into()).unwrap_or_default();
        Some(Record::new(&self.head, body, &self.metadata.events))
    }

    /// Moves behind the outer record and what belongs to it.
    fn finish_outer(&mut self) {
        self.window.consume(self.outer);
        match std::mem::replace(&mut self.after, After::Nothing) {
            After::Nothing => {}
            After::Skip { size, offset } => {
                if self.window.skip(size) < size {
                    self.halt(Stop::DataPastTheEnd { size, kind: Kind::Auxtrace.number(), offset });
                }
            }
            After::TracingData { size, offset } => {
                let bytes = self.window.take(usize::try_from(size).unwrap_or(usize::MAX).min(MAX_TRACING_DATA));
                let more = size - bytes.len() as u64;
                Arc::make_mut(&mut self.metadata).tracing_data(&bytes, offset, &mut self.damage);
                if self.window.skip(more) < more {
                    self.halt(Stop::DataPastTheEnd { size, kind: Kind::TracingData.number(), offset });
                }
            }
        }
    }

    fn halt(&mut self, stop: Stop) {
        let stop = match self.window.take_error() {
            Some(error) => {
                self.damage.add(kind::UNREADABLE, stop.offset(), || error.to_string());
                Stop::Unreadable { reason: error.to_string(), offset: stop.offset() }
            }
            None => stop,
        };
        self.damage.add(kind::WALK_STOPPED, stop.offset(), || stop.to_string());
        self.stop = Some(stop);
    }

    fn next_outer(&mut self) -> bool {
        let there = self.window.fill(HEADER_LENGTH);
        let offset = self.window.offset();
        let endian = self.metadata.endian;
        let Some((kind, misc, size)) = header(self.window.bytes(), endian) else {
            if let Some(error) = self.window.take_error() {
                let reason = error.to_string();
                self.damage.add(kind::UNREADABLE, offset, || reason.clone());
                self.stop = Some(Stop::Unreadable { reason, offset });
            } else if there > 0 {
                self.halt(Stop::Trailing { bytes: there, offset });
            }
            let left = self.inflate.as_mut().map_or(0, Inflate::give_up);
            if left > 0 {
                self.damage.add(kind::UNDECODABLE, offset, || format!("{left} bytes begin a record that never ends"));
            }
            return false;
        };
        if usize::from(size) < HEADER_LENGTH {
            self.halt(Stop::Size { size, kind, offset });
            return false;
        }
        if self.window.fill(size.into()) < size.into() {
            self.halt(Stop::PastTheEnd { size, kind, offset });
            return false;
        }
        self.outer = size.into();
        let body = self.window.bytes().get(HEADER_LENGTH..size.into()).unwrap_or_default();
        let number = kind;
        let kind = match self.old_numbers {
            Some(false) => Kind::of(number),
            _ if !OLD_FEATURES.contains(&number) => Kind::of(number),
            known => {
                let old = known.unwrap_or_else(|| is_old_hostname(number, body, endian));
                self.old_numbers = Some(old);
                if old { Kind::old_feature(number) } else { Kind::of(number) }
            }
        };
        self.head = if number < FIRST_USER {
            self.metadata.head(kind, misc, size, offset, body, &mut self.damage)
        } else if self.plain && explains(kind) {
            return false;
        } else {
            self.after_user_record(kind, misc, offset);
            Head::of_user(kind, misc, size, offset)
        };
        self.current = Current::Outer;
        true
    }

    /// Takes what a record of perf itself says about the recording, and about the bytes behind it.
    fn after_user_record(&mut self, kind: Kind, misc: u16, offset: u64) {
        let body = self.window.bytes().get(HEADER_LENGTH..self.outer).unwrap_or_default();
        let mut at = Cursor::new(body, self.metadata.endian);
        match kind {
            Kind::Auxtrace => self.after = After::Skip { size: at.u64("").unwrap_or(0), offset },
            Kind::TracingData => {
                self.after = After::TracingData { size: at.u32("").unwrap_or(0).into(), offset };
            }
            Kind::Compressed => self.begin_piece(HEADER_LENGTH, self.outer),
            Kind::Compressed2 => match at.u64("size") {
                Ok(length) if length <= at.rest().len() as u64 => {
                    self.begin_piece(HEADER_LENGTH + 8, HEADER_LENGTH + 8 + length as usize);
                }
                _ => self.damage.add(kind::SHORT_RECORD, offset, || "COMPRESSED2: more data than record".to_owned()),
            },
            kind if Metadata::concerns(kind) => {
                Arc::make_mut(&mut self.metadata).apply(kind, misc, body, offset, &mut self.damage);
            }
            _ => {}
        }
    }

    fn begin_piece(&mut self, start: usize, end: usize) {
        if self.inflate.is_none() {
            match Inflate::new() {
                Ok(inflate) => self.inflate = Some(inflate),
                Err(error) => self.damage.add(kind::UNDECODABLE, self.window.offset(), || error.to_string()),
            }
        }
        if let Some(inflate) = &mut self.inflate {
            inflate.next_piece();
            self.piece = Some((start, end));
        }
    }

    /// Finds the next record in decompressed bytes; `false` when the piece has no whole one left.
    fn next_nested(&mut self) -> bool {
        let (Some(inflate), Some((from, to))) = (&mut self.inflate, &mut self.piece) else { return false };
        let offset = self.window.offset();
        let endian = self.metadata.endian;
        loop {
            let (wanted, found) = match header(inflate.bytes(), endian) {
                Some((_, _, size)) if usize::from(size) < HEADER_LENGTH => {
                    self.damage.add(kind::UNDECODABLE, offset, || format!("record size {size} in compressed data"));
                    inflate.give_up();
                    return false;
                }
                Some(found @ (_, _, size)) => (usize::from(size), Some(found)),
                None => (HEADER_LENGTH, None),
            };
            if let Some((number, misc, size)) = found.filter(|_| inflate.bytes().len() >= wanted) {
                let body = inflate.bytes().get(HEADER_LENGTH..wanted).unwrap_or_default();
                let kind = Kind::of(number);
                self.head = if number < FIRST_USER {
                    self.metadata.head(kind, misc, size, offset, body, &mut self.damage)
                } else {
                    Head::of_user(kind, misc, size, offset)
                };
                self.head.nested = true;
                self.current = Current::Nested;
                return true;
            }
            let before = inflate.bytes().len();
            let piece = self.window.bytes().get(*from..*to).unwrap_or_default();
            match inflate.fill(piece, wanted.min(MAX_RECORD)) {
                Ok(used) => *from += used,
                Err(error) => {
                    self.damage.add(kind::UNDECODABLE, offset, || error.to_string());
                    inflate.give_up();
                    return false;
                }
            }
            if inflate.bytes().len() == before {
                return false;
            }
        }
    }

    /// A second walk over what lies behind a record further on, whose place is to be found by `find` from the source, the place of
    /// the current record and the end. It ends before the first record by which others are read. `None` where there is none.
    pub(super) fn further_on(
        &self,
        find: impl FnOnce(&dyn ReadAt, u64, u64, &Metadata) -> Option<u64>,
    ) -> Option<Self> {
        let (source, end) = (self.window.source().filter(|_| self.inflate.is_none())?, self.window.limit());
        let start = find(&**source, self.window.offset(), end, &self.metadata)?;
        let further = Self::new(Input::At(Arc::clone(source)), start, end, Arc::clone(&self.metadata));
        Some(Self { plain: true, ..further })
    }

    /// Goes on where a walk that began at the current record has ended.
    pub(super) fn go_on_behind(&mut self, further: Self) {
        let Self { window, stop, damage, .. } = further;
        self.window = window;
        self.stop = stop;
        self.damage.extend(damage);
        (self.current, self.piece, self.after) = (Current::None, None, After::Nothing);
    }

    /// Offset at which the data ends, when that is known.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        (self.window.limit() != u64::MAX).then(|| self.window.limit())
    }
}

impl Metadata {
    /// Reads the common fields of a record of the kernel.
    #[inline]
    fn head(&self, kind: Kind, misc: u16, size: u16, offset: u64, body: &[u8], damage: &mut DamageLog) -> Head {
        let sample = kind == Kind::Sample;
        let resolved = self.events.resolve(body, sample);
        let layout = self.events.layout(resolved.layout);
        let mut time = layout.time(body, sample).filter(|&time| time != 0).unwrap_or(NO_TIME);
        if time == NO_TIME && layout.tail_length() == 0 {
            time = own_time(kind, body, self.endian);
        }
        if !layout.fits(body, sample) {
            damage.add(kind::SHORT_RECORD, offset, || format!("{kind:?} of {size} bytes"));
        } else if sample && resolved.event.is_none() {
            damage.add(kind::UNKNOWN_EVENT, offset, || match resolved.id {
                Some(id) => format!("a sample of id {id}"),
                None => "a sample without id".to_owned(),
            });
        }
        Head { kind, misc, size, nested: false, event: resolved.event, layout: resolved.layout, time, offset }
    }
}

impl Walk for Records {
    #[inline]
    fn advance(&mut self) -> bool {
        Records::advance(self)
    }

    #[inline]
    fn current(&self) -> Option<Record<'_>> {
        Records::current(self)
    }

    fn metadata(&self) -> &Arc<Metadata> {
        Records::metadata(self)
    }

    fn damage(&self) -> &DamageLog {
        Records::damage(self)
    }

    fn damage_mut(&mut self) -> &mut DamageLog {
        &mut self.damage
    }

    fn stop(&self) -> Option<&Stop> {
        Records::stop(self)
    }

    fn position(&self) -> u64 {
        Records::position(self)
    }
}

/// Whether later records are read by this one.
pub(super) fn explains(kind: Kind) -> bool {
    Metadata::concerns(kind) || matches!(kind, Kind::TracingData | Kind::Compressed | Kind::Compressed2)
}

/// The time in a record's own fields, for recordings whose records have no common ones.
fn own_time(kind: Kind, body: &[u8], endian: Endianness) -> u64 {
    let at = match kind {
        Kind::Fork | Kind::Exit => 16,
        Kind::Throttle | Kind::Unthrottle => 0,
        _ => return NO_TIME,
    };
    let time = Cursor::new(body.get(at..).unwrap_or_default(), endian).u64("time");
    time.ok().filter(|&time| time != 0).unwrap_or(NO_TIME)
}

/// Type number, misc and size.
#[inline]
pub(super) fn header(bytes: &[u8], endian: Endianness) -> Option<(u32, u16, u16)> {
    let mut at = Cursor::new(bytes, endian);
    Some((at.u32("").ok()?, at.u16("").ok()?, at.u16("").ok()?))
}

/// Streams from before Linux 3.3's perf reached mainline begin with the machine's name as record 69: a length and so many
/// bytes. As an `ID_INDEX`, which mainline gave the number to, it would be a count of 32-byte entries: never of that length.
fn is_old_hostname(number: u32, body: &[u8], endian: Endianness) -> bool {
    let length = Cursor::new(body, endian).u32("");
    number == *OLD_FEATURES.start() && length.is_ok_and(|length| length as usize + 4 == body.len())
}
