//! Numbers that all parts of a recording share.

/// ns of the recording's clock at which it starts.
pub(crate) const ZERO: u64 = 1_000_000_000_000;
/// Start of the kernel's code.
pub(crate) const KERNEL_BASE: u64 = 0xffff_ffff_8100_0000;
/// Bytes of the kernel's code.
pub(crate) const KERNEL_BYTES: u64 = KERNEL_PARTS * 0x0010_0000;
/// Pieces of the kernel's code.
pub(crate) const KERNEL_PARTS: u64 = 10;
/// `PERF_RECORD_MISC_KERNEL` and `_USER`.
pub(crate) const MISC_KERNEL: u16 = 1;
pub(crate) const MISC_USER: u16 = 2;
/// Number of `sched_switch`.
pub(crate) const SWITCH_ID: u16 = 372;
/// Number of `sched_waking`.
pub(crate) const WAKING_ID: u16 = 375;
/// Number of `sched_wakeup_new`.
pub(crate) const WAKEUP_NEW_ID: u16 = 373;
/// Bytes of `perf_event_attr` up to and with `aux_sample_size` and its padding, `PERF_ATTR_SIZE_VER7`.
pub(crate) const ATTR_SIZE: u32 = 128;
