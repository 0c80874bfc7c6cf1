//! The place of code: from the addresses of a binary's linker to offsets in the file.
//!
//! Recorders know what was mapped by file and offset, so tables do, too; symbols and debug information speak of addresses. Between them
//! stand the program headers of the binary that was mapped. Of a file that holds the debug information alone, `eu-strip` keeps these headers
//! as they were, but `objcopy --only-keep-debug` writes new ones that describe what is left; sections have wrong offsets in both.
//! So the binary's own headers are used where it is at hand, else the file's own if they speak of contents, else
//! they are laid out again as linkers do it: one segment behind the other, each at the next offset that agrees with its address modulo
//! its alignment. That holds as long as no segment that shrinks in the file (a writable one) comes first.

use super::file::{Section, Segment};

/// A stretch of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    start: u64,
    end: u64,
    offset: u64,
}

/// The code of a binary.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    /// In the order of their addresses, without overlap.
    pieces: Vec<Piece>,
}

impl Code {
    /// The code in executable sections, as far as segments map it. `None` where nothing tells where it was mapped from.
    ///
    /// Functions that the linker left out lie at address 0 or thereabouts, which may well be inside a segment, but in no section.
    pub(super) fn new(segments: &[Segment], sections: &[Section]) -> Option<Self> {
        let mut segments = segments.to_vec();
        segments.sort_by_key(|segment| segment.address);
        if segments.iter().any(|segment| segment.executable && segment.file_size == 0 && segment.size > 0) {
            lay_out(&mut segments)?;
        }
        let mut sections: Vec<(u64, u64)> = sections
            .iter()
            .filter(|section| section.is_code())
            .map(|section| (section.address, section.address.saturating_add(section.size)))
            .collect();
        if sections.is_empty() {
            sections.push((0, u64::MAX));
        }
        sections.sort_unstable();
        let mut reached = 0;
        sections.retain_mut(|(start, end)| {
            *start = (*start).max(reached);
            reached = reached.max(*end);
            start < end
        });
        let mut pieces = Vec::new();
        let (mut from, mut reached) = (0, 0);
        for segment in segments.iter().filter(|segment| segment.executable) {
            let (begin, end) = (segment.address.max(reached), segment.address.saturating_add(segment.size));
            while sections.get(from).is_some_and(|section| section.1 <= begin) {
                from += 1;
            }
            for section in sections[from..].iter().take_while(|section| section.0 < end) {
                let (start, end) = (section.0.max(begin), section.1.min(end));
                if start < end {
                    pieces.push(Piece { start, end, offset: segment.offset.wrapping_add(start - segment.address) });
                    reached = end;
                }
            }
        }
        Some(Self { pieces })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The offsets of the code from `start` to `end`, cut where the section ends; `None` if no code begins there.
    pub(super) fn offsets(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let piece = self.piece(start)?;
        let offset = piece.offset.checked_add(start - piece.start)?;
        let length = end.min(piece.end).checked_sub(start).filter(|length| *length > 0)?;
        Some((offset, offset.checked_add(length)?))
    }

    /// Where the section ends that an address lies in.
    pub(super) fn end(&self, address: u64) -> Option<u64> {
        self.piece(address).map(|piece| piece.end)
    }

    fn piece(&self, address: u64) -> Option<&Piece> {
        let after = self.pieces.partition_point(|piece| piece.start <= address);
        self.pieces.get(after.checked_sub(1)?).filter(|piece| address < piece.end)
    }
}

/// Gives segments the offsets that they had before their contents were taken out.
fn lay_out(segments: &mut [Segment]) -> Option<()> {
    let mut end = 0_u64;
    for segment in segments {
        if segment.align > 1 {
            segment.offset = end.checked_add(segment.address.wrapping_sub(end) % segment.align)?;
        } else {
            segment.offset = end;
        }
        end = segment.offset.checked_add(segment.size)?;
        if segment.executable {
            return Some(());
        }
        if segment.writable {
            return None;
        }
    }
    None
}
