//! Last branch records.

use super::reader::Reader;
use super::{Payload, PayloadError};

/// LastBranchRecording 32: the last branches before the event of a time and thread, newest first.
///
/// No public recording has these events; the layout is that of Microsoft's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastBranches<'a> {
    /// Time of the event that they belong to.
    pub event_time: i64,
    /// Its process.
    pub process_id: u32,
    /// Its thread.
    pub thread_id: u32,
    /// What the processor was told to record, as `LbrFilters`.
    pub filters: u32,
    branches: &'a [u8],
    pointer_size: u8,
}

/// A branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastBranch {
    /// Address of the branch.
    pub from: u64,
    /// Address of its target.
    pub to: u64,
}

/// Bits of an address: what processors have above them are flags.
const ADDRESS_BITS: u32 = 48;

impl LastBranches<'_> {
    /// Opcode.
    pub const OPCODE: u8 = 32;
    /// Bit of the filters: the records are those of a call stack.
    pub const CALL_STACK: u32 = 0x200;

    /// The branches. A cut one at the end is left out.
    pub fn branches(&self) -> impl Iterator<Item = LastBranch> {
        let size = usize::from(self.pointer_size);
        self.branches.chunks_exact(3 * size).map(move |branch| {
            let address = |place: usize| {
                let bytes = &branch[place * size..][..size];
                let word = bytes.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
                if size == 4 { word } else { canonical(word) }
            };
            LastBranch { from: address(0), to: address(1) }
        })
    }
}

/// The address without what the processor has above it.
fn canonical(word: u64) -> u64 {
    let shift = u64::BITS - ADDRESS_BITS;
    ((word << shift).cast_signed() >> shift).cast_unsigned()
}

impl<'a> Payload<'a> for LastBranches<'a> {
    fn read(reader: &mut Reader<'a>, _: u8) -> Result<Self, PayloadError> {
        let event_time = reader.i64("time of the event")?;
        let process_id = reader.u32("process id")?;
        let thread_id = reader.u32("thread id")?;
        let filters = reader.u32("filters")?;
        let pointer_size = reader.pointer_size();
        // The branches begin at a multiple of the pointer size.
        let padding = reader.offset().next_multiple_of(pointer_size.into()) - reader.offset();
        reader.skip(padding, "padding")?;
        Ok(Self { event_time, process_id, thread_id, filters, branches: reader.rest(), pointer_size })
    }
}

#[cfg(test)]
mod tests {
    use super::{LastBranch, LastBranches};
    use crate::payload::Payload as _;

    #[test]
    fn both_pointer_sizes() {
        let head = [&0x0102_0304_0506_i64.to_le_bytes()[..], &[44, 0, 0, 0], &[48, 0, 0, 0], &[0x0c, 0, 0, 0]].concat();
        let wide = |words: [u64; 3]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let narrow = |words: [u32; 3]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let flagged = 0x8000_7ff6_0000_1000;
        let of_8 = [&head[..], &[0; 4], &wide([flagged, 0xffff_f800_0000_2000, 7]), &wide([1, 2, 0])].concat();
        let of_4 = [&head[..], &narrow([0x8000_1000, 0x2000, 7])].concat();

        let event = LastBranches::parse(&of_8, 0, 8).expect("a whole event");
        assert_eq!((event.event_time, event.process_id, event.thread_id), (0x0102_0304_0506, 44, 48));
        assert_eq!(event.filters, 0x0c);
        let expected =
            [LastBranch { from: 0x7ff6_0000_1000, to: 0xffff_f800_0000_2000 }, LastBranch { from: 1, to: 2 }];
        assert_eq!(event.branches().collect::<Vec<_>>(), expected);

        let event = LastBranches::parse(&of_4, 0, 4).expect("a whole event");
        assert_eq!(event.branches().collect::<Vec<_>>(), [LastBranch { from: 0x8000_1000, to: 0x2000 }]);

        let cut = LastBranches::parse(&of_8[..of_8.len() - 1], 0, 8).expect("an event with a cut branch");
        assert_eq!(cut.branches().count(), 1);
        for length in 0..24 {
            assert!(LastBranches::parse(&of_8[..length], 0, 8).is_err(), "{length}");
        }
    }
}
