//! Memory of processes.

use crate::ids::ProcessId;
use crate::row;

row! {
    /// Counters that the kernel kept for a process since the start of the process. The kernel logs
    /// them when the process ends, and at the rundown for each process that still runs. When a process
    /// ends, two events can report it: Process/PerfCtr and Kernel-Process 2. Each event makes a row.
    /// In a row of Process/PerfCtr only the peaks have values, because the kernel frees the memory
    /// before it logs the event. A row of PerfCtrRundown has the current values, too.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ProcessCounterRow in "process_counters", always: false, since: 6, At(time) {
        /// Time of the reading.
        time: i64, Delta, "ns", "Process/PerfCtr, PerfCtrRundown; Kernel-Process 2";
        /// Row id of the process in `processes`.
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
        /// Bytes read. The kernel logs whole KiB, so the value is a multiple of 1,024.
        read_bytes: Option<i64>, Plain, "bytes", "Kernel-Process 2 ReadTransferKiloBytes";
        /// Bytes written. The kernel logs whole KiB, so the value is a multiple of 1,024.
        write_bytes: Option<i64>, Plain, "bytes", "Kernel-Process 2 WriteTransferKiloBytes";
        /// CPU cycles.
        cycles: Option<i64>, Plain, "", "Kernel-Process 2 CPUCycleCount";
    }
}
