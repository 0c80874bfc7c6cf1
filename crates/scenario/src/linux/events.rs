//! The events of the recording: `perf_event_attr`, in the words of include/uapi/linux/perf_event.h.

use super::fields::Fields;
use super::layout::{ATTR_SIZE, MISC_KERNEL, MISC_USER, SWITCH_ID, WAKEUP_NEW_ID, WAKING_ID};

const SAMPLE_IP: u64 = 1;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_CALLCHAIN: u64 = 1 << 5;
const SAMPLE_CPU: u64 = 1 << 7;
const SAMPLE_PERIOD: u64 = 1 << 8;
const SAMPLE_RAW: u64 = 1 << 10;
const SAMPLE_IDENTIFIER: u64 = 1 << 16;
const ALWAYS: u64 = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN | SAMPLE_CPU | SAMPLE_IDENTIFIER;

const FLAG_INHERIT: u64 = 1 << 1;
const FLAG_MMAP: u64 = 1 << 8;
const FLAG_COMM: u64 = 1 << 9;
const FLAG_FREQ: u64 = 1 << 10;
const FLAG_TASK: u64 = 1 << 13;
const FLAG_SAMPLE_ID_ALL: u64 = 1 << 18;
const FLAG_MMAP2: u64 = 1 << 23;
const FLAG_COMM_EXEC: u64 = 1 << 24;

/// ID and LOST, as perf asks for.
const READ_FORMAT: u64 = 1 << 2 | 1 << 4;

/// Samples per second of the CPU clock.
const FREQUENCY: u64 = 999;
/// ns that a sample of the CPU clock stands for.
pub(crate) const CLOCK_PERIOD: u64 = 1_000_000_000 / FREQUENCY;

/// An event of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    CpuClock,
    Switch,
    Waking,
    /// What tells of tasks and mappings and samples nothing.
    Dummy,
    /// The first wake-up of a thread.
    WakeupNew,
}

impl Event {
    /// Those of the scale recordings.
    pub(crate) const USUAL: &[Self] = &[Self::CpuClock, Self::Switch, Self::Waking, Self::Dummy];
    pub(crate) const ALL: &[Self] = &[Self::CpuClock, Self::Switch, Self::Waking, Self::Dummy, Self::WakeupNew];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CpuClock => "cpu-clock/freq=999/",
            Self::Switch => "sched:sched_switch",
            Self::Waking => "sched:sched_waking",
            Self::Dummy => "dummy:HG",
            Self::WakeupNew => "sched:sched_wakeup_new",
        }
    }

    /// Type and number: of a tracepoint the one that its format states.
    fn kind_and_config(self) -> (u32, u64) {
        match self {
            Self::CpuClock => (1, 0),
            Self::Switch => (2, u64::from(SWITCH_ID)),
            Self::Waking => (2, u64::from(WAKING_ID)),
            Self::Dummy => (1, 9),
            Self::WakeupNew => (2, u64::from(WAKEUP_NEW_ID)),
        }
    }

    /// The id on a CPU.
    pub(crate) fn id(self, cpu: u16) -> u64 {
        self as u64 * 0x1_0000 + u64::from(cpu) + 1
    }

    pub(crate) fn attr(self, into: &mut Fields) {
        let (kind, config) = self.kind_and_config();
        let common = FLAG_INHERIT | FLAG_SAMPLE_ID_ALL;
        let (period, sample_type, flags) = match self {
            Self::CpuClock => (FREQUENCY, ALWAYS | SAMPLE_PERIOD, common | FLAG_FREQ),
            Self::Switch | Self::Waking | Self::WakeupNew => (1, ALWAYS | SAMPLE_PERIOD | SAMPLE_RAW, common),
            Self::Dummy => (0, ALWAYS, common | FLAG_MMAP | FLAG_COMM | FLAG_TASK | FLAG_MMAP2 | FLAG_COMM_EXEC),
        };
        let end = into.0.len() + ATTR_SIZE as usize;
        into.u32(kind).u32(ATTR_SIZE).u64(config).u64(period).u64(sample_type).u64(READ_FORMAT).u64(flags);
        into.0.resize(end, 0);
    }
}

/// Words of a call chain that say whose addresses follow.
const CONTEXT_KERNEL: u64 = (-128_i64).cast_unsigned();
const CONTEXT_USER: u64 = (-512_i64).cast_unsigned();

const RECORD_SAMPLE: u32 = 9;

/// A sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampled<'a> {
    pub(crate) event: Event,
    /// Process and thread.
    pub(crate) ids: (i32, i32),
    /// ns of the recording's clock.
    pub(crate) time: u64,
    pub(crate) cpu: u16,
    pub(crate) period: u64,
    /// Addresses, leaf first; none where the thread was in user mode.
    pub(crate) kernel: &'a [u64],
    pub(crate) user: &'a [u64],
    /// Fields of the tracepoint.
    pub(crate) raw: &'a [u8],
}

impl Sampled<'_> {
    pub(crate) fn write(&self, into: &mut Fields) {
        let Self { event, ids, time, cpu, period, kernel, user, raw } = *self;
        let words = |frames: &[u64]| if frames.is_empty() { 0 } else { frames.len() + 1 };
        let leaf = kernel.first().or(user.first()).copied().unwrap_or(0);
        let misc = if kernel.is_empty() && event == Event::CpuClock { MISC_USER } else { MISC_KERNEL };
        into.record(RECORD_SAMPLE, misc, |out| {
            out.u64(event.id(cpu)).u64(leaf).i32(ids.0).i32(ids.1).u64(time).u32(cpu.into()).u32(0);
            out.u64(period).u64((words(kernel) + words(user)) as u64);
            if !kernel.is_empty() {
                out.u64(CONTEXT_KERNEL).u64s(kernel);
            }
            if !user.is_empty() {
                out.u64(CONTEXT_USER).u64s(user);
            }
            if !raw.is_empty() {
                // The size and the data together are a multiple of eight bytes.
                let size = (raw.len() + 4).next_multiple_of(8) - 4;
                out.u32(size as u32).raw(raw).raw(&[0; 8][..size - raw.len()]);
            }
        });
    }
}
