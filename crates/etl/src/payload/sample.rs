//! Class PerfInfo: what a CPU was found doing at regular intervals, and the intervals.

use super::reader::Reader;
use super::text::WideStr;
use super::{Payload, PayloadError};

/// Bits of [`SampledProfile::flags`].
pub mod sample_flags {
    /// The sample fell into a deferred procedure call.
    pub const DPC: u8 = 1;
    /// The sample fell into an interrupt service routine.
    pub const ISR: u8 = 2;
}

/// PerfInfo 46 (SampledProfile): one sample; versions 1 and 2. The CPU is that of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledProfile {
    /// Address of the sampled instruction.
    pub instruction_pointer: u64,
    /// The thread that ran; 0 is the idle thread of the CPU.
    pub thread_id: u32,
    /// Sampling intervals that the record stands for.
    pub count: u16,
    /// See [`sample_flags`]; bits 3 to 7 are the priority. From version 2 on.
    pub flags: Option<u8>,
    /// Rank of the thread in its scheduling group. From version 2 on.
    pub rank: Option<u8>,
}

impl SampledProfile {
    /// Opcode.
    pub const OPCODE: u8 = 46;

    /// Priority of the thread; 0 also where the system does not fill it.
    pub fn priority(&self) -> Option<u8> {
        self.flags.map(|flags| flags >> 3)
    }
}

impl<'a> Payload<'a> for SampledProfile {
    #[inline]
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let instruction_pointer = reader.pointer("sampled address")?;
        let [t0, t1, t2, t3, c0, c1] = *reader.block("sample")?;
        let (flags, rank) = if version >= 2 {
            let [flags, rank] = *reader.block("sample flags")?;
            (Some(flags), Some(rank))
        } else {
            (None, None)
        };
        Ok(Self {
            instruction_pointer,
            thread_id: u32::from_le_bytes([t0, t1, t2, t3]),
            count: u16::from_le_bytes([c0, c1]),
            flags,
            rank,
        })
    }
}

/// PerfInfo 72 (set), 73 and 74 (rundown at start and end of the session): the interval of a profile source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleInterval<'a> {
    /// Number of the profile source: 0 is the timer, others are hardware counters.
    pub source: u32,
    /// Interval from now on: 100 ns for the timer, counts for others.
    pub new_interval: u32,
    /// Interval before.
    pub old_interval: u32,
    /// Name of the source (`Timer`). From version 3 on.
    pub source_name: Option<WideStr<'a>>,
}

impl SampleInterval<'_> {
    /// Opcode: the interval changes.
    pub const SET: u8 = 72;
    /// Opcode: the interval when the session starts.
    pub const DC_START: u8 = 73;
    /// Opcode: the interval when the session ends.
    pub const DC_END: u8 = 74;
    /// Number of the timer source, the only one whose samples are CPU time.
    pub const TIMER: u32 = 0;
}

impl<'a> Payload<'a> for SampleInterval<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            source: reader.u32("profile source")?,
            new_interval: reader.u32("new interval")?,
            old_interval: reader.u32("old interval")?,
            source_name: if version >= 3 { reader.optional(|r| r.wide("source name")) } else { None },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_sample_has_no_flags() {
        let bytes = [0x10, 0, 0, 0x80, 7, 0, 0, 0, 2, 0];
        let sample = SampledProfile::parse(&bytes, 1, 4).unwrap();
        let expected =
            SampledProfile { instruction_pointer: 0x8000_0010, thread_id: 7, count: 2, flags: None, rank: None };
        assert_eq!(sample, expected);
        assert!(SampledProfile::parse(&bytes, 2, 4).is_err());
    }

    #[test]
    fn version_2_interval_has_no_name() {
        let bytes = [0, 0, 0, 0, 0x10, 0x27, 0, 0, 0x88, 0x13, 0, 0];
        let interval = SampleInterval::parse(&bytes, 2, 8).unwrap();
        assert_eq!((interval.new_interval, interval.old_interval, interval.source_name), (10_000, 5_000, None));
    }
}
