//! Samples: what an event's `sample_type` asks for, in the order of `PERF_RECORD_SAMPLE`.

use std::ops::Range;

use linux_perf_event_reader::SampleFormat;

use super::branch::BranchStack;
use super::values::Values;
use super::words::Words;
use crate::cursor::Cursor;
use crate::error::Malformed;
use crate::layout::Layout;

/// The formats of what only few recordings have.
const TAIL: SampleFormat = SampleFormat::BRANCH_STACK
    .union(SampleFormat::REGS_USER)
    .union(SampleFormat::STACK_USER)
    .union(SampleFormat::WEIGHT)
    .union(SampleFormat::WEIGHT_STRUCT)
    .union(SampleFormat::DATA_SRC)
    .union(SampleFormat::TRANSACTION)
    .union(SampleFormat::REGS_INTR)
    .union(SampleFormat::PHYS_ADDR)
    .union(SampleFormat::CGROUP)
    .union(SampleFormat::DATA_PAGE_SIZE)
    .union(SampleFormat::CODE_PAGE_SIZE)
    .union(SampleFormat::AUX);

/// A sample; what was not recorded is `None`. What only few recordings have is in [`Sample::tail`].
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The id of the event on its CPU or thread.
    pub id: Option<u64>,
    /// The instruction that was interrupted.
    pub ip: Option<u64>,
    /// The process, −1 where it is not known.
    pub pid: Option<i32>,
    /// The thread, −1 where it is not known.
    pub tid: Option<i32>,
    /// ns of the recording's clock.
    pub time: Option<u64>,
    /// The address that the event is about: data, a fault, a breakpoint.
    pub address: Option<u64>,
    /// The id of the very counter.
    pub stream_id: Option<u64>,
    /// The CPU.
    pub cpu: Option<u32>,
    /// How many events the sample stands for; ns for clocks.
    pub period: Option<u64>,
    /// Values of counters.
    pub values: Option<Values<'a>>,
    /// Return addresses, leaf first, with `PERF_CONTEXT_*` marks between kernel and user.
    pub callchain: Option<Words<'a>>,
    /// The fields of a tracepoint, or what else the event's PMU writes.
    pub raw: Option<&'a [u8]>,
    /// What stands behind; it was read once, to see that it is whole.
    behind: &'a [u8],
    layout: &'a Layout,
}

impl<'a> Sample<'a> {
    /// `chain` has the words of the call chain, where they were taken out of the body.
    #[inline]
    pub(crate) fn parse(body: &'a [u8], layout: &'a Layout, chain: Option<Words<'a>>) -> Result<Self, Malformed> {
        let format = layout.sample_format;
        let has = |flag| format.contains(flag);
        let mut at = Cursor::new(body, layout.endian);
        let mut sample = Sample {
            id: None,
            ip: None,
            pid: None,
            tid: None,
            time: None,
            address: None,
            stream_id: None,
            cpu: None,
            period: None,
            values: None,
            callchain: None,
            raw: None,
            behind: &[],
            layout,
        };
        let identifier = if has(SampleFormat::IDENTIFIER) { Some(at.u64("identifier")?) } else { None };
        if has(SampleFormat::IP) {
            sample.ip = Some(at.u64("instruction pointer")?);
        }
        if has(SampleFormat::TID) {
            sample.pid = Some(at.i32("process")?);
            sample.tid = Some(at.i32("thread")?);
        }
        if has(SampleFormat::TIME) {
            sample.time = Some(at.u64("time")?);
        }
        if has(SampleFormat::ADDR) {
            sample.address = Some(at.u64("address")?);
        }
        if has(SampleFormat::ID) {
            sample.id = Some(at.u64("id")?);
        }
        sample.id = identifier.or(sample.id);
        if has(SampleFormat::STREAM_ID) {
            sample.stream_id = Some(at.u64("stream id")?);
        }
        if has(SampleFormat::CPU) {
            sample.cpu = Some(at.u32("CPU")?);
            at.u32("CPU")?;
        }
        if has(SampleFormat::PERIOD) {
            sample.period = Some(at.u64("period")?);
        }
        if has(SampleFormat::READ) {
            sample.values = Some(Values::parse(&mut at, layout.read_format)?);
        }
        if has(SampleFormat::CALLCHAIN) {
            let count = at.u64("length of the call chain")?;
            sample.callchain = Some(match chain {
                Some(words) => words,
                None => Words::new(at.take_u64(count.saturating_mul(8), "call chain")?, layout.endian),
            });
        }
        if has(SampleFormat::RAW) {
            let size = at.u32("size of the raw data")?;
            sample.raw = Some(at.take_u64(size.into(), "raw data")?);
        }
        sample.behind = at.rest();
        if format.intersects(TAIL) {
            SampleTail::parse(sample.behind, layout)?;
        }
        Ok(sample)
    }

    /// Where the words of the call chain stand in a body; `None` where there are none.
    #[inline]
    pub(crate) fn chain_place(body: &[u8], layout: &Layout) -> Option<Range<usize>> {
        let before = layout.fixed_before_chain()?;
        let mut at = Cursor::new(body.get(before..)?, layout.endian);
        if layout.sample_format.contains(SampleFormat::READ) {
            Values::parse(&mut at, layout.read_format).ok()?;
        }
        let length = usize::try_from(at.u64("").ok()?.checked_mul(8)?).ok()?;
        let start = body.len() - at.rest().len();
        (length > 0 && length <= at.rest().len()).then(|| start..start + length)
    }

    /// Whether its event records anything of [`Self::tail`].
    #[must_use]
    #[inline]
    pub fn has_tail(&self) -> bool {
        self.layout.sample_format.intersects(TAIL)
    }

    /// What only few recordings have.
    #[must_use]
    pub fn tail(&self) -> SampleTail<'a> {
        SampleTail::parse(self.behind, self.layout).unwrap_or_default()
    }
}

/// The end of a sample; what was not recorded is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleTail<'a> {
    /// The last branches.
    pub branches: Option<BranchStack<'a>>,
    /// Registers of the user side.
    pub user_registers: Option<Registers<'a>>,
    /// A copy of the top of the user stack.
    pub user_stack: Option<UserStack<'a>>,
    /// What the event cost: cycles of latency where the word is not split.
    pub weight: Option<u64>,
    /// Where data came from (`perf_mem_data_src`).
    pub data_source: Option<u64>,
    /// Why a hardware transaction ended.
    pub transaction: Option<u64>,
    /// Registers at the interrupt.
    pub interrupt_registers: Option<Registers<'a>>,
    /// The physical address of [`Sample::address`].
    pub physical_address: Option<u64>,
    /// The id of the control group.
    pub cgroup: Option<u64>,
    /// Bytes of the page that holds [`Sample::address`].
    pub data_page_size: Option<u64>,
    /// Bytes of the page that holds [`Sample::ip`].
    pub code_page_size: Option<u64>,
    /// A piece of instruction trace.
    pub aux: Option<&'a [u8]>,
}

impl<'a> SampleTail<'a> {
    fn parse(bytes: &'a [u8], layout: &Layout) -> Result<Self, Malformed> {
        let format = layout.sample_format;
        let has = |flag| format.contains(flag);
        let mut at = Cursor::new(bytes, layout.endian);
        let mut tail = Self::default();
        if has(SampleFormat::BRANCH_STACK) {
            tail.branches = Some(BranchStack::parse(&mut at, layout)?);
        }
        if has(SampleFormat::REGS_USER) {
            tail.user_registers = Registers::parse(&mut at, layout.user_registers)?;
        }
        if has(SampleFormat::STACK_USER) {
            tail.user_stack = UserStack::parse(&mut at)?;
        }
        if format.intersects(SampleFormat::WEIGHT | SampleFormat::WEIGHT_STRUCT) {
            tail.weight = Some(at.u64("weight")?);
        }
        if has(SampleFormat::DATA_SRC) {
            tail.data_source = Some(at.u64("data source")?);
        }
        if has(SampleFormat::TRANSACTION) {
            tail.transaction = Some(at.u64("transaction")?);
        }
        if has(SampleFormat::REGS_INTR) {
            tail.interrupt_registers = Registers::parse(&mut at, layout.interrupt_registers)?;
        }
        if has(SampleFormat::PHYS_ADDR) {
            tail.physical_address = Some(at.u64("physical address")?);
        }
        if has(SampleFormat::CGROUP) {
            tail.cgroup = Some(at.u64("control group")?);
        }
        if has(SampleFormat::DATA_PAGE_SIZE) {
            tail.data_page_size = Some(at.u64("page size")?);
        }
        if has(SampleFormat::CODE_PAGE_SIZE) {
            tail.code_page_size = Some(at.u64("page size")?);
        }
        if has(SampleFormat::AUX) {
            let size = at.u64("size of the trace")?;
            tail.aux = Some(at.take_u64(size, "trace")?);
        }
        Ok(tail)
    }
}

/// Registers of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Registers<'a> {
    /// 1: a 32-bit program, 2: a 64-bit one (`PERF_SAMPLE_REGS_ABI_*`).
    pub abi: u64,
    /// Which registers there are, one bit each, numbered as in the architecture's asm/perf_regs.h.
    pub mask: u64,
    values: Words<'a>,
}

impl<'a> Registers<'a> {
    /// `None` where the sample has none, as in a kernel thread.
    fn parse(at: &mut Cursor<'a>, mask: u64) -> Result<Option<Self>, Malformed> {
        let abi = at.u64("register ABI")?;
        if abi == 0 {
            return Ok(None);
        }
        let values = at.take(mask.count_ones() as usize * 8, "registers")?;
        Ok(Some(Self { abi, mask, values: Words::new(values, at.endian()) }))
    }

    /// A register by its number; `None` if it was not recorded.
    #[must_use]
    pub fn get(&self, register: u32) -> Option<u64> {
        let bit = 1_u64.checked_shl(register)?;
        if self.mask & bit == 0 {
            return None;
        }
        self.values.get((self.mask & (bit - 1)).count_ones() as usize)
    }
}

/// The top of a user stack, from the stack pointer upwards.
#[derive(Clone, Copy, Debug)]
pub struct UserStack<'a> {
    /// The valid bytes.
    pub bytes: &'a [u8],
    /// Bytes that were reserved in the record for it: a stack that fills them may go on.
    pub reserved: usize,
}

impl<'a> UserStack<'a> {
    fn parse(at: &mut Cursor<'a>) -> Result<Option<Self>, Malformed> {
        let size = at.u64("size of the user stack")?;
        if size == 0 {
            return Ok(None);
        }
        let reserved = at.take_u64(size, "user stack")?;
        let valid = at.u64("valid bytes of the user stack")?;
        let valid = usize::try_from(valid).unwrap_or(usize::MAX).min(reserved.len());
        Ok(Some(Self { bytes: reserved.get(..valid).unwrap_or_default(), reserved: reserved.len() }))
    }
}
