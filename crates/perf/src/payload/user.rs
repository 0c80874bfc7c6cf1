//! Records that perf itself writes: what it knows of events, clocks, threads and trace data.

use super::words::Words;
use crate::cursor::{Cursor, until_nul};
use crate::error::Malformed;

/// Words per entry of an `ID_INDEX`.
const INDEX_WORDS: usize = 4;

/// To which CPU and thread ids belong.
#[derive(Clone, Copy, Debug)]
pub struct IdIndex<'a> {
    words: Words<'a>,
}

/// An id of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdIndexEntry {
    /// The id.
    pub id: u64,
    /// The number of the buffer into which it was recorded.
    pub buffer: u64,
    /// The CPU, −1 for any.
    pub cpu: i64,
    /// The thread, −1 for any.
    pub tid: i64,
}

impl<'a> IdIndex<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let count = at.u64("number of ids")?;
        let words = at.take_u64(count.saturating_mul(INDEX_WORDS as u64 * 8), "ids")?;
        Ok(Self { words: Words::new(words, at.endian()) })
    }

    /// The ids.
    pub fn iter(&self) -> impl Iterator<Item = IdIndexEntry> + use<'a> {
        let words = self.words;
        (0..words.len() / INDEX_WORDS).filter_map(move |index| {
            let word = |at| words.get(index * INDEX_WORDS + at);
            Some(IdIndexEntry {
                id: word(0)?,
                buffer: word(1)?,
                cpu: word(2)?.cast_signed(),
                tid: word(3)?.cast_signed(),
            })
        })
    }
}

/// How an instruction trace is to be read.
#[derive(Clone, Copy, Debug)]
pub struct AuxtraceInfo<'a> {
    /// 1 Intel PT, 2 Intel BTS, 3 CoreSight, 4 Arm SPE, 5 s390 … (`PERF_AUXTRACE_*`).
    pub kind: u32,
    /// Parameters of that kind.
    pub parameters: Words<'a>,
}

impl<'a> AuxtraceInfo<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let kind = at.u32("trace type")?;
        at.u32("padding")?;
        Ok(Self { kind, parameters: Words::new(at.rest(), at.endian()) })
    }
}

/// A piece of trace, which follows the record in the file and is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auxtrace {
    /// Bytes behind the record.
    pub size: u64,
    /// Offset in the trace of its buffer.
    pub offset: u64,
    /// Tells pieces apart.
    pub reference: u64,
    /// The number of the buffer.
    pub buffer: u32,
    /// The thread, −1 for any.
    pub tid: i32,
    /// The CPU, all ones for any.
    pub cpu: u32,
}

impl Auxtrace {
    pub(crate) fn parse(at: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            size: at.u64("size")?,
            offset: at.u64("offset")?,
            reference: at.u64("reference")?,
            buffer: at.u32("buffer")?,
            tid: at.i32("thread")?,
            cpu: at.u32("CPU")?,
        })
    }
}

/// The threads that were asked for.
#[derive(Clone, Copy, Debug)]
pub struct ThreadMap<'a> {
    words: Words<'a>,
}

/// Bytes of a thread id and its name.
const THREAD_WORDS: usize = 3;

impl<'a> ThreadMap<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let count = at.u64("number of threads")?;
        let entries = at.take_u64(count.saturating_mul(THREAD_WORDS as u64 * 8), "threads")?;
        Ok(Self { words: Words::new(entries, at.endian()) })
    }

    /// Thread ids (−1 for all) with their names, which perf mostly leaves empty.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &'a [u8])> + use<'a> {
        let words = self.words;
        (0..words.len() / THREAD_WORDS).filter_map(move |index| {
            let name = words.bytes(index * THREAD_WORDS + 1, THREAD_WORDS - 1)?;
            Some((words.get(index * THREAD_WORDS)?.cast_signed(), until_nul(name)))
        })
    }
}

/// How hardware time becomes the recording's time: zero + (cycles · multiplier) >> shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeConv {
    /// Shift.
    pub shift: u64,
    /// Multiplier.
    pub multiplier: u64,
    /// ns at cycle zero.
    pub zero: u64,
    /// How narrow counters are to be widened, from writers since Linux 5.10.
    pub short: Option<ShortCounter>,
}

/// A hardware counter that is narrower than 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortCounter {
    /// Cycles at a moment of the recording.
    pub cycles: u64,
    /// The bits that count.
    pub mask: u64,
    /// Whether [`TimeConv::zero`] is valid.
    pub zero_valid: bool,
    /// Whether the counter is narrow at all.
    pub short: bool,
}

impl TimeConv {
    pub(crate) fn parse(at: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let (shift, multiplier, zero) = (at.u64("shift")?, at.u64("multiplier")?, at.u64("zero")?);
        let short = if at.is_empty() {
            None
        } else {
            let (cycles, mask) = (at.u64("cycles")?, at.u64("mask")?);
            Some(ShortCounter { cycles, mask, zero_valid: at.u8("flags")? != 0, short: at.u8("flags")? != 0 })
        };
        Ok(Self { shift, multiplier, zero, short })
    }
}

/// Something new about an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventUpdate<'a> {
    /// An id of the event.
    pub id: u64,
    /// What is new.
    pub update: Update<'a>,
}

/// What an `EVENT_UPDATE` tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Update<'a> {
    /// The unit of its counts.
    Unit(&'a [u8]),
    /// What one count is in that unit.
    Scale(f64),
    /// Its name.
    Name(&'a [u8]),
    /// The CPUs it counts on (`perf_record_cpu_map_data`).
    Cpus(&'a [u8]),
    /// Of a kind that is newer than this reader.
    Other(u64, &'a [u8]),
}

impl<'a> EventUpdate<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let kind = at.u64("kind of update")?;
        let id = at.u64("id")?;
        let update = match kind {
            0 => Update::Unit(until_nul(at.rest())),
            1 => Update::Scale(f64::from_bits(at.u64("scale")?)),
            2 => Update::Name(until_nul(at.rest())),
            3 => Update::Cpus(at.rest()),
            other => Update::Other(other, at.rest()),
        };
        Ok(Self { id, update })
    }
}
