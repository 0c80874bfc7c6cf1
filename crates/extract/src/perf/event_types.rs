//! Types of recorded events and their numbers, from the kernel's `include/uapi/linux/perf_event.h`.

use tracesift_perf::Attr;

/// `PERF_TYPE_HARDWARE`.
pub(crate) const HARDWARE: u32 = 0;
/// `PERF_TYPE_SOFTWARE`.
pub(crate) const SOFTWARE: u32 = 1;
/// `PERF_TYPE_BREAKPOINT`.
pub(crate) const BREAKPOINT: u32 = 5;
/// `PERF_COUNT_HW_CPU_CYCLES`. On a hybrid CPU the type of the cores stands in the upper half.
pub(crate) const CYCLES: u64 = 0;
/// `PERF_COUNT_SW_CPU_CLOCK`.
pub(crate) const CPU_CLOCK: u64 = 0;
/// `PERF_COUNT_SW_TASK_CLOCK`.
pub(crate) const TASK_CLOCK: u64 = 1;
/// `PERF_COUNT_SW_PAGE_FAULTS`.
pub(crate) const PAGE_FAULTS: u64 = 2;
/// `PERF_COUNT_SW_PAGE_FAULTS_MIN`.
pub(crate) const MINOR_FAULTS: u64 = 5;
/// `PERF_COUNT_SW_PAGE_FAULTS_MAJ`.
pub(crate) const MAJOR_FAULTS: u64 = 6;
/// `PERF_COUNT_SW_DUMMY`, an event that never happens.
pub(crate) const DUMMY: u64 = 9;

/// Whether an event of the kernel's software counts page faults.
pub(crate) fn counts_faults(attr: &Attr) -> bool {
    attr.kind == SOFTWARE && matches!(attr.config, PAGE_FAULTS | MINOR_FAULTS | MAJOR_FAULTS)
}
