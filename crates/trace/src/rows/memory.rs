//! Memory of the machine and of processes.

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

row! {
    /// The lists of pages of a machine, about twice a second. A page that no list has belongs to a
    /// process, to the kernel or to a driver.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct MemoryStateRow in "memory_state", always: false, since: 6, At(time) {
        /// Time of the reading.
        time: i64, Delta, "ns", "Memory/SystemMemInfo, Kernel-Memory 1; reading of the recorder on Linux";
        /// Pages that are free and zeroed. Windows only, as are the lists of modified, standby and bad
        /// pages and the pools.
        zero: Option<i64>, Plain, "bytes", "ZeroPageCount";
        /// Pages that are free.
        free: i64, Plain, "bytes", "FreePageCount; MemFree";
        /// Pages that wait to be written, those for the page file included.
        modified: Option<i64>, Plain, "bytes", "ModifiedPageCount";
        /// Pages that wait for a component that writes them by itself.
        modified_no_write: Option<i64>, Plain, "bytes", "ModifiedNoWritePageCount";
        /// Pages that wait to be written into the page file.
        modified_page_file: Option<i64>, Plain, "bytes", "ModifiedPageCountPageFile";
        /// Pages that the memory manager does not use, because of errors.
        bad: Option<i64>, Plain, "bytes", "BadPageCount";
        /// Cached pages that can be given away, by priority: priority 0 goes first.
        standby: Option<Vec<i64>>, Plain, "bytes", "StandbyPageCounts";
        /// Standby pages that were given away since the start of the system, by priority.
        repurposed: Option<Vec<i64>>, Plain, "bytes", "RepurposedPageCounts";
        /// Pages in use: the memory of the machine less all lists; on Linux less `free` and `cached`. Null
        /// where the size of the memory is not known.
        active: Option<i64>, Plain, "bytes", "SystemConfig/CPU MemSize, made by the extract; MemTotal";
        /// Paged pool.
        paged_pool: Option<i64>, Plain, "bytes", "Kernel-Memory 1 PagedPoolPageCount";
        /// Non-paged pool.
        nonpaged_pool: Option<i64>, Plain, "bytes", "Kernel-Memory 1 NonPagedPoolPageCount";
        /// Committed memory of the machine.
        commit: Option<i64>, Plain, "bytes", "Kernel-Memory 1 CommitPageCount; Committed_AS";
        /// Memory that can be committed. Linux only, as are the next ones.
        commit_limit: Option<i64>, Plain, "bytes", "CommitLimit";
        /// Memory that programs can get without swapping, as the kernel estimates it.
        available: Option<i64>, Plain, "bytes", "MemAvailable";
        /// Page cache, the buffers of block devices included.
        cached: Option<i64>, Plain, "bytes", "Cached, Buffers";
        /// Pages of files that wait to be written.
        dirty: Option<i64>, Plain, "bytes", "Dirty";
        /// Pages of files that are being written.
        writeback: Option<i64>, Plain, "bytes", "Writeback";
        /// Swap space in use.
        swap_used: Option<i64>, Plain, "bytes", "SwapTotal, SwapFree";
        /// Kernel objects.
        slab: Option<i64>, Plain, "bytes", "Slab";
        /// Bytes that were read from swap since the start of the system.
        swapped_in: Option<i64>, Plain, "bytes", "vmstat pswpin";
        /// Bytes that were written to swap since the start of the system.
        swapped_out: Option<i64>, Plain, "bytes", "vmstat pswpout";
        /// Bytes of pages that the kernel looked at since the start of the system to find some that it
        /// can take.
        scanned: Option<i64>, Plain, "bytes", "vmstat pgscan_kswapd, pgscan_direct";
        /// Bytes of pages that the kernel took since the start of the system.
        reclaimed: Option<i64>, Plain, "bytes", "vmstat pgsteal_kswapd, pgsteal_direct";
    }
}

row! {
    /// Memory of a process at an instant. A process has a row for its first reading, for its last
    /// reading, and for each reading that differs from the reading before it. Between two rows its
    /// memory is that of the earlier row. On Linux a row comes when a part of the resident memory has
    /// changed by 1 MiB or more.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MemoryProcessRow in "memory_processes", always: false, since: 6, At(time) {
        /// Time of the reading.
        time: i64, Delta, "ns", "Memory/ProcessMemInfo, Kernel-Memory 2; kmem:rss_stat";
        /// Row id of the process in `processes`.
        process: ProcessId, Delta, "", "ProcessID; kmem:rss_stat curr, mm_id";
        /// Working set: memory that the process holds. Windows only.
        working_set: Option<i64>, Plain, "bytes", "WorkingSetPageCount";
        /// The part of the working set that no other process can share.
        private_working_set: Option<i64>, Plain, "bytes", "PrivateWorkingSetPageCount";
        /// Committed memory.
        commit: Option<i64>, Plain, "bytes", "CommitPageCount";
        /// Virtual size.
        virtual_size: Option<i64>, Plain, "bytes", "VirtualSizeInPages";
        /// Memory that the compressed pages of the process take.
        store: Option<i64>, Plain, "bytes", "StoreSizePageCount";
        /// Compressed pages of the process, before compression.
        stored: Option<i64>, Plain, "bytes", "StoredPageCount";
        /// Memory that was promised and is not committed.
        commit_debt: Option<i64>, Plain, "bytes", "CommitDebtInPages";
        /// Committed memory that several processes share.
        shared_commit: Option<i64>, Plain, "bytes", "SharedCommitInPages";
        /// Resident pages of files. Linux only, as are the next three.
        rss_file: Option<i64>, Plain, "bytes", "kmem:rss_stat of MM_FILEPAGES";
        /// Resident anonymous pages.
        rss_anon: Option<i64>, Plain, "bytes", "kmem:rss_stat of MM_ANONPAGES";
        /// Resident pages of shared memory.
        rss_shmem: Option<i64>, Plain, "bytes", "kmem:rss_stat of MM_SHMEMPAGES";
        /// Pages in swap.
        swap: Option<i64>, Plain, "bytes", "kmem:rss_stat of MM_SWAPENTS";
    }
}
