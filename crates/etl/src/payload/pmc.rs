//! Class PerfInfo: hardware performance counters.

use super::array::{Item, Items};
use super::reader::{Reader, u16_at, u32_at};
use super::text::WideStrs;
use super::{Payload, PayloadError};

/// PerfInfo 47: a hardware counter reached its interval. Never CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSample {
    /// Address of the sampled instruction.
    pub instruction_pointer: u64,
    /// The thread that ran.
    pub thread_id: u32,
    /// Number of the profile source; named by the [`SampleInterval`](super::SampleInterval) records.
    pub profile_source: u16,
    /// Nothing known.
    pub reserved: u16,
}

impl CounterSample {
    /// Opcode.
    pub const OPCODE: u8 = 47;
}

impl<'a> Payload<'a> for CounterSample {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let instruction_pointer = reader.pointer("sampled address")?;
        let block = reader.block::<8>("counter sample")?;
        Ok(Self {
            instruction_pointer,
            thread_id: u32_at(block, 0),
            profile_source: u16_at(block, 4),
            reserved: u16_at(block, 6),
        })
    }
}

/// PerfInfo 48: which counters the records carry behind their headers, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterConfiguration<'a> {
    /// Names of the counters.
    pub names: WideStrs<'a>,
}

impl CounterConfiguration<'_> {
    /// Opcode.
    pub const OPCODE: u8 = 48;
}

impl<'a> Payload<'a> for CounterConfiguration<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let count = reader.u32("number of counters")?;
        Ok(Self { names: reader.wide_strings(count, "counter names")? })
    }
}

/// PerfInfo 49: somebody else changed counters of a CPU; their values are wrong from the given times on.
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterCorruption<'a> {
    /// The CPU.
    pub processor: u32,
    /// The counters concerned.
    pub counters: Items<'a, CounterStatus>,
}

impl CounterCorruption<'_> {
    /// Opcode.
    pub const OPCODE: u8 = 49;
}

impl<'a> Payload<'a> for CounterCorruption<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let processor = reader.u32("processor")?;
        let count = reader.u32("number of counters")?;
        Ok(Self { processor, counters: reader.items(count, "counter states")? })
    }
}

/// One counter of a [`CounterCorruption`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterStatus {
    /// Number of the profile source.
    pub profile_source: u32,
    /// Time up to which its values are right, in the session's clock.
    pub last_known_good: u64,
}

impl Item for CounterStatus {
    const SIZE: usize = 12;

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (source, time) = bytes.split_first_chunk()?;
        Some(Self {
            profile_source: u32::from_le_bytes(*source),
            last_known_good: u64::from_le_bytes(*time.first_chunk()?),
        })
    }
}
