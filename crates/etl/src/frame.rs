//! Finds the records of a buffer. Every record is looked at here once; what comes later is a few loads.

use crate::bytes::{i64_at, u16_at, u32_at};
use crate::format::{MARKER_MESSAGE, MARKER_RECORD};
use crate::header_kind::HeaderKind;
use crate::message::Message;

/// Bytes behind the valid data of a record area, so that the hot loop can read a whole header without looking at the end.
pub(crate) const SLACK: usize = 32;

/// With so many bytes at hand, a record that does not fit is not a record.
const MAX_RECORD: usize = 1 << 16;

/// Where a record lies, in eight bytes: offset / 8 (21 bits), size (16), header kind (4), slot of the buffer (23).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) time: i64,
    place: u64,
}

impl Entry {
    const SIZE_SHIFT: u32 = 21;
    const KIND_SHIFT: u32 = 37;
    const KIND_BITS: u64 = 15 << Self::KIND_SHIFT;
    const SLOT_SHIFT: u32 = 41;
    /// Slots that fit.
    pub(crate) const MAX_SLOTS: usize = 1 << 23;

    #[inline]
    pub(crate) const fn new(time: i64, offset: usize, size: u64, kind: u64) -> Self {
        Self { time, place: (offset as u64 >> 3) | (size << Self::SIZE_SHIFT) | (kind << Self::KIND_SHIFT) }
    }

    #[inline]
    pub(crate) const fn in_slot(self, slot: u64) -> Self {
        Self { time: self.time, place: self.place | (slot << Self::SLOT_SHIFT) }
    }

    #[inline]
    pub(crate) const fn slot(self) -> usize {
        (self.place >> Self::SLOT_SHIFT) as usize
    }

    #[inline]
    pub(crate) const fn offset(self) -> usize {
        ((self.place & ((1 << Self::SIZE_SHIFT) - 1)) << 3) as usize
    }

    #[inline]
    pub(crate) const fn size(self) -> usize {
        ((self.place >> Self::SIZE_SHIFT) & 0xffff) as usize
    }

    #[inline]
    pub(crate) const fn kind(self) -> HeaderKind {
        HeaderKind::from_number(self.place >> Self::KIND_SHIFT)
    }

    /// The same record, elsewhere.
    #[inline]
    pub(crate) const fn moved(self, offset: usize) -> Self {
        Self::new(self.time, offset, self.size() as u64, (self.place >> Self::KIND_SHIFT) & 15)
    }
}

/// How to read a header of a given type: `offset of the time | header bytes << 8`, and the kind where an [`Entry`] has it. An
/// unknown type demands more bytes than a record can have.
const LAYOUTS: [u64; 32] = {
    let mut table = [(MAX_RECORD as u64 * 2) << 8; 32];
    let mut header_type = 0;
    while header_type < 32 {
        if let Some(kind) = kind_of_type(header_type) {
            let time_at = if matches!(kind, HeaderKind::PerfInfo32 | HeaderKind::PerfInfo64) { 8 } else { 16 };
            table[header_type] = time_at | (kind.header_bytes() as u64) << 8 | (kind as u64) << Entry::KIND_SHIFT;
        }
        header_type += 1;
    }
    table
};

/// The bits of a record's first word that are the same in every record with a known header type: the flags, and the upper bits
/// of the type.
const MARKER_BITS: u64 = 0xffe0_0000;
const MARKER: u64 = (MARKER_RECORD as u64) << 24;

/// Header types whose size stands at offset 4, one bit each; that of the others stands at 0.
const SIZE_AT_4: u32 = {
    let mut bits = 0;
    let mut header_type = 0;
    while header_type < 32 {
        if let Some(kind) = kind_of_type(header_type) {
            bits |= (kind.is_kernel() as u32) << header_type;
        }
        header_type += 1;
    }
    bits
};

const fn kind_of_type(header_type: usize) -> Option<HeaderKind> {
    HeaderKind::from_marker((header_type as u32) << 16 | (MARKER_RECORD as u32) << 24)
}

/// Header types that are not used or say nothing: reserved ones and "error while logging". They are skipped by their size.
const SKIPPED: [u8; 3] = [0x0c, 0x0d, 0x0e];

/// How a walk over the records of an area ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framed {
    /// Where it ended.
    pub(crate) at: usize,
    /// It ended at something that is neither a record nor filler.
    pub(crate) bad: bool,
    /// It ended at zeros.
    pub(crate) zeros: bool,
    /// Records that were skipped because their type is reserved.
    pub(crate) skipped: u64,
    /// Whether times never decrease.
    pub(crate) sorted: bool,
}

/// Appends the records of the first `end` bytes of `area` to `entries`, in the order of the file.
///
/// `area` must be at least [`SLACK`] longer than `end`; where it is not, nothing is found. `first_time` is the time of records
/// without one at the start. In a buffer that is known to be damaged (`doubtful`) a step back in time ends the walk: what follows
/// was not decoded right.
pub(crate) fn frame(area: &[u8], end: usize, doubtful: bool, first_time: i64, entries: &mut Vec<Entry>) -> Framed {
    let mut framed = Framed { at: 0, bad: false, zeros: false, skipped: 0, sorted: true };
    let mut last = first_time;
    // The rest of the area with its slack; where it begins follows from its length.
    let Some(mut rest) = area.get(..end + SLACK) else { return framed };
    let length = end + SLACK;
    while let Some(head) = rest.first_chunk::<24>().filter(|_| rest.len() > SLACK) {
        let at = length - rest.len();
        let word = u64::from_le_bytes(*head.first_chunk().unwrap_or(&[0; 8]));
        let header_type = (word >> 16) as u32 & 31;
        let layout = LAYOUTS[header_type as usize];
        let size = if SIZE_AT_4 >> header_type & 1 != 0 { word >> 32 } else { word } & 0xffff;
        let needed = layout >> 8 & 0xff_ffff;
        if word & MARKER_BITS != MARKER || size < needed || size as usize > rest.len() - SLACK {
            match odd(area.get(at..end).unwrap_or_default(), last, &mut framed) {
                Some(Odd::Message(size, time)) => {
                    framed.sorted &= time >= last;
                    last = time;
                    entries.push(Entry::new(time, at, size as u64, HeaderKind::Message as u64));
                    rest = rest.get(size.next_multiple_of(8)..).unwrap_or_default();
                }
                Some(Odd::Skip(size)) => rest = rest.get(size.next_multiple_of(8)..).unwrap_or_default(),
                None => break,
            }
            continue;
        }
        let time = i64_at(head, layout as usize & 0xff).unwrap_or(0);
        if time < last {
            if doubtful {
                framed.bad = true;
                break;
            }
            framed.sorted = false;
        }
        last = time;
        entries.push(Entry { time, place: at as u64 >> 3 | size << Entry::SIZE_SHIFT | layout & Entry::KIND_BITS });
        rest = rest.get((size as usize + 7) & !7..).unwrap_or_default();
    }
    framed.at = (length - rest.len()).min(end);
    framed
}

/// What stands at the start of `left`, where no record with a usual header does; `None` when it ends the walk.
#[cold]
fn odd(left: &[u8], last: i64, framed: &mut Framed) -> Option<Odd> {
    let marker = u32_at(left, 0).unwrap_or(0);
    let size = usize::from(marker as u16);
    let [_, _, header_type, flags] = marker.to_le_bytes();
    if marker == 0 || marker == u32::MAX {
        framed.zeros = marker == 0;
    } else if flags == MARKER_MESSAGE
        && let Some(message) = left.get(..size).and_then(Message::parse)
    {
        return Some(Odd::Message(size, message.time.unwrap_or(last)));
    } else if flags == MARKER_RECORD && SKIPPED.contains(&header_type) && size >= 8 && size <= left.len() {
        framed.skipped += 1;
        return Some(Odd::Skip(size));
    } else {
        framed.bad = true;
    }
    None
}

/// A record with an unusual header, by its size: a message with its time, or one to be left out.
enum Odd {
    Message(usize, i64),
    Skip(usize),
}

/// One record at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OneRecord {
    pub(crate) kind: HeaderKind,
    pub(crate) size: usize,
    /// `None` for a message without time.
    pub(crate) time: Option<i64>,
}

/// Reads the head of the record at the start of `bytes`, which need not hold the whole record.
pub(crate) fn frame_one(bytes: &[u8]) -> Option<OneRecord> {
    let kind = HeaderKind::from_marker(u32_at(bytes, 0)?)?;
    let size = usize::from(u16_at(bytes, if kind.is_kernel() { 4 } else { 0 })?);
    if size < kind.header_bytes() {
        return None;
    }
    let time = match kind {
        HeaderKind::Message => Message::parse(bytes)?.time,
        HeaderKind::PerfInfo32 | HeaderKind::PerfInfo64 => Some(i64_at(bytes, 8)?),
        _ => Some(i64_at(bytes, 16)?),
    };
    Some(OneRecord { kind, size, time })
}

#[cfg(test)]
mod tests {
    use super::{Entry, Framed, SLACK, frame};
    use crate::header_kind::HeaderKind;

    fn system(time: i64, payload: usize) -> Vec<u8> {
        let mut bytes = vec![2, 0, 2, 0xc0, 32 + payload as u8, 0, 1, 5];
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&time.to_le_bytes());
        bytes.resize((32 + payload).next_multiple_of(8), 0);
        bytes
    }

    fn message(options: u8, rest: &[u8]) -> Vec<u8> {
        let mut bytes = vec![8 + rest.len() as u8, 0, 0, 0x90, 1, 0, options, 0];
        bytes.extend_from_slice(rest);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    fn walk(mut area: Vec<u8>) -> (Framed, Vec<Entry>) {
        let end = area.len();
        area.resize(end + SLACK, 0xff);
        let mut entries = Vec::new();
        (frame(&area, end, false, 5, &mut entries), entries)
    }

    #[test]
    fn sizes_are_rounded_up_to_eight() {
        let (framed, entries) = walk([system(5, 3), system(6, 0)].concat());
        assert_eq!((framed.at, framed.bad, framed.sorted), (72, false, true));
        assert_eq!(
            entries.iter().map(|e| (e.offset(), e.size(), e.time)).collect::<Vec<_>>(),
            [(0, 35, 5), (40, 32, 6)]
        );
    }

    #[test]
    fn filler_ends_the_buffer_and_is_no_damage() {
        for filler in [0u8, 0xff] {
            let (framed, entries) = walk([system(5, 0), vec![filler; 16]].concat());
            assert_eq!((framed.bad, framed.at, entries.len()), (false, 32, 1));
        }
    }

    #[test]
    fn a_size_below_the_header_or_past_the_end_drops_the_rest() {
        for size in [0u8, 31, 33] {
            let mut bad = system(6, 0);
            bad[4] = size;
            let (framed, entries) = walk([system(5, 0), bad].concat());
            assert_eq!((framed.bad, framed.at, entries.len()), (true, 32, 1), "{size}");
        }
    }

    #[test]
    fn a_message_without_time_takes_that_of_its_neighbour() {
        let timed = [7, 0, 0, 0, 0, 0, 0, 0];
        let (framed, entries) = walk([message(0, &[]), system(5, 0), message(0, &[1]), message(8, &timed)].concat());
        assert!(framed.sorted && !framed.bad);
        assert_eq!(entries.iter().map(|e| e.time).collect::<Vec<_>>(), [5, 5, 5, 7]);
        assert_eq!(entries[0].kind(), HeaderKind::Message);
    }

    #[test]
    fn reserved_header_types_are_skipped_by_their_size() {
        let mut reserved = vec![0u8; 24];
        reserved[..4].copy_from_slice(&[20, 0, 0x0d, 0xc0]);
        let (framed, entries) = walk([reserved, system(5, 0)].concat());
        assert_eq!((framed.skipped, framed.bad, entries.len()), (1, false, 1));
    }
}
