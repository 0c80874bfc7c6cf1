//! `perf_event_attr`: what an event counts and what its records carry (include/uapi/linux/perf_event.h).

use linux_perf_event_reader::{AttrFlags, BranchSampleFormat, Endianness, ReadFormat, SampleFormat};

use crate::cursor::Cursor;
use crate::error::Malformed;

/// The first published size, and the one to assume where a writer left it 0 (`PERF_ATTR_SIZE_VER0`).
pub(crate) const SIZE_VER0: usize = 64;

/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;

/// The two bits of `precise_ip` among the flags.
const PRECISE_IP_SHIFT: u32 = 15;

/// How an event was opened. Bits and numbers that are newer than this reader are kept as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attr {
    /// `PERF_TYPE_*`: 0 hardware, 1 software, 2 tracepoint, 3 cache, 4 raw, 5 breakpoint, above that PMUs of the machine.
    pub kind: u32,
    /// Bytes of the attribute as its writer knew it.
    pub size: u32,
    /// Which event of that type; the id of the format for a tracepoint.
    pub config: u64,
    /// Samples per second with [`AttrFlags::FREQ`], else events per sample; 0 where nothing is sampled.
    pub period_or_frequency: u64,
    /// What samples carry.
    pub sample_format: SampleFormat,
    /// What counter values in samples carry.
    pub read_format: ReadFormat,
    /// Switches of the event.
    pub flags: AttrFlags,
    /// Events or bytes until the recorder wakes up.
    pub wakeup: u32,
    /// Kind of a hardware breakpoint.
    pub bp_type: u32,
    /// Address of a breakpoint, else the first extension of [`Self::config`].
    pub config1: u64,
    /// Length of a breakpoint, else the second extension of [`Self::config`].
    pub config2: u64,
    /// What branch stacks hold.
    pub branch_format: BranchSampleFormat,
    /// The registers of the user side that samples carry, one bit each.
    pub user_registers: u64,
    /// Bytes of user stack per sample.
    pub user_stack: u32,
    /// The clock of the times where [`AttrFlags::USE_CLOCKID`] is set.
    pub clock_id: i32,
    /// The registers at the interrupt that samples carry, one bit each.
    pub interrupt_registers: u64,
    /// Bytes of trace until the recorder wakes up.
    pub aux_watermark: u32,
    /// Frames per call chain, at most.
    pub max_stack: u16,
    /// Bytes of trace per sample.
    pub aux_sample_size: u32,
    /// Given back with a synchronous signal.
    pub signal_data: u64,
    /// The third extension of [`Self::config`].
    pub config3: u64,
}

impl Attr {
    /// Reads an attribute from the start of `bytes`. Sizes from before a field leave it 0, fields from after this reader are skipped.
    ///
    /// # Errors
    /// When there are less bytes than the smallest attribute, or than the attribute says.
    pub fn parse(bytes: &[u8], endian: Endianness) -> Result<Self, Malformed> {
        let mut head = Cursor::new(bytes, endian);
        let kind = head.u32("event type")?;
        let size = head.u32("attribute size")?;
        let length = if size == 0 { SIZE_VER0 } else { size as usize };
        if length < SIZE_VER0 {
            return Err(Malformed { missing: "attribute" });
        }
        let mut bytes = Cursor::new(bytes, endian);
        let mut known = Cursor::new(bytes.take(length, "attribute")?, endian);
        known.take(8, "attribute")?;
        let config = known.u64("config")?;
        let period_or_frequency = known.u64("period")?;
        let sample_format = SampleFormat::from_bits_retain(known.u64("sample type")?);
        let read_format = ReadFormat::from_bits_retain(known.u64("read format")?);
        let flags = AttrFlags::from_bits_retain(flags(known.u64("flags")?, endian));
        let wakeup = known.u32("wake-up")?;
        let bp_type = known.u32("breakpoint type")?;
        let config1 = known.u64("config1")?;
        // From here on every field is younger than the format.
        let mut next = |wide: bool| {
            let value = if wide { known.u64("") } else { known.u32("").map(u64::from) };
            value.unwrap_or_default()
        };
        let config2 = next(true);
        let branch_format = BranchSampleFormat::from_bits_retain(next(true));
        let user_registers = next(true);
        let user_stack = next(false) as u32;
        let clock_id = (next(false) as u32).cast_signed();
        let interrupt_registers = next(true);
        let aux_watermark = next(false) as u32;
        let stack_and_reserved = next(false) as u32;
        let max_stack = match endian {
            Endianness::LittleEndian => stack_and_reserved as u16,
            Endianness::BigEndian => (stack_and_reserved >> 16) as u16,
        };
        let aux_sample_size = next(false) as u32;
        next(false);
        let signal_data = next(true);
        let config3 = next(true);
        Ok(Self {
            kind,
            size: length as u32,
            config,
            period_or_frequency,
            sample_format,
            read_format,
            flags,
            wakeup,
            bp_type,
            config1,
            config2,
            branch_format,
            user_registers,
            user_stack,
            clock_id,
            interrupt_registers,
            aux_watermark,
            max_stack,
            aux_sample_size,
            signal_data,
            config3,
        })
    }

    /// Whether it is a tracepoint: its `config` is the number of a format.
    #[must_use]
    pub fn is_tracepoint(&self) -> bool {
        self.kind == TRACEPOINT
    }

    /// Samples per second that were asked for.
    #[must_use]
    pub fn frequency(&self) -> Option<u64> {
        self.flags.contains(AttrFlags::FREQ).then_some(self.period_or_frequency)
    }

    /// Events from sample to sample, where that is fixed; `None` where nothing is sampled, too.
    #[must_use]
    pub fn period(&self) -> Option<u64> {
        (!self.flags.contains(AttrFlags::FREQ) && self.period_or_frequency > 0).then_some(self.period_or_frequency)
    }

    /// 0 any skid, 1 constant skid, 2 no skid asked for, 3 no skid.
    #[must_use]
    pub fn precise_ip(&self) -> u8 {
        (self.flags.bits() >> PRECISE_IP_SHIFT & 3) as u8
    }

    /// Whether records that are no samples end with process, thread, time, CPU and id as far as samples have them.
    #[must_use]
    pub fn sample_id_all(&self) -> bool {
        self.flags.contains(AttrFlags::SAMPLE_ID_ALL)
    }
}

/// The flags are C bit fields: a big-endian compiler lays them out from the other end.
fn flags(bits: u64, endian: Endianness) -> u64 {
    if endian == Endianness::LittleEndian {
        return bits;
    }
    let bits = bits.reverse_bits();
    // Reversal also swaps the only field of two bits.
    let precise = bits >> PRECISE_IP_SHIFT & 3;
    let swapped = (precise & 1) << 1 | precise >> 1;
    bits & !(3 << PRECISE_IP_SHIFT) | swapped << PRECISE_IP_SHIFT
}
