//! Branch stacks (LBR and its like): the last taken branches before a sample, newest first.

use linux_perf_event_reader::{BranchSampleFormat, Endianness};

use super::words::Words;
use crate::cursor::Cursor;
use crate::error::Malformed;
use crate::layout::Layout;

/// `PERF_SAMPLE_BRANCH_COUNTERS`, newer than the library that names the other bits.
const COUNTERS: u64 = 1 << 19;
/// From, to and flags.
const ENTRY_LENGTH: u64 = 24;

/// The branches of a sample.
#[derive(Clone, Copy, Debug)]
pub struct BranchStack<'a> {
    /// Where the newest entry stands in the hardware's ring, if that was recorded and is known.
    pub hardware_index: Option<u64>,
    /// Event counts between branches, one word per entry, if recorded.
    pub counters: Option<Words<'a>>,
    entries: Words<'a>,
}

impl<'a> BranchStack<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>, layout: &Layout) -> Result<Self, Malformed> {
        let count = at.u64("number of branches")?;
        let hardware_index = if layout.branch_format.contains(BranchSampleFormat::HW_INDEX) {
            Some(at.u64("branch index")?).filter(|&index| index != u64::MAX)
        } else {
            None
        };
        let entries = at.take_u64(count.saturating_mul(ENTRY_LENGTH), "branches")?;
        let counters = if layout.branch_format.bits() & COUNTERS != 0 {
            Some(Words::new(at.take_u64(count.saturating_mul(8), "branch counters")?, at.endian()))
        } else {
            None
        };
        Ok(Self { hardware_index, counters, entries: Words::new(entries, at.endian()) })
    }

    /// Entries in total.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() / 3
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries, newest first.
    #[must_use]
    pub fn entries(&self) -> BranchEntries<'a> {
        BranchEntries { words: self.entries, next: 0 }
    }
}

/// Walks over a branch stack.
#[derive(Clone, Debug)]
pub struct BranchEntries<'a> {
    words: Words<'a>,
    next: usize,
}

impl Iterator for BranchEntries<'_> {
    type Item = BranchEntry;

    fn next(&mut self) -> Option<BranchEntry> {
        let entry = BranchEntry {
            from: self.words.get(self.next)?,
            to: self.words.get(self.next + 1)?,
            flags: self.words.get(self.next + 2)?,
            endian: self.words.endian(),
        };
        self.next += 3;
        Some(entry)
    }
}

/// One branch (`perf_branch_entry`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchEntry {
    /// Address of the branch.
    pub from: u64,
    /// Address of its target.
    pub to: u64,
    /// The flags as recorded; see the functions.
    pub flags: u64,
    endian: Endianness,
}

impl BranchEntry {
    /// A bit field of the flags: a big-endian compiler lays fields out from the other end.
    fn field(&self, at: u32, width: u32) -> u64 {
        let shift = match self.endian {
            Endianness::LittleEndian => at,
            Endianness::BigEndian => 64 - at - width,
        };
        self.flags >> shift & ((1 << width) - 1)
    }

    /// The target was mispredicted.
    #[must_use]
    pub fn mispredicted(&self) -> bool {
        self.field(0, 1) != 0
    }

    /// The target was predicted.
    #[must_use]
    pub fn predicted(&self) -> bool {
        self.field(1, 1) != 0
    }

    /// Inside a hardware transaction.
    #[must_use]
    pub fn in_transaction(&self) -> bool {
        self.field(2, 1) != 0
    }

    /// Aborted a hardware transaction.
    #[must_use]
    pub fn abort(&self) -> bool {
        self.field(3, 1) != 0
    }

    /// Cycles since the branch before.
    #[must_use]
    pub fn cycles(&self) -> u16 {
        self.field(4, 16) as u16
    }

    /// `PERF_BR_*`; 0 unknown.
    #[must_use]
    pub fn kind(&self) -> u8 {
        self.field(20, 4) as u8
    }

    /// `PERF_BR_SPEC_*`; 0 not known.
    #[must_use]
    pub fn speculation(&self) -> u8 {
        self.field(24, 2) as u8
    }
}
