//! Records about the kernel itself: losses, pauses, loaded and changed code, control groups, trace
//! data.

use super::words::Words;
use crate::cursor::Cursor;
use crate::error::Malformed;

/// Set in `LOST_SAMPLES` that count what a filter dropped on purpose (`PERF_RECORD_MISC_LOST_SAMPLES_BPF`).
const FILTERED: u16 = 1 << 15;

/// Records that the kernel dropped because the buffer was full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The event whose buffer it was.
    pub id: u64,
    /// How many.
    pub count: u64,
}

impl Lost {
    pub(crate) fn parse(at: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self { id: at.u64("id")?, count: at.u64("number of lost records")? })
    }
}

/// Samples that never became records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSamples {
    /// How many.
    pub count: u64,
    /// They were not lost but dropped by a filter.
    pub filtered: bool,
}

impl LostSamples {
    pub(crate) fn parse(at: &mut Cursor<'_>, misc: u16) -> Result<Self, Malformed> {
        Ok(Self { count: at.u64("number of lost samples")?, filtered: misc & FILTERED != 0 })
    }
}

/// Sampling pauses or goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// ns of the recording's clock.
    pub time: u64,
    /// The event.
    pub id: u64,
    /// The very counter.
    pub stream_id: u64,
}

impl Throttle {
    pub(crate) fn parse(at: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self { time: at.u64("time")?, id: at.u64("id")?, stream_id: at.u64("stream id")? })
    }
}

/// Code that the kernel loads or unloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ksymbol<'a> {
    /// First address.
    pub address: u64,
    /// Bytes.
    pub length: u32,
    /// 1 a BPF program, 2 out-of-line code such as a trampoline (`PERF_RECORD_KSYMBOL_TYPE_*`).
    pub kind: u16,
    /// It is unloaded.
    pub unregister: bool,
    /// Its name.
    pub name: &'a [u8],
}

impl<'a> Ksymbol<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let address = at.u64("address")?;
        let length = at.u32("length")?;
        let kind = at.u16("symbol type")?;
        let flags = at.u16("flags")?;
        Ok(Self { address, length, kind, unregister: flags & 1 != 0, name: at.c_str() })
    }
}

/// A BPF program comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfEvent {
    /// 1 loaded, 2 unloaded (`PERF_BPF_EVENT_*`).
    pub kind: u16,
    /// Unused so far.
    pub flags: u16,
    /// The program's number.
    pub id: u32,
    /// The hash of its instructions.
    pub tag: [u8; 8],
}

impl BpfEvent {
    pub(crate) fn parse(at: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let (kind, flags, id) = (at.u16("event type")?, at.u16("flags")?, at.u32("program")?);
        let mut tag = [0; 8];
        tag.copy_from_slice(at.take(8, "tag")?);
        Ok(Self { kind, flags, id, tag })
    }
}

/// The path of a control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cgroup<'a> {
    /// Its id, as in samples.
    pub id: u64,
    /// Its path in the hierarchy.
    pub path: &'a [u8],
}

impl<'a> Cgroup<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>) -> Result<Self, Malformed> {
        Ok(Self { id: at.u64("id")?, path: at.c_str() })
    }
}

/// A change of kernel code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPoke<'a> {
    /// Where.
    pub address: u64,
    /// What stood there; empty for new code.
    pub old: &'a [u8],
    /// What stands there now; empty for code that is gone.
    pub new: &'a [u8],
}

impl<'a> TextPoke<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let address = at.u64("address")?;
        let (old, new) = (at.u16("old length")?, at.u16("new length")?);
        Ok(Self { address, old: at.take(old.into(), "old bytes")?, new: at.take(new.into(), "new bytes")? })
    }
}

/// Trace data was written to its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aux {
    /// Where in the buffer.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// `PERF_AUX_FLAG_*`: 1 some were lost, 2 from an overwritten buffer, 4 gaps, 8 collided with other trace.
    pub flags: u64,
}

impl Aux {
    pub(crate) fn parse(at: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self { offset: at.u64("offset")?, size: at.u64("size")?, flags: at.u64("flags")? })
    }
}

/// The user half of the call chains of one stay in the kernel.
#[derive(Clone, Copy, Debug)]
pub struct DeferredChain<'a> {
    /// Stands in the call chains that it completes, behind `PERF_CONTEXT_USER_DEFERRED`.
    pub cookie: u64,
    /// Return addresses, leaf first.
    pub chain: Words<'a>,
}

impl<'a> DeferredChain<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let cookie = at.u64("cookie")?;
        let count = at.u64("length of the call chain")?;
        let chain = at.take_u64(count.saturating_mul(8), "call chain")?;
        Ok(Self { cookie, chain: Words::new(chain, at.endian()) })
    }
}
