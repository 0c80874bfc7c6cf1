//! Memory of processes.

use crate::ids::ProcessId;
use crate::row;

row! {
    /// What the kernel counted for a process since its start. It is read when the process ends, and
    /// at the rundown of the recording for the processes that live on. Each of the two sources has
    /// a row of its own. In a row of PerfCtr, only the peaks have values: the kernel has given the
    /// memory back before it logs the event.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ProcessCounterRow in "process_counters", always: false, since: 6, At(time) {
        /// Time of the reading.
        time: i64, Delta, "ns", "Process/PerfCtr, PerfCtrRundown; Kernel-Process 2";
        /// The process.
        process: ProcessId, Delta, "", "ProcessId, ProcessID";
        /// Page faults, soft and hard.
        page_faults: Option<i64>, Plain, "", "Process/PerfCtr PageFaultCount";
        /// Hard faults.
        hard_faults: Option<i64>, Plain, "", "Kernel-Process 2 HardFaultCount";
        /// Open handles.
        handles: Option<i64>, Plain, "", "Process/PerfCtr HandleCount; Kernel-Process 2 HandleCount";
        /// Virtual size.
        virtual_size: Option<i64>, Plain, "bytes", "Process/PerfCtr VirtualSize";
        /// Largest virtual size.
        peak_virtual_size: Option<i64>, Plain, "bytes", "Process/PerfCtr PeakVirtualSize";
        /// Working set.
        working_set: Option<i64>, Plain, "bytes", "Process/PerfCtr WorkingSetSize";
        /// Largest working set.
        peak_working_set: Option<i64>, Plain, "bytes", "Process/PerfCtr PeakWorkingSetSize";
        /// Committed memory.
        commit: Option<i64>, Plain, "bytes", "Process/PerfCtr PagefileUsage; Kernel-Process 2 CommitCharge";
        /// Largest committed memory.
        peak_commit: Option<i64>, Plain, "bytes", "Process/PerfCtr PeakPagefileUsage; Kernel-Process 2 CommitPeak";
        /// Committed memory that no other process can share.
        private_commit: Option<i64>, Plain, "bytes", "Process/PerfCtr PrivatePageCount";
        /// Charge for paged pool.
        paged_pool: Option<i64>, Plain, "bytes", "Process/PerfCtr QuotaPagedPoolUsage";
        /// Charge for non-paged pool.
        nonpaged_pool: Option<i64>, Plain, "bytes", "Process/PerfCtr QuotaNonPagedPoolUsage";
        /// Read operations.
        reads: Option<i64>, Plain, "", "Kernel-Process 2 ReadOperationCount";
        /// Write operations.
        writes: Option<i64>, Plain, "", "Kernel-Process 2 WriteOperationCount";
        /// Bytes that were read, in whole KiB.
        read_bytes: Option<i64>, Plain, "bytes", "Kernel-Process 2 ReadTransferKiloBytes";
        /// Bytes that were written, in whole KiB.
        write_bytes: Option<i64>, Plain, "bytes", "Kernel-Process 2 WriteTransferKiloBytes";
        /// CPU cycles.
        cycles: Option<i64>, Plain, "", "Kernel-Process 2 CPUCycleCount";
    }
}
